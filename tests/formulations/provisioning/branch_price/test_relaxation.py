import time

import numpy as np
import pytest

from schedgap.formulations.column_generation.master import Depths, Dive
from schedgap.formulations.provisioning.branch_price.program import Cut, Program, first_values
from schedgap.formulations.provisioning.branch_price.relaxation import (
    CutMaster,
    Relaxation,
    machines_of,
    rounded_up,
    shared,
    violated_cuts,
)

NEVER = 10**15


def solved(instance, *, expanded=False):
    program = Program.of_classes(instance)
    relaxation = Relaxation(program.expanded(range(instance.num_tasks)) if expanded else program)
    values = np.repeat(first_values(program), instance.counts) if expanded else first_values(program)
    relaxation.start([], values, proven=True)
    relaxation.solve(time.perf_counter() + 60, NEVER)
    return relaxation


@pytest.mark.parametrize("seed", range(20))
def test_bound_and_packing_bracket_the_optimum(random_instance, optimum, seed):
    instance = random_instance(seed)
    relaxation = solved(instance)
    assert relaxation.is_converged
    assert relaxation.bound <= optimum(instance) <= relaxation.packed_cost
    assert relaxation.bound >= relaxation.found.objective * 1e6 * (1 - 1e-6)


def test_a_bound_is_rounded_up_to_whole_bins(bins):
    """Five items of which two fill a bin: 2.5 bins are 3."""
    assert solved(bins([2], [1], [5])).bound == 3_000_000


def test_cuts_raise_the_bound(bins):
    """Three items, two a bin: 1.5 bins, and with the cut of all three, 2."""
    relaxation = solved(bins([6], [3, 3, 3], prices=(1_000_000, 500_000)), expanded=True)
    assert relaxation.bound == 1_500_000
    relaxation.cut(violated_cuts(relaxation))
    relaxation.solve(time.perf_counter() + 60, NEVER)
    assert relaxation.bound == 2_000_000


def test_the_cutoff_ends_it(bins):
    relaxation = Relaxation(Program.of_classes(bins([10], [6, 5, 4, 3], [3, 3, 3, 3])))
    relaxation.start([], np.zeros(4, np.int64))
    relaxation.solve(time.perf_counter() + 60, 0)
    assert (relaxation.iterations, relaxation.bound) == (0, 0)


def test_a_deadline_that_has_passed_leaves_a_valid_bound(bins):
    relaxation = Relaxation(Program.of_classes(bins([10], [6, 5, 4, 3])))
    relaxation.start([], first_values(relaxation.program), proven=True)
    relaxation.solve(time.perf_counter() - 1, NEVER)
    assert not relaxation.is_converged
    assert relaxation.bound == 2_000_000


@pytest.fixture
def master(bins):
    """Three items of which any two fill a bin: one and a half bins are enough for the relaxation."""
    master = CutMaster(Program.of_classes(bins([2], [1, 1, 1])))
    assert master.add(np.zeros(3, np.int64), np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])) == 3
    return master


def test_a_cut_of_three(master):
    master.cut([Cut(np.ones(3, np.int64), 2, 1)])
    master.add(np.zeros(1, np.int64), np.array([[1, 0, 0]]))
    assert (master.num_columns, master.machine(1)[1].tolist()) == (4, [1, 0, 1])
    assert master.rows(master.kind, master.patterns)[:, 3].tolist() == [1, 1, 1, 0]
    assert master.solve(10.0).objective == pytest.approx(2.0)
    master.limit(master.low, np.array([2.0]))
    assert master.solve(10.0).objective == pytest.approx(1.5)


def test_patterns_that_leave_too_much_free_are_forbidden(bins):
    """Sizes of 2, 1 and 1 in bins of 3: with nothing free, the last item has no bin."""
    master = CutMaster(Program.of_classes(bins([3], [2, 1], [1, 2])))
    master.add(np.zeros(3, np.int64), np.array([[1, 1], [0, 2], [1, 0]]))
    assert master.allows(master.patterns).tolist() == [True, True, True]
    master.restrict(master.left, 0)
    assert master.allows(master.patterns).tolist() == [True, False, False]
    assert master.solve(10.0).x.tolist() == pytest.approx([2, 0, 0])


@pytest.mark.parametrize(("dollars", "up"), [(1.5, 2_000_000), (2.0 + 1e-9, 2_000_000), (2.01, 3_000_000), (0.0, 0)])
def test_rounding_to_whole_steps(dollars, up):
    assert rounded_up(dollars, 1_000_000) == up


def relaxed(instance, patterns):
    """Return the relaxation over given patterns, with every task an item."""
    relaxation = Relaxation(Program.of_classes(instance).expanded(range(instance.num_tasks)))
    relaxation.master.add(np.zeros(len(patterns), np.int64), np.array(patterns))
    relaxation.found = relaxation.master.solve(10.0)
    return relaxation


def test_half_a_bin_of_each_pair_violates_the_cut_of_three(bins):
    relaxation = relaxed(bins([2], [1, 1, 1]), [[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    (cut,) = violated_cuts(relaxation)
    assert (cut.numerators.tolist(), cut.divisor, cut.most) == ([1, 1, 1], 2, 1)
    relaxation.cut([cut])
    assert violated_cuts(relaxation) == []


def test_whole_solutions_violate_none(bins):
    relaxation = relaxed(bins([2], [1, 1, 1]), [[1, 1, 0], [0, 0, 1]])
    assert violated_cuts(relaxation) == []


def test_classes_of_several_tasks_have_none(bins):
    relaxation = Relaxation(Program.of_classes(bins([2], [1], [3])))
    relaxation.master.add(np.zeros(1, np.int64), np.array([[2]]))
    relaxation.solve(time.perf_counter() + 10, 10**15)
    assert violated_cuts(relaxation) == []


def test_what_machines_share():
    pair = shared(np.array([[1.0, 1, 0], [0, 1, 1]]), np.array([0.5, 0.25]))
    assert pair.tolist() == [[0, 0.5, 0], [0.5, 0, 0.25], [0, 0.25, 0]]


@pytest.fixture
def relaxation(random_bins):
    return solved(random_bins(3, 30, 3))


def test_a_dive_packs_everything(relaxation):
    machines = machines_of(Dive(relaxation, time.perf_counter() + 60, NEVER, 0.8).run(Depths(0, 0)))
    assert sum(pattern for _, pattern in machines).tolist() == relaxation.program.counts.tolist()
    assert len(machines) * 1_000_000 >= relaxation.bound
    for _, pattern in machines:
        assert (pattern @ relaxation.program.demand[0] <= relaxation.program.capacity[0]).all()


def test_stepping_back_looks_at_more_and_leaves_the_master_as_it_was(bins):
    """Three items, two a bin, in half bins at best: 1.5 bins in the relaxation, and no solution below 2."""
    relaxation = solved(bins([6], [3, 3, 3], prices=(1_000_000, 500_000)))
    assert relaxation.master.solve(10.0).objective == pytest.approx(1.5)
    first, second = (Dive(relaxation, time.perf_counter() + 60, 2_000_000, 0.8) for _ in range(2))
    assert first.run(Depths(0, 0)) == second.run(Depths(3, 2)) == []
    assert second.nodes > first.nodes
    assert relaxation.master.left.tolist() == relaxation.program.counts.tolist()
    assert relaxation.master.solve(10.0).objective == pytest.approx(1.5)


def test_a_deadline_that_has_passed_finds_nothing(relaxation):
    assert Dive(relaxation, time.perf_counter() - 1, NEVER, 0.8).run(Depths(0, 0)) == []
