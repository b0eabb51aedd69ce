"""The fair point approximately, without a linear program: prices of machine classes, and weights of users, adjusted in turn.

With weights w, minimise sum_i w(i)^2 / s(i), by dividing one machine class after another anew (below):
the terms are smooth and capacities separate, so that this leads to the minimum. There a user's marginal value is
(w(i) / s(i))^2, and with w(i) / s(i) in the place of w(i) the next minimum is nearer to the shares that are equal where
users compete (the method of multipliers; Rockafellar, 1976, doi:10.1287/moor.1.2.97). In the end, classes are divided without
weights, which only raises the lowest shares of their users: a few sweeps bring equal those who were still about to be.

Machine classes divided anew, one after another, each at the prices at which it is just full.

z(i, k) is what user i has of class k, in parts of what all its machines hold of i alone. With g(i, k) the share of z = 1, b(i)
what i has elsewhere, c(i, k, r) <= 1 the part of resource r that z = 1 takes and p(k, r) prices that sum to 1, class k is
divided so that

    s(i) = b(i) + g(i, k) z(i, k) = max(b(i), m w(i) sqrt(g(i, k) / c(i, k)))        c(i, k) = sum_r p(k, r) c(i, k, r)

with m as large as capacity allows: the minimum of sum_i w(i)^2 / s(i) over all divisions of class k, if prices are right,
with 1 / m^2 the price of the class. Without the square root and the weights s(i) = max(b(i), m): the lowest shares are made
equal. Where a resource is full, users who need none of it go on. Prices rise where resources are full and fall elsewhere.
O(P R) a pass over P pairs of user and class, and a few passes a class to find m by Newton's method.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import first_true
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness.model import FAMILY, UNLIMITED, FairnessAllocation, FairnessInstance, allocation_of
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.method import method

# Passes to find a level, and the part of a class up to which it is full.
PASSES, FULL = 40, 1e-7
# Prices are at least this part of all, so that they can rise again.
LOWEST_PRICE = 1e-6
INFINITE = 1e300


class Pairs(NamedTuple):
    """The P pairs of a user and a class. first : (K + 1,), of each class; its pairs follow one another. user : (P,).

    cost : (P, R), c(i, k, r). gain : (P,), g(i, k).
    """

    first: Any
    user: Any
    cost: Any
    gain: Any


class Division(NamedTuple):
    """How classes are divided. price : (K, R). level : (K,), m of the last time, 0 for none. amount : (P,), z.

    share : (N,), s. load, slope : (R,), work : (P, 3): work arrays.
    """

    price: Any
    level: Any
    amount: Any
    share: Any
    load: Any
    slope: Any
    work: Any


@lean_kernel
def sweep(pairs: Pairs, weight: Any, is_even: bool, division: Division) -> None:
    """Divide every class once, in order.

    weight : (N,), w(i). is_even : without weights, make the lowest shares equal. division : in and out.
    """
    first_pair, pair_user, cost, gain = pairs
    price, level, amount, share, load, slope, work = division
    num_resources = cost.shape[1]
    for k in range(first_pair.shape[0] - 1):
        start, end = first_pair[k], first_pair[k + 1]
        if start == end:
            continue
        for p in range(start, end):
            i = pair_user[p]
            share[i] -= gain[p] * amount[p]
            worth = 0.0
            for r in range(num_resources):
                worth += price[k, r] * cost[p, r]
            work[p, 0] = 1.0 if is_even else weight[i] * sqrt(gain[p] / worth)
            work[p, 1] = max(0.0, share[i])
            # What it has when a resource that it needs is full; until then it still rises.
            work[p, 2] = -1.0
        first_level = -1.0
        for _ in range(num_resources):
            m = _level(start, end, level[k] if first_level < 0 else first_level, cost, gain, load, slope, work)
            if first_level < 0:
                first_level = m
            if not _stop(start, end, m, cost, gain, load, work):
                break
        level[k] = first_level
        for p in range(start, end):
            amount[p] = work[p, 2] if work[p, 2] >= 0 else 0.0
            share[pair_user[p]] = work[p, 1] + gain[p] * amount[p]
        _reprice(price, k, load)


@inlined_kernel
def _reprice(price: Any, k: int, load: Any) -> None:
    """Raise the prices of full resources of a class against those of the others."""
    total = 0.0
    for r in range(price.shape[1]):
        price[k, r] = max(LOWEST_PRICE, price[k, r] * sqrt(load[r]))
        total += price[k, r]
    for r in range(price.shape[1]):
        price[k, r] /= total


@inlined_kernel
def _at(p: int, level: float, gain: Any, work: Any) -> float:
    """Return what a pair has of its class at a level."""
    if work[p, 2] >= 0:
        return float(work[p, 2])
    return float(max(0.0, work[p, 0] * level - work[p, 1]) / gain[p])


@inlined_kernel
def _stop(start: int, end: int, level: float, cost: Any, gain: Any, load: Any, work: Any) -> bool:
    """Let the users stop at a level who need a resource that is full; whether others are left."""
    for r in range(cost.shape[1]):
        load[r] = 0.0
    for p in range(start, end):
        for r in range(cost.shape[1]):
            load[r] += cost[p, r] * _at(p, level, gain, work)
    others = False
    for p in range(start, end):
        if work[p, 2] >= 0:
            continue
        stops = False
        for r in range(cost.shape[1]):
            stops |= cost[p, r] > 0 and load[r] >= 1 - 10 * FULL
        if stops:
            work[p, 2] = _at(p, level, gain, work)
        else:
            others = True
    return others


@inlined_kernel
def _level(start: int, end: int, level: float, cost: Any, gain: Any, load: Any, slope: Any, work: Any) -> float:
    """Return the level at which the first resource is full. Newton's method on the largest of convex functions."""
    low, high = 0.0, INFINITE
    level = max(level, 0.0)
    for _ in range(PASSES):
        next_level = INFINITE
        for r in range(cost.shape[1]):
            load[r] = 0.0
            slope[r] = 0.0
        for p in range(start, end):
            amount = _at(p, level, gain, work)
            rises = work[p, 2] < 0 and amount > 0
            if work[p, 2] < 0 and amount == 0:
                next_level = min(next_level, work[p, 1] / work[p, 0])
            if amount > 0:
                for r in range(cost.shape[1]):
                    load[r] += cost[p, r] * amount
                    if rises:
                        slope[r] += cost[p, r] * work[p, 0] / gain[p]
        step, over = INFINITE, -1.0
        for r in range(cost.shape[1]):
            if slope[r] > 0:
                step = min(step, (1.0 - load[r]) / slope[r])
                over = max(over, load[r] - 1.0)
        if abs(over) <= FULL:
            break
        if over > 0:
            high = min(high, level)
        else:
            low = max(low, level)
        if step < INFINITE:
            level += step
        elif next_level < INFINITE:
            level = next_level * (1 + FULL) + FULL * FULL
        else:
            break
        if not low < level < high:
            level = 0.5 * (low + high) if high < INFINITE else 2 * low + FULL
    return float(level)


def has_limits(instance: FairnessInstance) -> str | None:
    """Return None, or a user that has fewer tasks than it could run."""
    alone = np.where(instance.allowed, instance.fitting() * instance.machine_count, 0.0).sum(axis=1)
    if (user := first_true((instance.tasks != UNLIMITED) & (instance.tasks < alone))) is None:
        return None
    return (
        f"has user {instance.user_name(user)} with {instance.tasks[user]} tasks, fewer than fit: there are no prices for "
        "using up tasks; use water-filling"
    )


@method("price-adjustment", family=FAMILY, supports=has_limits)
def price_adjustment(
    instance: FairnessInstance, rounds: int = 8, sweeps: int = 3, last_sweeps: int = 6
) -> FairnessAllocation:
    """Approximate the fair point by adjusting prices of machine classes and weights of users in turn.

    rounds : times that weights are adjusted. sweeps : over all classes, before each. last_sweeps : without weights.
    O(N K R) a sweep.
    """
    if min(rounds, sweeps - 1, last_sweeps - 1) < 0:
        raise MethodError(
            f"price-adjustment: {rounds} rounds of {sweeps} sweeps and {last_sweeps} at the end; give at least one sweep."
        )
    gain, fits = share_of_a_task(instance), instance.fitting()
    machine_class, user = np.nonzero((instance.allowed & (fits > 0) & (gain > 0)).T)
    num_users, num_classes, num_resources = instance.num_users, instance.num_machine_classes, len(instance.resources)
    first_pair = np.searchsorted(machine_class, np.arange(num_classes + 1))
    one = fits[user, machine_class]
    whole = one * instance.machine_count[machine_class]
    cost = instance.demand[user] * one[:, None] / np.maximum(instance.capacity[machine_class], 1)
    share, weight = np.zeros(num_users), np.ones(num_users)
    division = Division(
        price=np.full((num_classes, num_resources), 1 / num_resources),
        level=np.zeros(num_classes),
        amount=np.zeros(user.shape),
        share=share,
        load=np.empty(num_resources),
        slope=np.empty(num_resources),
        work=np.empty((*user.shape, 3)),
    )
    # Worth in parts of an equal share, or so.
    pairs = Pairs(first_pair, user, cost, gain[user, machine_class] * whole * num_users)

    def divide(times: int, *, is_even: bool) -> None:
        for _ in range(times):
            sweep(pairs, weight, is_even, division)

    for _ in range(rounds):
        divide(sweeps, is_even=False)
        weight /= share
        mean = float(np.exp(np.log(weight).mean()))
        weight /= mean
        division.level[:] *= mean
    division.level[:] = 0.0
    divide(last_sweeps, is_even=True)
    found = np.zeros(gain.shape)
    found[user, machine_class] = division.amount * whole
    return allocation_of(instance, found)
