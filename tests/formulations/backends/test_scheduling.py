"""CP-SAT places tasks: what it says holds, and it begins from what is known."""

import numpy as np
import pytest

from schedgap.formulations.backends.cp_sat import PlacementProblem, solve_placement
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status


def problem(**changes):
    """Three tasks of two jobs on two pools of one each; the second pool is twice as slow, the third task may not use it."""
    fields = {
        "name": "made",
        "job": np.array([0, 0, 1]),
        "twin": np.array([-1, 0, -1]),
        "release": np.array([0, 0, 1]),
        "earliest_end": np.array([2, 2]),
        "latest_end": np.array([9, 9]),
        "length": np.array([[2, 4], [2, 4], [1, 0]]),
        "sizes": np.array([[1], [1], [1]]),
        "capacity": np.array([[1], [1]]),
        "bound": 4,
        "pool": np.array([0, 0, 0]),
        "start": np.array([0, 2, 4]),
    } | changes
    return PlacementProblem(**fields)


def test_least_sum_of_ends():
    """Job 1 in 1..2 on the fast pool, job 0 in 2..4 there and in 0..4 on the slow one: 4 + 2."""
    result = solve_placement(problem())
    assert (result.status, result.bound) == (Status.OPTIMAL, 6)
    ends = result.start + np.array([2, 4])[result.pool]
    assert ends[:2].tolist() == [4, 4]
    assert (result.start[2], result.pool[2]) == (1, 0)


def test_twins_start_in_order():
    result = solve_placement(problem())
    assert result.start[0] <= result.start[1]


def test_without_time_the_given_bound_is_left():
    result = solve_placement(problem(), time_limit_s=0.0)
    assert result.bound >= 4
    assert (result.status is Status.NO_SOLUTION) == (result.start is None)


def test_a_contradiction_is_said():
    with pytest.raises(BackendError, match="made: cp-sat ends with INFEASIBLE; a solution is known"):
        solve_placement(problem(bound=19))


def test_times_too_large_to_be_exact():
    with pytest.raises(BackendError, match=r"ends that sum up to .* exceed .*; use coarser times"):
        solve_placement(problem(latest_end=np.array([2**52, 9])))
