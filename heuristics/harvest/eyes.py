"""What a policy sees of a cluster: copies of the present, which nobody can write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.heuristics.harvest.view import View
from schedgap.instances.harvest import kernels_state as ks

if TYPE_CHECKING:
    from collections.abc import Collection

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.cluster import Cluster

KNOWLEDGE = ("runtimes",)


class Eyes:
    """What a policy sees of a cluster."""

    def __init__(self, cluster: Cluster, knows: Collection[str]) -> None:
        self.cluster = cluster
        self.knows = frozenset(knows)
        self.memory: dict[str, Any] = {}
        self.num_tasks = np.diff(cluster.instance.first_task)
        self.epoch_seen = ks.NOBODY

    def has_question(self) -> bool:
        """Return whether there is something to decide now. O(A V) for A different demands of tasks that wait."""
        state = self.cluster.state
        if state.clock[ks.EPOCH] == state.clock[ks.NOW] and self.epoch_seen != state.clock[ks.NOW]:
            return True
        if not state.clock[ks.WAITING]:
            return False
        jobs = np.unique(state.task2job[self._waiting()])
        takes = (state.lease == ks.LEASED) & (state.size > 0)
        free, free_memory = (state.size - state.used)[takes], (state.vm_memory - state.used_memory)[takes]
        needs = np.unique(np.column_stack((state.cores[jobs], state.memory[jobs])), axis=0)
        return any(((free >= cores) & (free_memory >= memory)).any() for cores, memory in needs.tolist())

    def look(self) -> View:
        """Return the present. O(V + C + R + T) for C changes seen, R runs so far and T tasks of jobs that have arrived."""
        state, clock = self.cluster.state, self.cluster.state.clock
        now = int(clock[ks.NOW])
        is_epoch = bool(clock[ks.EPOCH] == now) and self.epoch_seen != now
        if is_epoch:
            self.epoch_seen = now
        vm = np.flatnonzero((state.lease != ks.NOT_LEASED) & (state.size > 0))
        drains = state.lease[vm] == ks.DRAINING
        run = np.flatnonzero(state.is_live[: clock[ks.RUNS]])
        task = self._waiting()
        saved = state.saved[task]
        jobs, seen = slice(0, int(clock[ks.JOB])), slice(0, int(clock[ks.CHANGES]))
        knows = "runtimes" in self.knows
        return View(
            now_ms=now,
            is_epoch=is_epoch,
            vm=_locked(vm),
            cores=_locked(state.size[vm]),
            free=_locked(np.where(drains, 0, state.size[vm] - state.used[vm])),
            memory=_locked(state.vm_memory[vm]),
            free_memory=_locked(np.where(drains, 0, state.vm_memory[vm] - state.used_memory[vm])),
            min_cores=_locked(state.min_cores[vm]),
            changed_ms=_locked(state.changed[vm]),
            grew=_locked(state.direction[vm] == ks.GREW),
            drains=_locked(drains),
            run_task=_locked(state.run_task[run]),
            run_vm=_locked(state.run_vm[run]),
            run_start_ms=_locked(state.run_start[run]),
            run_end_ms=_locked(state.run_guess[run]),
            run_every_ms=_locked(state.run_every[run]),
            task=_locked(task),
            task_job=_locked(state.task2job[task]),
            left_ms=_locked(np.maximum(state.estimate[task] - saved, 1)),
            saved_ms=_locked(saved),
            kills=_locked(state.kills[task]),
            true_left_ms=_locked(state.runtime[task] - saved) if knows else None,
            job_arrival_ms=_locked(state.arrival[jobs].copy()),
            job_cores=_locked(state.cores[jobs].copy()),
            job_memory=_locked(state.memory[jobs].copy()),
            job_tasks=_locked(self.num_tasks[jobs].copy()),
            job_checkpoint_ms=_locked(state.checkpoint[jobs].copy()),
            job_restore_ms=_locked(state.restore[jobs].copy()),
            log_ms=_locked(state.log_ms[seen].copy()),
            log_vm=_locked(state.log_vm[seen].copy()),
            log_gap_ms=_locked(state.log_gap[seen].copy()),
            log_cores=_locked(state.log_cores[seen].copy()),
            log_grew_before=_locked(state.log_before[seen] == ks.GREW),
            log_grew=_locked(state.log_after[seen] == ks.GREW),
            memory_of_policy=self.memory,
        )

    def _waiting(self) -> IntArray:
        """Return the waiting tasks in order; O(T of the jobs that have arrived)."""
        state = self.cluster.state
        arrived = int(state.first_task[state.clock[ks.JOB]])
        return np.flatnonzero(state.stage[:arrived] == ks.WAITS)


def _locked(values: Any) -> Any:
    values.setflags(write=False)
    return values
