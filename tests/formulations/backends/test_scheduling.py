"""CP-SAT's intervals, on problems that are solved by hand."""

import numpy as np
import pytest

from schedgap.formulations.backends.scheduling import IntervalProblem, solve_intervals
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status


def problem(**changes):
    """Two jobs of 3 at 0 that may wait for 3, on machines of one slot at 1 for a horizon of 6; renting costs 5 each."""
    fields = {
        "name": "two",
        "release": np.array([0, 0]),
        "latest": np.array([3, 3]),
        "length": np.array([3, 3]),
        "absent_cost": np.array([5, 5]),
        "wait_cost": 0,
        "sizes": np.array([[2, 2], [0, 0]]),
        "capacity": np.array([3, 1]),
        "slots": 1,
        "max_machines": 2,
        "price": 1,
        "horizon": 6,
    }
    return IntervalProblem(**{**fields, **changes})


@pytest.mark.parametrize("slots", [1, None])
def test_one_waits_for_the_other(slots):
    found = solve_intervals(problem(slots=slots))
    assert (found.status, found.bound) == (Status.OPTIMAL, 6)
    assert found.present.tolist() == [1, 1]
    assert sorted(found.start.tolist()) == [0, 3]
    assert (found.machine is None) == (slots == 1)


def test_a_late_end_is_paid_by_all_machines():
    """Horizon 5: waiting pays one machine for 6."""
    assert solve_intervals(problem(horizon=5)).bound == 6


def test_waiting_may_cost_more_than_renting():
    found = solve_intervals(problem(wait_cost=2, price=1, absent_cost=np.array([5, 4])))
    assert (found.bound, found.present.sum()) == (9, 0)


def test_amounts_beyond_doubles_are_refused():
    with pytest.raises(BackendError, match="coarser times"):
        solve_intervals(problem(price=2**60))
