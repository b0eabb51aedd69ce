"""Each method over its pairs: who was better how often, how much the gap changed, how much longer a call takes."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.bench.comparison.pairs import Pair, measure
from schedgap.bench.records.measurement import FAILED, Measurement
from schedgap.bench.statistics.bootstrap import mean_interval
from schedgap.bench.statistics.summary import Best, mean
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


# Added to both sides of a ratio of times, in units of the reference work: about a millisecond. What is far shorter is
# noise, and counts as equal.
TIME_SHIFT = 4.0
# Looking a member up in its class takes longer than all that is done with it here.
_UNSUPPORTED = Status.UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over instances and its 95% interval."""

    mean: float
    low: float
    high: float
    instances: int

    def exponential(self) -> Estimate:
        """Return the geometric mean, if this is the mean of logarithms."""
        return Estimate(math.exp(self.mean), math.exp(self.low), math.exp(self.high), self.instances)


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """One method on both sides.

    pairs : runs that both sides have; missing, added : those of one side only. better, worse, same : pairs by their
    verified objectives, or by their bounds where neither has one; a pair with a figure on one side only is in none of
    the three. failed : pairs that failed on both sides. clock : pairs that the clock may have stopped. gap_base, gap_new :
    mean gaps of the pairs solved on both sides, to the best bound of both, or of `unbounded` pairs to the best solution
    (see `pairs.distance`). gap : their differences, averaged over the seeds of an instance; None without any.
    time : how many times longer NEW takes, geometric mean; None where no pair has times and references.
    """

    family: str
    label: str
    stochastic: bool
    pairs: int
    missing: int
    added: int
    better: int
    worse: int
    same: int
    failed: int
    clock: int
    unbounded: int
    gap_base: float | None
    gap_new: float | None
    gap: Estimate | None
    time: Estimate | None


def compare_methods(pairs: Iterable[Pair], best: Mapping[str, Best]) -> list[MethodComparison]:
    """Return one comparison for each method, in the order in which they first appear."""
    groups: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        run = pair.run
        groups[run.family, run.label].append(pair)
    measures = {digest: (near := measure(known), near is not known) for digest, known in best.items()}
    return [_compare_method(family, label, own, measures) for (family, label), own in groups.items()]


def _compare_method(
    family: str, label: str, pairs: Sequence[Pair], measures: Mapping[str, tuple[Best, bool]]
) -> MethodComparison:
    changes: dict[str, list[float]] = {}
    ratios: dict[str, list[float]] = {}
    gaps_base, gaps_new = [], []
    both = missing = better = worse = same = failed = clock = unbounded = 0
    stochastic = False
    for pair in pairs:
        base, new = pair.base, pair.new
        stochastic = stochastic or pair.stochastic
        if base is None or new is None:
            missing += new is None
            continue
        both += 1
        clock += pair.used_clock
        old, now, digest = base.measurement, new.measurement, base.run.digest
        if old.status in FAILED or now.status in FAILED:
            failed += old.status in FAILED and now.status in FAILED
            continue
        step = _step(old, now)
        if step is not None:
            if step == 0:
                same += 1
            elif step < 0:
                better += 1
            else:
                worse += 1
        known, is_solution = measures[digest]
        gap_base = known.gap(old.objective)
        gap_new = gap_base if step == 0 else known.gap(now.objective)
        if gap_base is not None and gap_new is not None:
            gaps_base.append(gap_base)
            gaps_new.append(gap_new)
            unbounded += is_solution
            changes.setdefault(digest, []).append(gap_new - gap_base)
        old_s, now_s = relative_time(old), relative_time(now)
        if old_s is not None and now_s is not None:
            ratios.setdefault(digest, []).append(math.log(now_s / old_s))
    ratio = _estimate(ratios)
    return MethodComparison(
        family,
        label,
        stochastic,
        pairs=both,
        missing=missing,
        added=len(pairs) - both - missing,
        better=better,
        worse=worse,
        same=same,
        failed=failed,
        clock=clock,
        unbounded=unbounded,
        gap_base=mean(gaps_base),
        gap_new=mean(gaps_new),
        gap=_estimate(changes),
        time=None if ratio is None else ratio.exponential(),
    )


def relative_time(measurement: Measurement) -> float | None:
    """Return how many times the reference work a call took, shifted; None of a run that failed or was not supported."""
    wall_s, reference_s, status = measurement.wall_s, measurement.reference_s, measurement.status
    if wall_s is None or not reference_s or status is _UNSUPPORTED or status in FAILED:
        return None
    return wall_s / reference_s + TIME_SHIFT


def _estimate(values: Mapping[str, Sequence[float]]) -> Estimate | None:
    """Return the mean over instances of the means over seeds; with one instance, the seeds are what is resampled."""
    if not values:
        return None
    if len(values) == 1:
        sample = list(*values.values())
    else:
        sample = [math.fsum(own) / len(own) if len(own) > 1 else own[0] for own in values.values()]
    return Estimate(*mean_interval(sample), len(values))


def _step(old: Measurement, now: Measurement) -> int | None:
    """Return how much worse the figure of a pair is: the objective, or the bound where neither found a solution."""
    if old.objective is not None and now.objective is not None:
        return now.objective - old.objective
    if old.objective is None and now.objective is None and old.bound is not None and now.bound is not None:
        return old.bound - now.bound
    return None
