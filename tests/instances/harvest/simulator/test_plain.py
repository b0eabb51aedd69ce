"""The plain rule, and what it remembers in a pass, against plain Python."""

from itertools import groupby

import numpy as np

from schedgap.instances.arrays import records
from schedgap.instances.harvest.model import NO_CHECKPOINTS
from schedgap.instances.harvest.simulator import plain
from schedgap.instances.harvest.simulator.leases import num_leased, request
from schedgap.instances.harvest.simulator.simulator import REFUSED, Simulator
from schedgap.instances.harvest.simulator.state import LEASED, WAITS, Demand
from schedgap.instances.jit import lean_kernel

FREE_EVERY, COSTLY_EVERY = 2, 3


@lean_kernel
def is_refused(s, num_refused, cores, memory):
    return plain.is_refused(s, num_refused, cores, memory)


@lean_kernel
def refuse(s, num_refused, cores, memory):
    return plain.refuse(s, num_refused, cores, memory)


@lean_kernel
def checkpoints_every(s, job, free_every, costly_every):
    return plain.checkpoints_every(s, job, free_every, costly_every)


@lean_kernel
def list_fitting(s, cores, memory):
    return plain.list_fitting(s, cores, memory)


@lean_kernel
def plain_pass(s, free_every, costly_every):
    plain.plain_pass(s, free_every, costly_every)


def roomy(s, cores, memory):
    """The VMs with room, by what they have and what is used of it."""
    return [
        vm
        for vm in range(s.vms.cores.size)
        if s.vms.lease[vm] == LEASED
        and s.vms.cores[vm] > 0
        and s.vms.used[vm] + cores <= s.vms.cores[vm]
        and s.vms.used_memory[vm] + memory <= s.vms.memory[vm]
    ]


def draw(s, bound):
    """Draw from a list of so many by splitmix64."""
    x = (int(s.clock.random[0]) + 0x9E3779B97F4A7C15) % 2**64
    s.clock.random[0] = x
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return (x ^ (x >> 31)) % bound


def pass_by_hand(simulator, costly_every=0):
    """Place each waiting task on a VM drawn from those with room; one that has none any more gives its place to the last."""
    s = simulator.state
    for job, tasks in groupby(np.flatnonzero(s.tasks.stage == WAITS).tolist(), key=lambda task: s.tasks.job[task]):
        every = {NO_CHECKPOINTS: 0, 0: FREE_EVERY}.get(int(s.jobs.checkpoint[job]), costly_every)
        demand = int(s.jobs.cores[job]), int(s.jobs.memory[job])
        fitting = roomy(s, *demand)
        for task in tasks:
            if fitting:
                at = draw(s, len(fitting))
                simulator.place(task, fitting[at], every)
                if fitting[at] not in roomy(s, *demand):
                    fitting[at] = fitting[-1]
                    fitting.pop()


def assert_equal(one, other):
    for key in one.__slots__:
        assert getattr(one, key).tolist() == getattr(other, key).tolist()


def test_a_demand_is_refused_if_one_of_the_last_needed_no_more(tiny):
    s, rng = Simulator(tiny(0)).state, np.random.default_rng(1)
    outcomes = []
    for _ in range(20):
        refused, number = [], 0
        for _ in range(2 * REFUSED + 3):
            # The more cores, the less memory: who is forgotten is missed.
            cores, memory = rng.integers(1, 12, 2).tolist()
            wanted = any(c <= cores and m <= memory for c, m in refused[-REFUSED:])
            assert is_refused(s, number, cores, memory) == wanted
            outcomes.append((wanted, any(c <= cores and m <= memory for c, m in refused)))
            if rng.random() < 0.7:
                demand = int(rng.integers(1, 12)) + 2, int(rng.integers(1, 12)) + 2
                number = refuse(s, number, *demand)
                refused.append(demand)
                assert number == len(refused)
    # Refused, forgotten, and neither.
    assert set(outcomes) == {(True, True), (False, True), (False, False)}


def test_how_often_tasks_take_checkpoints(tiny):
    kinds = set()
    for seed in range(20):
        instance = tiny(seed)
        s = Simulator(instance).state
        for job, ms in enumerate(instance.checkpoint_ms.tolist()):
            wanted = 0 if ms == NO_CHECKPOINTS else FREE_EVERY if ms == 0 else COSTLY_EVERY
            assert checkpoints_every(s, job, FREE_EVERY, COSTLY_EVERY) == wanted
            kinds.add(wanted)
    assert kinds == {0, FREE_EVERY, COSTLY_EVERY}


def test_the_vms_with_room(tiny):
    lengths = set()
    for seed in range(60):
        simulator = Simulator(tiny(seed), seed=seed)
        for _ in range(20):
            if not simulator.advance():
                break
            plain_pass(simulator.state, FREE_EVERY, COSTLY_EVERY)
            for cores, memory in ((1, 0), (1, 3), (2, 1), (4, 4)):
                wanted = roomy(simulator.state, cores, memory)
                assert list_fitting(simulator.state, cores, memory) == len(wanted)
                assert simulator.state.fitting[: len(wanted)].tolist() == wanted
                lengths.add(len(wanted))
    assert lengths >= {0, 1, 2, 3}


def test_a_pass_is_the_plain_one_however_few_demands_it_remembers(tiny):
    waited = 0
    for seed in range(80):
        instance = tiny(seed)
        ours, forgetful, by_hand = (Simulator(instance, seed=seed) for _ in range(3))
        forgetful.state = forgetful.state._replace(refused=records(Demand, 1))
        for _ in range(200):
            if not by_hand.advance():
                break
            pass_by_hand(by_hand, COSTLY_EVERY)
            for simulator in (ours, forgetful):
                assert simulator.advance()
                plain_pass(simulator.state, FREE_EVERY, COSTLY_EVERY)
                assert simulator.state.clock.random[0] == by_hand.state.clock.random[0]
            waited += int(by_hand.state.clock[0].waiting)
        for simulator in (ours, forgetful):
            assert_equal(simulator.schedule(), by_hand.schedule())
    assert waited > 1000


def test_playing_the_rule_is_pass_after_pass_in_a_pool_that_is_kept_at_its_size(tiny):
    allocations, requested = set(), 0
    for seed in range(60):
        instance, num_vms = tiny(seed), 1 + seed % 4
        # A pool that is left with VMs that are too small idles for two days, which are many epochs of 7 ms.
        for epoch_ms in (7, 3_600_000):
            ours, by_hand = (Simulator(instance, seed=seed, epoch_ms=epoch_ms) for _ in range(2))
            moments = 0
            while moments < 300 and by_hand.advance():
                moments += 1
                s = by_hand.state
                if s.clock[0].epoch == s.clock[0].now:
                    requested += request(s, num_vms - num_leased(s))
                pass_by_hand(by_hand)
            if moments == 300:
                continue
            ours.play(
                lambda state: plain.play_plain(state, FREE_EVERY, 0),
                lambda state, num_vms=num_vms: request(state, num_vms - num_leased(state)),
            )
            assert_equal(ours.schedule(), by_hand.schedule())
            assert (ours.now_ms, ours.is_complete) == (by_hand.now_ms, by_hand.is_complete)
            allocations.add((instance.allocation, ours.is_complete))
    assert requested > 20
    assert {(kind, True) for kind in ("fixed", "random", "balancing", "packing")} <= allocations
