"""One VM fits every task in the end."""

import numpy as np

from schedgap.instances.harvest.generators.vms import Vms
from schedgap.instances.harvest.generators.workloads import Workload, draw_jobs, end_ms_of, ending_large
from schedgap.instances.units import HOUR_MS

JOBS = draw_jobs(Workload(jobs=3, tasks="2", cores="4", memory_mib_per_core=1), 0)


def small(memory):
    """Return two VMs that end with 2 cores and 3."""
    return Vms(np.array([0, 1, 3]), np.array([0, 0, 9]), np.array([2, 9, 3]), np.array([2, 2]), np.array(memory))


def test_the_vm_with_the_largest_peak_grows_back():
    ended = ending_large(small([8, 8]), JOBS, 20, np.array([2, 9]))
    assert (ended.first_event.tolist(), ended.event_ms.tolist()) == ([0, 1, 4], [0, 0, 9, 20])
    assert ended.event_cores.tolist() == [2, 9, 3, 9]
    first = ending_large(small([8, 3]), JOBS, 20, np.array([5, 9]))
    assert (first.first_event.tolist(), first.event_cores.tolist()) == ([0, 2, 4], [2, 5, 9, 3])


def test_nothing_is_done_if_one_fits_or_none_ever_can():
    fits = small([8, 8])._replace(event_cores=np.array([2, 9, 4]))
    assert ending_large(fits, JOBS, 20, np.array([2, 9])) is fits
    none = small([3, 3])
    assert ending_large(none, JOBS, 20, np.array([2, 9])) is none


def test_the_end_is_after_the_work():
    work_ms = JOBS.work() // (40 * 2)
    assert end_ms_of(JOBS, 2, 40, 0.0) > int(JOBS.arrival_ms[0]) + work_ms + 12 * HOUR_MS
    assert end_ms_of(JOBS, 2, 40, 0.0) > int(JOBS.arrival_ms[-1]) + 12 * HOUR_MS
    # A small load takes the jobs longer to arrive.
    assert end_ms_of(JOBS, 2, 40, 0.001) > end_ms_of(JOBS, 2, 40, 1.0) + 100 * HOUR_MS
