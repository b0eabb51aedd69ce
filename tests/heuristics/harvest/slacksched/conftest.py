"""What the rules of SlackSched look at, in plain Python: no table of bounds, no kept look-ups, no lists of VMs to look at."""

import numpy as np
import pytest

from schedgap.heuristics.harvest.slacksched import kernels_engine
from schedgap.heuristics.harvest.slacksched.state import PREDICTION, new_engine
from schedgap.instances.harvest import quick
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY, WAITS
from schedgap.instances.jit import lean_kernel
from schedgap.instances.units import NEVER

# Late runs are taken to need eight times as long as they are late, and every run a second at least.
LATE, LEAST_MS = 8, 1000


@lean_kernel
def completes_by(g, x, e, d):
    return kernels_engine.completes_by(g, x, e, d)


@lean_kernel
def lost_ms(g, x, age, d):
    return kernels_engine.loss_from(g, x, age, d, kernels_engine.restart_loss(g, d))


def left_ms(ms, now):
    """In how many ms a run ends that was estimated to at `ms`."""
    return max(ms - now, LATE * (now - ms), LEAST_MS)


class Pool:
    """A pool of VMs whose runs, estimates and predictions are looked at from scratch."""

    def __init__(self, instance, prediction=PREDICTION, free_every_ms=0):
        self.instance, self.simulator, self.free_every_ms = instance, Simulator(instance), free_every_ms
        self.reconsider_ms = round(1000 * prediction.reconsider_s)
        self.engine = new_engine(instance.event_ms.size, instance.num_vms, prediction)

    @property
    def s(self):
        return self.simulator.state

    @property
    def now(self):
        return self.simulator.now_ms

    def waiting(self):
        return np.flatnonzero(self.s.tasks.stage == WAITS).tolist()

    def learn(self):
        """Look at the log again if it is time to; return whether it was."""
        return bool(kernels_engine.keep_fresh(self.s, self.engine))

    def wake_at(self, ms):
        """Ask to be woken if somebody waits, and something runs that they may wait for."""
        clock = self.s.clock[0]
        clock.wake = ms if clock.waiting > 0 and clock.running > 0 and self.reconsider_ms > 0 else NEVER

    def every(self, task):
        return self.free_every_ms if self.s.jobs.checkpoint[self.s.tasks.job[task]] == 0 else 0

    def task_ms(self, task):
        """How long a run is estimated to take: checkpoints cost nothing here, restoring may."""
        saved = int(self.s.tasks.saved[task])
        restore = int(self.s.jobs.restore[self.s.tasks.job[task]]) if saved else 0
        return max(int(self.s.tasks.estimate[task]) - saved, 1) + restore

    def risk_ms(self, task):
        """How much of it a shrink can destroy."""
        return min(self.task_ms(task), self.every(task) or NEVER)

    def place(self, task, vm):
        self.simulator.place(task, vm, self.every(task))

    def needs(self, task):
        job = self.s.tasks.job[task]
        return int(self.s.jobs.cores[job]), int(self.s.jobs.memory[job])

    def opened(self, vm):
        """Slots of a VM, (estimated moment, cores, memory): what is free now, then what its runs leave, the soonest first."""
        s, count = self.s, self.s.clock[0].runs
        runs = np.flatnonzero((s.runs.is_live[:count] == 1) & (s.runs.vm[:count] == vm)).tolist()
        left = [(int(s.runs.guess[run]), *self.needs(s.runs.task[run])) for run in runs]
        left.sort(key=lambda slot: left_ms(slot[0], self.now))
        free = int(s.vms.cores[vm] - s.vms.used[vm]), int(s.vms.memory[vm] - s.vms.used_memory[vm])
        return [(0, *free), *left]

    def wait(self, task, vm, slots):
        """In how many ms a VM with these slots has room: 0 for now, NEVER if it is too small or takes no tasks."""
        (cores, memory), vms = self.needs(task), self.s.vms
        if vms.lease[vm] != LEASED or vms.cores[vm] < max(cores, 1) or vms.memory[vm] < memory:
            return NEVER
        for ms, more, more_memory in slots:
            cores, memory = cores - more, memory - more_memory
            if cores <= 0 and memory <= 0:
                return left_ms(ms, self.now) if ms else 0
        return NEVER

    def fitting(self, task):
        """The VMs that a task fits on now."""
        return [vm for vm in range(self.instance.num_vms) if self.wait(task, vm, self.opened(vm)) == 0]

    def age(self, vm):
        return self.now - int(self.s.vms.changed[vm])

    def lost_ms(self, task, vm, wait):
        """What a task is expected to lose to shrinks that waits for a VM (Equation 2, without its length and the wait)."""
        return lost_ms(self.engine, self.s.vms.direction[vm], float(self.age(vm) + wait), float(self.risk_ms(task)))

    def probability(self, task, vm):
        """Equation 1."""
        return completes_by(self.engine, self.s.vms.direction[vm], float(self.age(vm)), float(self.task_ms(task)))

    def best(self, task, slots_of):
        """The VM on which a task is expected to be complete first, the first of equals, and in how many ms; or NOBODY."""
        best, best_ms = NOBODY, np.inf
        for vm in range(self.instance.num_vms):
            wait = self.wait(task, vm, slots_of(vm))
            if wait != NEVER and (ms := self.task_ms(task) + (wait + self.lost_ms(task, vm, wait))) < best_ms:
                best, best_ms = vm, ms
        return best, best_ms


@pytest.fixture
def drawn_pool():
    """Draw a small busy pool, some jobs with free checkpoints, estimates too short, right or too long: `drawn_pool(seed)`."""

    def drawn_pool(seed):
        return quick(
            4,
            5,
            "4-9",
            seed=seed,
            cores="1,2,4",
            most_cores=8,
            min_sizes="1,2",
            load=2.0,
            stability=0.5,
            error=(-0.5, 0.0, 0.5)[seed % 3],
            interruptible=0.3,
        )

    return drawn_pool


@pytest.fixture
def plain_pool():
    """The class of pools that plain rules look at."""
    return Pool


@pytest.fixture
def assert_plays_as():
    def assert_plays_as(compiled, simulator, plain, pool):
        """Play a compiled pass and a plain one moment by moment, and compare who runs where; return how many waited."""
        waited, last = 0, -1
        while simulator.advance():
            assert pool.simulator.advance()
            compiled(simulator.state)
            plain()
            assert simulator.now_ms == pool.now > last
            last, count = pool.now, int(pool.s.clock[0].runs)
            for key in ("task", "vm", "start", "end", "every"):
                assert getattr(simulator.state.runs, key)[:count].tolist() == getattr(pool.s.runs, key)[:count].tolist()
            assert simulator.state.clock[0].runs == count
            assert simulator.state.clock[0].wake == pool.s.clock[0].wake
            waited += int(pool.s.clock[0].waiting)
        assert simulator.is_complete
        return waited

    return assert_plays_as
