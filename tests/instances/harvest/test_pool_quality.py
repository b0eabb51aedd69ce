"""What leases cost, and how good the VMs are that they are of."""

import numpy as np
import pytest

from schedgap.instances.harvest import stability as module
from schedgap.instances.harvest.measures import measures
from schedgap.instances.harvest.model import ALLOCATIONS, HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.stability import pool_quality, sizes_at
from schedgap.instances.harvest.verify import verify

POLICIES = ALLOCATIONS[1:]


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

    def test_the_cost_of_a_simulated_pool_is_that_of_its_leases(self, drawn_pool):
        instance = drawn_pool(5, "random").replace(base_price=20_000, extra_price=10_000)
        simulator = Simulator(instance)
        assert simulator.run_plain()
        schedule = simulator.schedule()
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

    @pytest.mark.parametrize("cells", [1, 7, 2**22])
    def test_by_hand(self, monkeypatch, cells):
        monkeypatch.setattr(module, "MOST_CELLS", cells)
        quality = pool_quality(hand_made(), hand_schedule([0, 1], [0, 0], [3, 4]))
        assert quality.held.tolist() == [2, 2, 2, 1]
        assert quality.bad.tolist() == [1, 0, 1, 0]
        # Without c, which random never gives, another VM is not to be had.
        assert quality.least.tolist() == [1, 0, 1, 0]
        assert (quality.bad.sum(), quality.least.sum(), quality.held.sum(), quality.regret) == (2, 2, 7, 0)
        # b never changes: of three VMs, it alone is of the stable half.
        assert quality.stable.tolist() == [1, 1, 1, 1]
        assert (quality.stable_share(), quality.stable_share(last_hours=1)) == (4 / 7, 1)

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
    def test_against_counting(self, allocation, drawn_pool):
        instance = drawn_pool(6, allocation)
        simulator = Simulator(instance)
        assert simulator.run_plain()
        schedule = simulator.schedule()
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
