"""SlackSched with reservations against its rule in plain Python, on small pools: who starts where, and who waits for what."""

from itertools import pairwise
from typing import NamedTuple

import numba
import pytest
from numba.core.registry import cpu_target

from schedgap.heuristics.harvest.slacksched import state
from schedgap.heuristics.harvest.slacksched.kernels_rules import pass_holding
from schedgap.heuristics.harvest.slacksched.state import NOWHERE, PredictionOptions, new_matcher
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY
from schedgap.instances.units import NEVER

FREE_EVERY_MS = 120_000
# A plan is changed for an improvement by more than a second, and a late run needs eight times as long as it is late.
WORTH_MS, LATE, LEAST_MS = 1000.0, 8, 1000


class Plan(NamedTuple):
    vm: int
    end: float


class Plain:
    """Each waiting task, in order, starts or waits where it is expected to be complete first, and takes its slots there.

    A plan stays until its VM changes, runs that end late make it worse, or a VM on which something happened is better.
    """

    def __init__(self, pool, most_planned):
        vms = range(pool.instance.num_vms)
        self.pool, self.most_planned, self.next_look = pool, most_planned, 0
        self.plan, self.order = {}, {vm: [] for vm in vms}
        self.slots, self.seen = {vm: [] for vm in vms}, dict.fromkeys(vms)
        self.touched, self.moved, self.dropped = [], 0, 0

    def play(self):
        pool = self.pool
        if not pool.waiting():
            pool.wake_at(NEVER)
            return
        fresh = pool.learn()
        for vm in self.slots:
            if self.seen[vm] != self.look(vm) or self.has_turned(vm):
                self.touch(vm)
        anew = fresh or pool.now >= self.next_look
        if anew:
            self.next_look = pool.now + pool.reconsider_ms
            for vm in [vm for vm in self.slots if self.order[vm]]:
                self.touch(vm)
                self.order[vm] = []
            self.plan = {}
        self.settle_all()
        if not anew:
            offered, self.touched = self.touched, []
            for vm in offered:
                self.offer(vm)
            self.settle_all()
        self.touched = []
        pool.wake_at(self.next_look)

    def touch(self, vm):
        if vm not in self.touched:
            self.touched.append(vm)

    def look(self, vm):
        vms = self.pool.s.vms
        return tuple(int(values[vm]) for values in (vms.changed, vms.lease, vms.cores, vms.used))

    def has_turned(self, vm):
        """Whether a late run has fallen behind one that is estimated to end after it."""
        now, moments = self.pool.now, [ms for ms, *_ in self.slots[vm][1:]]
        return any(a < b and LATE * (now - a) > b - now for a, b in pairwise(moments))

    def settle_all(self):
        for vm in self.touched:
            self.settle(vm)
        if len(self.plan) < len(self.pool.waiting()):
            self.plan_first()

    def settle(self, vm):
        """Open a VM's slots anew; who waits for it goes on unless the VM has changed, or is worse by more than a second."""
        pool, tasks, changed = (
            self.pool,
            self.order[vm],
            self.seen[vm] is None or self.seen[vm][:2] != self.look(vm)[:2],
        )
        self.order[vm], self.slots[vm], self.seen[vm] = [], pool.opened(vm), self.look(vm)
        for task in tasks:
            before = self.plan.pop(task)
            wait = pool.wait(task, vm, self.slots[vm])
            if not changed and wait != NEVER and self.end(task, vm, wait) <= before.end + WORTH_MS:
                self.assign(task, vm, wait, self.end(task, vm, wait))
            else:
                self.dropped += 1

    def end(self, task, vm, wait):
        return self.pool.now + (wait + self.pool.task_ms(task) + self.pool.lost_ms(task, vm, wait))

    def plan_first(self):
        """Plan the first tasks that VMs are large enough for."""
        pool, left = self.pool, self.most_planned
        for task in pool.waiting():
            if left == 0:
                break
            if task not in self.plan:
                vm, ms = pool.best(task, self.slots.__getitem__)
                if vm == NOBODY:
                    self.plan[task] = Plan(NOWHERE, float(NEVER))
                else:
                    self.assign(task, vm, pool.wait(task, vm, self.slots[vm]), pool.now + ms)
            left -= task in self.plan and self.plan[task].vm != NOWHERE

    def offer(self, vm):
        """Let tasks that wait for other VMs have this one if they are better off by more than a second."""
        pool, vms = self.pool, self.pool.s.vms
        if vms.lease[vm] != LEASED or vms.cores[vm] == 0 or vm in self.touched:
            return
        for task in sorted(self.plan):
            planned, wait = self.plan[task], pool.wait(task, vm, self.slots[vm])
            if planned.vm == vm or wait == NEVER or self.end(task, vm, wait) >= planned.end - WORTH_MS:
                continue
            if planned.vm != NOWHERE:
                self.touch(planned.vm)
                self.order[planned.vm].remove(task)
            del self.plan[task]
            self.assign(task, vm, wait, self.end(task, vm, wait))
            self.moved += 1

    def assign(self, task, vm, wait, end):
        """Take the slots of a task, and start it if it need not wait."""
        self.take(task, vm, self.pool.now + wait + self.pool.task_ms(task))
        if wait > 0:
            self.plan[task] = Plan(vm, end)
            self.order[vm].append(task)
        else:
            self.pool.place(task, vm)
            self.seen[vm] = self.look(vm)

    def take(self, task, vm, until):
        """Take cores and memory from the earliest slots on; memory without a core is worth nothing before the next slot."""
        (cores, memory), kept, spare = self.pool.needs(task), [], 0
        slots = self.slots[vm]
        for i, (ms, some, some_memory) in enumerate(slots):
            left, left_memory = max(some - cores, 0), max(some_memory + spare - memory, 0)
            cores, memory = max(cores - some, 0), max(memory - some_memory - spare, 0)
            gone = left == 0 and 0 < i < len(slots) - 1
            spare = left_memory if gone else 0
            if not gone:
                kept.append((ms, left, left_memory))
        at = len(kept)
        while at > 1 and self.left_ms(kept[at - 1][0]) > self.left_ms(until):
            at -= 1
        self.slots[vm] = [*kept[:at], (until, *self.pool.needs(task)), *kept[at:]]

    def left_ms(self, ms):
        return max(ms - self.pool.now, LATE * (self.pool.now - ms), LEAST_MS)


def chain(m, vm):
    """The tasks that are planned for a VM, in order."""
    task, tasks = int(m.vms.first_plan[vm]), []
    while task != NOBODY:
        tasks.append(task)
        task = int(m.plans.next[task])
    assert m.vms.last_plan[vm] == (tasks[-1] if tasks else NOBODY)
    return tasks


@pytest.mark.parametrize("least_planned", [0, 64])
@pytest.mark.parametrize("reconsider_s", [0.0, 120.0, 3600.0])
def test_plans_and_starts_are_those_of_the_plain_rule(
    reconsider_s, least_planned, monkeypatch, drawn_pool, plain_pool, assert_plays_as
):
    monkeypatch.setattr(state, "LEAST_PLANNED", least_planned)
    prediction = PredictionOptions(reconsider_s=reconsider_s)
    waited, moved, dropped = 0, 0, 0
    for seed in range(3):
        instance = drawn_pool(seed)
        # Memory binds as often as cores do.
        memory = 40 + 60 * (instance.arrival_ms // 1000 % 5)
        instance = instance.replace(task_memory_mib=memory, memory_mib=[400, 300, 500, 280])
        m = new_matcher(instance, prediction, free_every_ms=FREE_EVERY_MS)
        pool = plain_pool(instance, prediction, FREE_EVERY_MS)
        plain = Plain(pool, m.options.most_planned)

        def play(plain=plain, m=m):
            """After the compiled pass: the plain one, and all plans of both."""
            plain.play()
            if plain.pool.waiting():
                assert m.mark[0].planned == len(plain.plan)
                assert [chain(m, vm) for vm in plain.order] == list(plain.order.values())
                assert {task: (m.plans.vm[task], m.plans.end[task]) for task in plain.plan} == plain.plan

        waited += assert_plays_as(lambda s, m=m: pass_holding(s, m), Simulator(instance), play, pool)
        moved, dropped = moved + plain.moved, dropped + plain.dropped
    assert waited > 1000
    # Where all is planned anew at every event, nothing is offered or left.
    assert (moved > 0) == (dropped > 0) == (reconsider_s > 0)


def flat_arguments(value):
    """Of how many numbers and pointers a compiled function gets a value: an array is seven, or nine with two axes."""
    model = cpu_target.target_context.data_model_manager[numba.typeof(value)]
    kinds, count = [model.get_argument_type()], 0
    while kinds:
        kind = kinds.pop()
        if isinstance(kind, tuple):
            kinds += kind
        else:
            count += 1
    return count


def test_the_state_is_few_arguments(drawn_pool):
    """Each is taken over at every call, of which compiling is mostly made: columns of arrays were more than 700."""
    instance = drawn_pool(0)
    of_state = flat_arguments(Simulator(instance).state)
    assert of_state <= 100
    assert of_state + flat_arguments(new_matcher(instance)) <= 210
