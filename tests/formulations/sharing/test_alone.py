"""What a job needs when it has the cluster to itself."""

import numpy as np

from schedgap.formulations.sharing.work_bound import alone_ms, bound_alone, slots_of
from schedgap.instances.method import Status
from schedgap.instances.sharing.generators import micro


def test_longest_task_at_its_best_speed(make):
    """10 of work at performance 3: 10 / 3, rounded up."""
    assert alone_ms(make([[10, 1]], count=[1, 1], speed=[1, 3])).tolist() == [4]


def test_largest_tasks_on_the_fastest_slots(make):
    """Works 8 and 8 on speeds 1 and 3: 16 / (3 + 1) = 4; but one is done by 3, the other by 6 after it or by 8."""
    assert alone_ms(make([[8, 8]], count=[1, 1], speed=[1, 3])).tolist() == [6]


def test_the_rate_of_all_slots(make):
    """7 tasks of 1 on two machines with room for 2 each: 4 + 3. Of 5 and six of 1: 11 / 4 is less than 5."""
    instance = make([[1] * 7, [5] + [1] * 6], count=[2], capacity=[5], demand=[2, 2])
    assert slots_of(instance).tolist() == [[4], [4]]
    assert alone_ms(instance).tolist() == [2, 5]


def test_only_classes_that_serve_the_job_count(make):
    instance = make([[6], [6]], count=[1, 1], speed=[1, 2], allowed=np.array([[1, 0], [1, 1]], bool))
    assert alone_ms(instance).tolist() == [6, 3]


def test_micro_benchmark():
    """1,000 tasks: in 14 s of 2, 1.334, 1 and 0.667 s 20 x (7 + 10 + 14 + 20) are through, in 13.34 s 980.

    The last job has 20 slots on the fastest machines: 50 rounds of 0.667 s.
    """
    assert alone_ms(micro()).tolist() == [14_000] * 3 + [33_350]


def test_outcome():
    outcome = bound_alone(micro())
    assert (outcome.bound, outcome.status, outcome.solution) == (75_350, Status.NO_SOLUTION, None)
