"""A fair point in exact fractions, with cuts that are met to the last digit, and the check that it is one.

It needs no tolerance, so it holds at any spread of shares, weights and performance that an instance may have; but fractions
have as many digits as it takes, so it is for what floating point cannot decide (`certificate.py`).

The fair shares of an instance, proven: what an allocation is measured against.

Finding them takes a linear program, and programs are solved on another floor, which this one does not import: the function
that finds them is known by name, and imported when it is called. What it returns is checked by its certificate, so nobody
has to believe it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module

import numpy as np

from schedgap.instances.arrays import FloatArray
from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness.model import TASK, UNLIMITED, FairnessAllocation, FairnessInstance, allocation_of
from schedgap.instances.fairness.shares import exact_fitting, exact_scale, exact_values

# Of fewer units an amount is rounded up: to the nearest unit would be off by more than a part of 10^-8 of it.
FEW_UNITS = 10**8


@dataclass(frozen=True, slots=True, eq=False)
class ExactCut:
    """A weighted sum of what users have that no allocation can raise. All numbers at least 0.

    worth : of users, of a unit of the value of tasks (`exact_values`). price : of (class, resource), of an integer unit.
    """

    worth: Mapping[int, Fraction | int]
    price: Mapping[tuple[int, int], Fraction | int]


@dataclass(frozen=True, slots=True, eq=False)
class FairPoint:
    """Divisible tasks of users on machine classes, all that are positive, and why they are max-min fair."""

    tasks: Mapping[tuple[int, int], Fraction]
    cuts: tuple[ExactCut, ...]


def check_fair_point(instance: FairnessInstance, point: FairPoint) -> list[Fraction]:
    """Return the users' shares at a point that is feasible and max-min fair, exactly.

    Every feasible allocation x obeys each cut, with value a(i, k) of a task and D(i) the tasks that user i has or could run,

        sum_ik worth(i) a(i, k) x(i, k)
            <= sum_kr price(k, r) n(k) l(k, r)  +  sum_i D(i) max(0, max_k [worth(i) a(i, k) - sum_r price(k, r) d(i, r)])

    and where the point has equality, a user that counts in it cannot have more unless another that counts has less. It is at
    its fair share if none of those has more than it. O(K N R) a cut.

    Raises
    ------
    VerifyError
        naming what is over its limit, or a user for whom no cut proves it.
    """
    fits, value = exact_fitting(instance), exact_values(instance)
    allowed = instance.allowed.tolist()
    value = [
        [v if may and f else 0 for v, may, f in zip(*row, strict=True)]
        for row in zip(value, allowed, fits, strict=True)
    ]
    shown = exact_values(instance)
    scale = [exact_scale(instance, i, fits[i], shown[i]) for i in range(instance.num_users)]
    earned = _earned(instance, point, value)
    shares = [has / one for has, one in zip(earned, scale, strict=True)]
    count, tasks = instance.machine_count.tolist(), instance.tasks.tolist()
    alone = [sum(n * f for n, f, may in zip(count, fits[i], allowed[i], strict=True) if may) for i in range(len(scale))]
    most = [a if own == UNLIMITED else min(a, own) for a, own in zip(alone, tasks, strict=True)]
    proven: set[int] = set()
    for cut in point.cuts:
        if not cut.worth or min(*cut.worth.values(), *cut.price.values(), 0) < 0:
            raise VerifyError("a cut of the fair point counts nobody, or has a negative number.")
        level = max(shares[i] for i in cut.worth)
        if _bound(instance, cut, value, most) == sum(worth * earned[i] for i, worth in cut.worth.items()):
            proven.update(i for i, worth in cut.worth.items() if worth > 0 and shares[i] == level)
    for i in range(instance.num_users):
        if i not in proven:
            raise VerifyError(
                f"no cut of the fair point proves that user {instance.user_name(i)} has its fair share "
                f"({float(shares[i]):.9g}); give one that is met exactly and counts it beside users with no more."
            )
    return shares


def allocation_at(instance: FairnessInstance, point: FairPoint) -> FairnessAllocation:
    """Return an allocation near a fair point, in whole units of amounts, with which few of them are missed by nobody.

    Small amounts are rounded up, and what that takes comes off the largest on the class, who hardly feel it.
    """
    tasks = np.zeros(instance.allowed.shape)
    for pair, amount in point.tasks.items():
        units = amount * TASK
        tasks[pair] = float(-(-units // 1)) / TASK if units < FEW_UNITS else float(amount)
    return allocation_of(instance, tasks)


def _earned(instance: FairnessInstance, point: FairPoint, value: list[list[int]]) -> list[Fraction]:
    """Return the value of each user's tasks, which are feasible."""
    demand, capacity = instance.demand.tolist(), instance.capacity.tolist()
    earned, run = ([Fraction(0)] * instance.num_users for _ in range(2))
    used = [[Fraction(0)] * len(instance.resources) for _ in capacity]
    for (i, k), amount in point.tasks.items():
        if amount < 0 or not value[i][k]:
            raise VerifyError(
                f"the fair point has {float(amount):.9g} tasks of user {instance.user_name(i)} on class "
                f"{instance.machine_names[k]}, where it has no use for any."
            )
        earned[i] += amount * value[i][k]
        run[i] += amount
        for r, needs in enumerate(demand[i]):
            used[k][r] += needs * amount
    for i, has in enumerate(instance.tasks.tolist()):
        if has != UNLIMITED and run[i] > has:
            raise VerifyError(f"the fair point runs more than the {has} tasks of user {instance.user_name(i)}.")
    for k, (row, count) in enumerate(zip(capacity, instance.machine_count.tolist(), strict=True)):
        for r, has in enumerate(row):
            if used[k][r] > has * count:
                name = instance.machine_names[k]
                raise VerifyError(f"the fair point uses more {instance.resources[r]} than class {name} has.")
    return earned


def _bound(
    instance: FairnessInstance, cut: ExactCut, value: list[list[int]], most: list[Fraction | int]
) -> Fraction | int:
    """Return the right-hand side of a cut."""
    capacity, count = instance.capacity.tolist(), instance.machine_count.tolist()
    bound: Fraction | int = sum(price * capacity[k][r] * count[k] for (k, r), price in cut.price.items())
    prices = [[(r, cut.price[k, r]) for r in range(len(row)) if (k, r) in cut.price] for k, row in enumerate(capacity)]
    for i, worth in cut.worth.items():
        needs = instance.demand[i].tolist()
        surplus: Fraction | int = 0
        for k, here in enumerate(prices):
            if value[i][k]:
                surplus = max(surplus, worth * value[i][k] - sum(needs[r] * price for r, price in here))
        if surplus:
            bound += surplus * most[i]
    return bound


FINDER = ("schedgap.formulations.fairness.fair_point", "find_fair_point")
# Instances come in series, a run of each method on each.
_KEPT = 8
_known: OrderedDict[str, FloatArray] = OrderedDict()


def find_fair_point(instance: FairnessInstance) -> FairnessAllocation | FairPoint:
    """Return the max-min fair allocation of an instance, with its certificate, or the exact point; not yet checked.

    Raises
    ------
    BackendError
        if it is not found.
    """
    return _finder()(instance)


def _finder() -> Callable[[FairnessInstance], FairnessAllocation | FairPoint]:
    module, name = FINDER
    finder: Callable[[FairnessInstance], FairnessAllocation | FairPoint] = getattr(import_module(module), name)
    return finder


def known_fair_shares(instance: FairnessInstance) -> FloatArray | None:
    """Return (N,) float64, the fair shares if they were proven before in this process, or None."""
    return _known.get(instance.digest)


def keep_fair_shares(instance: FairnessInstance, shares: FloatArray) -> None:
    """Keep proven fair shares, (N,) float64, for the next allocations of the instance."""
    _known[instance.digest] = shares
    if len(_known) > _KEPT:
        _known.popitem(last=False)
