import time

import numpy as np

from schedgap.formulations.provisioning.branch_price.cuts import shared, violated_cuts
from schedgap.formulations.provisioning.branch_price.program import Program
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation


def relaxed(instance, contents):
    """Return the relaxation over given contents, with every task an item."""
    relaxation = Relaxation(Program.of_classes(instance).expanded(range(instance.num_tasks)))
    relaxation.master.add([(0, np.array(content)) for content in contents])
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
    relaxation.master.add([(0, np.array([2]))])
    relaxation.solve(time.perf_counter() + 10, 10**15)
    assert violated_cuts(relaxation) == []


def test_what_machines_share():
    pair = shared(np.array([[1.0, 1, 0], [0, 1, 1]]), np.array([0.5, 0.25]))
    assert pair.tolist() == [[0, 0.5, 0], [0.5, 0, 0.25], [0, 0.25, 0]]
