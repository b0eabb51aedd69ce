"""The search for a dear content against enumeration, compiled and not."""

import itertools
import random

import numpy as np
import pytest

from schedgap.bench.certify.kernels_contents import DEARER, NONE_DEARER, Items, Relaxations, fill, most, search


def ints(values):
    return np.array(values, np.int64)


def made(rng):
    """Items without duplicates, two resources, two cuts, a conflict; relaxations are the resources."""
    n = rng.randint(1, 7)
    value, size = [rng.randint(1, 9) for _ in range(n)], [[rng.randint(0, 4) for _ in range(2)] for _ in range(n)]
    capacity = [rng.randint(4, 8), rng.randint(4, 8)]
    spare = [rng.choice([-1, 0, 1, 2, 8]), rng.choice([1, 8])]
    entries = [[(j, rng.randint(1, 2)) for j in range(2) if rng.random() < 0.5] for _ in range(n)]
    pairs = {(0, n - 1)} if n > 1 and rng.random() < 0.5 else set()
    conflicts = [[b if a == i else a for a, b in pairs if i in (a, b)] for i in range(n)]
    items = Items(
        ints(value),
        ints(size),
        ints(capacity),
        ints(spare),
        ints(range(1, n + 1)),
        ints(np.cumsum([0, *map(len, entries)])),
        ints([j for each in entries for j, _ in each]),
        ints([numerator for each in entries for _, numerator in each]),
        ints(np.cumsum([0, *map(len, conflicts)])),
        ints([other for each in conflicts for other in each]),
        ints([2, 3]),
        ints([rng.randint(0, 6), rng.randint(0, 6)]),
    )

    def worth(content):
        held = [sum(numerator for i in content for k, numerator in entries[i] if k == j) for j in range(2)]
        penalty = sum(p * (h // q) for p, h, q in zip(items.penalty.tolist(), held, (2, 3), strict=True))
        return sum(value[i] for i in content) - penalty

    fitting = [
        content
        for k in range(n + 1)
        for content in itertools.combinations(range(n), k)
        if all(0 <= capacity[d] - sum(size[i][d] for i in content) <= spare[d] for d in range(2))
        and not any(set(pair) <= set(content) for pair in pairs)
    ]
    return items, worth, fitting


def relaxations(items, of=lambda kernel: kernel):
    widths = items.capacity + 1
    n = items.value.shape[0]
    starts = ints([0, widths[0] * (n + 1)])
    worth = np.zeros(int(widths.sum()) * (n + 1), np.int64)
    for d in range(2):
        part = worth[starts[d] : starts[d] + widths[d] * (n + 1)]
        of(fill)(items.value, items.size[:, d].copy(), int(widths[d]), int(items.spare[d]), part)
        assert items.spare[d] < items.capacity[d] or part[widths[d] - 1] == of(most)(
            items.value, items.size[:, d].copy(), int(widths[d])
        )
    return Relaxations(items.size, widths, starts, worth)


@pytest.mark.parametrize("of", [lambda kernel: kernel, lambda kernel: kernel.py_func], ids=["compiled", "plain"])
def test_a_content_is_found_exactly_where_there_is_one(of):
    rng = random.Random(2)
    for _ in range(150):
        items, worth, fitting = made(rng)
        dearest = max(0, *map(worth, fitting), 0)
        bounds = relaxations(items, of)
        for limit in {max(dearest - 1, 0), dearest}:
            content, count = np.zeros(items.value.shape[0], np.int64), np.zeros(2, np.int64)
            found = of(search)(items, bounds, limit, content, count)
            assert found == (DEARER if limit < dearest else NONE_DEARER)
            if found == DEARER:
                chosen = tuple(content[: count[0]].tolist())
                assert chosen in fitting
                assert worth(chosen) > limit


def test_equal_items_are_tried_in_one_order():
    """Six equal items of which three fit: the contents of 1, 2 and 3 of them, one each."""
    n = 6
    items = Items(
        *(ints([5] * n), ints([[2]] * n), ints([6]), ints([6]), ints([n] * n)),
        *(ints([0] * (n + 1)), ints([]), ints([]), ints([0] * (n + 1)), ints([]), ints([]), ints([])),
    )
    # A relaxation that sees no sizes, so that it ends no search before its time.
    bounds = Relaxations(np.zeros((n, 1), np.int64), ints([1]), ints([0]), ints([5 * (n - i) for i in range(n + 1)]))
    content, count = np.zeros(n, np.int64), np.zeros(2, np.int64)
    assert search(items, bounds, 15, content, count) == NONE_DEARER
    assert count[1] == 3
    assert search(items, bounds, 14, content, count) == DEARER
