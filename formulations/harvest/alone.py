"""The bound of tasks alone: none ends earlier than it could if all VMs were there for it.

A task that takes no checkpoints is completed by one run as long as itself, on one VM that has its cores all the while:
in every schedule it ends no earlier than the first such time. One that can take checkpoints may also be completed by a
last run that restores what others have saved. Its runs follow one another, work for its runtime, restore for restore_ms
and stand still for checkpoint_ms at least, and at each of their moments some VM has its cores. A dynamic pool leases some
of the VMs.

A proof at every size that the format admits: whole numbers below 2^55, and objectives added up in Python's integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.kernels_alone import earliest_ends, segments
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """When VMs have the cores and memory of a kind of task, in order of begin: (S,) int64 each, NEVER for no end."""

    vm: IntArray
    begin: IntArray
    end: IntArray


def kinds(instance: HarvestInstance) -> tuple[IntArray, IntArray]:
    """Return (K, 2) int64 needs in cores and memory, and (J,) int64, which of them each job's tasks have.

    Needs that no VM's cores and memory tell apart are one. O(E log E + J log J).
    """
    sizes, memories = np.unique(instance.event_cores), np.unique(instance.memory_mib)
    cores = sizes[np.searchsorted(sizes, instance.cores)]
    memory = memories[np.searchsorted(memories, instance.task_memory_mib)]
    needs, which = np.unique(np.column_stack((cores, memory)), axis=0, return_inverse=True)
    return needs, which.reshape(-1)


def segments_of(instance: HarvestInstance, cores: int, memory: int) -> Segments:
    """Return when VMs have such needs. O(E log E)."""
    vm, begin, end = (np.empty(instance.event_ms.shape[0], np.int64) for _ in range(3))
    fits = instance.memory_mib >= memory
    count = segments(instance.first_event, instance.event_ms, instance.event_cores, fits, cores, vm, begin, end)
    order = np.argsort(begin[:count], kind="stable")
    return Segments(vm[order], begin[order], end[order])


def alone_ends(instance: HarvestInstance) -> IntArray:
    """Return (T,) int64, no later than the end of each task in any schedule. O(K E log E + T log E) for K kinds."""
    job = instance.task2job()
    ready = instance.arrival_ms[job]
    ends = np.empty(instance.num_tasks, np.int64)
    needs, kind = kinds(instance)
    task2kind = kind[job]
    by_kind = np.argsort(task2kind, kind="stable")
    firsts = np.searchsorted(task2kind[by_kind], np.arange(needs.shape[0] + 1))
    for k, (cores, memory) in enumerate(needs.tolist()):
        some = segments_of(instance, cores, memory)
        reach = np.maximum.accumulate(some.end)
        tasks = by_kind[firsts[k] : firsts[k + 1]]
        stack = np.empty_like(reach)
        earliest_ends(some.begin, some.end, reach, tasks[::-1].copy(), ready, instance.runtime_ms, stack, ends)
        spread = tasks[instance.checkpoint_ms[job[tasks]] >= 0]
        if spread.size:
            extra = instance.restore_ms + instance.checkpoint_ms
            need = instance.runtime_ms[spread] + extra[job[spread]]
            ends[spread] = np.minimum(ends[spread], _spread_ends(some, reach, ready[spread], need))
    return ends


def _spread_ends(some: Segments, reach: IntArray, ready: IntArray, need: IntArray) -> IntArray:
    """Return (N,) int64, when so much of the segments' union has passed after tasks were ready. O(S + N log S)."""
    opens = np.flatnonzero(np.concatenate(([True], some.begin[1:] > reach[:-1])))
    begin, end = some.begin[opens], np.append(reach[opens[1:] - 1], reach[-1])
    before = np.concatenate(([0], np.cumsum(end[:-1] - begin[:-1])))
    at = np.searchsorted(begin, ready, side="right") - 1
    passed = np.where(at >= 0, before[at] + np.minimum(ready, end[at]) - begin[at], 0)
    wanted = passed + need
    last = np.searchsorted(before, wanted, side="left") - 1
    return begin[last] + wanted - before[last]


def ending_together(instance: HarvestInstance) -> IntArray:
    """Return (G + 1,) int64, where the tasks begin of each group that ends once: a job, a task, or all for the makespan."""
    if instance.objective == "jobs":
        return instance.first_task
    return np.arange(instance.num_tasks + 1) if instance.objective == "tasks" else np.array([0, instance.num_tasks])


def objective_of_ends(instance: HarvestInstance, ends: IntArray) -> int:
    """Return the objective of a schedule in which tasks end then. ends : (T,) int64."""
    first = ending_together(instance)[:-1]
    release = instance.arrival_ms[instance.task2job()[first]]
    return sum((np.maximum.reduceat(ends, first) - release).tolist())


@method("bound-alone", family=FAMILY, bounds=True)
def bound_alone(instance: HarvestInstance) -> Outcome:
    """Bound the objective by the earliest end of each task on its own; exact integers."""
    return Outcome(bound=objective_of_ends(instance, alone_ends(instance)), status=Status.NO_SOLUTION)
