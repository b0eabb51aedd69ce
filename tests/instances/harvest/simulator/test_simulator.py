"""The compiled pool of VMs against a slow one in plain Python, moment by moment, and its schedules against `verify`."""

import numpy as np
import pytest

from schedgap.instances.harvest.model import NO_CHECKPOINTS
from schedgap.instances.harvest.simulator import events, leases
from schedgap.instances.harvest.simulator import state as ks
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.verify import verify

EPOCH_MS = 7
FOREVER = 10**9


class Slow:
    """A pool of VMs, told as the documentation tells it."""

    def __init__(self, instance):
        self.instance = instance
        self.now = 0
        self.up = [0] * instance.num_vms
        self.size = [0] * instance.num_vms
        self.changed = [0] * instance.num_vms
        self.grew = [True] * instance.num_vms
        self.fixed = instance.is_fixed
        self.leases = [] if self.fixed else [[v, 0, None] for v in np.flatnonzero(instance.leased).tolist()]
        self.draining = set()
        self.runs = []
        self.going = []
        self.saved = [0] * instance.num_tasks
        self.done = set()
        self.kills = [0] * instance.num_tasks
        self.log = []
        self.epoch = FOREVER if self.fixed else EPOCH_MS
        self.stirred = 0
        self.arrived = -1

    def is_leased(self, vm):
        return self.fixed or any(lease[0] == vm and lease[2] is None for lease in self.leases)

    def job(self, task):
        return int(np.searchsorted(self.instance.first_task, task, side="right")) - 1

    def advance(self):
        if len(self.done) == self.instance.num_tasks:
            return False
        if self.epoch <= self.now:
            self.epoch += EPOCH_MS
        instance = self.instance
        passed = self.arrived
        times = [run["end"] for run in self.going]
        times += [t for t in instance.event_ms.tolist() if t > passed]
        times += [t for t in instance.arrival_ms.tolist() if t > passed]
        if not times and self.epoch > self.stirred + 2 * 86_400_000:
            return False
        self.now = min([*times, self.epoch])
        if times and self.now == min(times):
            self.stirred = self.now
        for run in sorted(self.going, key=lambda run: run["number"]):
            if run["end"] == self.now and run in self.going:
                self.done.add(run["task"])
                self.leave(run)
                for other in [r for r in self.going if r["task"] == run["task"]]:
                    self.leave(other)
        for vm in range(instance.num_vms):
            for e in range(instance.first_event[vm], instance.first_event[vm + 1]):
                if instance.event_ms[e] == self.now:
                    self.up[vm] = int(instance.event_cores[e])
                    if self.is_leased(vm):
                        self.resize(vm, self.up[vm])
        self.arrived = self.now
        return True

    def resize(self, vm, cores):
        old, grows = self.size[vm], cores > self.size[vm]
        if old:
            self.log.append((self.now, vm, self.now - self.changed[vm], self.grew[vm], grows, abs(cores - old)))
        self.size[vm], self.changed[vm], self.grew[vm] = cores, self.now, grows
        here = [run for run in self.going if run["vm"] == vm]
        here.sort(key=lambda run: run["number"], reverse=self.instance.kills == "newest")
        for run in here:
            if self.used(vm) > cores:
                self.kills[run["task"]] += 1
                self.leave(run)
        if cores == 0 and not self.fixed and self.is_leased(vm):
            self.release(vm)

    def used(self, vm):
        return sum(int(self.instance.cores[self.job(r["task"])]) for r in self.going if r["vm"] == vm)

    def used_memory(self, vm):
        return sum(int(self.instance.task_memory_mib[self.job(r["task"])]) for r in self.going if r["vm"] == vm)

    def leave(self, run):
        """End a run and see what it saved, millisecond by millisecond."""
        task, job = run["task"], self.job(run["task"])
        if run["every"] and task not in self.done:
            clock = run["start"] + (int(self.instance.restore_ms[job]) if self.saved[task] else 0)
            while clock + run["every"] + self.instance.checkpoint_ms[job] <= self.now:
                clock += run["every"] + int(self.instance.checkpoint_ms[job])
                self.saved[task] += run["every"]
        run["end"] = self.now
        self.going.remove(run)
        if run["vm"] in self.draining and not any(r["vm"] == run["vm"] for r in self.going):
            self.release(run["vm"])

    def release(self, vm):
        next(lease for lease in self.leases if lease[0] == vm and lease[2] is None)[2] = self.now
        self.size[vm] = 0
        self.draining.discard(vm)

    def decommission(self, vm):
        if any(run["vm"] == vm for run in self.going):
            self.draining.add(vm)
        else:
            self.release(vm)

    def begin_lease(self, vm):
        self.leases.append([vm, self.now, None])
        self.size[vm], self.changed[vm], self.grew[vm] = self.up[vm], self.now, True

    def waiting(self):
        going = {run["task"] for run in self.going}
        arrived = [int(self.instance.arrival_ms[self.job(task)]) <= self.arrived for task in range(len(self.saved))]
        return [task for task in range(len(self.saved)) if arrived[task] and task not in going | self.done]

    def fits(self, task, vm):
        job = self.job(task)
        if not self.is_leased(vm) or vm in self.draining or not self.size[vm]:
            return False
        memory = int(self.instance.memory_mib[vm]) - self.used_memory(vm)
        return (
            self.instance.cores[job] <= self.size[vm] - self.used(vm) and self.instance.task_memory_mib[job] <= memory
        )

    def lasts(self, task, work, every):
        job, stands = self.job(task), int(self.instance.checkpoint_ms[self.job(task)])
        clock, left = (int(self.instance.restore_ms[job]) if self.saved[task] else 0), work
        while every and left > every:
            clock, left = clock + every + stands, left - every
        return clock + left

    def place(self, task, vm, every):
        work = int(self.instance.runtime_ms[task]) - self.saved[task]
        guess = max(int(self.instance.estimate_ms[task]) - self.saved[task], 1)
        run = {
            "number": len(self.runs),
            "task": task,
            "vm": vm,
            "every": every,
            "start": self.now,
            "end": self.now + self.lasts(task, work, every),
            "guess": self.now + self.lasts(task, guess, every),
        }
        self.runs.append(run)
        self.going.append(run)


def assert_same(slow, simulator):
    s, clock = simulator.state, simulator.state.clock[0]
    assert simulator.now_ms == slow.now
    assert s.vms.up.tolist() == slow.up
    assert s.vms.cores.tolist() == slow.size
    assert s.vms.used.tolist() == [slow.used(vm) for vm in range(len(slow.up))]
    assert s.vms.used_memory.tolist() == [slow.used_memory(vm) for vm in range(len(slow.up))]
    leased = [vm for vm in range(len(slow.up)) if slow.is_leased(vm)]
    assert s.vms.changed[leased].tolist() == [slow.changed[vm] for vm in leased]
    assert (s.vms.direction[leased] == ks.GREW).tolist() == [slow.grew[vm] for vm in leased]
    lease = [ks.DRAINING if vm in slow.draining else ks.LEASED for vm in leased]
    assert s.vms.lease[leased].tolist() == lease
    assert s.tasks.saved.tolist() == slow.saved
    assert s.tasks.kills.tolist() == slow.kills
    assert np.flatnonzero(s.tasks.stage == ks.IS_DONE).tolist() == sorted(slow.done)
    assert s.tasks.live.tolist() == [sum(r["task"] == task for r in slow.going) for task in range(len(slow.saved))]
    assert waiting_tasks(simulator) == slow.waiting()
    assert clock.waiting == len(slow.waiting())
    assert clock.running == len(slow.going)
    assert clock.done == len(slow.done)
    log = zip(s.log.ms, s.log.vm, s.log.gap, s.log.before == ks.GREW, s.log.after == ks.GREW, s.log.cores, strict=True)
    assert list(log)[: clock.changes] == slow.log
    runs = slice(0, clock.runs)
    assert s.runs.end[runs].tolist() == [run["end"] for run in slow.runs]
    assert s.runs.guess[runs].tolist() == [run["guess"] for run in slow.runs]


def waiting_tasks(simulator):
    """All waiting tasks, one after the other."""
    tasks, task = [], leases.next_waiting(simulator.state, 0)
    while task != ks.NOBODY:
        tasks.append(task)
        task = leases.next_waiting(simulator.state, task + 1)
    return tasks


def step(slow, simulator, rng, copies):
    """Let both do the same, at random, and compare what they say of each place."""
    instance, s = slow.instance, simulator.state
    assert (s.clock[0].epoch == s.clock[0].now) == (slow.epoch == slow.now)
    if slow.epoch == slow.now:
        for vm in range(instance.num_vms):
            open_now = sum(lease[2] is None for lease in slow.leases)
            if slow.is_leased(vm) and vm not in slow.draining and rng.random() < 0.2:
                slow.decommission(vm)
                leases.decommission(s, vm)
            elif not slow.is_leased(vm) and slow.up[vm] and open_now < instance.max_leases and rng.random() < 0.6:
                slow.begin_lease(vm)
                leases.begin_lease(s, vm)
    for task in slow.waiting():
        job = slow.job(task)
        takes = instance.checkpoint_ms[job] != NO_CHECKPOINTS
        every = int(rng.integers(0, 4)) if takes else 0
        for _ in range(1 if takes else copies):
            fitting = [vm for vm in range(instance.num_vms) if slow.fits(task, vm)]
            assert fitting == [vm for vm in range(instance.num_vms) if events.fits(s, task, vm)]
            if fitting and rng.random() < 0.8:
                vm = int(rng.choice(fitting))
                slow.place(task, vm, every)
                simulator.place(task, vm, every)


@pytest.mark.parametrize("copies", [1, 2])
def test_a_slow_pool_does_the_same(copies, tiny):
    kinds = set()
    for seed in range(150):
        instance = tiny(seed)
        rng = np.random.default_rng(seed)
        slow, simulator = Slow(instance), Simulator(instance, copies=copies, epoch_ms=EPOCH_MS)
        moments = 0
        while slow.advance() and moments < 400:
            moments += 1
            assert simulator.advance()
            assert_same(slow, simulator)
            step(slow, simulator, rng, copies)
            assert_same(slow, simulator)
        if len(slow.done) < instance.num_tasks:
            continue
        assert not simulator.advance()
        assert simulator.is_complete
        schedule = simulator.schedule()
        assert schedule.task.tolist() == [run["task"] for run in slow.runs]
        assert schedule.end_ms.tolist() == [run["end"] for run in slow.runs]
        assert verify(instance, schedule) > 0
        kinds.add((instance.is_fixed, instance.kills, any(slow.kills), any(slow.saved)))
    # Both kinds of pools, both orders of kills, with kills and without, with work saved and without.
    assert len(kinds) >= 10


def test_schedules_of_the_plain_rule_verify_and_depend_on_nothing_but_the_seed(tiny):
    pools, differ = set(), 0
    for seed in range(100):
        instance = tiny(seed)
        digest = instance.digest
        schedules = []
        for random in (seed, seed, seed + 1):
            simulator = Simulator(instance, seed=random)
            complete = simulator.run_plain(every_ms=2)
            # A pool that is not fixed may be left with VMs that are too small.
            assert complete or not instance.is_fixed
            schedules.append(simulator.schedule())
            if complete:
                assert verify(instance, schedules[-1]) > 0
                pools.add(instance.allocation)
                assert not simulator.advance()
            else:
                assert simulator.first_waiting() in waiting_tasks(simulator)
        for key in schedules[0].__slots__:
            assert getattr(schedules[0], key).tolist() == getattr(schedules[1], key).tolist()
        differ += schedules[0].vm.tolist() != schedules[2].vm.tolist()
        assert instance.replace().digest == digest
    assert pools == {"fixed", "random", "balancing", "packing"}
    assert differ > 20
