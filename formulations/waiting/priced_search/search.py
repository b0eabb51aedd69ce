"""Schedules made with hindsight from the bound's prices, and improved by placing jobs near each other anew.

Jobs are placed at the prices of `bound-fluid` (`drafts`) for several numbers of machines, in the ranges of ends where the
bound is least, save numbers of which it says that they cost more than a plan that is known. The best is improved by large
neighbourhood search (Shaw, 1998): jobs that start near each other, around one that costs much more than it may at the prices,
or all of one machine while that one would run there, are taken off and placed anew in another order, mostly large ones first,
which is kept by simulated annealing. Of a handful of jobs, plans for all numbers of machines and all ends that may pay share the
moves: after each round the better half of them goes on (successive halving: Karnin et al., 2013).

The prices say what a core is worth when: a job that would cost more by its wait and by the priced time that it takes than by
renting leaves its room to others. They also say when each job would start, which is the order that mostly does best: large
jobs, whose wait costs little for their size, are left to times at which little else runs.

Prices are too low for that, being those of jobs that may run in parts: so prices for fewer machines are tried too. And who waits
makes others wait: a job's wait counts up to eight times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from schedgap.formulations.waiting.fluid_bound import EndRange, moments, priced
from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.formulations.waiting.priced_search.kernels_plan import Given, Near, Plan, Rule, Taken, Timeline, empty
from schedgap.formulations.waiting.priced_search.kernels_rework import link_all, place_in_turn, rework
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.waiting.model import FAMILY, RENTED, WaitingInstance, WaitingSchedule
from schedgap.instances.waiting.verify import costs

# Intervals at most between which prices for a number of machines are improved, and rounds.
PRICE_GRID, PRICE_ROUNDS = 10_000, 60
# Up to so many jobs are placed by every setting of the first ends, and prices for them are improved in fewer rounds.
FEW, FIRST_ENDS, FEW_ROUNDS = 20_000, 3, 20
# How much longer machines may run than they must, as shares of that.
LATER = (0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 1.0)
SUBMISSION, CHEAPEST, LARGE = range(3)


class Setting(NamedTuple):
    """How jobs are placed.

    end : until when machines may run. order : of jobs. weight : how often their waits count. priced : the share of the
    machines that prices are for. share : of these prices, what jobs look at.
    """

    end: int
    order: int = CHEAPEST
    weight: float = 2.0
    priced: float = 1.0
    share: float = 0.9


# What each part of a setting may be, save the end.
CHOICES: dict[str, tuple[Any, ...]] = {
    "order": (SUBMISSION, CHEAPEST, LARGE),
    "weight": (1.0, 2.0, 4.0, 8.0),
    "priced": (1.0, 0.9, 0.8, 0.7),
    "share": (0.0, 0.9),
}


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


class _AtPrices(NamedTuple):
    """What jobs know at prices: these, (N,) float64 what each costs at least, and their orders, (N,) int64 each."""

    rule: Rule
    least: FloatArray
    orders: tuple[IntArray, IntArray, IntArray]


def best_draft(ends: EndRange, machines: int, deadline: float | None = None) -> Draft:
    """Return the best plan that is found by changing one part of the setting at a time, until that is no gain.

    Of few jobs, it begins with the best of all settings of the first ends whose prices are for all machines.
    """
    scaled = ends.scaled
    choices = {"end": _last_ends(ends)} | CHOICES
    at_prices = {1.0: _at_prices(ends, machines)}
    setting = Setting(choices["end"][0])
    best = _placed(ends, machines, setting, at_prices[1.0])
    tried, before = {setting}, None

    def tries(others: Iterable[Setting]) -> None:
        nonlocal best, setting
        for other in others:
            paid = machines * scaled.instance.fixed_price * other.end + scaled.always_rented
            late = deadline is not None and time.perf_counter() > deadline
            if other in tried or late or paid >= best.least:
                continue
            tried.add(other)
            if other.priced not in at_prices:
                at_prices[other.priced] = _at_prices(ends, other.priced * machines)
            draft = _placed(ends, machines, other, at_prices[other.priced])
            if draft.least < best.least:
                best, setting = draft, other

    if scaled.num_jobs <= FEW:
        every = choices | {"end": choices["end"][:FIRST_ENDS], "priced": (1.0,)}
        tries(Setting(*parts) for parts in product(*every.values()))
    while before != setting:
        before = setting
        for part, values in choices.items():
            tries([setting._replace(**{part: value}) for value in values])
    return best


def _last_ends(ends: EndRange) -> tuple[int, ...]:
    """Return until when machines may run: some shares longer than they must, and until all jobs end that never wait."""
    scaled = ends.scaled
    natural = max(scaled.horizon, int((scaled.submit + scaled.runtime).max()))
    later = [*(int(scaled.horizon * (1 + share)) for share in LATER), natural]
    return tuple(dict.fromkeys(min(ends.last, end) for end in later))


def _at_prices(ends: EndRange, machines: float) -> _AtPrices:
    """Return what jobs know at prices for a number of machines, whole or not."""
    scaled, problem = ends.scaled, ends.ascent.problem
    finest = ends.ascent.grid
    grid = finest if finest.shape[0] <= PRICE_GRID else moments(scaled, PRICE_GRID, problem.until)
    # Few jobs are placed best at the very prices that prove most.
    few_rounds = 0 if machines == ends.machines else FEW_ROUNDS
    rounds = few_rounds if scaled.num_jobs <= FEW else PRICE_ROUNDS
    rate = ends.ascent.prices_for(machines, grid, rounds)
    width = max(1, -(-problem.until // (4 * grid.shape[0])))
    points = np.minimum(np.arange(-(-problem.until // width) + 1) * width, problem.until)
    sums = np.cumsum(rate * np.diff(grid), axis=1) * scaled.instance.fixed_price
    worth = np.array([np.interp(points, grid, np.concatenate(([0.0], row))) for row in sums])
    least = problem.least_costs(grid, rate)
    cheapest = scaled.submit.copy()
    cheapest[problem.used] += np.maximum(problem.wait, 0)
    size = -scaled.instance.cores[scaled.jobs] * scaled.runtime.astype(np.float64) ** 2
    orders = np.arange(scaled.num_jobs), np.argsort(cheapest, kind="stable"), np.argsort(size, kind="stable")
    return _AtPrices(Rule(worth, width, 1.0), least, orders)


def _placed(ends: EndRange, machines: int, setting: Setting, known: _AtPrices) -> Draft:
    """Return the plan of a setting. O(jobs) where few have to look far for room."""
    scaled, instance = ends.scaled, ends.scaled.instance
    jobs = _given(scaled, setting.end, ends.ascent.problem.shares, known)
    line = empty(machines, setting.end, scaled.num_jobs, instance.machine_cores, instance.machine_memory_mib)
    plan = Plan(np.empty_like(scaled.submit), np.empty_like(scaled.submit))
    rule = Rule(setting.share * known.rule.worth, known.rule.width, setting.weight)
    amount = place_in_turn(jobs, line, known.orders[setting.order], rule, machines, plan)
    amount += float(machines * scaled.instance.fixed_price) * setting.end + scaled.always_rented
    return Draft(scaled, machines, jobs, line, plan, amount, Plan(plan.machine.copy(), plan.start.copy()), amount)


def _given(scaled: Scaled, cap: int, shares: FloatArray, known: _AtPrices) -> Given:
    """Return the jobs, none of which is to end after `cap` on a fixed machine."""
    instance = scaled.instance
    slack = cap - scaled.submit - scaled.runtime
    slack = np.where(scaled.longest >= 0, np.minimum(slack, scaled.longest), slack)
    rent = scaled.rent.astype(np.float64) * scaled.runtime
    cores, memory = instance.cores[scaled.jobs], instance.memory_mib[scaled.jobs]
    price = float(instance.wait_price)
    return Given(scaled.submit, scaled.runtime, cores, memory, shares, rent, slack, known.rule, known.least, price)


# Most jobs placed anew at once, moves between two looks at the clock, and the share of moves and time to choose the machines by.
ROOM, MOVES, CHOOSING = 200, 2_000, 0.1
# Ranges of ends in which plans are made.
RANGES = 8
# Of up to so many jobs, plans are made for every number of machines and every end.
HANDFUL = 7
# Heat begins at this share of the mean rent of a job, and falls to a share of that.
HEAT, COOLED = 0.1, 0.05
# Making and pricing a schedule to tell of takes O(jobs).
TELL_EVERY_S = 0.2


@method("priced-search", version=16, family=FAMILY, bounds=True, stochastic=True)
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
    if scaled.num_jobs <= HANDFUL:
        drafts += _every_end(ranges, min(scaled.all_rented, drafts[0].least), deadline)
    best = _chosen(drafts, moves, random, deadline)

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


def _every_end(ranges: list[EndRange], least: float, deadline: float | None) -> list[Draft]:
    """Return a plan for each number of machines and each end that may cost less than a known plan, of a handful of jobs.

    Where jobs start as early as they can, each does when another ends, or at once: so the last one ends some jobs' runtimes after
    a submission.
    """
    drafts: list[Draft] = []
    for ends in ranges:
        scaled, known = ends.scaled, _at_prices(ends, ends.machines)
        sums = np.zeros(1, np.int64)
        for runtime in scaled.runtime.tolist():
            sums = np.union1d(sums, sums + runtime)
        moments = np.unique(np.maximum(np.add.outer(scaled.submit, sums), scaled.horizon))
        for machines in range(1, scaled.num_jobs + 1):
            late = deadline is not None and time.perf_counter() > deadline
            if late or ends.least(machines) >= least:
                continue
            for end in moments[moments <= ends.last].tolist():
                if machines * scaled.instance.fixed_price * end + scaled.always_rented >= least:
                    break
                drafts.append(_placed(ends, machines, Setting(end), known))
                least = min(least, drafts[-1].least)
    return drafts


def _chosen(drafts: list[Draft], moves: int, random: np.ndarray, deadline: float | None) -> Draft:
    """Return the draft that is best after some moves, the worse half of them being given up after each round."""
    while True:
        for i, draft in enumerate(drafts):
            now = time.perf_counter()
            share = 2 * CHOOSING / max(2, len(drafts))
            until = None if deadline is None else now + share * (deadline - now)
            drafts[i] = improved(draft, int(share * moves), random, until)
        drafts = sorted(drafts, key=lambda draft: draft.least)[: max(1, len(drafts) // 2)]
        if len(drafts) == 1:
            return drafts[0]


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
