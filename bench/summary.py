"""Figures of a suite: each run against the best proven bound on its instance, then each method over its runs."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.bench.measurement import FAILED
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.bench.record import Record

SHIFT_S = 1.0


@dataclass(frozen=True, slots=True)
class Best:
    """The best that is known of an instance, over all runs that count; integer units, None where nothing is known."""

    bound: int | None
    objective: int | None

    @property
    def is_proven(self) -> bool:
        """Whether the best solution is optimal."""
        return self.objective is not None and self.bound == self.objective

    def gap(self, objective: int | None) -> float | None:
        """Return (objective - bound) / objective, in [0, 1]; None without one of them.

        A bound below 0 counts as 0, which is always one: objectives are costs.
        """
        if objective is None or self.bound is None:
            return None
        return 0.0 if objective == self.bound else (objective - max(self.bound, 0)) / objective


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """One method over its runs.

    proven_optimal : runs whose objective equals the best proven bound on the instance, whoever proved it.
    gap_mean, gap_worst : over the runs with a verified solution and a bound; None without any.
    sgm_time_s : shifted geometric mean of the time, shift 1 s; a failed run counts with its wall limit.
    """

    method: str
    runs: int
    failed: int
    solved: int
    unsupported: int
    proven_optimal: int
    gap_mean: float | None
    gap_worst: float | None
    sgm_time_s: float | None


def best_of(records: Iterable[Record]) -> dict[str, Best]:
    """Return what is known of each instance, by digest."""
    bounds: dict[str, int] = {}
    objectives: dict[str, int] = {}
    digests: dict[str, None] = {}
    for record in records:
        digest, measurement = record.run.digest, record.measurement
        digests[digest] = None
        if record.status in FAILED:
            continue
        if measurement.bound is not None:
            bounds[digest] = max(bounds.get(digest, measurement.bound), measurement.bound)
        if measurement.objective is not None:
            objectives[digest] = min(objectives.get(digest, measurement.objective), measurement.objective)
    return {digest: Best(bounds.get(digest), objectives.get(digest)) for digest in digests}


def by_label(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records of each method, in the order in which methods first appear."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.run.label].append(record)
    return dict(groups)


def gaps(records: Iterable[Record], best: dict[str, Best]) -> list[float]:
    """Return the gaps of the runs that have one."""
    found = (best[r.run.digest].gap(verified_objective(r)) for r in records)
    return [gap for gap in found if gap is not None]


def verified_objective(record: Record) -> int | None:
    """Return the objective of a run that counts, None of one that failed or found nothing."""
    return None if record.status in FAILED else record.measurement.objective


def is_optimal(record: Record, best: dict[str, Best]) -> bool:
    """Whether the run's solution is proven optimal, by whichever method."""
    objective = verified_objective(record)
    return objective is not None and objective == best[record.run.digest].bound


def counted_time(record: Record) -> float | None:
    """Return the time that counts for a run: its own, its wall limit if it failed, None where it was not supported."""
    if record.status is Status.UNSUPPORTED:
        return None
    if record.status in FAILED or record.measurement.wall_s is None:
        return record.run.limits.wall_s
    return record.measurement.wall_s


def shifted_geometric_mean(values: Sequence[float], shift: float = SHIFT_S) -> float | None:
    """Return exp(mean(log(value + shift))) - shift, None of nothing."""
    if not values:
        return None
    return math.exp(math.fsum(math.log(value + shift) for value in values) / len(values)) - shift


def summarise(records: Sequence[Record]) -> list[MethodSummary]:
    """Return one summary for each method."""
    best = best_of(records)
    summaries = []
    for label, own in by_label(records).items():
        known = gaps(own, best)
        times = [time for record in own if (time := counted_time(record)) is not None]
        summaries.append(
            MethodSummary(
                method=label,
                runs=len(own),
                failed=sum(r.status in FAILED for r in own),
                solved=sum(verified_objective(r) is not None for r in own),
                unsupported=sum(r.status is Status.UNSUPPORTED for r in own),
                proven_optimal=sum(is_optimal(r, best) for r in own),
                gap_mean=math.fsum(known) / len(known) if known else None,
                gap_worst=max(known, default=None),
                sgm_time_s=shifted_geometric_mean(times),
            )
        )
    return summaries
