"""The compiled loop against the definition; numbers that are large."""

import numpy as np

from schedgap.formulations.sharing.work_bound import alone_ms, longest_alone, slots_of
from schedgap.instances.sharing import macro


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
