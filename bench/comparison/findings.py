"""When one run is worse than the same run before, and each thing that is worse or better as an entry with both values.

Turned round, the same rules say when a run is better.

Each method over its pairs: who was better how often, how much the gap changed, how much longer a call takes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from schedgap.bench.comparison.pairs import Pair, distance, measure
from schedgap.bench.records.runs import FAILED, Measurement, Record, Run
from schedgap.bench.statistics.summary import Best, chance_above, mean, mean_interval, sure_of, verified_objective
from schedgap.instances.method import Status


class ChangeKind(StrEnum):
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


GRAVITY = {kind: rank for rank, kind in enumerate(ChangeKind)}


def worse(
    before: Record,
    after: Record,
    best: Mapping[str, Best],
    *,
    drawn: bool = False,
    clock: bool = False,
    min_effect: float = 0.0,
) -> ChangeKind | None:
    """Return in what `after` is worse than `before`, the gravest of several, None where it is not.

    drawn : the method draws at random, so only whether it ends, and with a solution or a bound, is compared here. clock :
    the clock may have stopped one of the two: an objective is worse then only if the gap grew by more than `min_effect`,
    and a bound only if it was all that was found and there is none any more. A lost proof of optimality counts always.
    """
    if after.status in FAILED:
        if after.status is Status.INVALID:
            return ChangeKind.INVALID if before.status is not Status.INVALID else None
        return ChangeKind.FAILED if before.status not in FAILED else None
    if before.status in FAILED:
        return None
    old, new = verified_objective(before), verified_objective(after)
    if old is not None and new is None:
        return ChangeKind.SOLUTION
    if new is None and before.measurement.bound is not None and after.measurement.bound is None:
        return ChangeKind.BOUND
    if drawn:
        return None
    if old is not None and new is not None and new > old and not (clock and _growth(before, after, best) <= min_effect):
        return ChangeKind.OBJECTIVE
    if is_proven(before) and not is_proven(after):
        return ChangeKind.PROOF
    known, bound = before.measurement.bound, after.measurement.bound
    if not clock and known is not None and (bound is None or bound < known):
        return ChangeKind.BOUND
    return None


def _growth(before: Record, after: Record, best: Mapping[str, Best]) -> float:
    old, new = distance(before, best), distance(after, best)
    assert old is not None
    assert new is not None
    return new - old


def is_proven(record: Record) -> bool:
    """Whether a run proved its own answer."""
    return record.status in (Status.OPTIMAL, Status.INFEASIBLE)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is worse, or better.

    instance, digest, group : empty, and seed None, where it is about a method over all its instances (`gap`, `time`).
    base, new : the two values: of an objective or a bound, in the family's integer units; of a gap; else the two
    statuses; None of a time, and of what is missing. change : relative change of an objective or a bound, difference of
    gaps, ratio of times; None where there is none. interval : 95%, of `change`. reason : why a run ended as it did, or
    what contradicts what. allowed : why it is told and does not fail the gate; None where it counts.
    """

    kind: ChangeKind
    family: str
    method: str
    instance: str = ""
    digest: str = ""
    group: str = ""
    seed: int | None = None
    stochastic: bool = False
    base: int | float | str | None = None
    new: int | float | str | None = None
    change: float | None = None
    interval: tuple[float, float] | None = None
    reason: str | None = None
    allowed: str | None = None


def contradicting(run: Run, reason: str) -> Finding:
    """Return the finding that a run's claim cannot be true, by what is known of both sides."""
    return Finding(ChangeKind.CONTRADICTION, **_names(run), reason=reason)


def judge_pair(pair: Pair, best: Mapping[str, Best], min_effect: float) -> tuple[Finding | None, Finding | None]:
    """Return in what a pair is worse now, and in what it is better; at most one finding each, the gravest."""
    base, new = pair.base, pair.new
    if base is None:
        return None, None
    if new is None:
        return _finding(ChangeKind.MISSING, pair), None
    old, now = base.measurement, new.measurement
    # All that the rules look at.
    if old.objective == now.objective and old.bound == now.bound and old.status is now.status:
        return None, None
    drawn, clock = pair.stochastic, pair.used_clock
    found = worse(base, new, best, drawn=drawn, clock=clock, min_effect=min_effect)
    # A failure in place of another is no improvement, and no more is a refusal, or finding nothing.
    nothing = new.status in FAILED or (now.objective is None and now.bound is None and not is_proven(new))
    gained = None if nothing else worse(new, base, best, drawn=drawn, clock=clock, min_effect=min_effect)
    return None if found is None else _finding(found, pair), None if gained is None else _finding(gained, pair)


def _finding(kind: ChangeKind, pair: Pair) -> Finding:
    run = pair.run
    base, new = _value(kind, pair.base), _value(kind, pair.new)
    change = (new - base) / base if isinstance(base, int) and isinstance(new, int) and base else None
    reason = None if pair.new is None else pair.new.measurement.reason
    if kind is ChangeKind.PROOF:
        reason = reason or _unproven(pair)
    return Finding(kind, **_names(run), base=base, new=new, change=change, reason=reason)


def _names(run: Run) -> dict[str, Any]:
    return {
        "family": run.family,
        "method": run.label,
        "instance": run.instance,
        "digest": run.digest,
        "group": run.group,
        "seed": run.seed,
        "stochastic": run.stochastic,
    }


def _unproven(pair: Pair) -> str | None:
    """Return what a lost proof lacks, of whichever side has none; None where there is no solution either."""
    sides = [side.measurement for side in (pair.base, pair.new) if side is not None and not is_proven(side)]
    bound, objective = sides[0].bound, sides[0].objective
    return None if objective is None else f"a bound of {bound} does not prove a solution of {objective}"


def _value(kind: ChangeKind, record: Record | None) -> int | str | None:
    if record is None:
        return None
    if kind is ChangeKind.OBJECTIVE:
        return verified_objective(record)
    return record.measurement.bound if kind is ChangeKind.BOUND else str(record.status)


def changed(methods: Sequence[MethodComparison], min_effect: float) -> tuple[list[Finding], list[Finding]]:
    """Return which of the methods that draw at random have a larger, and which a smaller mean gap.

    The interval of each lies on one side of 0. Among many methods chance alone makes some look so: of several, only those
    count that are sure together (see `sure_of`).
    """
    drawn = [(method, method.gap) for method in methods if method.stochastic and method.gap is not None]
    larger, smaller = {}, {}
    for place, (_, gap) in enumerate(drawn):
        larger[place], smaller[place] = gap.chance, 1 - gap.chance
    is_alone = len(drawn) == 1
    sure_larger, sure_smaller = sure_of(larger), sure_of(smaller)
    worse, better = [], []
    for place, (method, gap) in enumerate(drawn):
        if gap.low > 0 and gap.mean > min_effect and (is_alone or place in sure_larger):
            worse.append(_gap_finding(method))
        if gap.high < 0 and gap.mean < -min_effect and (is_alone or place in sure_smaller):
            better.append(_gap_finding(method))
    return worse, better


def slower_method(method: MethodComparison, time_factor: float | None) -> Iterable[Finding]:
    """Yield that a method takes longer, if that was asked."""
    time = method.time
    if time_factor is not None and time is not None and time.low > time_factor:
        yield Finding(ChangeKind.TIME, method.family, method.label, change=time.mean, interval=(time.low, time.high))


def _gap_finding(method: MethodComparison) -> Finding:
    gap = method.gap
    assert gap is not None
    return Finding(
        ChangeKind.GAP,
        method.family,
        method.label,
        base=method.gap_base,
        new=method.gap_new,
        change=gap.mean,
        interval=(gap.low, gap.high),
    )


def gravity(finding: Finding) -> tuple[int, float]:
    """Return what findings are sorted by: the gravest kind first, in it the largest change."""
    return GRAVITY[finding.kind], -abs(finding.change or 0.0)


# Added to both sides of a ratio of times, in units of the reference work: about a millisecond. What is far shorter is
# noise, and counts as equal.
TIME_SHIFT = 4.0
# Looking a member up in its class takes longer than all that is done with it here.
_UNSUPPORTED = Status.UNSUPPORTED


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over instances and its 95% interval. chance : the p-value of its being above 0 (see `chance_above`)."""

    mean: float
    low: float
    high: float
    instances: int
    chance: float

    def exponential(self) -> Estimate:
        """Return the geometric mean, if this is the mean of logarithms."""
        return replace(self, mean=math.exp(self.mean), low=math.exp(self.low), high=math.exp(self.high))


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
    return Estimate(*mean_interval(sample), len(values), chance_above(sample))


def _step(old: Measurement, now: Measurement) -> int | None:
    """Return how much worse the figure of a pair is: the objective, or the bound where neither found a solution."""
    if old.objective is not None and now.objective is not None:
        return now.objective - old.objective
    if old.objective is None and now.objective is None and old.bound is not None and now.bound is not None:
        return old.bound - now.bound
    return None
