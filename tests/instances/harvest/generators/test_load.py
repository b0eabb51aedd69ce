"""Offered load by hand."""

import math

import numpy as np
import pytest

from schedgap.instances.harvest.generators.load import loaded, offered_load, total_cores
from schedgap.instances.harvest.generators.quick import quick
from schedgap.instances.harvest.generators.vms import Vms
from schedgap.instances.harvest.generators.workloads import Workload, draw_jobs


def two_vms():
    """Return 4 cores, 2 from moment 10 on; and 6 cores from moment 20 on."""
    return Vms(np.array([0, 2, 3]), np.array([0, 10, 20]), np.array([4, 2, 6]), np.array([2, 2]), np.array([1, 1]))


def test_total_cores():
    times, cores = total_cores(two_vms())
    assert (times.tolist(), cores.tolist()) == ([0, 10, 20], [4, 2, 8])


def test_offered_load_by_hand():
    instance = quick(2, 2, "1").replace(
        **two_vms()._asdict(),
        arrival_ms=np.array([5, 25]),
        cores=np.array([2, 2]),
        task_memory_mib=np.array([1, 1]),
        runtime_ms=np.array([30, 10]),
        estimate_ms=np.array([30, 10]),
    )
    # Work 2 x 40 = 80. Cores from 5 to 25: 5 x 4 + 10 x 2 + 5 x 8 = 80, and as much again for the interval after it.
    assert offered_load(instance) == 80 / 160
    assert offered_load(instance.replace(arrival_ms=np.array([5, 5]))) == math.inf


def test_loaded_beyond_the_last_event():
    jobs = draw_jobs(Workload(jobs=2, tasks="1", interarrival_min=1.0), 0, history_ms=0)
    jobs = jobs._replace(arrival_ms=np.array([5, 6]), runtime_ms=np.array([300, 100]))
    # Work 800, of which half is to be what there is until the last arrival, at load 1: 5 x 4 + 10 x 2 + 45 x 8 = 400.
    assert loaded(jobs, two_vms(), 1.0).arrival_ms.tolist() == [5, 65]
    assert loaded(jobs, two_vms(), 1.0, grid_ms=10).arrival_ms.tolist() == [5, 65]


@pytest.mark.parametrize("load", [0.3, 0.9])
def test_loaded_keeps_the_pattern(load):
    one, other = quick(8, 6, load=load), quick(8, 6, load=2 * load)
    gaps, shorter = np.diff(one.arrival_ms), np.diff(other.arrival_ms)
    assert gaps / gaps.sum() == pytest.approx(shorter / shorter.sum(), rel=1e-3)
