"""Nobody waits: the optimum by successive shortest paths to a least-cost flow: marginal analysis, machine by machine.

How long machines are paid depends on the last end of a fixed job after the horizon. That is searched by halving the
candidates: jobs that end after the later half's last candidate are rented, machines are paid for the first one. Of shortest
paths only those that a half changes are searched anew.

With jobs of one kind a machine is k slots (`slots_per_machine`), and the jobs that run fixed are a set that overlaps at
most s k times: a flow of s k units along the time line. A unit either idles from one submission to the next, or takes a job's
arc from its start to the first submission at or after its end.

Nodes       distinct submissions in order, and an end
Arcs        idle  i -> i + 1   cost 0, capacity: all the jobs
            job   i -> e       cost - k x rent x runtime, capacity 1
            buy   end -> 0     cost price x the time that is paid
Minimise    the cost of a circulation, in k-ths of an amount; plus the rent of all jobs

Costs of arcs are whole multiples of the common divisor of the price and the slots' rents. Shortest paths are found in
64-bit integers, which is exact while no sum of a machine's paths has more than 61 bits (`largest_amount`); beyond that the
instance is unsupported.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.formulations.waiting.time_indexed import schedule_in_slots, slots_per_machine
from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance, WaitingSchedule
from schedgap.instances.waiting.verify import verify

FAR = 2**62
# How a path came to a node: from the one before, or from the one after, where units idled.
IDLED, UNDONE = -1, -2
# Of an arc that is not in the network any more.
GONE = -1


class Arcs(NamedTuple):
    """The network. Letters: V nodes in a row, N arcs of jobs.

    tail, head, cost : (N,) int64, sorted by tail; leaving : (V + 1,) int64, where those of a node begin. by_head : (N,)
    int64, arcs sorted by head; entering : (V + 1,) likewise.
    """

    tail: np.ndarray
    head: np.ndarray
    cost: np.ndarray
    leaving: np.ndarray
    by_head: np.ndarray
    entering: np.ndarray


class Flow(NamedTuple):
    """Units on their way from the first node to the last one, and the proof that as many cannot go for less.

    used : (N,) int64, 1 for arcs in use, `GONE` for those taken out. idle : (V - 1,) int64, units that idle. potential : (V,)
    int64; no arc of the residual network costs less than the potential of its head less that of its tail.
    """

    used: np.ndarray
    idle: np.ndarray
    potential: np.ndarray


class Paths(NamedTuple):
    """Room for the search of a path: (V,) int64."""

    distance: np.ndarray
    arrived_by: np.ndarray


@kernel
def first_potentials(arcs: Arcs, potential: np.ndarray) -> None:
    """Write the least cost of a path from the first node to each, where nothing is in use. O(V + N)."""
    potential[:] = FAR
    potential[0] = 0
    for u in range(potential.shape[0] - 1):
        potential[u + 1] = min(potential[u + 1], potential[u])
        for a in range(arcs.leaving[u], arcs.leaving[u + 1]):
            potential[arcs.head[a]] = min(potential[arcs.head[a]], potential[u] + arcs.cost[a])


@kernel
def change_machines(arcs: Arcs, cost: int, slots: int, is_bought: bool, flow: Flow, paths: Paths) -> bool:
    """Buy one more machine, or give one back, if that pays, and return whether it did.

    cost : of a machine. slots : units of one. flow : changed.

    A unit's path in the residual network may take jobs off other units, so each machine is worth what marginal
    analysis says of it, and no more than the one before. O(slots x (V + N) log(V + N)).
    """
    last = flow.potential.shape[0] - 1
    used, idle, potential = flow.used.copy(), flow.idle.copy(), flow.potential.copy()
    total = cost if is_bought else -cost
    for _ in range(slots):
        total += _send(arcs, 0 if is_bought else last, last if is_bought else 0, flow, paths)
    if total >= 0:
        flow.used[:] = used
        flow.idle[:] = idle
        flow.potential[:] = potential
    return total < 0


@kernel
def take_out(arcs: Arcs, which: np.ndarray, flow: Flow, paths: Paths) -> None:
    """Take arcs (M,) out of the network; a unit on one of them goes the cheapest other way. flow : changed."""
    for a in which:
        is_used = flow.used[a] == 1
        flow.used[a] = GONE
        if is_used:
            _send(arcs, arcs.tail[a], arcs.head[a], flow, paths)


@kernel
def _send(arcs: Arcs, source: int, target: int, flow: Flow, paths: Paths) -> int:
    """Send a unit along a shortest path of the residual network, in costs reduced by the potentials; return what it costs.

    Nodes further away than the target count as far as it: so potentials stay right, and most of the network is not searched.
    """
    potential, distance = flow.potential, paths.distance
    distance[:] = FAR
    distance[source] = 0
    # Most arcs cost nothing: nodes as near as the last one wait in `level`, not in the heap.
    near, heap, level = 0, [(0, source)], [source]
    while True:
        if len(level) > 0:
            u = level.pop()
        else:
            near, u = heapq.heappop(heap)
            if near > distance[u]:
                continue
        if u == target:
            break
        here = near + potential[u]
        if u + 1 < potential.shape[0]:
            _reach(paths, heap, level, near, u + 1, here - potential[u + 1], IDLED)
        if u > 0 and flow.idle[u - 1] > 0:
            _reach(paths, heap, level, near, u - 1, here - potential[u - 1], UNDONE)
        for a in range(arcs.leaving[u], arcs.leaving[u + 1]):
            if flow.used[a] == 0:
                _reach(paths, heap, level, near, arcs.head[a], here + arcs.cost[a] - potential[arcs.head[a]], a)
        for i in range(arcs.entering[u], arcs.entering[u + 1]):
            a = arcs.by_head[i]
            if flow.used[a] == 1:
                _reach(paths, heap, level, near, arcs.tail[a], here - arcs.cost[a] - potential[arcs.tail[a]], a)
    for u in range(potential.shape[0]):
        potential[u] += min(distance[u], distance[target]) - distance[target]
    _add_unit(arcs, source, target, flow, paths.arrived_by)
    total: int = potential[target] - potential[source]
    return total


@kernel
def _reach(
    paths: Paths, heap: list[tuple[int, int]], level: list[int], near: int, v: int, length: int, by: int
) -> None:
    """Note a path to a node, if it is the shortest so far."""
    if length < paths.distance[v]:
        paths.distance[v], paths.arrived_by[v] = length, by
        if length == near:
            level.append(v)
        else:
            heapq.heappush(heap, (length, v))


@kernel
def _add_unit(arcs: Arcs, source: int, target: int, flow: Flow, arrived_by: np.ndarray) -> None:
    """Send one unit along the path that was found."""
    u = target
    while u != source:
        a = arrived_by[u]
        if a == IDLED:
            flow.idle[u - 1] += 1
            u -= 1
        elif a == UNDONE:
            flow.idle[u] -= 1
            u += 1
        elif arcs.head[a] == u and flow.used[a] == 0:
            flow.used[a] = 1
            u = arcs.tail[a]
        else:
            flow.used[a] = 0
            u = arcs.head[a]


# Amounts of all paths that make a machine.
MAX_AMOUNT = 2**61
# Jobs that leave a flow between two looks at the clock; of LCG's whole log one takes some 31 ms.
TOGETHER = 32


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """Machines and the flow through them."""

    flow: Flow
    number: int


def common_price(scaled: Scaled, slots: int) -> int:
    """Return what divides the cost of every arc."""
    return math.gcd(scaled.instance.fixed_price, slots * int(np.gcd.reduce(scaled.rent, initial=0)))


def largest_amount(scaled: Scaled, slots: int) -> int:
    """Return what no sum of costs of a machine's paths is above, in multiples of `common_price`.

    A path in the residual network takes jobs and gives jobs back, all of them at most.
    """
    last = max(scaled.horizon, int((scaled.submit + scaled.runtime).max(initial=0)))
    path = scaled.instance.fixed_price * last + slots * (scaled.all_rented - scaled.always_rented)
    return 2 * slots * path // common_price(scaled, slots)


class CheapestFlows:
    """Circulations of whole machines of least cost, by successive shortest paths.

    Where machines are paid for longer, or more jobs are rented, few paths change: jobs that are rented from then on leave
    theirs, and then few machines do not pay any more. So each flow begins with another one. Of `scaled`, which has jobs.
    """

    def __init__(self, scaled: Scaled, slots: int) -> None:
        self.slots = slots
        step = common_price(scaled, slots)
        submissions, tail = np.unique(scaled.submit, return_inverse=True)
        self.jobs = jobs = np.argsort(tail, kind="stable")
        tail, head = tail[jobs], np.searchsorted(submissions, (scaled.submit + scaled.runtime)[jobs])
        # The product slots x rent may have more than 64 bits before it is divided.
        common = math.gcd(slots, step)
        cost = -(slots // common) * (scaled.rent[jobs] // (step // common)) * scaled.runtime[jobs]
        price = scaled.instance.fixed_price // step
        unit = max(1, math.gcd(price, int(np.gcd.reduce(cost))))
        self.unit, self.price = unit * step, price // unit
        self.ends = (scaled.submit + scaled.runtime)[jobs]
        nodes = np.arange(submissions.shape[0] + 2)
        by_head = np.argsort(head, kind="stable")
        leaving, entering = np.searchsorted(tail, nodes), np.searchsorted(head[by_head], nodes)
        self.arcs = Arcs(tail, head, cost // unit, leaving, by_head, entering)
        potential = np.empty(submissions.shape[0] + 1, np.int64)
        first_potentials(self.arcs, potential)
        self.none = Machines(
            Flow(np.zeros(jobs.shape[0], np.int64), np.zeros(submissions.shape[0], np.int64), potential), 0
        )
        self.paths = Paths(*np.empty((2, potential.shape[0]), np.int64))

    def cheapest(self, paid: int, until: int, like: Machines, deadline: float) -> Machines | None:
        """Return the flow where machines are paid for `paid`, and jobs that end after `until` are rented.

        like : where no machine is paid for longer and no more jobs are rented. deadline : of `time.perf_counter`; None after it.
        """
        # Potentials begin at 0, lest they grow from flow to flow.
        flow = Flow(like.flow.used.copy(), like.flow.idle.copy(), like.flow.potential - like.flow.potential[0])
        leaving = np.flatnonzero((self.ends > until) & (flow.used != GONE))
        for first in range(0, leaving.shape[0], TOGETHER):
            take_out(self.arcs, leaving[first : first + TOGETHER], flow, self.paths)
            if time.perf_counter() > deadline:
                return None
        machines, cost = like.number, self.slots * self.price * paid
        for step in (-1, 1):
            while machines + step >= 0 and change_machines(self.arcs, cost, self.slots, step > 0, flow, self.paths):
                machines += step
                if time.perf_counter() > deadline:
                    return None
            if machines < like.number:
                break
        return Machines(flow, machines)

    def amount(self, machines: Machines, paid: int) -> int:
        """Return what machines cost that are paid for `paid`, less k times the rents of their jobs."""
        saved: int = sum(self.arcs.cost[machines.flow.used == 1].tolist())
        return self.unit * (saved + machines.number * self.slots * self.price * paid)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A best set of fixed jobs, (M,) int64, and k times its amount with all others rented; and its flow, None without jobs."""

    fixed: IntArray
    amount: int
    machines: Machines | None = None


def one_kind(instance: WaitingInstance) -> str | None:
    """Return None, or that jobs may wait, or why machines are not just slots for jobs."""
    if instance.max_wait_us != 0:
        return "lets jobs wait; this is the optimum for max_wait_us = 0"
    slots = slots_per_machine(instance)
    if slots is None:
        return "has jobs of several kinds, which share machines in many ways; use time-indexed or bound-fluid"
    amount = largest_amount(scale(instance), slots)
    if amount > MAX_AMOUNT:
        return f"has amounts up to {amount:.3g}, more than {MAX_AMOUNT:.3g}; use coarser times"
    return None


@method("clairvoyant-no-wait", family=FAMILY, supports=one_kind, exact=True, version=2)
def clairvoyant_no_wait(instance: WaitingInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Choose machines and fixed jobs at the least cost if nobody waits: the marginal analysis of whole jobs."""
    begun = time.perf_counter()
    deadline = begun + (math.inf if time_limit_s is None else time_limit_s)
    scaled, slots = scale(instance), slots_per_machine(instance) or 1
    flows = CheapestFlows(scaled, slots) if scaled.num_jobs else None
    ends = scaled.submit + scaled.runtime
    paid = np.unique(np.append(ends[ends > scaled.horizon], scaled.horizon)).tolist()
    best: WaitingSchedule | None = None
    least: int | None = None
    solves, proven = 0, 0
    # Ranges of candidates for the time paid, each with a bound and the choice of the range that it is half of.
    queue: list[tuple[int, int, int, Choice | None]] = [(0, 0, len(paid) - 1, None)]
    while queue and (least is None or queue[0][0] < least) and time.perf_counter() < deadline:
        _, low, high, around = queue[0]
        found = Choice(np.zeros(0, np.int64), slots * scaled.all_rented)
        if flows is not None and (ends <= paid[high]).any():
            like = flows.none if around is None or around.machines is None else around.machines
            machines = flows.cheapest(paid[low], paid[high], like, deadline)
            if machines is None:
                break
            amount = slots * scaled.all_rented + flows.amount(machines, paid[low])
            found = Choice(flows.jobs[machines.flow.used == 1], amount, machines)
        heapq.heappop(queue)
        solves += 1
        every = np.zeros(instance.num_jobs, np.bool_)
        every[scaled.jobs[found.fixed]] = True
        cand = schedule_in_slots(instance, every, instance.submit_us, slots)
        objective = verify(instance, cand)
        if least is None or objective < least:
            best, least = cand, objective
        bound = scaled.objective(-(-found.amount // slots))
        if low < high and bound < least:
            middle = (low + high) // 2
            heapq.heappush(queue, (bound, low, middle, found))
            heapq.heappush(queue, (bound, middle + 1, high, found))
    if least is not None:
        proven = min([least, *(bound for bound, *_ in queue)])
    return Outcome(
        solution=best,
        bound=None if least is None else proven,
        status=Status.OPTIMAL if proven == least else None,
        solve_s=time.perf_counter() - begun,
        details={"solves": solves, "slots_per_machine": slots},
    )
