"""Instances of a data centre are valid whatever the seed, and what their parameters say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.datacentre import datacentre, two_kinds
from schedgap.instances.harvest.stability import offered_load
from schedgap.instances.units import HOUR_MS

SMALL = {"vms": 8, "servers": 80, "jobs": 6, "tasks": "4-8"}


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    preset=st.sampled_from(["C2", "C6", "C8"]),
    allocation=st.sampled_from(["fixed", "random", "balancing", "packing"]),
    pool=st.sampled_from(["harvest", "regular"]),
    cores=st.sampled_from(["", "2,8"]),
)
def test_valid_for_every_seed(seed, preset, allocation, pool, cores):
    chosen = {"preset": preset, "allocation": allocation, "pool": pool, "cores": cores, **SMALL}
    instance = datacentre(seed=seed, **chosen)
    assert instance.arrival_ms[0] >= 24 * HOUR_MS
    assert instance.event_ms.max() <= 3 * 24 * HOUR_MS
    assert instance.event_cores.max() <= 40
    assert (allocation == "fixed") == instance.is_fixed
    if allocation == "fixed" and pool == "harvest":
        assert instance.num_vms == 8
    if pool == "regular":
        assert (instance.event_ms == 0).all()
    assert datacentre(seed=seed, **chosen).digest == instance.digest


def test_workloads_of_a_seed_are_for_the_same_vms():
    light, heavy = datacentre(**SMALL), datacentre(workload="heavy", **SMALL)
    assert light.event_ms.tolist() == heavy.event_ms.tolist()
    assert (set(light.cores.tolist()), set(heavy.cores.tolist())) == ({2}, {4})
    assert heavy.runtime_ms.max() > 75 * 60_000 > light.runtime_ms.max()
    errors = datacentre(error=0.5, **SMALL)
    assert errors.event_cores.tolist() == light.event_cores.tolist()
    assert errors.runtime_ms.tolist() == light.runtime_ms.tolist()


def test_load_is_as_given():
    for allocation in ("fixed", "random"):
        instance = datacentre(load=0.6, allocation=allocation, **SMALL)
        assert offered_load(instance) == pytest.approx(0.6, rel=1e-6)


@pytest.mark.parametrize("workload", ["light", "heavy"])
def test_the_usual_load(workload):
    """Half of what the VMs have, unless times between jobs or rates are given."""
    assert offered_load(datacentre(workload=workload, **SMALL)) == pytest.approx(0.5, rel=1e-6)
    every_six = datacentre(workload=workload, interarrival_min=6.0, **SMALL)
    assert offered_load(every_six) != pytest.approx(0.5, rel=1e-2)
    twice = datacentre(workload=workload, rates="2", interarrival_min=12.0, **SMALL)
    assert twice.arrival_ms == pytest.approx(every_six.arrival_ms, rel=1e-6)
    assert offered_load(datacentre(workload=workload, interarrival_min=6.0, load=0.9, **SMALL)) == pytest.approx(0.9)


def test_wind():
    calm = datacentre(load=0.0, **SMALL)
    windy = datacentre(load=0.0, wind=0.3, **SMALL)
    assert windy.digest != calm.digest
    assert windy.arrival_ms.tolist() == calm.arrival_ms.tolist()
    assert windy.name == "C2-8-light-jobs-6-tasks-4-8-servers-80-load-0-wind-0.3-s0"


def test_wind_of_a_file(tmp_path):
    path = tmp_path / "farm.csv"
    path.write_text("wind\n" + "8\n" * 100, encoding="utf-8")
    steady = datacentre(wind=1.0, wind_csv=str(path), wind_step_h=1.0, **SMALL)
    assert steady.event_cores.tolist() == datacentre(**SMALL).event_cores.tolist()
    assert steady.name.endswith("-wind-1-farm-s0")


def test_two_kinds_are_told_by_their_names():
    instance = two_kinds(servers=60, vms=10, jobs=20)
    hot = np.array([name.startswith("hot-") for name in instance.vm_names])
    changes = np.diff(instance.first_event)
    assert abs(int(hot.sum()) - 30) <= 3
    assert changes[hot].mean() > 5 * changes[~hot].mean()
    assert (instance.allocation, int(instance.leased.sum()), instance.max_leases) == ("random", 10, 40)
    assert 1 <= int((hot & instance.leased).sum()) <= 9
    assert two_kinds(servers=60, vms=10, jobs=20).digest == instance.digest


def test_names():
    assert datacentre(**SMALL, preset="C6", seed=4).name == "C6-8-light-jobs-6-tasks-4-8-servers-80-s4"
    assert two_kinds(servers=60, vms=10, jobs=20).name == "two-kinds-10-jobs-20-servers-60-s0"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"preset": "C9"}, "C9"),
        ({"workload": "huge"}, "workload is 'huge'; choose one of light, heavy"),
        ({"vms": 700}, "vms is 700; give 1 to 500"),
        (
            {"vms": 450},
            r"begins with at least 450 harvest VMs, and \d+ of 500 servers have one at the start; give more",
        ),
        ({"cores": "41"}, "VMs have up to 40 cores, and tasks or minimum sizes up to 41"),
        ({"wind": 2.0}, "wind is 2; give 0 to 1"),
        ({"load": 0.5, "rates": "1,4"}, r"load is 0.5 and rates is '1,4'; give one of them"),
        ({"runtime_min": 1e5}, "the jobs need 928 days to be sure to be done, and 366 are the most"),
        ({"days": -1.0}, "days is -1; give 0 to 366"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        datacentre(**parameters)


def test_two_kinds_out_of_range():
    with pytest.raises(InstanceError, match=r"ratio is 0; give 0.001 to 1000"):
        two_kinds(ratio=0.0)


def test_servers_are_looked_at_before_vms():
    with pytest.raises(InstanceError, match="servers is 0; give 1 to"):
        datacentre(servers=0)
