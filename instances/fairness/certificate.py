"""Whether an allocation is the max-min fair one, decided by its certificate and arithmetic alone.

For any weights v(i) >= 0 of shares and prices q(k, r) >= 0 of capacity, every feasible allocation x obeys

    sum_i v(i) s(i)  =  sum_ik v(i) g(i, k) x(i, k)
                    <=  sum_kr q(k, r) n(k) l(k, r)  +  sum_i D(i) max(0, max_k [v(i) g(i, k) - sum_r q(k, r) d(i, r)])

with g the share of one task, and D(i) the number of tasks that user i has, or could ever run. Whatever numbers a method
gives as weights and prices, the right-hand side is a bound, so nothing that a solver said has to be believed. Where the
allocation reaches the bound, no share in the sum can grow unless another in it falls. The allocation is max-min fair if
each user is counted in such a cut together with none who has more (Bertsekas and Gallager, Data Networks, section 6.5).

A solver's prices are a little too low for some users, who then count with D(i) in the bound, far more than they have.
Prices raised by a common factor that mends the worst of it are another certificate; the lower of both bounds counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness.model import UNLIMITED

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.fairness.allocation import Certificate
    from schedgap.instances.fairness.model import FairnessInstance

# What is proven: no feasible allocation gives a user more than this part of its share more, unless somebody loses who
# has no more than it, up to the same part.
TOLERANCE = 1e-7
# All rounding errors of a cut together are smaller than this part of its bound. A weight so small that the tolerance is
# smaller still proves nothing.
ROUNDING = 2.0**-46
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
    instance: FairnessInstance, gain: FloatArray, shares: FloatArray, certificate: Certificate
) -> None:
    """Check that an allocation is max-min fair, up to `TOLERANCE`.

    gain : (N, K) float64, the share of one task. shares : (N,) float64, of a feasible allocation. O(K (N + R)) a cut.

    Raises
    ------
    VerifyError
        naming a user for whom no cut proves it, or an entry that is none.
    """
    _check_entries(instance, certificate)
    by_cut = np.argsort(certificate.share_cut, kind="stable")
    users, weights = certificate.share_user[by_cut], certificate.share_weight[by_cut]
    cuts, starts = np.unique(certificate.share_cut[by_cut], return_index=True)
    ends = np.append(starts, by_cut.shape[0])[1:]
    by_price = np.argsort(certificate.price_cut, kind="stable")
    priced = certificate.price_cut[by_price]
    lows, highs = np.searchsorted(priced, cuts, "left"), np.searchsorted(priced, cuts, "right")
    most = most_tasks(instance)
    proven = np.zeros(instance.num_users, np.bool_)
    for start, end, low, high in zip(starts, ends, lows, highs, strict=True):
        user, weight = users[start:end], weights[start:end]
        entry = by_price[low:high]
        price = np.zeros(instance.capacity.shape)
        np.add.at(price, (certificate.price_class[entry], certificate.price_resource[entry]), certificate.price[entry])
        slack = _bound(instance, gain, most, user, weight, price) - float((weight * shares[user]).sum())
        top = shares[user] >= shares[user].max() * (1 - TOLERANCE)
        proven[user[top & (slack <= TOLERANCE * weight * shares[user])]] = True
    if not proven.all():
        worst = int(np.argmin(proven))
        raise VerifyError(
            f"the certificate does not prove that user {instance.user_name(worst)} has its fair share "
            f"({shares[worst]:.9g}): no cut that is met to {TOLERANCE:g} counts it beside users with no more; "
            "leave the certificate out, or give one cut a level."
        )


def _bound(
    instance: FairnessInstance,
    gain: FloatArray,
    most: FloatArray,
    user: IntArray,
    weight: FloatArray,
    price: FloatArray,
) -> float:
    """Return what the weighted shares of the users add up to at most, rounded up."""
    paid = float((price * instance.capacity * instance.machine_count[:, None]).sum())
    # Only where a user may run: elsewhere its gain is 0 and no price is negative.
    worth, cost = weight[:, None] * gain[user], instance.demand[user] @ price.T
    surplus = float((most[user] * np.maximum((worth - cost).max(axis=1), 0.0)).sum())
    bound = paid + surplus
    low = (worth > cost) & (worth <= (1 + MENDED) * cost)
    if low.any():
        factor = float((worth[low] / cost[low]).max()) * (1 + ROUNDING)
        surplus = float((most[user] * np.maximum((worth - factor * cost).max(axis=1), 0.0)).sum())
        bound = min(bound, factor * paid + surplus)
    return bound * (1 + ROUNDING)


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
        bad = ~((values >= SMALLEST) & (values <= LARGEST))
        if bad.any():
            raise VerifyError(
                f"the certificate's {what} has {values[np.argmax(bad)]:g}; give {SMALLEST:g} to {LARGEST:g}."
            )
    _, cut = np.unique(certificate.share_cut, return_inverse=True)
    distinct, times = np.unique(cut * instance.num_users + certificate.share_user, return_counts=True)
    if (times > 1).any():
        user = instance.user_name(int(distinct[np.argmax(times > 1)]) % instance.num_users)
        raise VerifyError(f"the certificate weighs user {user} twice in one cut; give the sum of its weights.")
