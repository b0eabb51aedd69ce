"""Whether an allocation is the max-min fair one, decided by its certificate and arithmetic alone.

For any weights v(i) >= 0 of shares and prices q(k, r) >= 0 of capacity, every feasible allocation x obeys

    sum_i v(i) s(i)  =  sum_ik v(i) g(i, k) x(i, k)
                    <=  sum_kr q(k, r) n(k) l(k, r)  +  sum_i D(i) max(0, max_k [v(i) g(i, k) - sum_r q(k, r) d(i, r)])

with g the share of one task, and D(i) the number of tasks that user i has, or could ever run. Whatever numbers a method
gives as weights and prices, the right-hand side is a bound, so nothing that a solver said has to be believed. Where the
allocation reaches the bound, no share in the sum can grow unless another in it falls. A user is as well off as is fair if it is
counted in such a cut together with none who has more (Bertsekas and Gallager, Data Networks, section 6.5); the allocation
is max-min fair if there is a cut for each user.

Cuts are taken in the order of their levels, the largest share that each counts, and each takes the earlier ones for granted.
Suppose that a feasible x gives user i more than it has here, and nobody who has no more than i less. Whoever counts in an
earlier cut than the one that proves i is such a user, so x meets those cuts with equality too: x(j, k) is 0 wherever its
reduced cost there,

    sum_r q(k, r) d(j, r) + u(j) - v(j) g(j, k),    u(j) = max(0, max_k [v(j) g(j, k) - sum_r q(k, r) d(j, r)]),

is positive. That column is closed: a later cut need not hold for it, and the maximum in its bound is over open columns. The
first cut holds for all columns, so that nobody can give all users more than they have here rests on it alone.

In floating point a cut is met up to its slack, so x(j, k) is not 0 but at most slack over reduced cost. A column is closed
where that is a small part of what gives j its share (`CLEAR`), and the reduced cost is not a rounding error (`POSITIVE`);
what that little on closed columns is worth to a later cut, as far as the slack is more than rounding errors, has to be a
small part of the share that it proves (`LEFT`).

Slack can hide more than it looks like. Capacity that would give user i only a ten-billionth of its share, and nobody who has
no more than i anything, is i's at the fair point; a cut is met to a ten-billionth while another user has all of it. So prices
count for capacity that the users of the cut fill (`FILLED`), and a user who has tasks left proves nothing where it could get
something for capacity that has no price or that others fill, however little.

A solver's prices are a little too low for some users, who then count with D(i) in the bound, far more than they have.
Prices raised by a common factor that mends the worst of it are another certificate; the lower of both bounds counts.

A fair point in exact fractions, with cuts that are met to the last digit, and the check that it is one.

It needs no tolerance, so it holds at any spread of shares, weights and performance that an instance may have; but fractions
have as many digits as it takes, so it is for what floating point cannot decide.

The fair shares of an instance, proven: what an allocation is measured against.

Finding them takes a linear program, and programs are solved on another floor, which this one does not import: the function
that finds them is known by name, and imported when it is called. What it returns is checked by its certificate, so nobody
has to believe it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness.model import (
    TASK,
    UNLIMITED,
    Certificate,
    FairnessAllocation,
    FairnessInstance,
    allocation_of,
)
from schedgap.instances.fairness.shares import exact_fitting, exact_scale, exact_values

# What is proven: no feasible allocation gives a user more than this part of its share more, unless somebody loses who
# has no more than it, up to the same part.
TOLERANCE = 1e-7
# All rounding errors of a cut together are smaller than this part of its bound. A weight so small that the tolerance is
# smaller still proves nothing.
ROUNDING = 2.0**-46
# A column is closed if its reduced cost is more than this part of what it consists of.
POSITIVE = 1e-7
# And if the slack of the cut leaves room for no more in it than what makes this part of its user's share.
CLEAR = 1e-3
# What closed columns may still hold, of a slack beyond rounding errors, may be worth no more than this part of a share.
LEFT = 1e-5
# Capacity of which the users of a cut use less than this part is not what holds them back.
FILLED = 1 - 1e-6
# Prices are raised by no more than this part of themselves.
MENDED = 1e-6
# Weights and prices outside of this range might leave that of float64 numbers when multiplied.
SMALLEST, LARGEST = 1e-100, 1e100


def most_tasks(instance: FairnessInstance) -> FloatArray:
    """Return (N,) float64: the tasks that a user has, or could run if it were alone, whichever is less."""
    alone = np.where(instance.allowed, instance.fitting() * instance.machine_count, 0.0).sum(axis=1)
    own = np.where(instance.tasks == UNLIMITED, np.inf, instance.tasks)
    most: FloatArray = np.minimum(alone, own)
    return most


def check_certificate(
    instance: FairnessInstance, gain: FloatArray, tasks: FloatArray, certificate: Certificate
) -> None:
    """Check that an allocation is max-min fair, up to `TOLERANCE`.

    gain : (N, K) float64, the share of one task. tasks : (N, K) float64, of a feasible allocation. O(K N R) a cut.

    Raises
    ------
    VerifyError
        naming a user for whom no cut proves it, or an entry that is none.
    """
    _check_entries(instance, certificate)
    # The most tasks of each user on each class, infinite where the column is open.
    columns = np.where(gain > 0, np.inf, 0.0)
    most = most_tasks(instance)
    shares = (gain * tasks).sum(axis=1)
    has_tasks = (instance.tasks == UNLIMITED) | (tasks.sum(axis=1) < instance.tasks * (1 - TOLERANCE))
    proven = np.zeros(instance.num_users, np.bool_)
    for user, weight, price in _by_level(instance, shares, certificate):
        bound, factor, surplus, left = _bound(instance, gain, columns, most, user, weight, price)
        worth = weight * shares[user]
        slack = max(bound - float(worth.sum()), bound * ROUNDING)
        top = shares[user] >= shares[user].max() * (1 - TOLERANCE)
        held = not _is_loose(instance, gain, tasks, columns, has_tasks, user, weight, price)
        met = held & top & (slack <= TOLERANCE * worth) & (left <= LEFT * worth)
        if met.any():
            proven[user[met]] = True
            real = max(bound * (1 - 2 * ROUNDING) - float(worth.sum()), 0.0)
            _close(instance, gain, shares, columns, user, weight, factor * price, surplus, slack, real)
    if (worst := first_true(~proven)) is not None:
        raise VerifyError(
            f"the certificate does not prove that user {instance.user_name(worst)} has its fair share "
            f"({shares[worst]:.9g}): no cut that is met to {TOLERANCE:g} counts it beside users with no more; "
            "leave the certificate out, or give one cut a level."
        )


def is_closed(excess: FloatArray, size: FloatArray, amount: FloatArray, slack: float | FloatArray) -> BoolArray:
    """Return whether a cut with some slack closes columns.

    excess : the reduced costs of a task. size : what they are the difference of. amount : the tasks that make the user's
    share there. All of one shape, or broadcast to it.
    """
    return (excess > POSITIVE * size) & (excess * amount * CLEAR > slack)


def _by_level(
    instance: FairnessInstance, shares: FloatArray, certificate: Certificate
) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Yield users (n,), weights (n,) and prices (K, R) of each cut, the largest share counted ascending.

    That is the order in which they are given if no share falls in it but for rounding errors.
    """
    by_cut = np.argsort(certificate.share_cut, kind="stable")
    users, weights = certificate.share_user[by_cut], certificate.share_weight[by_cut]
    cuts, starts = np.unique(certificate.share_cut[by_cut], return_index=True)
    ends = np.append(starts, by_cut.shape[0])[1:]
    by_price = np.argsort(certificate.price_cut, kind="stable")
    priced = certificate.price_cut[by_price]
    lows, highs = np.searchsorted(priced, cuts, "left"), np.searchsorted(priced, cuts, "right")
    levels = np.maximum.reduceat(shares[users], starts) if cuts.size else np.zeros(0)
    order = np.arange(cuts.size)
    if (levels < np.maximum.accumulate(levels) * (1 - TOLERANCE)).any():
        order = np.argsort(levels, kind="stable")
    for place in order.tolist():
        chosen = slice(starts[place], ends[place])
        entry = by_price[lows[place] : highs[place]]
        price = np.zeros(instance.capacity.shape)
        np.add.at(price, (certificate.price_class[entry], certificate.price_resource[entry]), certificate.price[entry])
        yield users[chosen], weights[chosen], price


def _bound(
    instance: FairnessInstance,
    gain: FloatArray,
    columns: FloatArray,
    most: FloatArray,
    user: IntArray,
    weight: FloatArray,
    price: FloatArray,
) -> tuple[float, float, FloatArray, float]:
    """Return what the weighted shares of the users add up to at most, rounded up, with what proves it.

    columns : (N, K) float64, the most tasks on closed ones, infinite on those that are open. What proves it is a factor for
    the prices, and (n,) surpluses u of the users. Last, what tasks on closed columns may add.
    """
    paid = float((price * instance.capacity * instance.machine_count[:, None]).sum())
    is_open = np.isinf(columns[user])
    worth, cost = weight[:, None] * gain[user], instance.demand[user] @ price.T
    factor, surplus = 1.0, _surplus(worth, cost, is_open)
    bound = paid + float(most[user] @ surplus)
    low = is_open & (worth > cost) & (worth <= (1 + MENDED) * cost)
    if low.any():
        mended = float((worth[low] / cost[low]).max()) * (1 + ROUNDING)
        less = _surplus(worth, mended * cost, is_open)
        if mended * paid + float(most[user] @ less) < bound:
            factor, surplus = mended, less
            bound = factor * paid + float(most[user] @ surplus)
    closed = np.where(is_open, 0.0, columns[user])
    left = float((closed * np.maximum(worth - factor * cost, 0.0)).sum())
    return bound * (1 + ROUNDING), factor, surplus, left


def _is_loose(
    instance: FairnessInstance,
    gain: FloatArray,
    tasks: FloatArray,
    columns: FloatArray,
    has_tasks: BoolArray,
    user: IntArray,
    weight: FloatArray,
    price: FloatArray,
) -> bool:
    """Return whether a user of the cut that has tasks left could get something for capacity that the cut does not fill."""
    used = tasks[user].T @ instance.demand[user]
    filled = used >= FILLED * instance.capacity * instance.machine_count[:, None]
    cost = instance.demand[user] @ np.where(filled, price, 0.0).T
    gets = np.isinf(columns[user]) & has_tasks[user, None]
    return bool((gets & (weight[:, None] * gain[user] > (1 + MENDED) * cost)).any())


def _surplus(worth: FloatArray, cost: FloatArray, is_open: BoolArray) -> FloatArray:
    surplus: FloatArray = np.where(is_open, worth - cost, 0.0).max(axis=1)
    return np.maximum(surplus, 0.0)


def _close(
    instance: FairnessInstance,
    gain: FloatArray,
    shares: FloatArray,
    columns: FloatArray,
    user: IntArray,
    weight: FloatArray,
    price: FloatArray,
    surplus: FloatArray,
    slack: float,
    real: float,
) -> None:
    """Close columns (N, K), in place, that a cut with some slack leaves no use for. real : slack beyond rounding errors."""
    is_priced = np.flatnonzero((price > 0).any(axis=1))
    unweighted = np.ones(instance.num_users, np.bool_)
    unweighted[user] = False
    others = np.flatnonzero(unweighted & np.isinf(columns[:, is_priced]).any(axis=1))
    for some, at, value, rest in (
        (user, np.arange(instance.num_machine_classes), weight, surplus),
        (others, is_priced, np.zeros(others.shape[0]), np.zeros(others.shape[0])),
    ):
        place = np.ix_(some, at)
        worth, cost = value[:, None] * gain[place], instance.demand[some] @ price[at].T + rest[:, None]
        excess, is_open = cost - worth, np.isinf(columns[place])
        amount = np.divide(shares[some, None], gain[place], out=np.zeros(worth.shape), where=is_open)
        closed = is_open & is_closed(excess, np.maximum(worth, cost), amount, slack)
        # Twice, for the rounding error of the reduced cost.
        columns[place] = np.where(closed, 2 * real / np.where(closed, excess, 1.0), columns[place])


def _check_entries(instance: FairnessInstance, certificate: Certificate) -> None:
    for what, index, size, number in (
        ("user", certificate.share_user, certificate.share_weight.shape, instance.num_users),
        ("machine class", certificate.price_class, certificate.price.shape, instance.num_machine_classes),
        ("resource", certificate.price_resource, certificate.price.shape, len(instance.resources)),
        ("cut", certificate.share_cut, certificate.share_weight.shape, None),
        ("cut", certificate.price_cut, certificate.price.shape, None),
    ):
        if index.shape != size or index.ndim != 1:
            raise VerifyError(f"the certificate names {index.shape} of {what} for {size} numbers; give one each.")
        if index.size and (index.min() < 0 or (number is not None and index.max() >= number)):
            there = "they are numbered from 0" if number is None else f"there are {number}"
            raise VerifyError(f"the certificate names {what} {index.min()} to {index.max()}; {there}.")
    for what, values in (("share_weight", certificate.share_weight), ("price", certificate.price)):
        if (bad := first_true(~((values >= SMALLEST) & (values <= LARGEST)))) is not None:
            raise VerifyError(f"the certificate's {what} has {values[bad]:g}; give {SMALLEST:g} to {LARGEST:g}.")
    _, cut = np.unique(certificate.share_cut, return_inverse=True)
    distinct, times = np.unique(cut * instance.num_users + certificate.share_user, return_counts=True)
    if (times > 1).any():
        user = instance.user_name(int(distinct[np.argmax(times > 1)]) % instance.num_users)
        raise VerifyError(f"the certificate weighs user {user} twice in one cut; give the sum of its weights.")


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
        if _worth_at_most(instance, cut, value, most) == sum(worth * earned[i] for i, worth in cut.worth.items()):
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


def _worth_at_most(
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
