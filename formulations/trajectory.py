"""From what a back end knew on the way to claims in the family's integer units, rounded as the final answer is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schedgap.formulations.trusted import proven_cost
from schedgap.instances.method import Incumbent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from schedgap.formulations.linear_model import ModelPoint


def claims(
    points: Iterable[ModelPoint],
    *,
    after_s: float,
    cost: Callable[[float], int | None],
    bound: Callable[[float], int | None],
) -> list[Incumbent]:
    """Return what the points of a back end claim of the instance.

    after_s : seconds from the start of the method to the call of the back end. cost, bound : turn an objective and a
    bound of the model into those of the instance, None for nothing; `bound` is the function that proves the method's
    final bound, so that no point claims what the end could not.
    """
    return [
        Incumbent(
            after_s + point.elapsed_s,
            None if point.objective is None else cost(point.objective),
            None if point.bound is None else bound(point.bound),
        )
        for point in points
    ]


def whole_claims(points: Iterable[ModelPoint], *, after_s: float, unit: int) -> list[Incumbent]:
    """Return the claims of a program whose whole costs count in `unit` of the family's units; see `claims`."""
    return claims(
        points,
        after_s=after_s,
        cost=lambda cost: round(cost) * unit,
        bound=lambda bound: proven_cost(bound) * unit,
    )


def improving(points: Iterable[Incumbent]) -> tuple[Incumbent, ...]:
    """Return the points, by time, at which the best objective or the best bound so far became better, each with both."""
    kept: list[Incumbent] = []
    best, proven = None, None
    for point in sorted(points, key=lambda point: point.elapsed_s):
        curr = _better(best, point.objective, min), _better(proven, point.bound, max)
        if curr != (best, proven):
            best, proven = curr
            kept.append(Incumbent(point.elapsed_s, best, proven))
    return tuple(kept)


def delayed(points: Iterable[Incumbent], seconds: float) -> tuple[Incumbent, ...]:
    """Return the points on a clock that was started `seconds` earlier."""
    return tuple(replace(point, elapsed_s=point.elapsed_s + seconds) for point in points)


def _better(old: int | None, new: int | None, choose: Callable[[int, int], int]) -> int | None:
    if old is None or new is None:
        return new if old is None else old
    return choose(old, new)
