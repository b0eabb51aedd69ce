"""A harvest instance on a grid of time, in slots as long as the greatest common divisor of all its times.

Starts on the grid lose nothing. Take any schedule of runs that complete their tasks, and move each start back to the grid's
moment at or before it. Arrivals are on the grid, so no start moves before one; runtimes are, so ends move back likewise and
no end gets later. A run that is in slot k = [k q, (k + 1) q) afterwards has started before (k + 1) q and ended no earlier
than that: all of slot k's runs ran together just before (k + 1) q, on the same VMs, when these had what they have in slot k.
Runs that a VM killed, and replicas that did not complete, may be left out of a schedule whose tasks take no checkpoints.

Amounts of cores are divided by the greatest common divisor of the tasks' sizes, a VM's rounded down: sums of sizes lose
nothing by that, and linear programs over them become tighter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.harvest.model import NO_CHECKPOINTS, HarvestInstance, HarvestSchedule

# A part of a task that completes with its group alone: its end counts by itself.
ALONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Tasks that are equal in all that matters are one group. Slot 0 begins with the first arrival.

    Letters: G groups, V VMs, T tasks.

    unit_ms, origin_ms : a slot's length, and when the first one begins. unit_cores : cores in one unit of size.
    release, length, size, memory, count : (G,) int64: slots, slots, units of cores, MiB, tasks in the group.
    part : (G,) int64: of which part a group is whose last end counts: its job, the whole for `makespan`, or ALONE.
    part_release : (P,) int64, from when a part's time counts, in slots.
    group : (T,) int64, of each task. last_event : in slots, from which on nothing changes.
    """

    instance: HarvestInstance
    unit_ms: int
    origin_ms: int
    unit_cores: int
    release: IntArray
    length: IntArray
    size: IntArray
    memory: IntArray
    count: IntArray
    part: IntArray
    part_release: IntArray
    group: IntArray
    last_event: int

    @property
    def num_groups(self) -> int:
        """Number of groups of equal tasks."""
        return int(self.count.shape[0])

    @property
    def full_horizon(self) -> int:
        """Slots within which tasks that run one after the other end, wherever they may begin."""
        work = int((self.count * self.length).sum())
        return max(self.last_event, int(self.release.max())) + work

    def capacity(self, horizon: int) -> IntArray:
        """(V, horizon) int64: units of cores of each VM in each slot."""
        instance = self.instance
        room = np.zeros((instance.num_vms, horizon), np.int64)
        at = (instance.event_ms - self.origin_ms) // self.unit_ms
        for v in range(instance.num_vms):
            events = np.arange(instance.first_event[v], instance.first_event[v + 1])
            now = np.searchsorted(at[events], np.arange(horizon), side="right") - 1
            cores = np.where(now >= 0, instance.event_cores[events[np.maximum(now, 0)]], 0)
            room[v] = cores // self.unit_cores
        return room

    def objective_ms(self, slots: int) -> int:
        """Return the objective in milliseconds of one in slots."""
        return slots * self.unit_ms

    def slots(self, objective_ms: int) -> int:
        """Return the least objective in slots that is no less than one in milliseconds."""
        return -(-objective_ms // self.unit_ms)

    def schedule(self, group: IntArray, vm: IntArray, start: IntArray) -> HarvestSchedule:
        """Return the schedule of runs of the groups' tasks. group, vm, start : (T,) int64, in any order; start in slots."""
        order = np.lexsort((start, group))
        task = np.argsort(self.group, kind="stable")
        begin = self.origin_ms + start[order] * self.unit_ms
        none = np.zeros_like(begin)
        return HarvestSchedule(task, vm[order], begin, begin + self.instance.runtime_ms[task], none)


def grid_of(instance: HarvestInstance) -> Grid:
    """Return an instance on its grid. O(T log T + E)."""
    job = instance.task2job()
    origin = int(instance.arrival_ms[0])
    later = instance.event_ms[instance.event_ms > origin] - origin
    unit = int(np.gcd.reduce(np.concatenate((instance.arrival_ms - origin, instance.runtime_ms, later))))
    unit_cores = int(np.gcd.reduce(instance.cores))
    release = (instance.arrival_ms - origin) // unit
    if instance.objective == "jobs":
        part, part_release = job, release
    elif instance.objective == "makespan":
        part, part_release = np.zeros_like(job), np.zeros(1, np.int64)
    else:
        part, part_release = np.full_like(job, ALONE), np.zeros(0, np.int64)
    columns = (part, release[job], instance.runtime_ms // unit, instance.cores[job] // unit_cores)
    tasks = np.column_stack((*columns, instance.task_memory_mib[job]))
    kinds, group, count = np.unique(tasks, axis=0, return_inverse=True, return_counts=True)
    return Grid(
        instance=instance,
        unit_ms=unit,
        origin_ms=origin,
        unit_cores=unit_cores,
        part=kinds[:, 0].copy(),
        release=kinds[:, 1].copy(),
        length=kinds[:, 2].copy(),
        size=kinds[:, 3].copy(),
        memory=kinds[:, 4].copy(),
        count=count.astype(np.int64),
        part_release=part_release,
        group=group.reshape(-1).astype(np.int64),
        last_event=int(later.max(initial=0)) // unit,
    )


def not_exact(instance: HarvestInstance) -> str | None:
    """Return None, or why an optimum over runs on given VMs would be none: interruptions and leases may do better."""
    if not instance.is_fixed:
        return (
            f"leases its VMs ({instance.allocation}, {instance.max_leases} at most); an optimum is found for fixed pools "
            "only, so fix the pool or use bound-alone"
        )
    if (able := first_true(instance.checkpoint_ms > NO_CHECKPOINTS)) is not None:
        return (
            f"has tasks that can take checkpoints (job {instance.job_name(able)}, in {instance.checkpoint_ms[able]} ms), which "
            "may do better by interruptions that this does not consider; set checkpoint_ms to -1 or use bound-alone"
        )
    return None
