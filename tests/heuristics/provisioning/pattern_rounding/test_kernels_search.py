import numpy as np
import pytest

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import Problem
from schedgap.heuristics.provisioning.pattern_rounding.kernels_search import (
    Units,
    count_contents,
    place_in_blocks,
    search,
)

SEED = np.uint64(5)


def drawn(seed):
    """Return a problem of two families, whose first type takes every class, and the number of tasks of each."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0, 4, (2, 6, 2))
    demand[1, rng.random(6) < 0.4] = -1
    counts = rng.integers(0, 5, 6)
    most = np.where(np.arange(6) % 2 == seed % 2, 1, counts)
    problem = Problem(np.array([0, 0, 1]), np.array([[8, 8], [4, 3], [5, 5]]), np.array([9, 4, 5]), demand, most)
    return problem, counts, rng.uniform(1.0, 4.0, 6)


def contents(problem, units, number):
    """Return what the machines hold, (M, C), by their entries, after a look at whether it fits."""
    indptr, (task_class, count) = np.empty(number + 1, np.int64), np.empty((2, units.head.size), np.int64)
    entries = count_contents(units, number, indptr, task_class, count)
    content = np.zeros((number, 6), np.int64)
    content[np.repeat(np.arange(number), np.diff(indptr)), task_class[:entries]] = count[:entries]
    for k, held in zip(units.machine_type[:number], content, strict=True):
        demand = problem.demand[problem.type2family[k]]
        assert (demand[held > 0] >= 0).all()
        assert (held @ demand <= problem.capacity[k]).all()
        assert (held <= problem.most).all()
    return content


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("block", [2, 100])
def test_searching_keeps_the_tasks_and_never_pays_more(seed, block):
    problem, counts, dual = drawn(seed)
    weight, ways = np.full((2, 2), 0.5), []
    for place, improve in ((place_in_blocks, search), (place_in_blocks.py_func, search.py_func)):
        units = Units(*np.full((4, int(counts.sum())), -1))
        number = place(problem, dual, weight, counts, block, 50, SEED, units, 0, 0)
        assert (contents(problem, units, number).sum(axis=0) == counts).all()
        before = problem.price[units.machine_type[:number]].sum()
        number = improve(problem, dual, weight, 40, 4, 0.3, 0.5, 50, SEED, units, number)
        assert (contents(problem, units, number).sum(axis=0) == counts).all()
        assert problem.price[units.machine_type[:number]].sum() <= before
        ways.append((number, *(array.tolist() for array in units)))
    assert ways[0] == ways[1]
