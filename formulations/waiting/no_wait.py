"""Nobody waits: which jobs run fixed, and on how many machines, as a least-cost flow of slots through time.

With jobs of one kind a machine is k slots (`slots`), and the jobs that run fixed are a set that overlaps at most s k
times: a flow of s k units along the time line. A unit either idles from one submission to the next, or takes a job's
arc from its start to the first submission at or after its end.

Nodes       distinct submissions in order, and an end
Arcs        idle  i -> i + 1   cost price x time from i to i + 1, capacity: all the jobs
            job   i -> e       cost price x time from i to e - k x rent x runtime, capacity 1
            buy   end -> 0     cost price x the time that is paid and that no other arc crosses
Minimise    the cost of a circulation, in k-ths of an amount; plus the rent of all jobs

Two ways lead to the optimum: successive shortest paths, which is marginal analysis machine by machine, and the
program, whose matrix is totally unimodular but for the row that makes slots whole machines. How long machines are
paid depends on the last end of a fixed job after the horizon. That is searched by halving the candidates: jobs that
end after the later half's last candidate are rented, machines are paid for the first one.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_BACKENDS, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.rows import Rows
from schedgap.formulations.waiting.kernels_flow import buy_machines
from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.slots import schedule_in_slots, slots_per_machine
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY
from schedgap.instances.waiting.verify import verify

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.waiting.model import WaitingInstance
    from schedgap.instances.waiting.schedule import WaitingSchedule

SHORTEST_PATHS = "shortest-paths"
ALGORITHMS = (SHORTEST_PATHS, "integer-program")
# Amounts of one path.
MAX_AMOUNT = 2**61


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Arcs of the circulation, in order of their tails; the last one buys slots. Costs are multiples of `unit`.

    tail, head, capacity, cost : (A,) int64. jobs : (A,) int64, the job of `Scaled` that an arc stands for, or -1.
    """

    tail: IntArray
    head: IntArray
    capacity: IntArray
    cost: IntArray
    jobs: IntArray
    num_nodes: int
    unit: int


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A best set of fixed jobs: (N,) bool, and k times its amount with all others rented."""

    fixed: BoolArray
    amount: int


def one_kind(instance: WaitingInstance) -> str | None:
    """Return None, or that jobs may wait, or why machines are not just slots for jobs."""
    if instance.max_wait_us != 0:
        return "lets jobs wait; this is the optimum for max_wait_us = 0"
    if slots_per_machine(instance) is None:
        return "has jobs of several kinds, which share machines in many ways; use bound-fluid or interval-model"
    return None


def network(scaled: Scaled, slots: int, paid: int, until: int) -> Network:
    """Return the circulation where machines are paid for `paid`, and jobs that end after `until` are rented."""
    price = scaled.instance.fixed_price
    jobs = np.flatnonzero(scaled.submit + scaled.runtime <= until)
    submit, runtime = scaled.submit[jobs], scaled.runtime[jobs]
    nodes = np.unique(submit)
    count = nodes.shape[0]
    start = np.searchsorted(nodes, submit)
    end = np.searchsorted(nodes, submit + runtime)
    # Paid time is counted up to `paid` only; the end node lies at the last submission.
    stands = np.minimum(np.append(nodes, nodes[-1]), paid)
    largest = (price + slots * int(scaled.rent.max())) * max(paid, int((scaled.submit + scaled.runtime).max()))
    if largest > MAX_AMOUNT:
        raise MethodError(f"{scaled.instance.name}: amounts of {largest:.3g} exceed 62 bits; use coarser times.")
    idle = np.arange(count)
    tail = np.concatenate((start, idle))
    head = np.concatenate((end, idle + 1))
    cost = price * (stands[head] - stands[tail])
    cost[: jobs.shape[0]] -= slots * scaled.rent[jobs] * runtime
    number = np.concatenate((jobs, np.full(count, -1)))
    order = np.argsort(tail, kind="stable")
    buy = price * (paid - int(stands[-1]) + int(stands[0]))
    cost = np.append(cost[order], buy)
    unit = max(1, int(np.gcd.reduce(cost)))
    capacity = np.where(number[order] < 0, jobs.shape[0], 1)
    return Network(
        np.append(tail[order], count),
        np.append(head[order], 0),
        np.append(capacity, jobs.shape[0]),
        cost // unit,
        np.append(number[order], -1),
        count + 1,
        unit,
    )


def flow_model(name: str, net: Network, slots: int) -> LinearModel:
    """Build the integer program of a circulation; its last variable counts machines."""
    arcs = np.arange(net.tail.shape[0])
    rows = Rows(arcs.shape[0] + 1)
    rows.add(
        "balance",
        np.concatenate((net.tail, net.head)),
        np.concatenate((arcs, arcs)),
        np.repeat([1.0, -1.0], arcs.shape[0]),
        np.zeros(net.num_nodes),
        np.zeros(net.num_nodes),
    )
    rows.add(
        "whole", np.zeros(2, np.int64), np.array([arcs[-1], arcs[-1] + 1]), np.array([1.0, -slots]), *np.zeros((2, 1))
    )
    capacity = np.append(net.capacity, net.capacity[-1])
    return rows.model(
        name,
        np.append(net.cost, 0).astype(np.float64),
        np.zeros(capacity.shape[0]),
        capacity.astype(np.float64),
        np.ones(capacity.shape[0], np.bool_),
        1,
    )


def cheapest_flow(net: Network, slots: int) -> IntArray:
    """Return a circulation of whole machines of least cost, by successive shortest paths."""
    jobs = np.flatnonzero(net.jobs >= 0)
    stays = np.flatnonzero(net.jobs[:-1] < 0)
    tail, head, cost = net.tail[jobs], net.head[jobs], net.cost[jobs]
    by_head = np.argsort(head, kind="stable")
    nodes = np.arange(net.num_nodes + 1)
    used, idle = np.zeros(jobs.shape[0], np.int64), np.zeros(stays.shape[0], np.int64)
    work = np.empty((3, net.num_nodes), np.int64)
    machines = buy_machines(
        tail,
        head,
        cost,
        np.searchsorted(tail, nodes),
        by_head,
        np.searchsorted(head[by_head], nodes),
        net.cost[stays],
        int(net.cost[-1]),
        slots,
        used,
        idle,
        *work,
    )
    flow = np.empty(net.tail.shape[0], np.int64)
    flow[jobs], flow[stays], flow[-1] = used, idle, machines * slots
    return flow


def best_choice(
    scaled: Scaled, slots: int, paid: int, until: int, backend: str | None, limits: Limits
) -> Choice | None:
    """Return the best fixed jobs for a given time paid, or None where a limit was met."""
    rented = slots * scaled.all_rented
    if not (scaled.submit + scaled.runtime <= until).any():
        return Choice(np.zeros(scaled.num_jobs, np.bool_), rented)
    net = network(scaled, slots, paid, until)
    flow = _solved(scaled, net, slots, backend, limits)
    if flow is None:
        return None
    fixed = np.zeros(scaled.num_jobs, np.bool_)
    fixed[net.jobs[(flow > 0) & (net.jobs >= 0)]] = True
    return Choice(fixed, rented + net.unit * sum(map(int.__mul__, net.cost.tolist(), flow.tolist())))


@dataclass(frozen=True, slots=True)
class Limits:
    """A moment of `time.perf_counter` to end at, or None; threads for a solver."""

    deadline: float | None
    threads: int

    def left_s(self) -> float | None:
        """Return the seconds left, None for no limit."""
        return None if self.deadline is None else self.deadline - time.perf_counter()


def _solved(scaled: Scaled, net: Network, slots: int, backend: str | None, limits: Limits) -> IntArray | None:
    left_s = limits.left_s()
    if left_s is not None and left_s <= 0:
        return None
    if backend is None:
        return cheapest_flow(net, slots)
    model = flow_model(f"no-wait-{scaled.instance.name}", net, slots)
    found = solve(model, backend, time_limit_s=left_s, threads=limits.threads)
    if found.status is not Status.OPTIMAL or found.x is None:
        return None
    return found.x[: net.tail.shape[0]].astype(np.int64)


@model_builder("clairvoyant-no-wait", family=FAMILY)
def build(instance: WaitingInstance) -> LinearModel:
    """Build the flow's program, with machines paid for the horizon alone.

    Raises
    ------
    MethodError
        if machines are not just slots, or no job fits one.
    """
    scaled, slots = scale(instance), slots_per_machine(instance)
    if slots is None or not scaled.num_jobs:
        raise MethodError(f"{instance.name}: jobs of several kinds, or none that fits; there is no such flow.")
    until = int((scaled.submit + scaled.runtime).max())
    return flow_model(f"no-wait-{instance.name}", network(scaled, slots, scaled.horizon, until), slots)


@method(
    "clairvoyant-no-wait",
    family=FAMILY,
    supports=one_kind,
    bounds=True,
    exact=True,
    choices={"algorithm": ALGORITHMS, "backend": UNBOUNDED_MIP_BACKENDS},
)
def clairvoyant_no_wait(
    instance: WaitingInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    algorithm: str = SHORTEST_PATHS,
    backend: str = "highs",
) -> Outcome:
    """Choose machines and fixed jobs at the least cost if nobody waits: the marginal analysis of whole jobs.

    algorithm : successive shortest paths, or the integer program by a back end.
    """
    begun = time.perf_counter()
    solver = None if algorithm == SHORTEST_PATHS else backend
    limits = Limits(None if time_limit_s is None else begun + time_limit_s, threads)
    scaled, slots = scale(instance), slots_per_machine(instance) or 1
    ends = scaled.submit + scaled.runtime
    paid = np.unique(np.append(ends[ends > scaled.horizon], scaled.horizon)).tolist()
    best: WaitingSchedule | None = None
    least: int | None = None
    solves, proven = 0, 0
    # Ranges of candidates for the time paid, each with a bound from the range that it is half of.
    queue: list[tuple[int, int, int]] = [(0, 0, len(paid) - 1)]
    while queue and (least is None or queue[0][0] < least):
        _, low, high = queue[0]
        found = best_choice(scaled, slots, paid[low], paid[high], solver, limits)
        if found is None:
            break
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
            heapq.heappush(queue, (bound, low, middle))
            heapq.heappush(queue, (bound, middle + 1, high))
    if least is not None:
        proven = min([least, *(bound for bound, _, _ in queue)])
    return Outcome(
        solution=best,
        bound=None if least is None else proven,
        status=Status.OPTIMAL if proven == least else None,
        solve_s=time.perf_counter() - begun,
        backend=solver,
        details={"solves": solves, "slots_per_machine": slots},
    )
