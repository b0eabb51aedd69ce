"""Quick instances are valid whatever the seed, and what their parameters say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.stability import offered_load
from schedgap.instances.units import HOUR_MS


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    vms=st.integers(1, 6),
    jobs=st.integers(1, 5),
    cores=st.sampled_from(["1", "2,4", "8"]),
    most_cores=st.sampled_from([8, 40]),
    grid_s=st.sampled_from([0.0, 60.0, 300.0]),
    history_h=st.sampled_from([0.0, 2.0]),
)
def test_valid_for_every_seed(seed, vms, jobs, cores, most_cores, grid_s, history_h):
    chosen = {"cores": cores, "most_cores": most_cores, "grid_s": grid_s, "history_h": history_h}
    instance = quick(vms, jobs, seed=seed, **chosen)
    assert (instance.num_vms, instance.num_jobs, instance.is_fixed) == (vms, jobs, True)
    assert instance.arrival_ms[0] >= history_h * HOUR_MS
    last = instance.event_cores[instance.first_event[1:] - 1]
    assert last.max() >= instance.cores.max()
    grid_ms = max(1, int(1000 * grid_s))
    for times in (instance.event_ms, instance.arrival_ms, instance.runtime_ms, instance.estimate_ms):
        assert (times % grid_ms == 0).all()
    assert quick(vms, jobs, seed=seed, **chosen).digest == instance.digest


def test_vms_change_until_the_work_is_done():
    instance = quick(4, 6, "10-20", seed=3)
    work = float(np.repeat(instance.cores, np.diff(instance.first_task)) @ instance.runtime_ms)
    last = np.maximum.reduceat(instance.event_ms, instance.first_event[:-1])
    assert last.max() > instance.arrival_ms[-1] + work / (40 * 4)
    assert instance.arrival_ms[0] >= 24 * HOUR_MS


@pytest.mark.parametrize("load", [0.2, 0.7, 1.5])
def test_load_is_as_given(load):
    for seed in range(5):
        assert offered_load(quick(16, 10, "5-10", load=load, seed=seed)) == pytest.approx(load, rel=1e-6)


def test_names_tell_instances_apart():
    assert quick().name == "quick-8-5-s0"
    assert quick(2, 3, "1", cores="4", load=0.5, grid_s=60.0).name == "quick-2-3-tasks-1-cores-4-load-0.5-grid-s-60-s0"
    assert quick(kills="newest", objective="makespan", seed=2).name == "quick-8-5-objective-makespan-kills-newest-s2"
    assert quick(seed=1).digest != quick(seed=2).digest


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"vms": 0}, "vms is 0; give 1 to"),
        ({"jobs": 0}, "jobs is 0; give 1 to"),
        ({"cores": "64"}, "VMs have up to 40 cores, and tasks or minimum sizes up to 64; give smaller ones"),
        ({"most_cores": 4}, "VMs have up to 4 cores, and tasks or minimum sizes up to 8"),
        ({"min_sizes": "0,2"}, "min_sizes is '0,2'; give positive numbers"),
        ({"grid_s": -1.0}, "grid_s is -1; give 0 to"),
        ({"stability": float("nan")}, "stability is nan; give"),
        ({"load": 0.5, "jobs": 1}, "load is 0.5 for a single job"),
        ({"load": 0.5, "interarrival_min": 0.0}, "load is 0.5 and all jobs arrive at once"),
        ({"objective": "cost"}, "objective is 'cost'; choose one of jobs, tasks, makespan"),
        ({"kills": "all"}, "kills is 'all'"),
        ({"memory_mib_per_core": 2**20}, r"tasks of job job-0 need 2 cores and 2097152 MiB, and no VM has"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        quick(**parameters)
