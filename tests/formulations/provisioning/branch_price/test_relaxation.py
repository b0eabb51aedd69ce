import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.cuts import violated_cuts
from schedgap.formulations.provisioning.branch_price.first_values import first_values
from schedgap.formulations.provisioning.branch_price.program import Program
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation

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
