"""The program over ends: its rows hold for good schedules, and its optimum is that of the instance."""

import math
import time

import numpy as np
import pytest

from schedgap.formulations.harvest.time_indexed.bracket import Bracket
from schedgap.formulations.harvest.time_indexed.time_indexed import Ends, Integer, time_indexed
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.verify import ends_ms, verify
from schedgap.instances.method import Status


def searched(instance, horizon=None):
    """Return the search over ends with no limit."""
    bracket = Bracket(instance, time.perf_counter())
    if horizon is not None:
        bracket.set_horizon(horizon)
    ends = Ends(Integer(bracket, math.inf, 1, "highs"))
    ends.search()
    return ends


def queue(make, **changes):
    """Two jobs of two tasks on a core that goes away from 3 to 5: their work is 4 and 2, and only one can be early."""
    return make([[(0, 1), (3, 0), (5, 1)]], [[2, 2], [1, 1]], objective="jobs", **changes)


def test_rows_allow_the_ends_of_every_good_schedule():
    """Each row allows what the optimum ends at, and at least one forbids the ends that jobs would have alone."""
    tried = 0
    for seed in range(6):
        instance = quick(2, 4, "2-4", seed=seed, grid_s=600, objective="jobs", most_cores=4, min_sizes="2", load=1.5)
        ends = searched(instance)
        grid = ends.integer.bracket.grid
        best = ends.integer.bracket.search.schedule()
        task_ends = (ends_ms(instance, best) - grid.origin_ms) // grid.unit_ms
        by_job = np.maximum.reduceat(task_ends, instance.first_task[:-1])
        assert ends.integer.bracket.is_closed
        assert all(row.allows(by_job) for row in ends.rows)
        tried += len(ends.rows)
    assert tried > 0


def test_finds_the_least_ends(make):
    """The short job first ends at 2, the long one at 9; the other way round they end at 6 and 8."""
    instance = queue(make)
    bracket = searched(instance).integer.bracket
    assert bracket.is_closed
    assert bracket.objective == verify(instance, bracket.search.schedule()) == 2 + 9


def test_tasks_after_the_horizon_are_late_without_a_price(make):
    """Within 3 slots one job can end; the other ends after them, in slot 4 at the earliest."""
    bracket = searched(queue(make), horizon=3).integer.bracket
    assert bracket.bound == 2 + 4
    assert bracket.bound < bracket.objective


@pytest.mark.parametrize("objective", ["jobs", "makespan"])
def test_closes_a_queue_of_many_tasks(objective):
    """40 tasks on 4 VMs, whose first lists are a tenth above the optimum."""
    instance = quick(4, 4, "8-12", seed=3, grid_s=300, objective=objective, most_cores=8, min_sizes="2,4", load=0.9)
    found = time_indexed(instance)
    assert found.status is Status.OPTIMAL
    assert found.trajectory[0].objective > found.bound
    assert found.bound == verify(instance, found.solution)
