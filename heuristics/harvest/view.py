"""What a policy is shown of a pool of harvest VMs, and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The present and what was seen, in copies: nothing in it leads to what comes.

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


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy answers that does more than to place tasks.

    place : (task, vm) or (task, vm, checkpoint_every_ms) each. decommission : VMs to give back: at once, or when their last
    run ends. request : so many VMs are asked of the provider, after that. Both only if the policy is its own acquirer.
    ask_again_ms : ask the policy again after so many ms even if nothing happens until then; 0 for not.
    """

    place: Sequence[Sequence[int]] = ()
    decommission: Sequence[int] = ()
    request: int = 0
    ask_again_ms: int = 0
