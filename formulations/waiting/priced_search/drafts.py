"""Plans of jobs placed in turn at the bound's prices, each where it first has room: conservative backfilling with hindsight.

The prices say what a core is worth when: a job that would cost more by its wait and by the priced time that it takes than by
renting leaves its room to others. They also say when each job would start, which is the order that mostly does best: large
jobs, whose wait costs little for their size, are left to times at which little else runs.

Prices are too low for that, being those of jobs that may run in parts: so prices for fewer machines are tried too. And who waits
makes others wait: a job's wait counts up to eight times.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedgap.formulations.waiting.fluid_bound.end_ranges import moments
from schedgap.formulations.waiting.priced_search.kernels_plan import Given, Plan, Rule
from schedgap.formulations.waiting.priced_search.kernels_rework import place_in_turn
from schedgap.formulations.waiting.priced_search.kernels_timeline import empty

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedgap.formulations.waiting.fluid_bound.end_ranges import EndRange
    from schedgap.formulations.waiting.priced_search.kernels_timeline import Timeline
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import FloatArray, IntArray

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
