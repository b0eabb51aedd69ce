"""The loops behind `priced-search`: jobs placed in turn at prices, and jobs near each other placed anew."""

from __future__ import annotations

import math

import numpy as np

from schedgap.formulations.waiting.priced_search.kernels_plan import (
    Given,
    Near,
    Plan,
    Rule,
    Taken,
    Timeline,
    choose_near,
    choose_to_empty,
    cost_of,
    first_room,
    priced_time,
    regret,
    stretch_of,
    take,
)
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform

# The share of moves that empty a machine for a job.
EMPTYING = 0.65
# Orders in which jobs are placed anew: mostly large ones first, else any of all. Of so many jobs one rents unasked.
ORDERS, LARGE_FIRST, MOSTLY, RENTING = 5, 2, 0.8, 200


@lean_kernel
def place_in_turn(jobs: Given, line: Timeline, order: np.ndarray, rule: Rule, machines: int, plan: Plan) -> float:
    """Place jobs in an order where they first have room, if that pays; return their waits' and rents' cost. order : (J,)."""
    cost = 0.0
    for j in order:
        machine, start = _first_place(jobs, line, machines, j, jobs.submit[j], jobs.slack[j])
        paid = jobs.wait_price * (start - jobs.submit[j])
        if machine >= 0 and rule.weight * paid + priced_time(jobs, rule, j, start) > jobs.rent[j]:
            machine = -1
        if machine >= 0:
            take(line, machine, start, jobs.runtime[j], jobs.cores[j], jobs.memory[j])
            cost += paid
        else:
            start = jobs.submit[j]
            cost += jobs.rent[j]
        plan.machine[j], plan.start[j] = machine, start
    return cost


@inner_kernel
def _first_place(jobs: Given, line: Timeline, machines: int, j: int, earliest: int, slack: int) -> tuple[int, int]:
    """Return the machine on which a job first has room, and from when; -1 and its submission for none within the slack."""
    found, start = -1, jobs.submit[j]
    latest = jobs.submit[j] + slack
    for machine in range(machines):
        if latest < earliest:
            break
        moment = first_room(line, machine, earliest, latest, jobs.runtime[j], jobs.cores[j], jobs.memory[j])
        if moment >= 0:
            found, start, latest = machine, moment, moment - 1
    return found, start


@lean_kernel
def link_all(jobs: Given, line: Timeline, plan: Plan, near: Near) -> None:
    """Put all jobs into the lists of the stretches in which they start, which are empty (-1)."""
    for j in range(plan.start.shape[0]):
        _link(line, plan, near, j)
        near.regret[j] = regret(jobs, plan, j)


@inner_kernel
def _link(line: Timeline, plan: Plan, near: Near, j: int) -> None:
    k = stretch_of(line, plan.start[j])
    first = near.first[plan.machine[j] + 1]
    near.before[j], near.behind[j] = -1, first[k]
    if first[k] >= 0:
        near.before[first[k]] = j
    first[k] = j


@inner_kernel
def _unlink(line: Timeline, plan: Plan, near: Near, j: int) -> None:
    if near.before[j] >= 0:
        near.behind[near.before[j]] = near.behind[j]
    else:
        near.first[plan.machine[j] + 1, stretch_of(line, plan.start[j])] = near.behind[j]
    if near.behind[j] >= 0:
        near.before[near.behind[j]] = near.before[j]


@lean_kernel
def rework(
    jobs: Given, line: Timeline, plan: Plan, near: Near, taken: Taken, moves: int, heat: float, random: np.ndarray
) -> float:
    """Take jobs that start near each other off and place them anew, `moves` times; return by how much the cost changed.

    A worse plan by d is kept with probability exp(-d / heat) (simulated annealing). random : (1,) uint64, not 0.
    """
    machines = line.most.shape[0] // line.stretches
    gained = 0.0
    for _ in range(moves):
        lead = -1
        if xorshift_uniform(random) < EMPTYING:
            count, lead = choose_to_empty(jobs, line, plan, near, taken, machines, random)
        else:
            count = choose_near(jobs, line, plan, near, taken, random)
        before = 0.0
        for i in range(count):
            before += cost_of(jobs, plan, taken.job[i])
        # What the plan may cost is drawn first (Metropolis' rule): costs only add up, so it is given up once it costs more.
        left = before - heat * math.log(1.0 - xorshift_uniform(random))
        if lead >= 0 and jobs.wait_price * (lead - jobs.submit[taken.job[0]]) > left:
            continue
        kind = LARGE_FIRST if xorshift_uniform(random) < MOSTLY else xorshift_below(random, ORDERS)
        for i in range(count):
            j = taken.job[i]
            taken.machine[i], taken.start[i] = plan.machine[j], plan.start[j]
            taken.key[i] = _key(jobs, line, plan.start[j], j, kind, xorshift_uniform(random))
            _remove(jobs, line, plan, near, j)
        if lead >= 0:
            taken.key[0] = -math.inf
        _sort(taken, count)
        cut = 0.7 * xorshift_uniform(random) ** 3
        most, placed = left, 0
        while placed < count and left >= 0.0:
            j = taken.job[taken.order[placed]]
            # Rounded up: who waits to its limit, or ends last, does so to the unit.
            slack = jobs.slack[j] - int(max(0, jobs.slack[j]) * cut)
            if jobs.wait_price > 0.0:
                slack = min(slack, int(min(left, jobs.rent[j]) / jobs.wait_price))
            earliest = lead if lead >= 0 and placed == 0 else jobs.submit[j]
            machine, start = _first_place(jobs, line, machines, j, earliest, slack)
            if jobs.wait_price * (start - jobs.submit[j]) >= jobs.rent[j] or xorshift_below(random, RENTING) == 0:
                machine, start = -1, jobs.submit[j]
            left -= _put(jobs, line, plan, near, j, machine, start)
            placed += 1
        if left >= 0.0:
            gained += most - left - before
            for i in range(count):
                near.regret[taken.job[i]] = regret(jobs, plan, taken.job[i])
            continue
        for i in range(placed):
            _remove(jobs, line, plan, near, taken.job[taken.order[i]])
        for i in range(count):
            _put(jobs, line, plan, near, taken.job[i], taken.machine[i], taken.start[i])
    return gained


@inner_kernel
def _key(jobs: Given, line: Timeline, start: int, j: int, kind: int, drawn: float) -> float:
    """Return what jobs are sorted by: nothing, start, size from most or least, submission; each with some chance."""
    if kind == 0:
        return drawn
    if kind == 1:
        return start + drawn * (4 << line.shift)
    if kind == 4:
        return float(jobs.submit[j] + drawn * (4 << line.shift))
    # Of jobs of the same work long ones are larger: short ones still find room between them.
    size = float(jobs.cores[j]) * (1.5 + drawn) * float(jobs.runtime[j]) ** 2
    return -size if kind == LARGE_FIRST else size


@inner_kernel
def _sort(taken: Taken, count: int) -> None:
    """Put the first jobs in the order of their keys."""
    for i in range(count):
        k = i
        while k > 0 and taken.key[taken.order[k - 1]] > taken.key[i]:
            taken.order[k] = taken.order[k - 1]
            k -= 1
        taken.order[k] = i


@inner_kernel
def _remove(jobs: Given, line: Timeline, plan: Plan, near: Near, j: int) -> None:
    """Take a job off."""
    _unlink(line, plan, near, j)
    if plan.machine[j] >= 0:
        take(line, plan.machine[j], plan.start[j], jobs.runtime[j], -jobs.cores[j], -jobs.memory[j])


@inner_kernel
def _put(jobs: Given, line: Timeline, plan: Plan, near: Near, j: int, machine: int, start: int) -> float:
    """Place a job, or rent for it; return what it costs."""
    plan.machine[j], plan.start[j] = machine, start
    if machine >= 0:
        take(line, machine, start, jobs.runtime[j], jobs.cores[j], jobs.memory[j])
    _link(line, plan, near, j)
    return cost_of(jobs, plan, j)
