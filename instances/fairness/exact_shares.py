"""Shares in exact fractions: what `shares` has in floating point."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from schedgap.instances.fairness.model import ONE, FairnessInstance

if TYPE_CHECKING:
    from collections.abc import Sequence


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
