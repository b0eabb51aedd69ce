"""Nobody waits: the optimum by two ways to the least-cost flow of `network`.

Successive shortest paths are marginal analysis, machine by machine; the program goes to a back end. How long machines
are paid depends on the last end of a fixed job after the horizon. That is searched by halving the candidates: jobs
that end after the later half's last candidate are rented, machines are paid for the first one. Of shortest paths only those
that a half changes are searched anew.

Up to which size each is a proof is told with the flow (`network`); beyond that the instance is unsupported.

Nobody waits: which jobs run fixed, and on how many machines, as a least-cost flow of slots through time.

With jobs of one kind a machine is k slots (`slots`), and the jobs that run fixed are a set that overlaps at most s k
times: a flow of s k units along the time line. A unit either idles from one submission to the next, or takes a job's
arc from its start to the first submission at or after its end.

Nodes       distinct submissions in order, and an end
Arcs        idle  i -> i + 1   cost 0, capacity: all the jobs
            job   i -> e       cost - k x rent x runtime, capacity 1
            buy   end -> 0     cost price x the time that is paid
Minimise    the cost of a circulation, in k-ths of an amount; plus the rent of all jobs

Its matrix is totally unimodular but for the row that makes slots whole machines.

Costs of arcs are whole multiples of the common divisor of the price and the slots' rents. Shortest paths are found in
64-bit integers, which is exact while no sum of a machine's paths has more than 61 bits (`largest_amount`); the program
in floats, whose bound is believed to a billionth of its size while no sum has more than 50 bits.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel, Rows, trusted
from schedgap.formulations.waiting.kernels_flow import (
    GONE,
    Arcs,
    Flow,
    Paths,
    change_machines,
    first_potentials,
    take_out,
)
from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.formulations.waiting.time_indexed import schedule_in_slots, slots_per_machine
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance, WaitingSchedule
from schedgap.instances.waiting.verify import verify

# Amounts of all paths that make a machine.
MAX_AMOUNT = 2**61
# The program's back ends compute in floats, which hold whole numbers up to 2^53.
MAX_FLOAT_AMOUNT = 2**50
# Jobs that leave a flow between two looks at the clock; of LCG's whole log one takes some 31 ms.
TOGETHER = 32


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


def network(scaled: Scaled, slots: int, paid: int, until: int) -> Network:
    """Return the circulation where machines are paid for `paid`, and jobs that end after `until` are rented."""
    step = common_price(scaled, slots)
    jobs = np.flatnonzero(scaled.submit + scaled.runtime <= until)
    submit, runtime = scaled.submit[jobs], scaled.runtime[jobs]
    nodes = np.unique(submit)
    count = nodes.shape[0]
    idle = np.arange(count)
    tail = np.concatenate((np.searchsorted(nodes, submit), idle))
    head = np.concatenate((np.searchsorted(nodes, submit + runtime), idle + 1))
    # The product slots x rent may have more than 64 bits before it is divided.
    common = math.gcd(slots, step)
    cost = np.append(-(slots // common) * (scaled.rent[jobs] // (step // common)) * runtime, np.zeros(count, np.int64))
    number = np.concatenate((jobs, np.full(count, -1)))
    order = np.argsort(tail, kind="stable")
    cost = np.append(cost[order], scaled.instance.fixed_price // step * paid)
    unit = max(1, int(np.gcd.reduce(cost)))
    capacity = np.where(number[order] < 0, jobs.shape[0], 1)
    return Network(
        np.append(tail[order], count),
        np.append(head[order], 0),
        np.append(capacity, jobs.shape[0]),
        cost // unit,
        np.append(number[order], -1),
        count + 1,
        unit * step,
    )


def flow_model(name: str, net: Network, slots: int) -> LinearModel:
    """Build the integer program of a circulation; its last variable counts machines."""
    arcs = np.arange(net.tail.shape[0])
    rows = Rows(arcs.shape[0] + 1)
    rows.add("balance", (net.tail, arcs, 1.0), (net.head, arcs, -1.0), lower=np.zeros(net.num_nodes), upper=0.0)
    rows.add("whole", (0, arcs[-1:], 1.0), (0, arcs[-1:] + 1, -slots), lower=np.zeros(1), upper=0.0)
    return rows.model(name, np.append(net.cost, 0), np.append(net.capacity, net.capacity[-1]), 1)


class CheapestFlows:
    """Circulations of whole machines of least cost, by successive shortest paths.

    Where machines are paid for longer, or more jobs are rented, few paths change: jobs that are rented from then on leave
    theirs, and then few machines do not pay any more. So each flow begins with another one. Of `scaled`, which has jobs.
    """

    def __init__(self, scaled: Scaled, slots: int) -> None:
        self.slots = slots
        net = network(scaled, slots, 1, int((scaled.submit + scaled.runtime).max()))
        jobs = np.flatnonzero(net.jobs >= 0)
        self.jobs, self.unit, self.price = net.jobs[jobs], net.unit, int(net.cost[-1])
        self.ends = (scaled.submit + scaled.runtime)[self.jobs]
        tail, head, nodes = net.tail[jobs], net.head[jobs], np.arange(net.num_nodes + 1)
        by_head = np.argsort(head, kind="stable")
        leaving, entering = np.searchsorted(tail, nodes), np.searchsorted(head[by_head], nodes)
        self.arcs = Arcs(tail, head, net.cost[jobs], leaving, by_head, entering)
        potential = np.empty(net.num_nodes, np.int64)
        first_potentials(self.arcs, potential)
        self.none = Machines(
            Flow(np.zeros(jobs.shape[0], np.int64), np.zeros(net.num_nodes - 1, np.int64), potential), 0
        )
        self.paths = Paths(*np.empty((2, net.num_nodes), np.int64))

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


@model_builder("clairvoyant-no-wait-program", family=FAMILY)
def build(instance: WaitingInstance) -> LinearModel:
    """Build the flow's program, with machines paid for the horizon alone.

    Raises
    ------
    MethodError
        if machines are not just slots, no job fits one, or amounts are too large for floats.
    """
    scaled, slots = scale(instance), slots_per_machine(instance)
    if slots is None or not scaled.num_jobs:
        raise MethodError(f"{instance.name}: jobs of several kinds, or none that fits; there is no such flow.")
    if largest_amount(scaled, slots) > MAX_FLOAT_AMOUNT:
        raise MethodError(f"{instance.name}: floats do not hold its amounts; use coarser times.")
    until = int((scaled.submit + scaled.runtime).max())
    return flow_model(f"no-wait-{instance.name}", network(scaled, slots, scaled.horizon, until), slots)


# From how long machines are paid and the last end of a fixed job, and the choice for a range around them, to one or None
# where the limit was met.
Chooser: TypeAlias = "Callable[[int, int, Choice | None], Choice | None]"
# From jobs, of which there are some, slots a machine, and a deadline of `time.perf_counter`.
Way: TypeAlias = "Callable[[Scaled, int, float], Chooser]"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A best set of fixed jobs, (M,) int64, and k times a bound on its amount with all others rented; and its flow."""

    fixed: IntArray
    amount: int
    machines: Machines | None = None


def one_kind(instance: WaitingInstance) -> str | None:
    """Return None, or that jobs may wait, or why machines are not just slots for jobs."""
    if instance.max_wait_us != 0:
        return "lets jobs wait; this is the optimum for max_wait_us = 0"
    slots = slots_per_machine(instance)
    if slots is None:
        return "has jobs of several kinds, which share machines in many ways; use bound-fluid or interval-model"
    return _too_large(instance, slots, MAX_AMOUNT)


def one_kind_in_floats(instance: WaitingInstance) -> str | None:
    """Return None, or the reason of `one_kind`, or that amounts are too large for floats."""
    return one_kind(instance) or _too_large(instance, slots_per_machine(instance) or 1, MAX_FLOAT_AMOUNT)


def _too_large(instance: WaitingInstance, slots: int, limit: int) -> str | None:
    amount = largest_amount(scale(instance), slots)
    return f"has amounts up to {amount:.3g}, more than {limit:.3g}; use coarser times" if amount > limit else None


@method("clairvoyant-no-wait", family=FAMILY, supports=one_kind, exact=True, version=2)
def clairvoyant_no_wait(instance: WaitingInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Choose machines and fixed jobs at the least cost if nobody waits: the marginal analysis of whole jobs."""

    def by_paths(scaled: Scaled, slots: int, deadline: float) -> Chooser:
        flows = CheapestFlows(scaled, slots)

        def choose(paid: int, until: int, around: Choice | None) -> Choice | None:
            like = flows.none if around is None or around.machines is None else around.machines
            machines = flows.cheapest(paid, until, like, deadline)
            if machines is None:
                return None
            amount = slots * scaled.all_rented + flows.amount(machines, paid)
            return Choice(flows.jobs[machines.flow.used == 1], amount, machines)

        return choose

    return _searched(instance, by_paths, time_limit_s)


@method(
    "clairvoyant-no-wait-program", family=FAMILY, supports=one_kind_in_floats, exact=True, choices=UNBOUNDED_MIP_CHOICES
)
def clairvoyant_no_wait_program(
    instance: WaitingInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Choose the same by an integer program."""
    unproven: list[str] = []

    def by_program(scaled: Scaled, slots: int, deadline: float) -> Chooser:
        def choose(paid: int, until: int, _: Choice | None) -> Choice | None:
            net = network(scaled, slots, paid, until)
            left_s = None if time_limit_s is None else deadline - time.perf_counter()
            model = flow_model(f"no-wait-{instance.name}", net, slots)
            found = solve(model, backend, time_limit_s=left_s, threads=threads)
            if found.unproven:
                unproven.append(found.unproven)
            if found.status is not Status.OPTIMAL or found.x is None or found.bound is None:
                return None
            fixed = (found.x[: net.jobs.shape[0]] > 0.5) & (net.jobs >= 0)
            return Choice(net.jobs[fixed], slots * scaled.all_rented + net.unit * trusted(found.bound))

        return choose

    outcome = _searched(instance, by_program, time_limit_s, backend)
    return replace(outcome, details={**outcome.details, "reason": unproven[0]}) if unproven else outcome


def _searched(instance: WaitingInstance, way: Way, time_limit_s: float | None, backend: str | None = None) -> Outcome:
    begun = time.perf_counter()
    deadline = begun + (math.inf if time_limit_s is None else time_limit_s)
    scaled, slots = scale(instance), slots_per_machine(instance) or 1
    choose = way(scaled, slots, deadline) if scaled.num_jobs else None
    ends = scaled.submit + scaled.runtime
    paid = np.unique(np.append(ends[ends > scaled.horizon], scaled.horizon)).tolist()
    best: WaitingSchedule | None = None
    least: int | None = None
    solves, proven = 0, 0
    # Ranges of candidates for the time paid, each with a bound and the choice of the range that it is half of.
    queue: list[tuple[int, int, int, Choice | None]] = [(0, 0, len(paid) - 1, None)]
    while queue and (least is None or queue[0][0] < least) and time.perf_counter() < deadline:
        _, low, high, around = queue[0]
        found: Choice | None = Choice(np.zeros(0, np.int64), slots * scaled.all_rented)
        if choose is not None and (ends <= paid[high]).any():
            found = choose(paid[low], paid[high], around)
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
            heapq.heappush(queue, (bound, low, middle, found))
            heapq.heappush(queue, (bound, middle + 1, high, found))
    if least is not None:
        proven = min([least, *(bound for bound, *_ in queue)])
    return Outcome(
        solution=best,
        bound=None if least is None else proven,
        status=Status.OPTIMAL if proven == least else None,
        solve_s=time.perf_counter() - begun,
        backend=backend,
        details={"solves": solves, "slots_per_machine": slots},
    )
