"""The bound of work: how many jobs one machine as fast as all VMs together can have completed by each moment.

Whatever the schedule, the jobs that are completed by a moment t are such that each could end by t alone (`alone`), and
such that the work of those that arrive at s or later is at most what the VMs can do from s to t. No more than N(t) jobs
are, where N(t) is the largest number of jobs with both. So the k-th end is no earlier than the first t with N(t) >= k, and
all that is known of N(t) < k bounds it. The same holds for tasks, and for the makespan with all of them.

A proof at every size: whole numbers below 2^61 units of cores x ms, and where work is more, what tasks alone prove.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.alone import alone_ends, objective_of_ends
from schedgap.formulations.harvest.kernels_work import most_done
from schedgap.formulations.harvest.machine import Machine, machine_of
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

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
    heap = np.empty(number, np.int64)
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
