"""A pool of harvest VMs that plays by the rules of `events`, moment by moment or all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from schedgap.instances.arrays import IntArray, Records, longer, record, records
from schedgap.instances.harvest.model import ALLOCATIONS, KILL_ORDERS, HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.simulator import events, leases, plain
from schedgap.instances.harvest.simulator.state import (
    LEASED,
    NOBODY,
    NOT_LEASED,
    Change,
    Clock,
    Demand,
    End,
    Event,
    Job,
    Lease,
    Rules,
    Run,
    State,
    Task,
    Vm,
)
from schedgap.instances.units import HOUR_MS, MINUTE_MS, NEVER

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
        room = copies * num_tasks + num_tasks // 4 + 64
        epoch = NEVER if instance.is_fixed else epoch_ms
        random = np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64)[0]
        self.state = State(
            rules=rules,
            clock=record(Clock, epoch=epoch, leases=num_leases, random=random),
            events=_events(instance),
            vms=_vms(instance, leased),
            jobs=_jobs(instance),
            tasks=_tasks(instance),
            runs=records(Run, room),
            ends=records(End, room),
            log=records(Change, instance.event_ms.shape[0]),
            leases=longer(records(Lease, num_leases, vm=leased, end=NEVER), 2 * instance.max_leases + num_leases),
            waiting=np.zeros(leases.num_words(num_tasks), np.uint64),
            noted=np.full(-(-instance.num_vms // 64), 2**64 - 1, np.uint64),
            fitting=np.zeros(instance.num_vms, np.int64),
            refused=records(Demand, REFUSED),
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
        while (status := events.advance(self.state)) == events.GROW:
            self.grow()
        return bool(status > events.OVER)

    def play(self, kernel: Callable[[State], int], look_after: Callable[[State], object] | None = None) -> bool:
        """Play to the end; return whether all tasks are complete.

        kernel : decides at the present moment, and at those that come, while `advance` returns HAPPENED; returns what else it
        returned. look_after : looks after a pool that is not fixed, at its epochs, before anything is decided there.
        """
        goes_on = self.advance()
        while goes_on:
            clock = self.state.clock[0]
            if look_after is not None and clock.epoch == clock.now:
                look_after(self.state)
            status = kernel(self.state)
            goes_on = status > events.OVER or (status == events.GROW and self.advance())
        return self.is_complete

    def grow(self) -> None:
        """Make room for half as many runs and leases more, and for all that may be placed at one moment."""
        state, clock = self.state, self.state.clock[0]
        to_do = self.instance.num_tasks - int(clock.done)
        runs = int(clock.runs) + state.rules.copies * to_do
        num_leases = int(clock.leases) + self.instance.max_leases
        self.state = state._replace(
            runs=longer(state.runs, runs + runs // 2),
            ends=longer(state.ends, runs + runs // 2),
            leases=longer(state.leases, num_leases + num_leases // 2),
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
        return self.play(
            lambda state: plain.play_plain(state, every_ms, 0),
            lambda state: leases.request(state, num_vms - leases.num_leased(state)),
        )

    def first_waiting(self) -> int:
        """Return the first task that waits, in order of job and task; NOBODY if none does."""
        return int(leases.next_waiting(self.state, 0))

    def schedule(self) -> HarvestSchedule:
        """Return what has been decided until now; what goes on ends now."""
        state, clock, now = self.state, self.state.clock[0], self.now_ms
        runs = state.runs[: int(clock.runs)]
        begun = state.leases[: int(clock.leases)]
        lease_end = np.minimum(begun.end, now)
        kept = np.flatnonzero(lease_end > begun.start)
        return HarvestSchedule(
            task=runs.task,
            vm=runs.vm,
            start_ms=runs.start,
            end_ms=np.minimum(runs.end, now),
            checkpoint_every_ms=runs.every,
            lease_vm=begun.vm[kept],
            lease_start_ms=begun.start[kept],
            lease_end_ms=lease_end[kept],
        )


def _events(instance: HarvestInstance) -> Records[Event]:
    vm = instance.event2vm()
    order = np.lexsort((vm, instance.event_ms))
    return records(  # type: ignore[no-any-return]
        Event, order.shape[0], ms=instance.event_ms[order], cores=instance.event_cores[order], vm=vm[order]
    )


def _vms(instance: HarvestInstance, leased: IntArray) -> Records[Vm]:
    vms: Records[Vm] = records(
        Vm,
        instance.num_vms,
        min_cores=instance.min_cores,
        memory=instance.memory_mib,
        buffer=instance.buffer,
        lease=np.where(instance.leased, LEASED, NOT_LEASED),
        current_lease=NOBODY,
        oldest=NOBODY,
        newest=NOBODY,
    )
    vms.current_lease[leased] = np.arange(leased.shape[0])
    return vms


def _jobs(instance: HarvestInstance) -> Records[Job]:
    jobs: Records[Job] = records(Job, instance.num_jobs + 1, first_task=instance.first_task)
    jobs.arrival[:-1], jobs.arrival[-1] = instance.arrival_ms, NEVER
    jobs.cores[:-1], jobs.memory[:-1] = instance.cores, instance.task_memory_mib
    jobs.checkpoint[:-1], jobs.restore[:-1] = instance.checkpoint_ms, instance.restore_ms
    return jobs


def _tasks(instance: HarvestInstance) -> Records[Task]:
    return records(  # type: ignore[no-any-return]
        Task,
        instance.num_tasks,
        job=instance.task2job(),
        runtime=instance.runtime_ms,
        estimate=instance.estimate_ms,
        last_run=NOBODY,
    )
