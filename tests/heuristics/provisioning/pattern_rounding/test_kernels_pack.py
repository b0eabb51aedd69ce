import numpy as np
import pytest

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import Guide, Problem, new_scratch
from schedgap.heuristics.provisioning.pattern_rounding.kernels_search import new_packing, pack


def drawn(seed):
    """Return a problem of two families; the first type takes every class."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 4, (2, 5, 2))
    demand[1, rng.random(5) < 0.4] = -1
    capacity = np.array([[8, 8], [4, 3], [5, 5]])
    counts = rng.integers(0, 4, 5)
    most = np.where(np.arange(5) % 2 == seed % 2, 1, counts)
    return Problem(np.array([0, 0, 1]), capacity, np.array([9, 4, 5]), demand, most), counts


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("chance", [1.0, 0.5])
def test_all_tasks_are_packed_where_they_fit(seed, chance):
    problem, counts = drawn(seed)
    dual = np.random.default_rng(seed).uniform(1.0, 4.0, 5)
    ways = []
    for run in (pack, pack.py_func):
        available, present = counts.copy(), np.append(np.flatnonzero(counts), np.zeros(5, np.int64))
        packing, state = new_packing(int(counts.sum())), np.array([seed + 1], np.uint64)
        guide = Guide(dual, dual, np.full((2, 2), 0.5))
        number = run(
            problem,
            guide,
            available,
            present,
            np.count_nonzero(counts),
            chance,
            np.inf,
            100,
            state,
            new_scratch(5, 2),
            packing,
        )
        held = np.zeros(5, np.int64)
        for q in range(number):
            content = np.zeros(5, np.int64)
            entries = slice(packing.start[q], packing.start[q + 1])
            content[packing.task_class[entries]] = packing.number[entries]
            k = packing.machine_type[q]
            demand = problem.demand[problem.type2family[k]]
            assert (demand[content > 0] >= 0).all()
            assert (content @ demand <= problem.capacity[k]).all()
            held += content
        assert (held == counts).all()
        assert not available.any()
        ways.append(
            (number, packing.machine_type[:number].tolist(), packing.start[: number + 1].tolist(), int(state[0]))
        )
    assert ways[0] == ways[1]


def test_it_gives_up_above_a_limit():
    problem, counts = drawn(3)
    dual, available = np.ones(5), counts.copy()
    guide, packing = Guide(dual, dual, np.full((2, 2), 0.5)), new_packing(int(counts.sum()))
    present, state = np.flatnonzero(counts), np.array([1], np.uint64)
    assert (
        pack(problem, guide, available, present, present.size, 1.0, 0.5, 100, state, new_scratch(5, 2), packing) == -1
    )
    assert not available.any()
