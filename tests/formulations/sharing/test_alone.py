"""What a job needs when it has the cluster to itself."""

import numpy as np

from schedgap.formulations.sharing.alone import alone_ms, bound_alone, slots_of
from schedgap.formulations.sharing.kernels_alone import longest_alone
from schedgap.instances.method import Status
from schedgap.instances.sharing.generate import micro
from schedgap.instances.sharing.generate_macro import macro


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


def test_rates_do_not_wrap():
    """Twelve slots of a speed of 2^60: after seven the rate would be 2^63; all the work there may be takes a millisecond."""
    least = np.zeros(1, np.int64)
    first, work = np.array([0, 12]), np.full(12, 2**48)
    longest_alone(first, work, np.array([[2**60]]), np.array([[12]]), 1000, least)
    assert least.tolist() == [1]
    # At the most that work and speeds may be: 2^52 ms x 1000 on a slot of speed 1, and the same in units of speed 2^40.
    for speed, expected in ((1, 2**52 * 1000), (2**40, 2**12 * 1000)):
        longest_alone(np.array([0, 1]), np.array([2**52]), np.array([[speed]]), np.array([[1]]), 1000, least)
        assert least.tolist() == [expected]


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


def test_loop_against_plain_python():
    """The compiled loop against the definition, job by job."""
    instance = macro(jobs=60, machines=20, tasks=900)
    slots, serves = slots_of(instance), instance.serves()
    for j, found in enumerate(alone_ms(instance).tolist()):
        work = np.sort(instance.work_ms[instance.first_task[j] : instance.first_task[j + 1]])[::-1]
        speeds = np.sort(np.repeat(instance.performance[j], np.where(serves[j], slots[j], 0)))[::-1]

        def holds(ms, work=work, speeds=speeds):
            for i in range(1, work.size + 1):
                if work[:i].sum() * 1000 > ms * speeds[:i].sum():
                    return False
                if (ms // -(-work[i - 1] * 1000 // speeds)).sum() < i:
                    return False
            return True

        assert holds(found)
        assert not holds(found - 1)
