"""Schedules made with hindsight from the bound's prices, and improved by placing jobs near each other anew.

Jobs are placed at the prices of `bound-fluid` (`drafts`) for several numbers of machines, in the ranges of ends where the
bound is least, save numbers of which it says that they cost more than a plan that is known. The best is improved by large
neighbourhood search (Shaw, 1998): jobs that start near each other, around one that costs much more than it may at the prices,
or all of one machine while that one would run there, are taken off and placed anew in another order, mostly large ones first,
which is kept by simulated annealing.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.fluid_bound.end_ranges import priced
from schedgap.formulations.waiting.priced_search.drafts import best_draft
from schedgap.formulations.waiting.priced_search.kernels_plan import Near, Plan, Taken
from schedgap.formulations.waiting.priced_search.kernels_rework import link_all, rework
from schedgap.formulations.waiting.scaled import scale
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.waiting.model import FAMILY
from schedgap.instances.waiting.objective import costs
from schedgap.instances.waiting.solution import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.formulations.waiting.fluid_bound.end_ranges import EndRange
    from schedgap.formulations.waiting.priced_search.drafts import Draft
    from schedgap.instances.waiting.model import WaitingInstance

# Most jobs placed anew at once, moves between two looks at the clock, and the share of moves and time to choose the machines by.
ROOM, MOVES, CHOOSING = 200, 2_000, 0.1
# Ranges of ends in which plans are made.
RANGES = 8
# Heat begins at this share of the mean rent of a job, and falls to a share of that.
HEAT, COOLED = 0.1, 0.05
# Making and pricing a schedule to tell of takes O(jobs).
TELL_EVERY_S = 0.2


@method("priced-search", version=15, family=FAMILY, bounds=True, stochastic=True)
def priced_search(
    instance: WaitingInstance,
    rng: np.random.Generator,
    *,
    time_limit_s: float | None = None,
    found: Found = untold,
    rounds: int = 40,
    moves: int = 100_000,
) -> Outcome:
    """Find a schedule with hindsight, and a bound: placed by the bound's prices, improved by large neighbourhood search.

    rounds : as of bound-fluid. moves : of the search; fewer if time is over, for which it cools down in time too. O(jobs) before
        the first move.
    """
    if rounds < 1 or moves < 0:
        raise MethodError(f"rounds is {rounds}, moves {moves}; give at least 1 and 0.")
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    scaled = scale(instance)
    all_rented = WaitingSchedule(0, np.full(instance.num_jobs, RENTED), instance.submit_us)
    if not scaled.num_jobs:
        return Outcome(all_rented, scaled.objective(scaled.all_rented))
    third = None if time_limit_s is None else begun + time_limit_s / 3
    ranges = priced(scaled, rounds, deadline=third)
    bound = scaled.objective(min(ranges[0].amount, scaled.all_rented))
    found(all_rented, bound)
    random = np.array([int(rng.integers(1, 2**63))], np.uint64)
    now = time.perf_counter()
    drafts = _drafts(ranges, None if deadline is None else now + (deadline - now) / 2)[:2]
    for i, draft in enumerate(drafts):
        now = time.perf_counter()
        until = None if deadline is None else now + CHOOSING * (deadline - now)
        drafts[i] = improved(draft, int(CHOOSING * moves), random, until)
    best = min(drafts, key=lambda each: each.least)

    def better(draft: Draft) -> WaitingSchedule:
        schedule = schedule_of(draft)
        return min(schedule, all_rented, key=lambda each: costs(instance, each).objective)

    def tell(draft: Draft) -> None:
        found(better(draft))

    if found is not untold:
        tell(best)
    schedule = better(improved(best, moves, random, deadline, None if found is untold else tell))
    return Outcome(schedule, bound, details={"machines": schedule.num_machines, "ranges": len(ranges)})


def _drafts(ranges: list[EndRange], deadline: float | None) -> list[Draft]:
    """Return plans, from the best on, for several numbers of machines in the ranges that prove least."""
    drafts: list[Draft] = []
    least = math.inf
    for ends in ranges[:RANGES]:
        machines = ends.machines
        # Where many jobs end after the horizon, far fewer machines than the bound's may pay; fewer still, if those do.
        for number in (machines, machines + 1, *(machines >> shift for shift in range(1, machines.bit_length()))):
            late = deadline is not None and time.perf_counter() > deadline
            if drafts and (late or ends.least(number) >= least):
                continue
            drafts.append(best_draft(ends, number, deadline))
            if number < machines and drafts[-1].least > least:
                break
            least = min(least, drafts[-1].least)
    return sorted(drafts, key=lambda draft: draft.least)


def improved(
    draft: Draft, moves: int, random: np.ndarray, deadline: float | None, tell: Callable[[Draft], None] | None = None
) -> Draft:
    """Return the draft after so many moves, which change its plan. tell : is told of better ones."""
    jobs, line, plan = draft.jobs, draft.line, draft.plan
    number = jobs.submit.shape[0]
    behind, before = np.full((2, number), -1)
    near = Near(np.full((draft.machines + 1, line.stretches), -1), behind, before, np.zeros(number))
    link_all(jobs, line, plan, near)
    room = max(2, min(ROOM, number))
    job, machine, start, order = np.zeros((4, room), np.int64)
    taken = Taken(job, machine, start, np.zeros(room), order)
    heat, amount, best, least = HEAT * max(1.0, float(jobs.rent.mean())), draft.amount, draft.best, draft.least
    begun = due = time.perf_counter()
    told = least
    for done in range(0, moves, MOVES):
        spent = 0.0 if deadline is None else (time.perf_counter() - begun) / max(1e-9, deadline - begun)
        if spent >= 1.0:
            break
        now = heat * COOLED ** max(done / moves, spent)
        amount += rework(jobs, line, plan, near, taken, min(MOVES, moves - done), now, random)
        if amount < least:
            best, least = Plan(plan.machine.copy(), plan.start.copy()), amount
        if tell is not None and least < told and time.perf_counter() >= due:
            tell(replace(draft, best=best))
            told, due = least, time.perf_counter() + TELL_EVERY_S
    return replace(draft, amount=amount, best=best, least=least)


def schedule_of(draft: Draft) -> WaitingSchedule:
    """Return the best plan of a draft as a schedule of the instance."""
    scaled, instance = draft.scaled, draft.scaled.instance
    machine, start_us = np.full(instance.num_jobs, RENTED), instance.submit_us.copy()
    machine[scaled.jobs], start_us[scaled.jobs] = draft.best.machine, draft.best.start * scaled.unit_us
    return WaitingSchedule(draft.machines, machine, start_us)
