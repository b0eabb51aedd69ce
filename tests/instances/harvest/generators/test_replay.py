"""The replayed data centre: what it gives is well formed, and the same for the same seed; VMs made of it, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.replay import PRESETS, FreeCores, harvest_vms, regular_vms, replay, spot_vms
from schedgap.instances.harvest.generators.vms import Batches

DAY_MS = 86_400_000
# Server 0 has 5 cores, 1 from second 10, 3 from 20; server 1 has 0, 8 from 15; server 2 has 1.
FREE = FreeCores(60_000, [0, 3, 5, 6], [0, 10_000, 20_000, 0, 15_000, 0], [5, 1, 3, 0, 8, 1], [False, False, True])


def listed(profiles):
    return tuple(part.tolist() for part in profiles)


def test_a_harvest_vm_has_all_free_cores_or_none():
    """Two cores at least: server 0 has 5, none, 3; server 1 has 8 from 15 on; server 2 never has a VM."""
    assert listed(harvest_vms(FREE, 2)) == ([0, 3, 4, 4], [0, 10_000, 20_000, 15_000], [5, 0, 3, 8])


def test_minimum_sizes_may_differ():
    assert listed(harvest_vms(FREE, [4, 9, 1])) == ([0, 2, 2, 3], [0, 10_000, 0], [5, 0, 1])


def test_a_spot_vm_has_its_cores_or_none():
    """Of 2 cores: the change from 5 to 1 evicts it, 3 bring it back, and 8 are still 2."""
    assert listed(spot_vms(FREE, 2)) == ([0, 3, 4, 4], [0, 10_000, 20_000, 15_000], [2, 0, 2, 2])
    assert listed(spot_vms(FREE, 1)) == ([0, 1, 2, 3], [0, 15_000, 0], [1, 1, 1])


def test_regular_vms_stay():
    assert listed(regular_vms([2, 8])) == ([0, 1, 2], [0, 0], [2, 8])
    assert listed(regular_vms(4)) == ([0, 1], [0], [4])


@pytest.mark.parametrize("name", PRESETS)
def test_cores_are_step_functions(name):
    free = replay(name, servers=40, days=1.5, seed=4)
    assert free.num_servers == 40
    assert int(free.buffer.sum()) == 2
    assert free.end_ms == 1.5 * DAY_MS
    assert (free.event_ms[free.first_event[:-1]] == 0).all()
    assert free.event_ms.max() < free.end_ms
    assert ((free.cores >= 0) & (free.cores <= 40)).all()
    assert not (free.event_ms % 1000).any()
    same = np.diff(free.event2server()) == 0
    assert (np.diff(free.event_ms)[same] > 0).all()
    assert (np.diff(free.cores)[same] != 0).all()
    # Nothing is placed on buffer servers, and at most 2 cores of each are taken.
    assert (np.diff(free.first_event)[free.buffer] == 1).all()
    assert (free.cores[free.first_event[:-1]][free.buffer] >= 38).all()


def test_the_same_seed_gives_the_same_cluster():
    one, two, other = (replay("C2", servers=20, days=1, seed=seed) for seed in (1, 1, 2))
    assert one.cores.tolist() == two.cores.tolist()
    assert one.event_ms.tolist() == two.event_ms.tolist()
    assert one.cores.tolist() != other.cores.tolist()


def test_the_cluster_has_long_been_running_when_it_is_first_seen():
    """VMs that came before take some of what the VMs that never end leave: as much at the start as later, more or less."""

    def mean_free(free, day):
        server = free.event2server()
        last = np.flatnonzero(free.event_ms <= day * DAY_MS)
        return free.cores[last[np.append(np.diff(server[last]) > 0, True)]].mean()

    empty = replay(replace(PRESETS["C2"], batches=1e-9), servers=200, days=1, seed=0)
    free = replay("C2", servers=200, days=4, seed=0)
    assert mean_free(free, 0) < 0.85 * mean_free(empty, 0)
    assert mean_free(free, 0) == pytest.approx(np.mean([mean_free(free, day) for day in (1, 2, 3)]), rel=0.25)


def test_quiet_servers_are_nearly_empty_and_seldom_change():
    """Half of 40 servers beside two buffers: they have a tenth of the others' weight, which does not differ here."""
    preset = replace(PRESETS["C2"], quiet=0.5, base_mean=0.1, batches=2.0, server_sigma=0.0)
    free = replay(preset, servers=40, days=1, seed=0)
    events = np.diff(free.first_event)
    assert np.sort(events)[:22].sum() < 0.5 * np.sort(events)[22:].sum()
    assert np.sort(free.cores[free.first_event[:-1]])[-22:].min() > 25


def test_batches_of_a_trace_take_the_place_of_drawn_ones():
    """A trace of one VM of 4 cores that lives an hour: cores only ever change by fours, or eights where VMs are doubled."""
    trace = Batches([0, 1], [4], [3599], [3600], [False])
    free = replay("C2", servers=20, days=1, seed=1, arrivals=trace)
    steps = np.diff(free.cores)[np.diff(free.event2server()) == 0]
    assert steps.size > 100
    assert not (steps % 4).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"servers": 0}, "servers is 0; give 1 to"),
        ({"days": 0.0}, "days is 0; give a positive number"),
        ({"days": float("nan")}, "days is nan; give a positive number"),
        ({"preset": "C9"}, "there is no cluster 'C9'; known are C1, C2,"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    given = {"preset": "C2", "servers": 10, "days": 1.0, "seed": 0} | changes
    with pytest.raises(InstanceError, match=message):
        replay(given.pop("preset"), **given)
