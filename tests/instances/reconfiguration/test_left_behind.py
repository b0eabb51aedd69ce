"""What the first hours of a trace leave behind."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.generators import alibaba_like, left_behind
from schedgap.instances.reconfiguration.trace import Trace

# Family x: 4 cores for 1, 8 for 2. Family y: 3 cores for 2.
TYPES = {"capacity": [[4], [8], [3]], "price": [1, 2, 2], "type2family": [0, 0, 1]}


def trace(arrival_s, work_s, cores, num_tasks=None):
    demand = np.array([[[c], [c]] if c >= 0 else [[-1], [-c]] for c in cores])
    tasks = np.ones(len(cores), np.int64) if num_tasks is None else np.array(num_tasks)
    return Trace(np.array(arrival_s), np.array(work_s), demand, np.zeros(len(cores), np.int64), tasks)


def test_machines_are_those_with_tasks_and_work_is_what_is_left():
    # Jobs 0 and 1 share the largest machine of x, job 2 gets another; at 50 job 0 has ended, and job 3 takes its room. Job 4
    # may run on y alone. At 60 job 1 has ended too, and job 2, whose machine goes. Job 5 comes at 60, job 6 later.
    given = trace([0, 1, 2, 50, 51, 60, 70], [50, 59, 20, 30, 90, 5, 6], [4, 4, 3, 4, -2, 1, 1])
    rest, running = left_behind(given, TYPES, 60)
    assert rest.arrival_s.tolist() == [0, 0, 0, 10]
    assert rest.work_s.tolist() == [20, 81, 5, 6]
    assert (running.names, running.machine_type.tolist()) == (("node-0", "node-1"), [1, 2])
    assert running.contents(4).tolist() == [[1, 0, 0, 0], [0, 1, 0, 0]]


def test_tasks_of_a_job_go_where_there_is_room():
    rest, running = left_behind(trace([0, 1], [9, 9], [3, 2], [2, 2]), TYPES, 5)
    assert running.contents(2).tolist() == [[2, 1], [0, 1]]
    assert rest.num_tasks.tolist() == [2, 2]


def test_someone_must_be_left():
    with pytest.raises(InstanceError, match="all 2 jobs have ended by 10 s; give fewer warm_h, or more jobs"):
        left_behind(trace([0, 1], [9, 9], [3, 2]), TYPES, 10)


@pytest.mark.parametrize("seed", range(3))
def test_alibaba_like_may_begin_with_machines(seed):
    cold = alibaba_like(80, mean_gap_s=600.0, multi_task=0.4, seed=seed)
    warm = alibaba_like(80, mean_gap_s=600.0, multi_task=0.4, seed=seed, warm_h=5.0)
    assert cold.running is None
    assert "warm5h" in warm.name
    assert warm.is_running().sum() == ((cold.arrival_s < 18_000) & (cold.arrival_s + cold.work_s > 18_000)).sum()
    assert warm.arrival_s[~warm.is_running()].tolist() == (cold.arrival_s[cold.arrival_s >= 18_000] - 18_000).tolist()
    # Some machines have room for more.
    assert warm.running.size < warm.num_tasks[warm.is_running()].sum()


def test_hours_out_of_range_are_refused():
    with pytest.raises(InstanceError, match="warm_h is -1; give hours that are not negative, below 1193046"):
        alibaba_like(5, warm_h=-1.0)
