"""Acquisition rules, against the same in plain Python, and the pools that come of them."""

import copy

import numpy as np
import pytest

from schedgap.heuristics.harvest.acquisition import ACQUIRERS, SCALINGS, acquisition
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.simulator import state as ks
from schedgap.instances.harvest.simulator.leases import request
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.verify import verify
from schedgap.instances.units import NEVER

HOUR_MS = 3_600_000
HALF_HOUR_MS = HOUR_MS // 2


def pool(seed, *, vms=60, leased=20, most=40, allocation="random", **workload):
    given = {"jobs": 12, "tasks": "10-60", "interarrival_min": 12.0, "history_h": 4.0, "stability": 0.5} | workload
    instance = quick(vms, seed=seed, **given)
    up = np.flatnonzero(instance.event_cores[instance.first_event[:-1]] > 0)
    return instance.replace(allocation=allocation, max_leases=most, leased=np.isin(np.arange(vms), up[:leased]))


def played(instance, rule, *, every_epoch=lambda state: None, until=None):
    """A simulation in which tasks went to the first VM that they fit on, and how many leases took tasks, by epoch."""
    simulator = Simulator(instance)
    sizes = []
    while simulator.advance():
        state = simulator.state
        now = simulator.now_ms
        if state.clock[0].epoch == now:
            every_epoch(state)
            rule.look_after(state)
            sizes.append(int((state.vms.lease == ks.LEASED).sum()))
        if until is not None and now >= until:
            break
        waiting = np.flatnonzero(state.tasks.stage == ks.WAITS)
        for task in waiting.tolist():
            room = (state.vms.lease == ks.LEASED) & (
                state.vms.cores - state.vms.used >= instance.cores[state.tasks.job[task]]
            )
            if not room.any():
                break
            simulator.place(task, int(np.argmax(room)))
    return simulator, sizes


def leases(simulator):
    state = simulator.state
    number = int(state.clock[0].leases)
    return list(
        zip(
            *(values[:number].tolist() for values in (state.leases.vm, state.leases.start, state.leases.end)),
            strict=True,
        )
    )


def plain(state, target, cores, acquirer, scaling, fraction):
    """What an epoch does: the state after the requests, and the VMs that are given back or drain."""
    state = copy.deepcopy(state)
    active = [v for v in range(state.vms.lease.size) if state.vms.lease[v] == ks.LEASED]
    # The most recently changed first, of equals that with the latest lease.
    worst = sorted(active, key=lambda v: (-state.vms.changed[v], -state.vms.current_lease[v]))
    count = len(active) * fraction // 1000 if acquirer == "recent" else 0
    back, stay = worst[:count], worst[count:]
    if scaling == "none" or (scaling != "cores" and state.clock[0].next_job == 0):
        wanted = max(target - len(stay), 0)
    else:
        load = int(state.vms.used.sum())
        if scaling == "demand":
            load += sum(
                int(state.jobs.cores[state.tasks.job[t]]) for t in np.flatnonzero(state.tasks.stage == ks.WAITS)
            )
        total = sum(int(state.vms.cores[v]) for v in stay)
        mean = sum(int(state.vms.cores[v]) for v in active) / max(len(active), 1)
        wanted, low, high = 0, 0.6, 0.8
        if scaling == "cores":
            load, low, high = cores, 1.0, 1.0
        if not active:
            wanted = target
        elif load > high * total + 1e-9:
            wanted = int(np.ceil((load / high - total) / mean - 1e-9))
        else:
            while len(stay) > 1 and load <= low * (total - state.vms.cores[stay[0]]) + 1e-9:
                total -= state.vms.cores[stay[0]]
                back.append(stay.pop(0))
    given = request(state, wanted)
    missing = min(wanted - given, count)
    back = back[: count - missing] + back[count:]
    return state, set(back)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize(("acquirer", "most"), [("keep", 40), ("recent", 40), ("recent", 22)])
def test_every_epoch_is_the_plain_one(acquirer, scaling, most):
    ends, starts = 0, 0
    for seed in range(2):
        instance = pool(seed, most=most, jobs=8)
        rule = acquisition(instance, acquirer, scaling, fraction=0.15 if acquirer == "recent" else None)
        cores = int(instance.event_cores[instance.first_event[:-1]][instance.leased].sum())
        simulator = Simulator(instance)
        while simulator.advance():
            state = simulator.state
            if state.clock[0].epoch == simulator.now_ms:
                after, back = plain(state, 20, cores, acquirer, scaling, 150)
                drained = {v for v in range(60) if state.vms.lease[v] == ks.DRAINING}
                rule.look_after(state)
                number = int(after.clock[0].leases)
                starts += number - 20
                ends += len(back)
                if acquirer == "keep" and scaling != "none":
                    # Which VMs go is drawn: only how many is told.
                    back = {v for v in range(60) if after.vms.lease[v] == ks.LEASED and state.vms.lease[v] != ks.LEASED}
                assert state.clock[0].leases == number
                assert state.leases.vm[:number].tolist() == after.leases.vm[:number].tolist()
                for v in range(60):
                    if v not in back:
                        assert state.vms.lease[v] == after.vms.lease[v]
                    elif state.vms.used[v] > 0:
                        assert state.vms.lease[v] == ks.DRAINING
                    else:
                        assert state.vms.lease[v] == ks.NOT_LEASED
                        assert state.leases.end[after.vms.current_lease[v]] == simulator.now_ms
                assert not drained & {v for v in range(60) if state.vms.lease[v] == ks.LEASED}
            waiting = np.flatnonzero(state.tasks.stage == ks.WAITS)
            for task in waiting.tolist():
                room = (state.vms.lease == ks.LEASED) & (
                    state.vms.cores - state.vms.used >= instance.cores[state.tasks.job[task]]
                )
                if not room.any():
                    break
                simulator.place(task, int(np.argmax(room)))
        assert simulator.is_complete
        verify(instance, simulator.schedule())
    assert starts > 0
    if acquirer == "recent" or scaling in ("utilisation", "demand"):
        assert ends > 0
    elif scaling == "none":
        assert ends == 0


@pytest.mark.parametrize("allocation", ["random", "balancing", "packing"])
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("acquirer", ACQUIRERS)
def test_schedules_in_such_pools_are_feasible_and_repeat(acquirer, scaling, allocation):
    instance = pool(7, allocation=allocation, jobs=6)
    runs = [played(instance, acquisition(instance, acquirer, scaling)) for _ in range(2)]
    simulator, sizes = runs[0]
    assert simulator.is_complete
    verify(instance, simulator.schedule())
    assert leases(simulator) == leases(runs[1][0])
    assert max(sizes) <= instance.max_leases
    if scaling == "none":
        assert max(sizes) == 20


def test_evicted_vms_are_replaced_at_the_next_epoch():
    instance = pool(2, stability=0.2)
    simulator, _ = played(instance, acquisition(instance))
    begun = [start for _, start, _ in leases(simulator)[20:]]
    assert begun
    assert not any(start % HOUR_MS for start in begun)


def test_nothing_is_given_back_before_the_first_job_without_warm_up():
    instance = pool(3, history_h=8.5)
    first_ms = int(instance.arrival_ms[0])
    for warm_up in (True, False):
        simulator, _ = played(instance, acquisition(instance, "recent", warm_up=warm_up), until=first_ms - HALF_HOUR_MS)
        number, state = int(simulator.state.clock[0].leases), simulator.state
        released = 0
        for vm, _, end in leases(simulator):
            events = slice(instance.first_event[vm], instance.first_event[vm + 1])
            evicted = end in instance.event_ms[events][instance.event_cores[events] == 0].tolist()
            released += end != NEVER and not evicted
        assert (released > 0) == warm_up
        assert number >= 20
        assert state.clock[0].next_job == 0


def test_scaling_follows_the_load():
    """100 cores in 10 VMs of 10; the pool is to use 60 to 80 %."""
    instance = quick(60, jobs=1, tasks="300", cores="1", seed=0, runtime_min=600.0, history_h=0.5).replace(
        first_event=np.arange(61),
        event_ms=np.zeros(60),
        event_cores=np.full(60, 10),
        allocation="random",
        max_leases=60,
        leased=np.arange(60) < 10,
    )
    for placed, expected in ((81, 11), (80, 10), (61, 10), (60, 10), (55, 10), (54, 9), (30, 5), (1, 1), (100, 13)):
        simulator = Simulator(instance)
        while simulator.state.clock[0].next_job == 0:
            simulator.advance()
        for task in range(placed):
            simulator.place(task, task % 10)
        simulator.state.tasks.runtime[:placed] = 1
        state = simulator.state
        state.clock[0].now = HOUR_MS
        acquisition(instance, scaling="utilisation").look_after(state)
        assert (state.vms.lease == ks.LEASED).sum() == expected
        # With the 300 - placed tasks that wait: ceil(300 / .8 / 10) = 38 VMs.
        acquisition(instance, scaling="demand").look_after(state)
        assert (state.vms.lease == ks.LEASED).sum() == 38


def test_the_reservation_rule_finds_the_stable_vms_and_leaves_a_pool_of_equals_alone():
    """Half of 200 VMs change twice an hour, the other half never (the paper's Appendix B.4)."""
    hours = 30
    rng = np.random.default_rng(0)
    first, moments, sizes = [0], [], []
    for v in range(200):
        at = [0] if v % 2 else [0, *np.unique(rng.integers(1, HOUR_MS * hours, 2 * hours)).tolist()]
        moments += at
        sizes += [20 - 5 * (i % 2) for i in range(len(at))]
        first.append(len(moments))
    instance = quick(200, jobs=1, seed=0, history_h=float(hours)).replace(
        first_event=first,
        event_ms=moments,
        event_cores=sizes,
        allocation="random",
        max_leases=90,
        leased=np.arange(200) < 60,
    )
    shares = {}
    for name in ACQUIRERS:
        share = []
        played(instance, acquisition(instance, name), every_epoch=lambda s, share=share: share.append(stable(s)))
        shares[name] = share
    assert set(shares["keep"]) == {0.5}
    assert shares["recent"][12] > 0.75
    assert shares["reservation"][12] > shares["recent"][12]
    assert shares["reservation"][-1] > 0.95
    # Without any change of a VM there is no better one to be had.
    still = instance.replace(first_event=np.arange(201), event_ms=np.zeros(200), event_cores=np.full(200, 20))
    simulator, _ = played(still, acquisition(still, "reservation"))
    assert simulator.state.clock[0].leases == 60


def stable(state):
    held = np.flatnonzero(state.vms.lease == ks.LEASED)
    return float((held % 2 == 1).mean())


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"acquirer": "newest"}, "acquirer 'newest' is unknown; choose one of keep, recent, reservation."),
        ({"scaling": "up"}, "scaling 'up' is unknown; choose one of none, cores, utilisation, demand."),
        ({"fraction": 0.6}, "the acquirer is to give back a fraction of 0.6 of the pool; give 0 to 0.5."),
    ],
)
def test_what_makes_no_sense_is_refused(keywords, message):
    with pytest.raises(MethodError, match=f"^{message}$"):
        acquisition(pool(0), **keywords)
