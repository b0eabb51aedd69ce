import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.master import Master, rounded_up
from schedgap.formulations.provisioning.branch_price.pricing import Cut
from schedgap.formulations.provisioning.branch_price.program import Program

PAIRS = [(0, np.array(content)) for content in ([1, 1, 0], [1, 0, 1], [0, 1, 1])]


@pytest.fixture
def master(bins):
    """Three items of which any two fill a bin: one and a half bins are enough for the relaxation."""
    master = Master(Program.of_classes(bins([2], [1, 1, 1])))
    assert master.add(PAIRS) == 3
    return master


def test_contents_are_known_once(master):
    assert master.add(PAIRS) == 0
    assert (master.num_contents, master.machine(1)[1].tolist()) == (3, [1, 0, 1])
    assert master.solve(10.0).objective == pytest.approx(1.5)


def test_a_cut_of_three(master):
    master.cut([Cut(np.ones(3, np.int64), 2, 1)])
    master.add([(0, np.array([1, 0, 0]))])
    assert master.solve(10.0).objective == pytest.approx(2.0)
    master.relax_cuts(np.array([-1.0]))
    assert master.solve(10.0).objective == pytest.approx(1.5)
    master.relax_cuts(None)
    assert master.solve(10.0).objective == pytest.approx(2.0)


def test_what_is_left_forbids_contents_with_more(master):
    master.restrict(np.array([1, 1, 0]))
    found = master.solve(10.0)
    assert found.x.tolist() == pytest.approx([1, 0, 0])
    master.restrict(np.ones(3, np.int64))
    assert master.solve(10.0).objective == pytest.approx(1.5)


def test_contents_that_leave_too_much_free_are_forbidden(bins):
    """Sizes of 2, 1 and 1 in bins of 3: with nothing free, the last item has no bin."""
    master = Master(Program.of_classes(bins([3], [2, 1], [1, 2])))
    master.add([(0, np.array([1, 1])), (0, np.array([0, 2])), (0, np.array([1, 0]))])
    assert master.allows(master.contents).tolist() == [True, True, True]
    master.restrict(master.left, 0)
    assert master.allows(master.contents).tolist() == [True, False, False]
    assert master.solve(10.0).x.tolist() == pytest.approx([2, 0, 0])


@pytest.mark.parametrize(("dollars", "up"), [(1.5, 2_000_000), (2.0 + 1e-9, 2_000_000), (2.01, 3_000_000), (0.0, 0)])
def test_rounding_to_whole_steps(dollars, up):
    assert rounded_up(dollars, 1_000_000) == up
