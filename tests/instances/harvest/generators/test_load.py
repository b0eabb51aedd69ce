"""Jobs stretched to a load, by hand."""

import numpy as np
import pytest

from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.generators.vms import Vms
from schedgap.instances.harvest.generators.workloads import Workload, draw_jobs, loaded


def two_vms():
    """Return 4 cores, 2 from moment 10 on; and 6 cores from moment 20 on."""
    return Vms(np.array([0, 2, 3]), np.array([0, 10, 20]), np.array([4, 2, 6]), np.array([2, 2]), np.array([1, 1]))


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
