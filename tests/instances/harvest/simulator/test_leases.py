"""Leases, the provider, the quality of pools and their cost, against the same by hand and in plain Python."""

import numpy as np
import pytest

from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.model import ALLOCATIONS
from schedgap.instances.harvest.simulator import state as ks
from schedgap.instances.harvest.simulator.leases import decommission, end_lease, num_leased, request
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.units import NEVER

POLICIES = ALLOCATIONS[1:]


def advanced(instance, epochs):
    """The simulator at one of its epochs."""
    simulator = Simulator(instance)
    while simulator.now_ms < epochs * 3_600_000:
        assert simulator.advance()
    return simulator


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def past(instance, now):
    """What all events until now are hashed to, in order of time."""
    events = sorted(
        zip(instance.event_ms.tolist(), instance.event2vm().tolist(), instance.event_cores.tolist(), strict=True)
    )
    key = 0
    for ms, vm, cores in events:
        if ms <= now:
            key = mixed(mixed(mixed(key ^ ms) ^ vm) ^ cores)
    return key


def expected(instance, simulator, count):
    """The VMs that a provider gives, by plain means."""
    now, state = simulator.now_ms, simulator.state
    leases = simulator.state.clock[0].leases
    taken = {
        int(vm) for vm, end in zip(state.leases.vm[:leases], state.leases.end[:leases], strict=True) if end == NEVER
    }
    begun = int((state.leases.start[:leases] == now).sum())
    up = []
    for v in range(instance.num_vms):
        events = slice(instance.first_event[v], instance.first_event[v + 1])
        at = np.searchsorted(instance.event_ms[events], now, side="right")
        up.append(int(instance.event_cores[events][at - 1]) if at else 0)
    given = []
    for _ in range(count):
        there = [v for v in range(instance.num_vms) if up[v] >= instance.min_cores[v] and v not in taken]
        if instance.allocation != "packing":
            there = [v for v in there if not instance.buffer[v]]
        if not there or len(taken) >= instance.max_leases:
            break
        key = mixed(mixed(past(instance, now) ^ now) ^ begun)
        sign = {"random": 0, "balancing": 1, "packing": -1}[instance.allocation]
        chosen = max(there, key=lambda v: (sign * up[v], mixed(key ^ v)))
        given.append(chosen)
        taken.add(chosen)
        begun += 1
    return given, up


@pytest.mark.parametrize("allocation", POLICIES)
def test_the_provider_gives_what_the_plain_one_gives(allocation, drawn_pool):
    seen = set()
    for seed in range(12):
        instance = drawn_pool(seed, allocation)
        simulator = advanced(instance, 1 + seed % 5)
        for count in (2, 1, 30):
            before = int(simulator.state.clock[0].leases)
            want, up = expected(instance, simulator, count)
            assert request(simulator.state, count) == len(want)
            after = int(simulator.state.clock[0].leases)
            assert simulator.state.leases.vm[before:after].tolist() == want
            assert (simulator.state.leases.start[before:after] == simulator.now_ms).all()
            for vm in want:
                assert simulator.state.vms.cores[vm] == up[vm]
                assert simulator.state.vms.lease[vm] == ks.LEASED
                assert (simulator.state.vms.changed[vm], simulator.state.vms.direction[vm]) == (
                    simulator.now_ms,
                    ks.GREW,
                )
            seen |= set(want)
        assert num_leased(simulator.state) <= instance.max_leases
    on_buffers = {vm for vm in seen if vm >= 17}
    assert bool(on_buffers) == (allocation == "packing")


def test_the_same_request_gets_the_same_vm_whatever_was_drawn_or_asked_before(drawn_pool):
    instance = drawn_pool(3, "random")
    one, other = advanced(instance, 2), advanced(instance, 2)
    other.state.clock.random[0] += np.uint64(1)
    request(one.state, 3)
    request(other.state, 1)
    request(other.state, 2)
    assert one.state.leases.vm.tolist() == other.state.leases.vm.tolist()
    # A pool that has one more VM gets the same ones too, but for that one.
    third = advanced(instance, 1)
    request(third.state, 1)
    extra = int(third.state.leases.vm[third.state.clock[0].leases - 1])
    while third.now_ms < one.now_ms:
        third.advance()
    before = int(third.state.clock[0].leases)
    request(third.state, 3)
    wanted = one.state.leases.vm[before - 1 : before + 2].tolist()
    got = third.state.leases.vm[before : before + 3].tolist()
    assert [vm for vm, want in zip(got, wanted, strict=True) if vm != want] == [
        vm for vm, want in zip(got, wanted, strict=True) if want == extra
    ]


def test_random_choices_are_even():
    """Each of 8 equal VMs is the first choice in 1 of 8 of 4000 moments: 500 each, standard deviation 21."""
    instance = quick(8, jobs=1, seed=0).replace(
        first_event=np.arange(9),
        event_ms=np.zeros(8),
        event_cores=np.full(8, 16),
        allocation="random",
        max_leases=2,
        leased=np.arange(8) == 0,
    )
    simulator = Simulator(instance)
    simulator.advance()
    state = simulator.state
    end_lease(state, 0)
    counts = np.zeros(8, int)
    for moment in range(1, 4001):
        state.clock[0].now = 1000 * moment
        state.clock[0].leases = 0
        assert request(state, 1) == 1
        counts[state.leases.vm[0]] += 1
        end_lease(state, int(state.leases.vm[0]))
    assert counts.min() > 400
    assert counts.max() < 600


def test_an_empty_vm_is_released_at_once_and_a_busy_one_when_its_last_run_ends(drawn_pool):
    instance = drawn_pool(1, "random").replace(
        first_event=np.arange(21), event_ms=np.zeros(20), event_cores=np.full(20, 40)
    )
    simulator = Simulator(instance)
    while simulator.state.clock[0].next_job == 0:
        simulator.advance()
    begun, now = simulator.state, simulator.now_ms
    busy, empty = np.flatnonzero(instance.leased)[:2].tolist()
    run = simulator.place(0, busy)
    decommission(begun, busy)
    decommission(begun, empty)
    assert (begun.vms.lease[busy], begun.vms.lease[empty]) == (ks.DRAINING, ks.NOT_LEASED)
    assert (begun.vms.cores[busy], begun.vms.cores[empty]) == (40, 0)
    assert (begun.leases.end[0], begun.leases.end[1]) == (NEVER, now)
    assert num_leased(begun) == 4
    while simulator.now_ms < begun.runs.end[run]:
        simulator.advance()
    assert begun.vms.lease[busy] == ks.NOT_LEASED
    assert begun.vms.current_lease[busy] == ks.NOBODY
    assert begun.leases.end[0] == instance.arrival_ms[0] + instance.runtime_ms[0]


def test_nothing_is_given_beyond_the_most_leases_or_for_less_than_one(drawn_pool):
    simulator = advanced(drawn_pool(2, "random", most=5, leased=5), 0)
    simulator.advance()
    before = num_leased(simulator.state)
    assert request(simulator.state, 3) == 5 - before
    assert request(simulator.state, 3) == 0
    assert request(simulator.state, -2) == 0
