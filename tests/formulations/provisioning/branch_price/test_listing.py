import itertools
import time
from decimal import Decimal

import numpy as np
import pytest

from schedgap.bench.certify.problem import Problem, read_problem
from schedgap.bench.certify.proof import check
from schedgap.formulations.backends.highs_lp import GrowingLp
from schedgap.formulations.provisioning.branch_price.branch_cut_and_price import (
    BranchCutAndPrice,
    Listing,
    by_task,
    listed,
)
from schedgap.formulations.provisioning.branch_price.program import Program, first_values
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation
from schedgap.instances.provisioning.files import write_instance

CAPACITY = 20


def fewest(sizes):
    """The fewest bins, by all ways to put one item after the other into bins."""
    states = {()}
    for size in sorted(sizes.tolist(), reverse=True):
        states = {
            tuple(sorted((*each[:b], free - size, *each[b + 1 :])))
            for each in states
            for b, free in enumerate((*each, CAPACITY))
            if free >= size
        }
    return min(map(len, states))


def drawn(seed):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(2, 14, rng.integers(5, 9))


@pytest.mark.parametrize("seed", range(60))
def test_lists_what_machines_of_a_solution_hold(seed):
    rng, sizes = drawn(seed)
    values = rng.integers(1, 100, sizes.shape[0])
    machines = fewest(sizes)
    spare = min(machines * CAPACITY - int(sizes.sum()), CAPACITY)
    every = np.array(list(itertools.product((0, 1), repeat=sizes.shape[0])))
    free = CAPACITY - every @ sizes
    full = every[(free >= 0) & (free <= spare)]
    worth = full @ values
    expected = full[worth >= values.sum() - (machines - 1) * worth.max()]
    found = listed(sizes, values, CAPACITY, spare, machines)
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))


@pytest.mark.parametrize("seed", range(150))
def test_finds_a_solution_or_proves_that_there_is_none(seed):
    rng, sizes = drawn(seed)
    best, tasks = fewest(sizes), rng.permutation(sizes.shape[0])
    of_tasks = tuple((size,) for size in by_task(sizes, tasks))
    problem = Problem("x", (1,), ((CAPACITY,),), (0,), (of_tasks,), (1,) * sizes.shape[0])
    for machines in range(-(-int(sizes.sum()) // CAPACITY), best + 1):
        patterns = listed(sizes, sizes, CAPACITY, machines * CAPACITY - int(sizes.sum()), machines)
        search = Listing(sizes, patterns, machines, tasks.tolist())
        assert search.run(time.perf_counter() + 60) is (machines == best)
        if machines == best:
            assert len(search.packing) <= best
            assert (search.packing.sum(axis=0) == 1).all()
            assert (search.packing @ sizes <= CAPACITY).all()
        else:
            search.proof["listed"].insert(0, by_task(sizes, tasks))
            assert check(problem, {"bound": Decimal(machines + 1) / 10**6, "proof": search.proof}).reason is None
            assert check(problem, {"bound": Decimal(best + 1) / 10**6, "proof": search.proof}).reason is not None


def test_without_time_or_an_answer_of_the_relaxation_nothing_is_said(monkeypatch):
    sizes = np.array([7, 6, 5, 7, 6, 5])
    patterns = listed(sizes, sizes, CAPACITY, 4, 2)
    assert Listing(sizes, patterns, 2, range(6)).run(0.0) is None
    monkeypatch.setattr(GrowingLp, "solve", lambda self, time_limit_s: None)
    assert Listing(sizes, patterns, 2, range(6)).run(time.perf_counter() + 60) is None


def test_too_many_are_not_listed(monkeypatch):
    monkeypatch.setattr("schedgap.formulations.provisioning.branch_price.branch_cut_and_price.MAX_LISTED", 3)
    sizes = np.array([7, 6, 5, 7, 6, 5])
    assert listed(sizes, sizes, CAPACITY, 20, 4) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_method_proves_by_a_list_or_finds_a_solution(bins, monkeypatch, seed, tmp_path):
    """Whatever the relaxation's bound, one bin too few or just enough; classes are merged, and named as in the source."""
    sizes = np.random.default_rng(seed).integers(3, 14, 12)
    best, instance = fewest(sizes), bins([CAPACITY], sizes)
    for machines in (best - 1, best):
        search = BranchCutAndPrice(instance, 60.0)
        program = Program.of_classes(search.instance)
        root = Relaxation(program)
        root.start([], first_values(program))
        root.polish(time.perf_counter() + 60)
        monkeypatch.setattr(root, "polish", lambda deadline: None)
        root.bound, root.is_converged = machines * 1_000_000, True
        search._list(root)
        if machines == best:
            assert search.objective == best * 1_000_000
            continue
        assert search.bound == best * 1_000_000
        write_instance(instance, tmp_path / "i.json")
        certificate = search._certificate() | {"bound": Decimal(best)}
        assert "listed" in certificate["proof"]
        assert check(read_problem(tmp_path / "i.json"), certificate).reason is None
