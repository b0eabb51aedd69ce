"""The compiled cluster does what a plain one does, event by event, whatever the options and whatever is declined."""

import numba
import numpy as np
import pytest

from schedgap.instances.sharing import verify
from schedgap.instances.sharing.simulator import events
from schedgap.instances.sharing.simulator.events import lowest
from schedgap.instances.sharing.simulator.simulator import NODES, OFFERS, TIES, Simulator
from schedgap.instances.sharing.simulator.state import NOBODY
from schedgap.instances.units import NEVER


@numba.njit
def first(state, m):
    return lowest(state, m)


def options():
    return [(nodes, ties, offers) for nodes in NODES for ties in TIES for offers in OFFERS]


@pytest.mark.parametrize(("nodes", "ties", "offers"), options())
def test_it_is_the_plain_cluster(nodes, ties, offers, drawn, keys_of, plain_cluster):
    waited = 0
    for seed in range(24):
        instance = drawn(seed)
        keys = keys_of(instance, ("eunomia", "tsf", "cmmf", "drf")[seed % 4])
        simulator = Simulator(instance, nodes=nodes, ties=ties, offers=offers, seed=seed)
        plain = plain_cluster(instance, simulator, nodes, offers, [(0, *keys)])
        simulator.set_keys(*keys)
        simulator.run()
        schedule = simulator.schedule()
        machine, start = plain.run()
        assert schedule.machine.tolist() == machine.tolist()
        assert schedule.start_ms.tolist() == start.tolist()
        verify(instance, schedule)
        waited += int((start > instance.arrival_ms[instance.task2job()]).sum())
    assert waited > 100


def test_keys_can_change_on_the_way(drawn, plain_cluster):
    changed = 0
    for seed in range(40):
        instance = drawn(seed)
        rng = np.random.default_rng(seed)
        shape = (instance.num_jobs, len(instance.machine_names))
        moments = np.sort(rng.integers(0, 20, 4)) * 500
        moments[0] = 0
        # Gains in quarters: their sums are exact in whatever order they are added.
        changes = [
            (
                int(ms),
                rng.integers(0, 9, shape) / 4,
                2.0 ** rng.integers(0, 3, shape[0]),
                rng.integers(0, 3, shape[0]) / 2,
            )
            for ms in moments
        ]
        simulator = Simulator(instance)
        once = Simulator(instance)
        plain = plain_cluster(instance, simulator, "index", "each", changes)
        once.set_keys(*changes[0][1:])
        once.run()
        for ms, *keys in changes:
            simulator.run_until(ms)
            assert simulator.now_ms == ms
            simulator.set_keys(*keys)
        simulator.run()
        machine, start = plain.run()
        assert simulator.schedule().machine.tolist() == machine.tolist()
        assert simulator.schedule().start_ms.tolist() == start.tolist()
        changed += simulator.schedule().start_ms.tolist() != once.schedule().start_ms.tolist()
    assert changed > 5


def answer_offers(state, willing, until):
    """Start the first job of every machine that is offered as long as its task is willing; return how many were declined."""
    declined = 0
    while (m := events.next_offer(state, until)) != NOBODY:
        assert state.clock[0].now < until
        job = first(state, m)
        # Where machines may be left idle, only those are offered on which a waiting job fits.
        assert job != NOBODY
        while job != NOBODY and willing[state.jobs.first_task[job] + state.jobs.started[job], m]:
            job = events.start(state, m, job)
            assert job == first(state, m)
        declined += job != NOBODY
    return declined


@pytest.mark.parametrize(("nodes", "ties", "offers"), options())
def test_machines_that_are_left_idle_are_offered_as_in_the_plain_cluster(
    nodes, ties, offers, drawn, keys_of, plain_cluster
):
    declined, left = 0, 0
    for seed in range(24):
        instance, keys = drawn(seed), keys_of(drawn(seed))
        willing = np.random.default_rng(seed).random((instance.num_tasks, instance.num_machines)) < 0.7
        given = {"nodes": nodes, "ties": ties, "offers": offers, "seed": seed, "declines": True}
        whole, parts = Simulator(instance, **given), Simulator(instance, **given)
        plain = plain_cluster(instance, whole, nodes, offers, [(0, *keys)], willing)
        for simulator in (whole, parts):
            simulator.set_keys(*keys)
        declined += answer_offers(whole.state, willing, NEVER)
        for until in (1, 700, 2000, 2001, 5000, NEVER):
            answer_offers(parts.state, willing, until)
        machine, start = plain.run()
        for simulator in (whole, parts):
            assert simulator.schedule().machine.tolist() == machine.tolist()
            assert simulator.schedule().start_ms.tolist() == start.tolist()
        left += int((start < 0).sum())
    assert declined > 50
    assert left > 0
