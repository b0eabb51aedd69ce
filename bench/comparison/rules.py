"""When one run is worse than the same run before; turned round, the same rules say when it is better."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from schedgap.bench.comparison.pairs import distance
from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.summary import verified_objective
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.bench.records.record import Record
    from schedgap.bench.statistics.summary import Best


class Kind(StrEnum):
    """What has changed, the gravest first."""

    CONTRADICTION = "contradiction"
    MISSING = "missing"
    INVALID = "invalid"
    FAILED = "failed"
    SOLUTION = "solution"
    OBJECTIVE = "objective"
    GAP = "gap"
    PROOF = "proof"
    BOUND = "bound"
    TIME = "time"


GRAVITY = {kind: rank for rank, kind in enumerate(Kind)}


def worse(
    before: Record,
    after: Record,
    best: Mapping[str, Best],
    *,
    drawn: bool = False,
    clock: bool = False,
    min_effect: float = 0.0,
) -> Kind | None:
    """Return in what `after` is worse than `before`, the gravest of several, None where it is not.

    drawn : the method draws at random, so only whether it ends, and with a solution or a bound, is compared here. clock :
    the clock may have stopped one of the two: an objective is worse then only if the gap grew by more than `min_effect`,
    and a bound only if it was all that was found and there is none any more. A lost proof of optimality counts always.
    """
    if after.status in FAILED:
        if after.status is Status.INVALID:
            return Kind.INVALID if before.status is not Status.INVALID else None
        return Kind.FAILED if before.status not in FAILED else None
    if before.status in FAILED:
        return None
    old, new = verified_objective(before), verified_objective(after)
    if old is not None and new is None:
        return Kind.SOLUTION
    if new is None and before.measurement.bound is not None and after.measurement.bound is None:
        return Kind.BOUND
    if drawn:
        return None
    if old is not None and new is not None and new > old and not (clock and _growth(before, after, best) <= min_effect):
        return Kind.OBJECTIVE
    if is_proven(before) and not is_proven(after):
        return Kind.PROOF
    if not clock and _is_lower(after.measurement.bound, before.measurement.bound):
        return Kind.BOUND
    return None


def _growth(before: Record, after: Record, best: Mapping[str, Best]) -> float:
    old, new = distance(before, best), distance(after, best)
    assert old is not None
    assert new is not None
    return new - old


def is_proven(record: Record) -> bool:
    """Whether a run proved its own answer."""
    return record.status in (Status.OPTIMAL, Status.INFEASIBLE)


def _is_lower(bound: int | None, known: int | None) -> bool:
    return known is not None and (bound is None or bound < known)
