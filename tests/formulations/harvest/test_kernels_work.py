import itertools

import numpy as np

from schedgap.formulations.harvest.kernels_work import leased_levels, most_done, most_used


def test_most_done_against_all_subsets():
    rng = np.random.default_rng(3)
    for _ in range(200):
        release, work = np.sort(rng.integers(0, 12, 6)), rng.integers(1, 8, 6)
        earliest, now, done = rng.integers(0, 20, 6), int(rng.integers(1, 20)), int(rng.integers(1, 25))
        found = most_done(release, work, earliest, now, done, np.empty((2, 6), np.int64))
        sizes = [
            len(some)
            for size in range(7)
            for some in map(list, itertools.combinations(range(6), size))
            if (earliest[some] <= now).all()
            and all(work[[j for j in some if release[j] >= s]].sum() <= done - s for s in release[some])
        ]
        assert found == max(sizes)


def test_most_used_against_all_sums():
    rng = np.random.default_rng(4)
    for _ in range(30):
        sizes = np.unique(rng.integers(1, 9, 3))
        usable = np.empty(31, np.int64)
        most_used(sizes, usable)
        sums = {0}
        for _ in range(30):
            sums |= {known + int(size) for known in sums for size in sizes if known + size <= 30}
        assert usable.tolist() == [max(each for each in sums if each <= c) for c in range(31)]


def test_leased_levels_against_sorting():
    rng = np.random.default_rng(5)
    amounts = np.array([0, 2, 3, 7])
    for _ in range(30):
        has, before, after, wanted = [0] * 5, [], [], []
        for vm, index in zip(rng.integers(0, 5, 40).tolist(), rng.integers(0, 4, 40).tolist(), strict=True):
            before.append(has[vm])
            after.append(index)
            has[vm] = index
            wanted.append(sum(sorted(amounts[has].tolist())[-2:]))
        level = np.empty(40, np.int64)
        leased_levels(np.array(before), np.array(after), amounts, 2, level)
        assert level.tolist() == wanted
