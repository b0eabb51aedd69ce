"""The bound of work: all jobs together on one machine as fast as the cluster, in the order that is best for them.

Let q(k) > 0 be a worth of a unit of resource and time on class k. A job j that does a work of W(j) holds d(j, r) of
resource r for at least W(j) / p(j, k) on class k: it uses up a worth of at least

    v(j) = d(j, r) W(j) min_k q(k) / p(j, k)

of the sum_k n(k) l(k, r) q(k) that the cluster offers in a unit of time. So no schedule ends its jobs earlier, one by
one, than one machine of that rate with jobs of sizes v(j), on which shortest-remaining-first minimises the sum of all
delays (Schrage 1968). With q(k) the best performance of any job on class k this is the fluid bound where performance
depends on the machine alone.

The delays on that machine are bounds of their sum only. But any jobs may be left out of it, and each of these counts with
its own bound (`alone`): both parts hold for every schedule, whoever else is in it. Which jobs are left out is chosen from
those whose own bound is largest against their delay on the machine.

Sums and products are Python's, of any size, and worths rounded down, so the bound is a proof at any size; floating point
decides only which jobs are left out.

The bound of each job alone is of whole numbers that 64 bits hold for every instance (`longest_alone`).

Pools: single machines, or all machines of a class at once where it cannot matter which of them a task runs on.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.fairness.model import ONE
from schedgap.instances.jit import kernel
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.sharing.model import FAMILY, SharingInstance
from schedgap.instances.units import SECOND_MS

# Rates beyond this one are taken for it: it does all the work that an instance may have (2^52 ms, times ONE) in a millisecond.
FASTEST = 2**62


@kernel
def longest_alone(
    first_task: np.ndarray, work: np.ndarray, speed: np.ndarray, slots: np.ndarray, one: int, least: np.ndarray
) -> None:
    """Find for each job a time that its tasks take on an empty cluster, whatever the order and the machines.

    first_task : (J + 1,) int64. work : (T,) int64, of each job's tasks in descending order. speed : (J, K) int64, of each
    job's classes in descending order, `one` for a task that takes as long as its work; 0 where it may not run.
    slots : (J, K) int64, how many tasks run there at once, no more than the job has. least : (J,) int64, written.

    The i largest tasks of a job run in at most i slots at once. So they take at least their work over the rate of the i
    fastest slots, and at least as long as it takes until so many tasks, none of them smaller than the i-th, are through,
    one after the other in each slot. O(K) a task, and for each that makes the bound longer a binary search. All numbers stay
    below 2^63 for work x one up to 2^62, speeds up to 2^61 and up to 10^8 tasks.
    """
    for j in range(first_task.shape[0] - 1):
        first = first_task[j]
        best = 0
        total = 0
        rate = 0
        k = 0
        left = slots[j, 0]
        for t in range(first, first_task[j + 1]):
            while left == 0 and k + 1 < speed.shape[1] and speed[j, k + 1] > 0:
                k += 1
                left = slots[j, k]
            if left > 0:
                rate = min(rate + speed[j, k], FASTEST)
                left -= 1
            total += work[t]
            best = max(best, (total * one - 1) // rate + 1)
            wanted = t - first + 1
            if _through(work[t], speed[j], slots[j], one, best, wanted):
                continue
            low, high = best, best
            while not _through(work[t], speed[j], slots[j], one, high, wanted):
                low, high = high, 2 * high
            while high - low > 1:
                middle = (low + high) // 2
                if _through(work[t], speed[j], slots[j], one, middle, wanted):
                    high = middle
                else:
                    low = middle
            best = high
        least[j] = best


@kernel
def _through(work: int, speed: np.ndarray, slots: np.ndarray, one: int, time: int, wanted: int) -> bool:
    """Whether so many tasks of equal work can be through by a time."""
    done = 0
    for k in range(speed.shape[0]):
        if speed[k] == 0:
            break
        done += slots[k] * min(time // ((work * one + speed[k] - 1) // speed[k]), wanted)
        if done >= wanted:
            return True
    return False


def alone_ms(instance: SharingInstance) -> IntArray:
    """Return (J,) int64, from arrival to end at least, in milliseconds, of each job on the empty cluster.

    The tasks of a job run in slots, as many at once as fit on a machine. O(T (K + log T)).
    """
    sizes = np.diff(instance.first_task)
    slots = np.minimum(np.where(instance.serves(), slots_of(instance), 0), sizes[:, None])
    speed = np.where(slots > 0, instance.performance, 0)
    order = np.argsort(-speed, axis=1, kind="stable")
    work = instance.work_ms[np.lexsort((-instance.work_ms, instance.task2job()))]
    least = np.zeros(instance.num_jobs, np.int64)
    longest_alone(
        instance.first_task.copy(),
        work,
        np.take_along_axis(speed, order, axis=1),
        np.take_along_axis(slots, order, axis=1),
        ONE,
        least,
    )
    return least


def slots_of(instance: SharingInstance) -> IntArray:
    """Return (J, K) int64, how many tasks of a job fit at once on all machines of a class, each on one machine."""
    on_one = np.full(instance.allowed.shape, np.iinfo(np.int64).max)
    for r in range(len(instance.resources)):
        needs = instance.demand[:, r]
        some = needs > 0
        on_one[some] = np.minimum(on_one[some], instance.capacity[None, :, r] // needs[some, None])
    # A machine with room for more tasks than there are has room for all of them.
    slots: IntArray = np.minimum(on_one, instance.num_tasks) * instance.machine_count
    return slots


@method("bound-alone", family=FAMILY, bounds=True)
def bound_alone(instance: SharingInstance) -> Outcome:
    """Bound the delays by what each job would need on the empty cluster; exact integers."""
    return Outcome(bound=sum(alone_ms(instance).tolist()), status=Status.NO_SOLUTION)


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """Where tasks run. Letters: P pools, R resources, M machines.

    capacity : (P, R) int64. pool2class : (P,) int64. first_machine : (P,) int64. num_machines : (P,) int64.
    slots : (P,) int64, how many tasks a machine of the pool runs at once; 0 for a single machine.
    """

    capacity: IntArray
    pool2class: IntArray
    first_machine: IntArray
    num_machines: IntArray
    slots: IntArray

    def machine2pool(self) -> IntArray:
        """(M,) int64: the pool of each machine."""
        return np.repeat(np.arange(self.slots.shape[0]), self.num_machines)

    def machines(self, pool: IntArray, start: IntArray, end: IntArray) -> IntArray:
        """Return (T,) int64, a machine for each task, where no pool is over its capacity at any time.

        Tasks of a merged pool take the slot that is free first: as many slots suffice as tasks run at once.
        """
        machine = self.first_machine[pool]
        for p in np.flatnonzero(self.slots).tolist():
            free = [(0, slot) for slot in range(int(self.slots[p] * self.num_machines[p]))]
            tasks = np.flatnonzero(pool == p)
            for t in tasks[np.argsort(start[tasks], kind="stable")].tolist():
                slot = heapq.heappop(free)[1]
                machine[t] += slot // int(self.slots[p])
                heapq.heappush(free, (int(end[t]), slot))
        return machine


def pools_of(instance: SharingInstance) -> Pools:
    """Return the pools: a class whose jobs all demand the same is one, every other machine is one by itself.

    On such a class each machine runs a fixed number of tasks at once, whichever they are, so it is enough that no more
    tasks run at once than there are slots: intervals that are nowhere more than s deep need s slots only.
    """
    serves, slots = instance.serves(), slots_of(instance)
    capacity, kind, first, number, per_machine = [], [], [], [], []
    machine = 0
    for k, count in enumerate(instance.machine_count.tolist()):
        jobs = np.flatnonzero(serves[:, k])
        alike = jobs.size > 0 and (instance.demand[jobs] == instance.demand[jobs[0]]).all()
        size = count if alike else 1
        each = int(slots[jobs[0], k]) // count if alike else 0
        room = instance.demand[jobs[0]] * each * count if alike else instance.capacity[k]
        for _ in range(count // size):
            capacity.append(room)
            kind.append(k)
            first.append(machine)
            number.append(size)
            per_machine.append(each)
            machine += size
    return Pools(np.array(capacity), np.array(kind), np.array(first), np.array(number), np.array(per_machine))


WORTH_BITS = 20
# How many ways to leave jobs out are tried for each resource.
SPLITS = 12


def worths(instance: SharingInstance, r: int) -> tuple[list[int], int]:
    """Return what each job uses up of a resource, and what the cluster offers in a millisecond, in one unit."""
    serves = instance.serves()
    worth = np.where(serves, instance.performance, 0).max(axis=0)
    # Of classes that serve nobody, nothing is used.
    ratio = np.where(serves, (worth << WORTH_BITS) // np.maximum(instance.performance, 1), np.iinfo(np.int64).max)
    works = np.add.reduceat(instance.work_ms, instance.first_task[:-1])
    columns = (instance.demand[:, r].tolist(), works.tolist(), ratio.min(axis=1).tolist())
    used = [demand * work * SECOND_MS * least for demand, work, least in zip(*columns, strict=True)]
    offers = zip(instance.machine_count.tolist(), instance.capacity[:, r].tolist(), worth.tolist(), strict=True)
    return used, sum(count * capacity * best for count, capacity, best in offers) << WORTH_BITS


def shortest_first(arrival: Sequence[int], sizes: Sequence[int], rate: int) -> list[Fraction]:
    """Return the delay of each job on one machine that always serves the one with the least left of its size.

    arrival : ascending. rate : size that is done in a unit of time. O(J log J).
    """
    delays = [Fraction(0)] * len(sizes)
    waiting: list[tuple[int, int]] = []
    now = 0  # In units of time / rate, in which all is whole.
    for j in range(len(sizes) + 1):
        until = arrival[j] * rate if j < len(sizes) else None
        while waiting and (until is None or now + waiting[0][0] <= until):
            left, job = heapq.heappop(waiting)
            now += left
            delays[job] = Fraction(now - arrival[job] * rate, rate)
        if until is None:
            break
        if waiting:
            left, job = waiting[0]
            heapq.heapreplace(waiting, (left - (until - now), job))
        now = until
        heapq.heappush(waiting, (sizes[j], j))
    return delays


@method("bound-work", family=FAMILY, bounds=True)
def bound_work(instance: SharingInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Bound the delays by all jobs on one machine as fast as the cluster, or by what some need alone; exact integers."""
    deadline = None if time_limit_s is None else time.perf_counter() + time_limit_s
    alone = alone_ms(instance)
    bound, left_out = sum(alone.tolist()), instance.num_jobs
    for r in range(len(instance.resources)):
        found = _best_split(instance, r, alone, deadline)
        if found > (bound, left_out):
            bound, left_out = found
    return Outcome(bound=bound, status=Status.NO_SOLUTION, details={"left_out": left_out})


def _best_split(instance: SharingInstance, r: int, alone: IntArray, deadline: float | None) -> tuple[int, int]:
    """Return the best bound by one resource, and how many jobs are left out of the machine for it."""
    sizes, rate = worths(instance, r)
    arrival = instance.arrival_ms.tolist()
    num_jobs = len(sizes)
    best = (0, num_jobs)
    order = np.arange(num_jobs)
    for split in range(SPLITS):
        if rate == 0 or (deadline is not None and time.perf_counter() > deadline):
            break
        # All jobs first; then without the half, three quarters, ... that gain most by being left out.
        kept = np.sort(order[: num_jobs >> split])
        if not kept.size:
            break
        delays = shortest_first([arrival[j] for j in kept], [sizes[j] for j in kept], rate)
        others = sum(alone.tolist()) - sum(alone[kept].tolist())
        total = sum(delays, Fraction(others))
        best = max(best, (-(-total.numerator // total.denominator), num_jobs - kept.size))
        if split == 0:
            order = np.argsort([-float(d) / a for d, a in zip(delays, alone.tolist(), strict=True)], kind="stable")
    return best
