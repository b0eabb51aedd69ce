"""Offered load by hand."""

import math

import numpy as np

from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.stability import offered_load, total_cores

# 4 cores, 2 from moment 10 on; and 6 cores from moment 20 on.
FIRST, MS, CORES = np.array([0, 2, 3]), np.array([0, 10, 20]), np.array([4, 2, 6])


def test_total_cores():
    times, cores = total_cores(FIRST, MS, CORES)
    assert (times.tolist(), cores.tolist()) == ([0, 10, 20], [4, 2, 8])
    times, cores = total_cores(FIRST, MS, CORES, np.array([False, False, True]))
    assert (times.tolist(), cores.tolist()) == ([20], [6])


def test_offered_load_by_hand():
    instance = quick(2, 2, "1").replace(
        first_event=FIRST,
        event_ms=MS,
        event_cores=CORES,
        min_cores=np.array([2, 2]),
        memory_mib=np.array([1, 1]),
        arrival_ms=np.array([5, 25]),
        cores=np.array([2, 2]),
        task_memory_mib=np.array([1, 1]),
        runtime_ms=np.array([30, 10]),
        estimate_ms=np.array([30, 10]),
    )
    # Work 2 x 40 = 80. Cores from 5 to 25: 5 x 4 + 10 x 2 + 5 x 8 = 80, and as much again for the interval after it.
    assert offered_load(instance) == 80 / 160
    assert offered_load(instance.replace(arrival_ms=np.array([5, 5]))) == math.inf
