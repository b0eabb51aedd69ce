"""Nobody waits: the optimum by two ways to the least-cost flow of `no_wait_flow`.

Successive shortest paths are marginal analysis, machine by machine; the program goes to a back end. How long machines
are paid depends on the last end of a fixed job after the horizon. That is searched by halving the candidates: jobs
that end after the later half's last candidate are rented, machines are paid for the first one. Of shortest paths only those
that a half changes are searched anew.

Up to which size each is a proof is told with the flow (`no_wait_flow`); beyond that the instance is unsupported.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.trusted import trusted
from schedgap.formulations.waiting.no_wait_flow import (
    MAX_AMOUNT,
    MAX_FLOAT_AMOUNT,
    CheapestFlows,
    flow_model,
    largest_amount,
    network,
)
from schedgap.formulations.waiting.scaled import Scaled, scale
from schedgap.formulations.waiting.slots import schedule_in_slots, slots_per_machine
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.formulations.waiting.no_wait_flow import Machines
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.waiting.solution import WaitingSchedule

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
