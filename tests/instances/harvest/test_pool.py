"""Leases, the provider, the quality of pools and their cost, against the same by hand and in plain Python."""

import numpy as np
import pytest

from schedgap.instances.harvest import kernels_state as ks
from schedgap.instances.harvest.cluster import Cluster
from schedgap.instances.harvest.generate import quick
from schedgap.instances.harvest.kernels_pool import decommission, end_lease, num_leased, request
from schedgap.instances.harvest.measures import measures
from schedgap.instances.harvest.model import ALLOCATIONS, HarvestInstance
from schedgap.instances.harvest.pool import pool_quality, sizes_at
from schedgap.instances.harvest.schedule import HarvestSchedule
from schedgap.instances.harvest.verify import verify

POLICIES = ALLOCATIONS[1:]


def pool(seed, allocation, *, vms=20, leased=5, most=12, buffers=3):
    """A pool of a few VMs, the last ones on buffer servers."""
    instance = quick(vms, jobs=4, seed=seed, history_h=6.0, stability=0.3)
    up = np.flatnonzero(instance.event_cores[instance.first_event[:-1]] > 0)
    return instance.replace(
        allocation=allocation,
        max_leases=most,
        leased=np.isin(np.arange(vms), up[:leased]),
        buffer=np.arange(vms) >= vms - buffers,
    )


def advanced(instance, epochs):
    """The cluster at one of its epochs."""
    cluster = Cluster(instance)
    while cluster.now_ms < epochs * 3_600_000:
        assert cluster.advance()
    return cluster


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def expected(instance, cluster, count):
    """The VMs that a provider gives, by plain means."""
    now, state = cluster.now_ms, cluster.state
    leases = cluster.state.clock[ks.LEASES]
    taken = {
        int(vm) for vm, end in zip(state.lease_vm[:leases], state.lease_end[:leases], strict=True) if end == ks.NEVER
    }
    begun = int((state.lease_start[:leases] == now).sum())
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
        key = mixed(instance.event_ms.size ^ mixed(int(instance.event_ms.max())))
        key = mixed(mixed(key ^ now) ^ begun)
        sign = {"random": 0, "balancing": 1, "packing": -1}[instance.allocation]
        chosen = max(there, key=lambda v: (sign * up[v], mixed(key ^ v)))
        given.append(chosen)
        taken.add(chosen)
        begun += 1
    return given, up


@pytest.mark.parametrize("allocation", POLICIES)
def test_the_provider_gives_what_the_plain_one_gives(allocation):
    seen = set()
    for seed in range(12):
        instance = pool(seed, allocation)
        cluster = advanced(instance, 1 + seed % 5)
        for count in (2, 1, 30):
            before = int(cluster.state.clock[ks.LEASES])
            want, up = expected(instance, cluster, count)
            assert request(cluster.state, count) == len(want)
            after = int(cluster.state.clock[ks.LEASES])
            assert cluster.state.lease_vm[before:after].tolist() == want
            assert (cluster.state.lease_start[before:after] == cluster.now_ms).all()
            for vm in want:
                assert cluster.state.size[vm] == up[vm]
                assert cluster.state.lease[vm] == ks.LEASED
                assert (cluster.state.changed[vm], cluster.state.direction[vm]) == (cluster.now_ms, ks.GREW)
            seen |= set(want)
        assert num_leased(cluster.state) <= instance.max_leases
    on_buffers = {vm for vm in seen if vm >= 17}
    assert bool(on_buffers) == (allocation == "packing")


def test_the_same_request_gets_the_same_vm_whatever_was_drawn_or_asked_before():
    instance = pool(3, "random")
    one, other = advanced(instance, 2), advanced(instance, 2)
    other.state.random[0] += np.uint64(1)
    request(one.state, 3)
    request(other.state, 1)
    request(other.state, 2)
    assert one.state.lease_vm.tolist() == other.state.lease_vm.tolist()
    # A pool that has one more VM gets the same ones too, but for that one.
    third = advanced(instance, 1)
    request(third.state, 1)
    extra = int(third.state.lease_vm[third.state.clock[ks.LEASES] - 1])
    while third.now_ms < one.now_ms:
        third.advance()
    before = int(third.state.clock[ks.LEASES])
    request(third.state, 3)
    wanted = one.state.lease_vm[before - 1 : before + 2].tolist()
    got = third.state.lease_vm[before : before + 3].tolist()
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
    cluster = Cluster(instance)
    cluster.advance()
    state = cluster.state
    end_lease(state, 0)
    counts = np.zeros(8, int)
    for moment in range(1, 4001):
        state.clock[ks.NOW] = 1000 * moment
        state.clock[ks.LEASES] = 0
        assert request(state, 1) == 1
        counts[state.lease_vm[0]] += 1
        end_lease(state, int(state.lease_vm[0]))
    assert counts.min() > 400
    assert counts.max() < 600


def test_an_empty_vm_is_released_at_once_and_a_busy_one_when_its_last_run_ends():
    instance = pool(1, "random").replace(first_event=np.arange(21), event_ms=np.zeros(20), event_cores=np.full(20, 40))
    cluster = Cluster(instance)
    while cluster.state.clock[ks.JOB] == 0:
        cluster.advance()
    begun, now = cluster.state, cluster.now_ms
    busy, empty = np.flatnonzero(instance.leased)[:2].tolist()
    run = cluster.place(0, busy)
    decommission(begun, busy)
    decommission(begun, empty)
    assert (begun.lease[busy], begun.lease[empty]) == (ks.DRAINING, ks.NOT_LEASED)
    assert (begun.size[busy], begun.size[empty]) == (40, 0)
    assert (begun.lease_end[0], begun.lease_end[1]) == (ks.NEVER, now)
    assert num_leased(begun) == 4
    while cluster.now_ms < begun.run_end[run]:
        cluster.advance()
    assert begun.lease[busy] == ks.NOT_LEASED
    assert begun.vm_lease[busy] == ks.NOBODY
    assert begun.lease_end[0] == instance.arrival_ms[0] + instance.runtime_ms[0]


def test_nothing_is_given_beyond_the_most_leases_or_for_less_than_one():
    cluster = advanced(pool(2, "random", most=5, leased=5), 0)
    cluster.advance()
    before = num_leased(cluster.state)
    assert request(cluster.state, 3) == 5 - before
    assert request(cluster.state, 3) == 0
    assert request(cluster.state, -2) == 0


def hand_made(**changes):
    """Three VMs of at least 2 cores. a: 10 cores, 6 from 1 h on, 0 from 3 h on. b: 4. c, a buffer server's: 8, 4 from 2.5 h on.

    One job of two tasks of 2 cores, which arrives at 0: 4 h and 1 h.
    """
    hour = 3_600_000
    fields = {
        "name": "hand-made",
        "objective": "jobs",
        "kills": "oldest",
        "allocation": "random",
        "max_leases": 3,
        "base_price": 1_000_000,
        "extra_price": 500_000,
        "first_event": [0, 3, 4, 6],
        "event_ms": [0, hour, 3 * hour, 0, 0, 5 * hour // 2],
        "event_cores": [10, 6, 0, 4, 8, 4],
        "min_cores": [2, 2, 2],
        "memory_mib": [1024] * 3,
        "leased": [True, True, False],
        "buffer": [False, False, True],
        "arrival_ms": [0],
        "cores": [2],
        "task_memory_mib": [0],
        "checkpoint_ms": [-1],
        "restore_ms": [0],
        "first_task": [0, 2],
        "runtime_ms": [4 * hour, hour],
        "estimate_ms": [4 * hour, hour],
    }
    return HarvestInstance(**(fields | changes))


def hand_schedule(lease_vm, start_h, end_h):
    hour = 3_600_000
    return HarvestSchedule(
        task=[0, 1],
        vm=[1, 0],
        start_ms=[0, 0],
        end_ms=[4 * hour, hour],
        checkpoint_every_ms=[0, 0],
        lease_vm=lease_vm,
        lease_start_ms=(np.array(start_h) * hour).astype(int),
        lease_end_ms=(np.array(end_h) * hour).astype(int),
    )


class TestCosts:
    """a's cores for 3 h: 2 at a dollar each, and 8, 4 and 4 more at half a dollar: 6 + 8 = 14. b's for 4 h: 8 + 4 = 12."""

    def cost(self, schedule, **changes):
        instance = hand_made(**changes)
        verify(instance, schedule)
        return measures(instance, schedule)["cost"]

    def test_an_evicted_vm_costs_until_it_is_gone_and_one_that_drains_until_it_is_empty(self):
        assert self.cost(hand_schedule([0, 1], [0, 0], [3, 4])) == 26

    def test_a_vm_that_is_given_back_costs_nothing_more(self):
        # a from 0 to 1.5 h: 3 + 4 + 1 = 8.
        assert self.cost(hand_schedule([0, 1], [0, 0], [1.5, 4])) == 20

    def test_a_vm_costs_by_its_size_in_its_own_lease(self):
        # a again from 2 h: 2 + 2 = 4; c from 2 h to 3 h: 2, 3 for half an hour and 1 for the other: 4.
        assert self.cost(hand_schedule([0, 1, 0, 2], [0, 0, 2, 2], [1.5, 4, 3, 3])) == 28

    def test_time_after_the_last_end_is_nobodys(self):
        assert self.cost(hand_schedule([0, 1], [0, 0], [3, 9])) == 26

    def test_regular_vms_cost_the_base_price_alone(self):
        assert self.cost(hand_schedule([0, 1], [0, 0], [3, 4]), extra_price=0) == 14

    def test_the_cost_of_a_simulated_pool_is_that_of_its_leases(self):
        instance = pool(5, "random").replace(base_price=20_000, extra_price=10_000)
        cluster = Cluster(instance)
        assert cluster.run_plain()
        schedule = cluster.schedule()
        begin, end = int(instance.arrival_ms[0]), int(schedule.end_ms.max())
        micro = 0
        for vm, start, until in zip(schedule.lease_vm, schedule.lease_start_ms, schedule.lease_end_ms, strict=True):
            events = slice(instance.first_event[vm], instance.first_event[vm + 1])
            moments = [*instance.event_ms[events].tolist(), 2**52]
            for i, cores in enumerate(instance.event_cores[events].tolist()):
                ms = max(0, min(moments[i + 1], until, end) - max(moments[i], start, begin))
                least = min(cores, int(instance.min_cores[vm]))
                micro += ms * (least * 20_000 + (cores - least) * 10_000)
        assert measures(instance, schedule)["cost"] == pytest.approx(micro / 3_600_000 / 1_000_000, rel=1e-12)
        assert micro > 0


class TestQuality:
    """a shrinks at 1 h and 3 h, b never, c at 2.5 h: at an hour's very start a shrink is of the hour before."""

    def test_by_hand(self):
        quality = pool_quality(hand_made(), hand_schedule([0, 1], [0, 0], [3, 4]))
        assert quality.held.tolist() == [2, 2, 2, 1]
        assert quality.bad.tolist() == [1, 0, 1, 0]
        # Without c, which random never gives, another VM is not to be had.
        assert quality.least.tolist() == [1, 0, 1, 0]
        assert (quality.bad_share, quality.least_share, quality.regret) == (2 / 7, 2 / 7, 0)

    def test_the_best_are_of_all_that_can_be_had(self):
        quality = pool_quality(hand_made(allocation="packing"), hand_schedule([0, 1], [0, 0], [3, 4]))
        # In the first hour b and c do not shrink; in the third b alone, of a, b and c.
        assert quality.least.tolist() == [0, 0, 1, 0]
        assert quality.regret == 2 / 7 - 1 / 7

    def test_a_fixed_pool_is_held_while_it_is_up(self):
        instance = hand_made(allocation="fixed", max_leases=0, leased=[True] * 3, buffer=[False] * 3)
        quality = pool_quality(instance, hand_schedule([], [], []))
        assert quality.held.tolist() == [3, 3, 3, 2]
        assert quality.bad.tolist() == quality.least.tolist() == [1, 0, 2, 0]
        assert quality.regret == 0

    @pytest.mark.parametrize("allocation", POLICIES)
    def test_against_counting(self, allocation):
        instance = pool(6, allocation)
        cluster = Cluster(instance)
        assert cluster.run_plain()
        schedule = cluster.schedule()
        quality = pool_quality(instance, schedule)
        hour = 3_600_000
        starts = range(int(instance.arrival_ms[0]), int(schedule.end_ms.max()) - hour + 1, hour)
        assert len(starts) > 0
        for h, start in enumerate(starts):
            sizes = sizes_at(instance, np.array([start]))[:, 0]
            held = set()
            for vm, begin, end in zip(schedule.lease_vm, schedule.lease_start_ms, schedule.lease_end_ms, strict=True):
                if begin <= start < end:
                    held.add(int(vm))
            bad = set()
            for vm in range(instance.num_vms):
                events = slice(instance.first_event[vm], instance.first_event[vm + 1])
                now = 0
                for moment, cores in zip(instance.event_ms[events], instance.event_cores[events], strict=True):
                    if start < moment <= start + hour and cores < now:
                        bad.add(vm)
                    now = cores
            there = {
                v for v in range(instance.num_vms) if sizes[v] and (allocation == "packing" or not instance.buffer[v])
            }
            assert quality.held[h] == len(held)
            assert quality.bad[h] == len(held & bad)
            assert quality.least[h] == max(0, len(held) - len(there - bad))
