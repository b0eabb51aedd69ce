"""A pool of harvest VMs that plays by the rules of `events`, moment by moment or all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import IntArray, record
from schedgap.instances.harvest.model import ALLOCATIONS, KILL_ORDERS, HarvestInstance
from schedgap.instances.harvest.simulator import events, plain, waiting
from schedgap.instances.harvest.simulator.state import (
    LEASED,
    NOBODY,
    NOT_LEASED,
    Clock,
    Events,
    Jobs,
    Leases,
    Log,
    Rules,
    Runs,
    State,
    Tasks,
    Vms,
    Work,
)
from schedgap.instances.harvest.solution import HarvestSchedule
from schedgap.instances.units import HOUR_MS, MINUTE_MS, NEVER

if TYPE_CHECKING:
    from collections.abc import Callable


# So many different demands that did not fit are remembered in a pass.
REFUSED = 16


class Simulator:
    """The state of VMs, runs and tasks at one moment; `state` is what the kernels work on, and is replaced as it grows."""

    def __init__(self, instance: HarvestInstance, *, seed: int = 0, copies: int = 1, epoch_ms: int = HOUR_MS) -> None:
        """Begin at moment 0, before anything has happened.

        seed : of what is random. copies : so many runs of a task may be placed at one moment. epoch_ms : how often a pool
        that is not fixed is looked at.
        """
        self.instance = instance
        leased = np.zeros(0, np.int64) if instance.is_fixed else np.flatnonzero(instance.leased)
        num_leases, num_tasks = leased.shape[0], instance.num_tasks
        rules = Rules(
            newest_first=KILL_ORDERS.index(instance.kills),
            allocation=ALLOCATIONS.index(instance.allocation),
            max_leases=instance.max_leases,
            epoch_ms=epoch_ms,
            copies=copies,
            least_cores=int(instance.cores.min()),
            least_memory=int(instance.task_memory_mib.min()),
        )
        room = 2 * instance.max_leases + num_leases
        self.state = State(
            rules=rules,
            clock=record(Clock, epoch=NEVER if instance.is_fixed else epoch_ms, leases=num_leases),
            events=_events(instance),
            vms=_vms(instance, leased),
            jobs=_jobs(instance),
            tasks=_tasks(instance),
            runs=Runs(*_zeros(len(Runs._fields), copies * num_tasks + num_tasks // 4 + 64)),
            log=Log(*_zeros(len(Log._fields), instance.event_ms.shape[0])),
            leases=Leases(_longer(leased, room), np.zeros(room, np.int64), np.full(room, NEVER)),
            work=Work(np.zeros(instance.num_vms, np.int64), np.zeros((REFUSED, 2), np.int64)),
            waiting=np.zeros(waiting.num_words(num_tasks), np.uint64),
            random=np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64),
            past=np.zeros(1, np.uint64),
        )

    @property
    def now_ms(self) -> int:
        """The moment to which time has passed."""
        return int(self.state.clock[0].now)

    @property
    def is_complete(self) -> bool:
        """Whether all tasks are complete."""
        return bool(self.state.clock[0].done == self.instance.num_tasks)

    def advance(self) -> bool:
        """Go to the next moment at which something happens; False if nothing will any more."""
        return self.run(events.advance)

    def run(self, kernel: Callable[[State], int]) -> bool:
        """Call a kernel that returns the status of `advance` until it has room enough; False if nothing will happen any more."""
        while (status := kernel(self.state)) == events.GROW:
            self.grow()
        return bool(status == events.HAPPENED)

    def grow(self) -> None:
        """Make room for half as many runs and leases more, and for all that may be placed at one moment."""
        state, clock = self.state, self.state.clock[0]
        to_do = self.instance.num_tasks - int(clock.done)
        runs = int(clock.runs) + state.rules.copies * to_do
        leases = int(clock.leases) + self.instance.max_leases
        self.state = state._replace(
            runs=Runs(*(_longer(values, runs + runs // 2) for values in state.runs)),
            leases=Leases(*(_longer(values, leases + leases // 2) for values in state.leases)),
        )

    def place(self, task: int, vm: int, every_ms: int = 0) -> int:
        """Start a run of a waiting task on a VM that it fits on, now, and return the run."""
        return int(events.place(self.state, task, vm, every_ms))

    def run_plain(self, every_ms: int = MINUTE_MS) -> bool:
        """Play the plain rule (`plain`) to the end, and return whether all tasks are complete.

        A pool that is not fixed is kept at the number of VMs that it starts with. every_ms : how often tasks take checkpoints
        that cost them nothing.
        """
        num_vms = int(self.instance.leased.sum())
        self.run(lambda state: plain.play_plain(state, num_vms, every_ms))
        return self.is_complete

    def first_waiting(self) -> int:
        """Return the first task that waits, in order of job and task; NOBODY if none does."""
        return int(waiting.next_waiting(self.state, 0))

    def schedule(self) -> HarvestSchedule:
        """Return what has been decided until now; what goes on ends now."""
        state, clock, now = self.state, self.state.clock[0], self.now_ms
        runs = slice(0, int(clock.runs))
        leases = slice(0, int(clock.leases))
        lease_end = np.minimum(state.leases.end[leases], now)
        kept = np.flatnonzero(lease_end > state.leases.start[leases])
        return HarvestSchedule(
            task=state.runs.task[runs],
            vm=state.runs.vm[runs],
            start_ms=state.runs.start[runs],
            end_ms=np.minimum(state.runs.end[runs], now),
            checkpoint_every_ms=state.runs.every[runs],
            lease_vm=state.leases.vm[leases][kept],
            lease_start_ms=state.leases.start[leases][kept],
            lease_end_ms=lease_end[kept],
        )


def _events(instance: HarvestInstance) -> Events:
    vm = instance.event2vm()
    order = np.lexsort((vm, instance.event_ms))
    return Events(instance.event_ms[order], instance.event_cores[order], vm[order])


# Copies of what is given, since compiled code is specialised to arrays that it may write.
def _vms(instance: HarvestInstance, leased: IntArray) -> Vms:
    num_vms = instance.num_vms
    current_lease = np.full(num_vms, NOBODY)
    current_lease[leased] = np.arange(leased.shape[0])
    up, size, used, used_memory, changed, direction = _zeros(6, num_vms)
    return Vms(
        min_cores=instance.min_cores.copy(),
        memory=instance.memory_mib.copy(),
        buffer=instance.buffer.astype(np.int64),
        up=up,
        size=size,
        used=used,
        used_memory=used_memory,
        changed=changed,
        direction=direction,
        lease=np.where(instance.leased, LEASED, NOT_LEASED),
        current_lease=current_lease,
        oldest=np.full(num_vms, NOBODY),
        newest=np.full(num_vms, NOBODY),
    )


def _jobs(instance: HarvestInstance) -> Jobs:
    return Jobs(
        arrival=instance.arrival_ms.copy(),
        cores=instance.cores.copy(),
        memory=instance.task_memory_mib.copy(),
        checkpoint=instance.checkpoint_ms.copy(),
        restore=instance.restore_ms.copy(),
        first_task=instance.first_task.copy(),
    )


def _tasks(instance: HarvestInstance) -> Tasks:
    stage, live, saved, kills = _zeros(4, instance.num_tasks)
    return Tasks(
        job=instance.task2job(),
        runtime=instance.runtime_ms.copy(),
        estimate=instance.estimate_ms.copy(),
        stage=stage,
        live=live,
        saved=saved,
        kills=kills,
        last_run=np.full(instance.num_tasks, NOBODY),
    )


def _zeros(arrays: int, length: int) -> list[IntArray]:
    return [np.zeros(length, np.int64) for _ in range(arrays)]


def _longer(values: IntArray, length: int) -> IntArray:
    """Return a copy that is so long, or as long as it was."""
    longer = np.zeros(max(length, values.shape[0]), np.int64)
    longer[: values.shape[0]] = values
    return longer
