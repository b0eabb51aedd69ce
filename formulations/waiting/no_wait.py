"""Nobody waits: the optimum by two ways to the least-cost flow of `no_wait_flow`.

Successive shortest paths are marginal analysis, machine by machine; the program goes to a back end. How long machines
are paid depends on the last end of a fixed job after the horizon. That is searched by halving the candidates: jobs
that end after the later half's last candidate are rented, machines are paid for the first one.

Up to which size each is a proof is told with the flow (`no_wait_flow`); beyond that the instance is unsupported.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.trusted import trusted
from schedgap.formulations.waiting.no_wait_flow import (
    MAX_AMOUNT,
    MAX_FLOAT_AMOUNT,
    Network,
    cheapest_flow,
    flow_model,
    largest_amount,
    network,
)
from schedgap.formulations.waiting.scaled import scale
from schedgap.formulations.waiting.slots import schedule_in_slots, slots_per_machine
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY
from schedgap.instances.waiting.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.waiting.model import WaitingInstance
    from schedgap.instances.waiting.solution import WaitingSchedule

# From the network, slots a machine and seconds left (None for no limit) to a flow and a bound on the cost of every flow,
# or None where the limit was met.
FlowSolver: TypeAlias = "Callable[[Network, int, float | None], tuple[IntArray, int] | None]"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A best set of fixed jobs: (N,) bool, and k times a bound on its amount with all others rented."""

    fixed: BoolArray
    amount: int


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


def best_choice(
    scaled: Scaled, slots: int, paid: int, until: int, solve_flow: FlowSolver, left_s: float | None
) -> Choice | None:
    """Return the best fixed jobs for a given time paid, or None where a limit was met."""
    rented = slots * scaled.all_rented
    if not (scaled.submit + scaled.runtime <= until).any():
        return Choice(np.zeros(scaled.num_jobs, np.bool_), rented)
    net = network(scaled, slots, paid, until)
    found = None if left_s is not None and left_s <= 0 else solve_flow(net, slots, left_s)
    if found is None:
        return None
    flow, bound = found
    fixed = np.zeros(scaled.num_jobs, np.bool_)
    fixed[net.jobs[(flow > 0) & (net.jobs >= 0)]] = True
    return Choice(fixed, rented + net.unit * bound)


@method("clairvoyant-no-wait", family=FAMILY, supports=one_kind, exact=True)
def clairvoyant_no_wait(instance: WaitingInstance, *, time_limit_s: float | None = None) -> Outcome:
    """Choose machines and fixed jobs at the least cost if nobody waits: the marginal analysis of whole jobs."""

    def solve_flow(net: Network, slots: int, left_s: float | None) -> tuple[IntArray, int] | None:
        flow = cheapest_flow(net, slots, None if left_s is None else time.perf_counter() + left_s)
        return None if flow is None else (flow, sum(map(int.__mul__, net.cost.tolist(), flow.tolist())))

    return _searched(instance, solve_flow, time_limit_s)


@method(
    "clairvoyant-no-wait-program", family=FAMILY, supports=one_kind_in_floats, exact=True, choices=UNBOUNDED_MIP_CHOICES
)
def clairvoyant_no_wait_program(
    instance: WaitingInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Choose the same by an integer program."""

    def solve_flow(net: Network, slots: int, left_s: float | None) -> tuple[IntArray, int] | None:
        model = flow_model(f"no-wait-{instance.name}", net, slots)
        found = solve(model, backend, time_limit_s=left_s, threads=threads)
        if found.status is not Status.OPTIMAL or found.x is None or found.bound is None:
            return None
        return found.x[: net.tail.shape[0]].astype(np.int64), trusted(found.bound)

    return _searched(instance, solve_flow, time_limit_s, backend)


def _searched(
    instance: WaitingInstance, solve_flow: FlowSolver, time_limit_s: float | None, backend: str | None = None
) -> Outcome:
    begun = time.perf_counter()
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
        left_s = None if time_limit_s is None else begun + time_limit_s - time.perf_counter()
        found = best_choice(scaled, slots, paid[low], paid[high], solve_flow, left_s)
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
        backend=backend,
        details={"solves": solves, "slots_per_machine": slots},
    )
