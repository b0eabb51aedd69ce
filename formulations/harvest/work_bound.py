"""The bound of work: how many jobs one machine as fast as all VMs together can have completed by each moment.

Whatever the schedule, the jobs that are completed by a moment t are such that each could end by t alone (`alone`), and
such that the work of those that arrive at s or later is at most what the VMs can do from s to t. No more than N(t) jobs
are, where N(t) is the largest number of jobs with both. So the k-th end is no earlier than the first t with N(t) >= k, and
all that is known of N(t) < k bounds it. The same holds for tasks, and for the makespan with all of them.

Exact in 64 bits up to 2^61 units of cores x ms until all tasks could have run one after the other; beyond, there is no machine.

A task that takes no checkpoints is completed by one run as long as itself, on one VM that has its cores all the while: in every
schedule it ends no earlier than the first such time. One that can take checkpoints may also be completed by a last run that
restores what others have saved. Its runs follow one another, work for its runtime, restore for restore_ms and stand still for
checkpoint_ms at least, and at each of their moments some VM has its cores. A dynamic pool leases some of the VMs.

A proof at every size that the format admits: whole numbers below 2^55, and objectives added up in Python's integers.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.harvest.kernels_work import earliest_ends, leased_levels, most_done, most_used, segments
from schedgap.instances.arrays import IntArray
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method

# Up to so many cores, it is worth knowing which sums of sizes there are.
MAX_SUMS = 1_000_000
# What a machine does, and what it has to do, in units and milliseconds.
MAX_WORK = 2**61


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """What can be done by when. Letters: P pieces of time.

    unit : cores, the greatest common divisor of all tasks'. moment : (P,) int64, ms, ascending from 0. level : (P,) int64,
    units that can be used from then on, the last for ever. before : (P,) int64, units x ms that can be used until then.
    """

    unit: int
    moment: IntArray
    level: IntArray
    before: IntArray

    def done_by(self, time: IntArray) -> IntArray:
        """Return what can be done until some moments, (N,) int64 both."""
        k = np.searchsorted(self.moment, time, side="right") - 1
        return self.before[k] + self.level[k] * (time - self.moment[k])

    def done_at(self, work: int) -> int:
        """Return the first moment by which so much can be done; work > 0."""
        k = int(np.searchsorted(self.before, work, side="left")) - 1
        return int(self.moment[k]) - (int(self.before[k]) - work) // int(self.level[k])


def usable_units(instance: HarvestInstance, cores: IntArray) -> IntArray:
    """Return (N,) int64, of so many cores of a VM, the most that tasks can use at once, in units. cores : (N,) int64."""
    unit = int(np.gcd.reduce(instance.cores))
    units = cores // unit
    most = int(units.max(initial=0))
    if most > MAX_SUMS:
        return np.where(cores >= instance.cores.min(), units, 0)
    usable = np.empty(most + 1, np.int64)
    most_used(np.unique(instance.cores // unit), usable)
    return usable[units]


def machine_of(instance: HarvestInstance) -> Machine | None:
    """Return the machine, or None if its work or that of all tasks is more than integers hold. O(E (log E + sizes) + T)."""
    if float(instance.cores[instance.task2job()].astype(np.float64) @ instance.runtime_ms) > MAX_WORK:
        return None
    units = usable_units(instance, instance.event_cores)
    units[instance.memory_mib[instance.event2vm()] < instance.task_memory_mib.min()] = 0
    before = np.concatenate(([0], units[:-1]))
    before[instance.first_event[:-1]] = 0
    order = np.argsort(instance.event_ms, kind="stable")
    if instance.is_fixed:
        level = np.cumsum((units - before)[order])
    else:
        amounts = np.unique(np.concatenate(([0], units)))
        level = np.empty_like(units)
        index = (np.searchsorted(amounts, before[order]), np.searchsorted(amounts, units[order]))
        leased_levels(*index, amounts, instance.max_leases, level)
    moment = instance.event_ms[order]
    last = np.flatnonzero(np.append(np.diff(moment) > 0, True))
    moment, level = np.concatenate(([-1], moment[last])), np.concatenate(([0], level[last]))
    lengths = np.diff(moment)
    # No task alone needs more than the machine has in the end, so nobody asks for later moments than this.
    latest = max(int(moment[-1]), int(instance.arrival_ms[-1])) + sum(instance.runtime_ms.tolist())
    if float(level[:-1].astype(np.float64) @ lengths) + float(level[-1]) * (latest - int(moment[-1])) > MAX_WORK:
        return None
    sums = np.concatenate(([0], np.cumsum(level[:-1] * lengths)))
    return Machine(int(np.gcd.reduce(instance.cores)), moment, level, sums)


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


# So many steps of finding N(t) take a few seconds; but so many moments at least, if time allows.
STEPS, LEAST_MOMENTS = 300_000_000, 64


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What ends, in order of release: (N,) int64 each. work in units x ms, release and earliest end in ms."""

    release: IntArray
    work: IntArray
    earliest: IntArray


def items_of(instance: HarvestInstance, unit: int, ends: IntArray) -> Items:
    """Return the jobs if the objective counts these, else the tasks. ends : (T,) int64, of tasks alone."""
    job = instance.task2job()
    work = instance.cores[job] // unit * instance.runtime_ms
    if instance.objective == "jobs":
        first = instance.first_task[:-1]
        return Items(instance.arrival_ms, np.add.reduceat(work, first), np.maximum.reduceat(ends, first))
    return Items(instance.arrival_ms[job], work, ends)


@method("bound-work", family=FAMILY, bounds=True)
def bound_work(instance: HarvestInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the objective by the work of all jobs, or tasks, on all VMs together; exact integers."""
    deadline = math.inf if time_limit_s is None else time.perf_counter() + time_limit_s
    ends = alone_ends(instance)
    alone = objective_of_ends(instance, ends)
    machine = machine_of(instance)
    if machine is None:
        return Outcome(bound=alone, status=Status.NO_SOLUTION, details={"work": "more than 64 bits hold"})
    items = items_of(instance, machine.unit, ends)
    first = items.work.shape[0] - 1 if instance.objective == "makespan" else 0
    least, moments = ends_by_work(items, machine, first, deadline)
    begun = int(instance.arrival_ms[0]) if instance.objective == "makespan" else sum(items.release.tolist())
    return Outcome(
        bound=max(alone, sum(least.tolist()) - begun),
        status=Status.NO_SOLUTION,
        details={"moments": moments, "alone_s": alone / 1000},
    )


def ends_by_work(items: Items, machine: Machine, first: int, deadline: float) -> tuple[IntArray, int]:
    """Return (N - first,) int64, no later than the ends of all items but the `first` ones, in order, and the moments tried.

    Known is always: N(low) <= some and N(high) >= more, so that the ends between are after `low`. The range with most
    to gain is halved first.
    """
    number = items.work.shape[0]
    least = np.sort(items.earliest)
    release = machine.done_by(items.release)
    last = max(int(least[-1]), machine.done_at(int(release[-1]) + int(items.work.sum())))
    ranges = [(0, first, number, int(items.release[0]), last)]
    budget = max(LEAST_MOMENTS, STEPS // (number * max(1, number.bit_length())))
    heap = np.empty((2, number), np.int64)
    moments = 0
    while ranges and moments < budget and time.perf_counter() < deadline:
        _, low, high, begin, end = heapq.heappop(ranges)
        middle = (begin + end) // 2
        moments += 1
        done = int(machine.done_by(np.array([middle]))[0])
        count = most_done(release, items.work, items.earliest, middle, done, heap)
        split = min(max(count, low), high)
        least[split:high] = np.maximum(least[split:high], middle + 1)
        for some, more, since, until in ((low, split, begin, middle), (split, high, middle, end)):
            # What ends no earlier than `until` anyway need not be looked at.
            more = some + int(np.searchsorted(least[some:more], until))
            if more > some and until - since > 1:
                heapq.heappush(ranges, ((since - until) * (more - some), some, more, since, until))
    return least[first:], moments
