"""What one task adds to its user's share, in each notion of fairness.

With f(i, k) tasks of user i that fit on one machine of class k if it were alone and unconstrained, n(k) machines of the
class, weight w(i), performance p(i, k) and demand d(i, r), one task of user i on class k adds

    eunomia : p(i, k) / (w(i) sum_k n(k) f(i, k) p(i, k))      progress share (Eunomia, section III-A, Equation 1)
    tsf     : 1 / (w(i) sum_k n(k) f(i, k))                    task share (TSF)
    cmmf    : d(i, 0) / (w(i) sum_k n(k) l(k, 0))              share of the first resource (Choosy, CMMF)
    drf     : max_r d(i, r) / (w(i) sum_k n(k) l(k, r))        dominant share (DRF; DRFH where there are several classes)

where l(k, r) is the capacity of one machine. A task adds nothing where it may not run, or fits on no machine.

Shares in exact fractions: what `shares` has in floating point.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from schedgap.instances.arrays import FloatArray
from schedgap.instances.fairness.model import ONE, FairnessInstance


def share_of_a_task(instance: FairnessInstance, notion: str = "") -> FloatArray:
    """Return (N, K) float64, the share that one task adds; 0 where it cannot run.

    notion : another than the instance's own.

    Raises
    ------
    InstanceError
        for a notion that is none, or in which the users' shares have no meaning.
    """
    value, scale = value_and_scale(instance, notion)
    return np.where(instance.allowed & (instance.fitting() > 0), value / scale[:, None], 0.0)


def value_and_scale(
    instance: FairnessInstance, notion: str = "", *, whole: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return shares in two parts: (N, K) float64, the value of one task, and (N,) float64, the value of a share of 1.

    Values are whole numbers, so that sums of them are exact and users with equal tasks have equal shares. They do not
    heed where a user may run.

    notion : another than the instance's own. whole : count only whole tasks that fit on a machine, not fractions.

    Raises
    ------
    InstanceError
        as `share_of_a_task` does.
    """
    notion = notion or instance.notion
    instance.check_notion(notion)
    weight = instance.weight / ONE
    total = instance.machine_count @ instance.capacity
    value = np.ones(instance.allowed.shape)
    if notion in ("eunomia", "tsf"):
        if notion == "eunomia":
            value = instance.performance.astype(np.float64)
        fitting = np.floor(instance.fitting()) if whole else instance.fitting()
        return value, weight * (fitting * instance.machine_count * value).sum(axis=1)
    if notion == "cmmf":
        return instance.demand[:, :1] * value, weight * total[0]
    parts = np.divide(
        instance.demand,
        total,
        out=np.zeros(instance.demand.shape),
        where=np.broadcast_to(total > 0, instance.demand.shape),
    )
    return value, weight / parts.max(axis=1)


def exact_fitting(instance: FairnessInstance) -> list[list[Fraction]]:
    """Return how many tasks of each user, alone and unconstrained, run on one machine of each class. O(N K R)."""
    capacity = instance.capacity.tolist()
    known: dict[tuple[int, ...], list[Fraction]] = {}
    rows = [tuple(needs) for needs in instance.demand.tolist()]
    for needs in rows:
        if needs not in known:
            known[needs] = [
                min(Fraction(have, need) for need, have in zip(needs, holds, strict=True) if need) for holds in capacity
            ]
    return [known[needs] for needs in rows]


def exact_values(instance: FairnessInstance) -> list[list[int]]:
    """Return the value of a task in the notion's measure, up to a factor of the user's own, which `exact_scale` has."""
    if instance.notion == "eunomia":
        performance: list[list[int]] = instance.performance.tolist()
        return performance
    return [[1] * instance.num_machine_classes for _ in range(instance.num_users)]


def exact_scale(instance: FairnessInstance, i: int, fits: Sequence[Fraction], value: Sequence[int]) -> Fraction:
    """Return the value that is a share of 1 of user i. fits, value : (K,), its own."""
    weight = Fraction(int(instance.weight[i]), ONE)
    count = instance.machine_count.tolist()
    if instance.notion in ("eunomia", "tsf"):
        alone = (n * f * v for n, f, v in zip(count, fits, value, strict=True))
        return sum(alone, Fraction(0)) * weight
    total = (instance.machine_count @ instance.capacity).tolist()
    parts = [Fraction(d, t) for d, t in zip(instance.demand[i].tolist(), total, strict=True) if t]
    return weight / (parts[0] if instance.notion == "cmmf" else max(parts))
