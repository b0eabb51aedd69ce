"""Plans: what jobs cost in them, and which are taken off together.

Those are jobs that start near each other, or all of a machine while another one would run there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from schedgap.formulations.waiting.priced_search.kernels_timeline import stretch_of
from schedgap.instances.jit import inner_kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform

if TYPE_CHECKING:
    import numpy as np

    from schedgap.formulations.waiting.priced_search.kernels_timeline import Timeline

# Of this many jobs drawn, the one that costs most beyond the least that prices say it may is where jobs are taken from.
DRAWN = 40
# So many jobs that start near each other at most; from so many stretches on, and so many before the drawn job's at most.
TOGETHER, ACROSS, BEFORE = 80, 200, 48
# Of so many starts drawn, a machine is emptied at the cheapest, of jobs that start up to so many stretches before.
STARTS, LOOK_BACK = 6, 60


class Rule(NamedTuple):
    """A job rents if `weight` x the price of its wait, and the priced time that it would take, cost more than its rent.

    worth : (K, G + 1) float64, the price of a machine by each measure, summed up to multiples of `width`; the last for ever.
    """

    worth: np.ndarray
    width: int
    weight: float


class Given(NamedTuple):
    """Jobs in order of submission: (J,) int64, rent float64. slack : the longest wait, negative for jobs that must rent.

    shares : (K, J) float64, of a machine by each measure that has a price. prices : the bound's. least : (J,) float64, what a job
    costs where it costs least at these.
    """

    submit: np.ndarray
    runtime: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    shares: np.ndarray
    rent: np.ndarray
    slack: np.ndarray
    prices: Rule
    least: np.ndarray
    wait_price: float


class Plan(NamedTuple):
    """Where jobs run and from when: (J,) int64, -1 and their submission for rent."""

    machine: np.ndarray
    start: np.ndarray


class Near(NamedTuple):
    """Jobs by where they start: first : (M + 1, stretches) int64, of rented ones and each machine's; behind, before : (J,) int64.

    regret : (J,) float64, how much more each costs than it may at the bound's prices.
    """

    first: np.ndarray
    behind: np.ndarray
    before: np.ndarray
    regret: np.ndarray


class Taken(NamedTuple):
    """Room for K jobs that are placed anew: which, where and from when they ran, sort keys, and their order."""

    job: np.ndarray
    machine: np.ndarray
    start: np.ndarray
    key: np.ndarray
    order: np.ndarray


@inner_kernel
def priced_time(jobs: Given, rule: Rule, j: int, start: int) -> float:
    """Return the priced time that a job takes from a start on."""
    end, price = start + jobs.runtime[j], 0.0
    for k in range(rule.worth.shape[0]):
        worth = rule.worth[k]
        price += jobs.shares[k, j] * (_worth_until(worth, rule.width, end) - _worth_until(worth, rule.width, start))
    return price


@inner_kernel
def _worth_until(worth: np.ndarray, width: int, moment: int) -> float:
    last = worth.shape[0] - 1
    k = moment // width
    if k >= last:
        return float(worth[last])
    return float(worth[k] + (worth[k + 1] - worth[k]) * (moment - k * width) / width)


@inner_kernel
def cost_of(jobs: Given, plan: Plan, j: int) -> float:
    """Return what a job's wait or rent costs."""
    if plan.machine[j] < 0:
        return float(jobs.rent[j])
    return float(jobs.wait_price * (plan.start[j] - jobs.submit[j]))


@inner_kernel
def regret(jobs: Given, plan: Plan, j: int) -> float:
    """Return how much more a job costs than it may at the bound's prices."""
    cost = cost_of(jobs, plan, j) - jobs.least[j]
    return float(cost if plan.machine[j] < 0 else cost + priced_time(jobs, jobs.prices, j, plan.start[j]))


@inner_kernel
def _draw(near: Near, random: np.ndarray) -> int:
    """Return the job that costs most beyond the least that it may, of some drawn."""
    around, most = 0, -math.inf
    for _ in range(1 + DRAWN):
        j = xorshift_below(random, near.regret.shape[0])
        if near.regret[j] > most:
            around, most = j, near.regret[j]
    return around


@inner_kernel
def choose_near(jobs: Given, line: Timeline, plan: Plan, near: Near, taken: Taken, random: np.ndarray) -> int:
    """Choose jobs that start near one that costs much more than it may, and rented ones submitted before it; return how many."""
    number, room = plan.start.shape[0], min(TOGETHER, taken.job.shape[0])
    around = _draw(near, random)
    at = stretch_of(line, plan.start[around])
    back = min(BEFORE, at - stretch_of(line, jobs.submit[around]) + 3)
    at = max(0, at - xorshift_below(random, back + 1))
    each, count = 0.1 + 0.9 * xorshift_uniform(random) ** 2, 0
    wanted = 2 + int((room - 1) * xorshift_uniform(random) ** 2)
    lists = near.first.shape[0]
    for k in range(at, min(at + ACROSS, line.stretches)):
        # Where jobs are enough before a stretch ends, those of each machine are among them as often.
        begin = xorshift_below(random, lists)
        for behind in range(lists):
            j = near.first[(begin + behind) % lists, k]
            while j >= 0 and count < wanted:
                if xorshift_uniform(random) < each:
                    taken.job[count] = j
                    count += 1
                j = near.behind[j]
        if count == wanted:
            break
    more = min(room, count + xorshift_below(random, 1 + wanted // 2))
    reach = 1 + int(math.exp(xorshift_uniform(random) * math.log(1.0 + number / 20)))
    for _ in range(3 * (more - count)):
        j = around - xorshift_below(random, reach)
        if count == more or j < 0 or plan.machine[j] >= 0 or jobs.slack[j] < (at << line.shift) - jobs.submit[j]:
            continue
        known = False
        for i in range(count):
            known |= taken.job[i] == j
        if not known:
            taken.job[count] = j
            count += 1
    return count


@inner_kernel
def choose_to_empty(
    jobs: Given, line: Timeline, plan: Plan, near: Near, taken: Taken, machines: int, random: np.ndarray
) -> tuple[int, int]:
    """Choose a job, first, and all others of one machine while it would run there; return how many, and its start.

    Small jobs spread over all machines leave no room for a large one, however few of those near each other are taken off.
    None are chosen, and -1, where they are too many, or the job must rent.
    """
    j = _draw(near, random)
    if jobs.slack[j] < 0:
        return 0, -1
    longest = float(jobs.slack[j])
    if jobs.wait_price > 0.0:
        longest = min(longest, jobs.rent[j] / jobs.wait_price)
    start, least = jobs.submit[j], math.inf
    for _ in range(STARTS):
        wait = int(longest * xorshift_uniform(random) ** 2)
        cost = jobs.wait_price * wait + priced_time(jobs, jobs.prices, j, jobs.submit[j] + wait)
        if cost < least:
            start, least = jobs.submit[j] + wait, cost
    machine, end = xorshift_below(random, machines), start + jobs.runtime[j]
    taken.job[0], count = j, 1
    for k in range(max(0, stretch_of(line, start) - LOOK_BACK), stretch_of(line, end) + 1):
        i = near.first[machine + 1, k]
        while i >= 0:
            if i != j and plan.start[i] < end and start < plan.start[i] + jobs.runtime[i]:
                if count == taken.job.shape[0]:
                    return 0, -1
                taken.job[count] = i
                count += 1
            i = near.behind[i]
    return count, start
