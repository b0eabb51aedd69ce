"""Schedules made with hindsight from the bound's prices, and improved by placing jobs near each other anew.

The prices of `bound-fluid` say what a core is worth when: a job that would cost more by its wait and by the priced time
that it takes than by renting leaves its room to others. Prices are too low for that, being those of jobs that may run in
parts, and who waits makes others wait: a job's wait counts up to eight times. Jobs are placed so, each where it first has
room (conservative backfilling with hindsight), in order of submission, of their cheapest starts at these prices, and of
size, for several numbers of machines, ends of the last fixed job, and shares of the prices: in the ranges of ends where the
bound is least, save numbers of which it says that they cost more than a plan that is known. The best is improved by large
neighbourhood search (Shaw, 1998): up to 80 jobs that start near each other, around one that costs much more than it may at
the prices, are taken off and placed anew in another order, mostly large ones first, which is kept by simulated annealing.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.fluid_bound.end_ranges import priced
from schedgap.formulations.waiting.priced_search.kernels_rework import (
    Given,
    Near,
    Plan,
    Rule,
    Taken,
    link_all,
    place_in_turn,
    rework,
)
from schedgap.formulations.waiting.priced_search.kernels_timeline import Timeline
from schedgap.formulations.waiting.scaled import scale
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, method
from schedgap.instances.waiting.model import FAMILY
from schedgap.instances.waiting.objective import costs
from schedgap.instances.waiting.solution import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.formulations.waiting.fluid_bound.end_ranges import EndRange
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.waiting.model import WaitingInstance

# How much longer machines may run than they must, as shares of that; what shares of the prices jobs look at, and how often
# they count their wait.
LATER, SHARES, WEIGHTS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0), (0.0, 0.9), (1.0, 2.0, 4.0, 8.0)
# Jobs placed anew at once, moves between two looks at the clock, and the share of moves and time to choose the machines by.
TOGETHER, MOVES, CHOOSING = 80, 2_000, 0.1
# Ranges of ends in which plans are made, and rounds of improving prices for a number of machines there.
RANGES, PRICE_ROUNDS = 8, 20
# Heat begins at this share of the mean rent of a job, and falls to a share of that.
HEAT, COOLED = 0.1, 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A plan for a number of machines, which moves change, and the best that it has been.

    scaled : the jobs that it places. amount, least : of the machines until `jobs`' last end, of waits and of all rents, in
    amounts of `Scaled`.
    """

    scaled: Scaled
    machines: int
    jobs: Given
    line: Timeline
    plan: Plan
    amount: float
    best: Plan
    least: float


@method("priced-search", version=9, family=FAMILY, bounds=True, stochastic=True)
def priced_search(
    instance: WaitingInstance,
    rng: np.random.Generator,
    *,
    time_limit_s: float | None = None,
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
    random = np.array([int(rng.integers(1, 2**63))], np.uint64)
    now = time.perf_counter()
    drafts = _drafts(ranges, None if deadline is None else now + (deadline - now) / 2)[:2]
    for i, draft in enumerate(drafts):
        now = time.perf_counter()
        until = None if deadline is None else now + CHOOSING * (deadline - now)
        drafts[i] = improved(draft, int(CHOOSING * moves), random, until)
    best = min(drafts, key=lambda each: each.least)
    best = improved(best, moves, random, deadline)
    schedule = schedule_of(best)
    if costs(instance, schedule).objective > costs(instance, all_rented).objective:
        schedule = all_rented
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
            drafts.append(best_draft(ends, number, deadline, every=len(ranges) > 1))
            if number < machines and drafts[-1].least > least:
                break
            least = min(least, drafts[-1].least)
    return sorted(drafts, key=lambda draft: draft.least)


def best_draft(ends: EndRange, machines: int, deadline: float | None = None, *, every: bool = True) -> Draft:
    """Return the best plan of jobs placed in turn at shares of prices; their waits at all prices are found anew.

    every : makes plans for all ends, not only until a later one is no gain.
    """
    scaled, found = ends.scaled, ends.ascent
    rate = found.prices_for(machines, PRICE_ROUNDS)
    grid = found.grid
    width = max(1, -(-scaled.horizon // (4 * grid.shape[0])))
    points = np.minimum(np.arange(-(-scaled.horizon // width) + 1) * width, scaled.horizon)
    sums = np.cumsum(rate * np.diff(grid), axis=1) * scaled.instance.fixed_price
    worth = np.array([np.interp(points, grid, np.concatenate(([0.0], row))) for row in sums])
    best: Draft | None = None
    natural = min(ends.last, max(scaled.horizon, int((scaled.submit + scaled.runtime).max())))
    caps = {min(ends.last, int(scaled.horizon * (1 + share))) for share in LATER} | {natural}
    price = float(machines * scaled.instance.fixed_price)
    prices, least = Rule(worth, width, 1.0), found.problem.least_costs(grid, rate)
    cheapest = scaled.submit.copy()
    cheapest[found.problem.used] += np.maximum(found.problem.wait, 0)
    size = -scaled.instance.cores[scaled.jobs] * scaled.runtime.astype(np.float64) ** 2
    orders = (np.arange(scaled.num_jobs), np.argsort(cheapest, kind="stable"), np.argsort(size, kind="stable"))
    before = math.inf
    for cap in sorted(caps):
        paid = price * cap + scaled.always_rented
        if best is not None and (paid >= best.amount or best.amount >= before):
            break
        if best is not None and not every:
            before = best.amount
        jobs = _given(scaled, cap, found.problem.shares, prices, least)
        for share, weight, order in product(SHARES, WEIGHTS, orders):
            if best is not None and deadline is not None and time.perf_counter() > deadline:
                break
            line = _timeline(scaled, machines, cap)
            plan = Plan(np.empty_like(scaled.submit), np.empty_like(scaled.submit))
            amount = place_in_turn(jobs, line, order, Rule(share * worth, width, weight), machines, plan)
            amount += paid
            if best is None or amount < best.amount:
                best = Draft(scaled, machines, jobs, line, plan, amount, _copy(plan), amount)
    assert best is not None
    return best


def improved(draft: Draft, moves: int, random: np.ndarray, deadline: float | None) -> Draft:
    """Return the draft after so many moves, which change its plan."""
    jobs, line, plan = draft.jobs, draft.line, draft.plan
    number = jobs.submit.shape[0]
    near = Near(np.full(line.stretches, -1), np.full(number, -1), np.full(number, -1))
    link_all(line, plan, near)
    room = max(2, min(TOGETHER, number))
    job, machine, start, order = np.zeros((4, room), np.int64)
    taken = Taken(job, machine, start, np.zeros(room), order)
    heat, amount, best, least = HEAT * max(1.0, float(jobs.rent.mean())), draft.amount, draft.best, draft.least
    begun = time.perf_counter()
    for done in range(0, moves, MOVES):
        spent = 0.0 if deadline is None else (time.perf_counter() - begun) / max(1e-9, deadline - begun)
        if spent >= 1.0:
            break
        now = heat * COOLED ** max(done / moves, spent)
        amount += rework(jobs, line, plan, near, taken, min(MOVES, moves - done), now, random)
        if amount < least:
            best, least = _copy(plan), amount
    return replace(draft, amount=amount, best=best, least=least)


def schedule_of(draft: Draft) -> WaitingSchedule:
    """Return the best plan of a draft as a schedule of the instance."""
    scaled, instance = draft.scaled, draft.scaled.instance
    machine, start_us = np.full(instance.num_jobs, RENTED), instance.submit_us.copy()
    machine[scaled.jobs], start_us[scaled.jobs] = draft.best.machine, draft.best.start * scaled.unit_us
    return WaitingSchedule(draft.machines, machine, start_us)


def _copy(plan: Plan) -> Plan:
    return Plan(plan.machine.copy(), plan.start.copy())


def _given(scaled: Scaled, cap: int, shares: FloatArray, prices: Rule, least: FloatArray) -> Given:
    """Return the jobs, none of which is to end after `cap` on a fixed machine."""
    instance = scaled.instance
    slack = cap - scaled.submit - scaled.runtime
    slack = np.where(scaled.longest >= 0, np.minimum(slack, scaled.longest), slack)
    rent = scaled.rent.astype(np.float64) * scaled.runtime
    cores, memory = instance.cores[scaled.jobs], instance.memory_mib[scaled.jobs]
    price = float(instance.wait_price)
    return Given(scaled.submit, scaled.runtime, cores, memory, shares, rent, slack, prices, least, price)


def _timeline(scaled: Scaled, machines: int, cap: int) -> Timeline:
    """Return empty machines."""
    instance, number = scaled.instance, scaled.num_jobs
    stretches = max(1, number // (3 * machines))
    width = max(1, -(-cap // stretches))
    standing = machines * stretches
    steps = standing + 2 * number + 2
    after = np.arange(1, steps + 1)
    after[stretches - 1 : standing : stretches] = -1
    moments = np.zeros(steps, np.int64)
    moments[:standing] = np.tile(np.arange(stretches) * width, machines)
    cores, memory = np.full(steps, instance.machine_cores), np.full(steps, instance.machine_memory_mib)
    free = cores[:standing]
    return Timeline(width, stretches, moments, cores, memory, after, free.copy(), free.copy(), np.array([standing]))
