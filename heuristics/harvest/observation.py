"""What a policy is shown of a pool of harvest VMs: copies of the present and what was seen, which nobody can write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray, locked
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import DRAINING, GREW, LEASED, NOBODY, NOT_LEASED, WAITS


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present and what was seen, in copies: nothing in it leads to the future.

    Times are milliseconds, memory MiB. Letters used for shapes: N VMs that are there (of a pool that is not fixed: that are
    leased), R runs that go on, W tasks that wait, A jobs that have arrived, C changes of VMs that were seen.

    is_epoch : whether the pool is not fixed, and its epoch is due.
    vm : (N,) int64, ascending. cores, free, memory, free_memory, min_cores : (N,) int64; nothing is free on a VM that drains.
    changed_ms : (N,) int64, when it came to be or changed last. grew : (N,) bool, whether it grew then, as one that comes to be
    has. drains : (N,) bool, whether it was given back and gets no new tasks.
    run_task, run_vm, run_start_ms, run_every_ms : (R,) int64, in order of their start. run_end_ms : (R,) int64, when each would
    complete if the estimate were true.
    task : (W,) int64, ascending. task_job : (W,) int64. left_ms : (W,) int64, the work that is left by the estimate, at least 1.
    saved_ms, kills : (W,) int64, work that need not be done again, and runs that VMs killed.
    true_left_ms : (W,) int64, the work that is left; None unless the policy knows runtimes.
    job_arrival_ms, job_cores, job_memory, job_tasks, job_checkpoint_ms, job_restore_ms : (A,) int64, of the jobs 0 to A - 1; of
    job_tasks tasks, each needs job_cores and job_memory. Checkpoints as in `HarvestInstance`.
    log_ms, log_vm, log_gap_ms, log_cores : (C,) int64, in order of time: when, which VM, how long after it came to be or changed
    before, by how many cores. log_grew_before, log_grew : (C,) bool, whether it grew then and now. An eviction is a shrink.
    memory_of_policy : its own, empty at first and kept from moment to moment.
    """

    now_ms: int
    is_epoch: bool
    vm: IntArray
    cores: IntArray
    free: IntArray
    memory: IntArray
    free_memory: IntArray
    min_cores: IntArray
    changed_ms: IntArray
    grew: BoolArray
    drains: BoolArray
    run_task: IntArray
    run_vm: IntArray
    run_start_ms: IntArray
    run_end_ms: IntArray
    run_every_ms: IntArray
    task: IntArray
    task_job: IntArray
    left_ms: IntArray
    saved_ms: IntArray
    kills: IntArray
    true_left_ms: IntArray | None
    job_arrival_ms: IntArray
    job_cores: IntArray
    job_memory: IntArray
    job_tasks: IntArray
    job_checkpoint_ms: IntArray
    job_restore_ms: IntArray
    log_ms: IntArray
    log_vm: IntArray
    log_gap_ms: IntArray
    log_cores: IntArray
    log_grew_before: BoolArray
    log_grew: BoolArray
    memory_of_policy: dict[str, Any]


class Observer:
    """Shows a policy the present of a simulation. knows : as `Player.knowledge`."""

    def __init__(self, simulator: Simulator, knows: frozenset[str]) -> None:
        self.simulator = simulator
        self.knows = knows
        self.memory: dict[str, Any] = {}
        self.num_tasks = np.diff(simulator.instance.first_task)
        self.epoch_seen = NOBODY

    def has_question(self) -> bool:
        """Return whether there is something to decide now. O(A V) for A different demands of tasks that wait."""
        state = self.simulator.state
        if state.clock[0].epoch == state.clock[0].now and self.epoch_seen != state.clock[0].now:
            return True
        if not state.clock[0].waiting:
            return False
        jobs = np.unique(state.tasks.job[self._waiting()])
        takes = (state.vms.lease == LEASED) & (state.vms.cores > 0)
        free, free_memory = (state.vms.cores - state.vms.used)[takes], (state.vms.memory - state.vms.used_memory)[takes]
        needs = np.unique(np.column_stack((state.jobs.cores[jobs], state.jobs.memory[jobs])), axis=0)
        return any(((free >= cores) & (free_memory >= memory)).any() for cores, memory in needs.tolist())

    def observe(self) -> Observation:
        """Return the present. O(V + C + R + T) for C changes seen, R runs so far and T tasks of jobs that have arrived."""
        state, clock = self.simulator.state, self.simulator.state.clock[0]
        now = int(clock.now)
        is_epoch = bool(clock.epoch == now) and self.epoch_seen != now
        if is_epoch:
            self.epoch_seen = now
        vm = np.flatnonzero((state.vms.lease != NOT_LEASED) & (state.vms.cores > 0))
        drains = state.vms.lease[vm] == DRAINING
        run = np.flatnonzero(state.runs.is_live[: clock.runs])
        task = self._waiting()
        saved = state.tasks.saved[task]
        jobs, seen = slice(0, int(clock.next_job)), slice(0, int(clock.changes))
        knows = "runtimes" in self.knows
        return Observation(
            now_ms=now,
            is_epoch=is_epoch,
            vm=locked(vm),
            cores=locked(state.vms.cores[vm]),
            free=locked(np.where(drains, 0, state.vms.cores[vm] - state.vms.used[vm])),
            memory=locked(state.vms.memory[vm]),
            free_memory=locked(np.where(drains, 0, state.vms.memory[vm] - state.vms.used_memory[vm])),
            min_cores=locked(state.vms.min_cores[vm]),
            changed_ms=locked(state.vms.changed[vm]),
            grew=locked(state.vms.direction[vm] == GREW),
            drains=locked(drains),
            run_task=locked(state.runs.task[run]),
            run_vm=locked(state.runs.vm[run]),
            run_start_ms=locked(state.runs.start[run]),
            run_end_ms=locked(state.runs.guess[run]),
            run_every_ms=locked(state.runs.every[run]),
            task=locked(task),
            task_job=locked(state.tasks.job[task]),
            left_ms=locked(np.maximum(state.tasks.estimate[task] - saved, 1)),
            saved_ms=locked(saved),
            kills=locked(state.tasks.kills[task]),
            true_left_ms=locked(state.tasks.runtime[task] - saved) if knows else None,
            job_arrival_ms=locked(state.jobs.arrival[jobs].copy()),
            job_cores=locked(state.jobs.cores[jobs].copy()),
            job_memory=locked(state.jobs.memory[jobs].copy()),
            job_tasks=locked(self.num_tasks[jobs].copy()),
            job_checkpoint_ms=locked(state.jobs.checkpoint[jobs].copy()),
            job_restore_ms=locked(state.jobs.restore[jobs].copy()),
            log_ms=locked(state.log.ms[seen].copy()),
            log_vm=locked(state.log.vm[seen].copy()),
            log_gap_ms=locked(state.log.gap[seen].copy()),
            log_cores=locked(state.log.cores[seen].copy()),
            log_grew_before=locked(state.log.before[seen] == GREW),
            log_grew=locked(state.log.after[seen] == GREW),
            memory_of_policy=self.memory,
        )

    def _waiting(self) -> IntArray:
        """Return the waiting tasks in order; O(T of the jobs that have arrived)."""
        state = self.simulator.state
        arrived = int(state.jobs.first_task[state.clock[0].next_job])
        return np.flatnonzero(state.tasks.stage[:arrived] == WAITS)
