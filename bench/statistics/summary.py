"""Figures of a suite: each run against the best proven bound on its instance, then each method over its runs.

Runs on equal terms: what every method did on the same instance with the same seed, and who was better.

How sure a mean is: the bootstrap interval of a mean over instances (Efron and Tibshirani, 1993, chapter 13).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Any, TypeVar

import numpy as np
from scipy.special import stdtr

from schedgap.bench.records.journal import gc_paused
from schedgap.bench.records.runs import FAILED, Record
from schedgap.instances.arrays import FloatArray
from schedgap.instances.method import Status

SHIFT_S = 1.0
# The other usual shift: seconds below it hardly count.
LONG_SHIFT_S = 10.0
# PAR-10: what is not solved counts as ten times its limit.
PENALTY = 10


@dataclass(frozen=True, slots=True)
class Best:
    """The best that is known of an instance, over all runs that count; integer units, None where nothing is known.

    bound : not below 0, which always is one: objectives are costs.
    """

    bound: int | None
    objective: int | None

    @property
    def is_proven(self) -> bool:
        """Whether the best solution is optimal."""
        return self.objective is not None and self.bound == self.objective

    def gap(self, objective: int | None) -> float | None:
        """Return (objective - bound) / objective, in [0, 1]; None without one of them."""
        if objective is None or self.bound is None:
            return None
        return 0.0 if objective == self.bound else (objective - self.bound) / objective


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """One method over its runs.

    proven_optimal : runs whose objective equals the best proven bound on the instance, whoever proved it.
    gap_mean, gap_worst, gap_median, gap_p95 : over the runs with a verified solution and a bound; None without any. The
    median is the mean of the middle two of an even number; 95 % of the gaps are at most `gap_p95`, itself one of them.
    sgm_time_s, sgm10_time_s : shifted geometric mean of the time, shift 1 s and 10 s; a failed run counts with its wall
    limit.
    proven_optimal_share : of the runs that were supported; None without any.
    wins, ties, losses : against all other methods on the same instance with the same seed (see `Contest`).
    par10_s : mean time; a run that is not solved (see `is_solved`) counts ten times its wall limit.
    Runs that were not supported count in none of the times.
    """

    method: str
    runs: int
    failed: int
    solved: int
    unsupported: int
    unsolved: int
    proven_optimal: int
    gap_mean: float | None
    gap_worst: float | None
    sgm_time_s: float | None
    gap_median: float | None
    gap_p95: float | None
    proven_optimal_share: float | None
    wins: int
    ties: int
    losses: int
    par10_s: float | None
    sgm10_time_s: float | None


class Runs(Sequence["Record"]):
    """Runs of which many figures are made: what all of these ask first is found once.

    best : what is known of their instances; of more runs than these, where it is given. bounding : see `bounds_only`.
    """

    def __init__(self, records: Iterable[Record], best: dict[str, Best] | None = None) -> None:
        self._records = tuple(records)
        self.best = best_of(self._records) if best is None else best
        self.bounding = bounds_only(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __getitem__(self, place: Any) -> Any:
        return self._records[place]


def best_of(records: Iterable[Record]) -> dict[str, Best]:
    """Return what is known of each instance, by digest, invalid runs aside; not to be changed. Bounds below 0 count as 0."""
    if isinstance(records, Runs):
        return records.best
    bounds: dict[str, int] = {}
    objectives: dict[str, int] = {}
    digests: dict[str, None] = {}
    for record in records:
        digest, measurement = record.run.digest, record.measurement
        digests[digest] = None
        if measurement.status is Status.INVALID:
            continue
        bound, objective = measurement.bound, measurement.objective
        if bound is not None and bound > bounds.setdefault(digest, 0):
            bounds[digest] = bound
        if objective is not None and objective < objectives.setdefault(digest, objective):
            objectives[digest] = objective
    return {digest: Best(bounds.get(digest), objectives.get(digest)) for digest in digests}


def is_measured(records: Iterable[Record]) -> bool:
    """Whether any run gave a verified objective, a proven bound or a finding that counts."""
    nothing = FAILED | {Status.UNSUPPORTED}
    return any(record.status not in nothing or record.measurement.had_found for record in records)


def by_label(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records of each method, in the order in which methods first appear."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.run.label].append(record)
    return dict(groups)


def told_apart(records: Iterable[Record]) -> list[Record]:
    """Return the records with the family before each label that methods of several families have: `harvest/random`."""
    records, families = list(records), defaultdict(set)
    for record in records:
        families[record.run.label].add(record.run.family)
    shared = {label for label, own in families.items() if len(own) > 1}
    return [r.renamed(r.key, f"{r.run.family}/{r.run.label}") if r.run.label in shared else r for r in records]


def by_ending(records: Iterable[Record]) -> list[list[Record]]:
    """Return the runs of each method that ended in one status, in the order of the first of each."""
    kinds: dict[tuple[str, Status], list[Record]] = {}
    for record in records:
        kinds.setdefault((record.run.label, record.status), []).append(record)
    return list(kinds.values())


def reason_of(record: Record) -> str:
    """Return why a run ended as it did."""
    return record.measurement.reason or "no reason given"


def gaps(records: Iterable[Record], best: dict[str, Best]) -> list[float]:
    """Return the gaps of the runs that have one."""
    found = (best[r.run.digest].gap(verified_objective(r)) for r in records)
    return [gap for gap in found if gap is not None]


def verified_objective(record: Record) -> int | None:
    """Return the objective of a run that counts, None of one that failed or found nothing."""
    measurement = record.measurement
    return None if measurement.status in FAILED else measurement.objective


def in_unit(value: int | None, scale: int | None) -> float | None:
    """Return an objective or a bound in the unit in which it is shown, None without one of the two."""
    return None if value is None or scale is None else value / scale


def is_optimal(record: Record, best: dict[str, Best]) -> bool:
    """Whether the run's solution is proven optimal, by whichever method."""
    objective = verified_objective(record)
    return objective is not None and objective == best[record.run.digest].bound


def bounds_only(records: Iterable[Record]) -> frozenset[str]:
    """Return the labels of the methods that give bounds alone: a bound in some run, a solution in none."""
    if isinstance(records, Runs):
        return records.bounding
    bounding: set[str] = set()
    solving: set[str] = set()
    for record in records:
        measurement = record.measurement
        if measurement.status not in FAILED:
            if measurement.objective is not None:
                solving.add(record.run.label)
            elif measurement.bound is not None:
                bounding.add(record.run.label)
    return frozenset(bounding - solving)


def is_solved(record: Record, bounding: frozenset[str]) -> bool:
    """Whether a run did its work: a verified solution, a finding that there is none, or of a bounding method a bound.

    An optimum need not be proven: how good a solution is, gaps tell, and a heuristic cannot prove anything.
    bounding : labels of the methods that give bounds alone.
    """
    measurement = record.measurement
    if measurement.status in FAILED:
        return False
    if measurement.objective is not None or measurement.status is Status.INFEASIBLE:
        return True
    return record.run.label in bounding and measurement.bound is not None


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


def is_unsolved(record: Record, bounding: frozenset[str]) -> bool:
    """Whether a run found nothing, though it could; of methods that only prove bounds (`bounds_only`) none is."""
    return record.measurement.status is Status.NO_SOLUTION and record.run.label not in bounding


class _Tally:
    """What one pass over a method's runs counts and collects."""

    __slots__ = ("failed", "gaps", "penalised", "proven", "runs", "solved", "times", "unsolved")

    def __init__(self) -> None:
        self.runs = self.failed = self.solved = self.unsolved = self.proven = 0
        self.gaps: list[float] = []
        self.times: list[float] = []
        self.penalised: list[float] = []


def _tallies(records: Iterable[Record], best: Mapping[str, Best], bounding: frozenset[str]) -> dict[str, _Tally]:
    """Return each method's tally, in one pass. penalised : a run that is not solved counts ten times its wall limit."""
    found: dict[str, _Tally] = defaultdict(_Tally)
    for record in records:
        own, objective, time = found[record.run.label], verified_objective(record), counted_time(record)
        own.runs += 1
        own.failed += record.measurement.status in FAILED
        own.unsolved += is_unsolved(record, bounding)
        if objective is not None:
            own.solved += 1
            if (gap := best[record.run.digest].gap(objective)) is not None:
                own.gaps.append(gap)
                own.proven += objective == best[record.run.digest].bound
        if time is not None:
            own.times.append(time)
            is_done = record.measurement.wall_s is not None and is_solved(record, bounding)
            own.penalised.append(time if is_done else PENALTY * record.run.limits.wall_s)
    return found


@gc_paused()
def summarise(records: Sequence[Record]) -> list[MethodSummary]:
    """Return one summary for each method."""
    best, bounding = best_of(records), bounds_only(records)
    compared = contests(records, bounding)
    summaries = []
    for label, own in _tallies(records, best, bounding).items():
        known, times = sorted(own.gaps), own.times
        contest = compared.get(label, Contest())
        summaries.append(
            MethodSummary(
                method=label,
                runs=own.runs,
                failed=own.failed,
                solved=own.solved,
                unsupported=own.runs - len(times),
                unsolved=own.unsolved,
                proven_optimal=own.proven,
                gap_mean=mean(known),
                gap_worst=known[-1] if known else None,
                sgm_time_s=shifted_geometric_mean(times),
                gap_median=median(known) if known else None,
                gap_p95=known[-(-95 * len(known) // 100) - 1] if known else None,
                proven_optimal_share=own.proven / len(times) if times else None,
                wins=contest.wins,
                ties=contest.ties,
                losses=contest.losses,
                par10_s=mean(own.penalised),
                sgm10_time_s=shifted_geometric_mean(times, LONG_SHIFT_S),
            )
        )
    return summaries


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, None of nothing."""
    return math.fsum(values) / len(values) if values else None


T = TypeVar("T")


@dataclass(slots=True)
class Contest:
    """How often one method was better than all others, as good as the best of them, or worse.

    A pair of instance and seed counts where the method and at least one other took part: neither was unsupported, and
    neither gives bounds alone. A win is a verified objective below every other one, or the only one; a tie one equal to
    the best of the others; a loss a higher one, or none where another method has one. Where nobody found a solution,
    nothing counts.
    """

    wins: int = 0
    ties: int = 0
    losses: int = 0


def problems(records: Iterable[Record]) -> Iterator[dict[str, Record]]:
    """Yield, for each pair of instance and seed, what each method did there, by label.

    A method that draws nothing has one run on an instance, which stands for each of its seeds. Of several runs with one
    label (a journal may hold other limits and versions), the last counts.
    """
    instances: dict[str, tuple[dict[str, Record], dict[int, dict[str, Record]]]] = {}
    for record in records:
        run = record.run
        fixed, drawn = instances.setdefault(run.digest, ({}, {}))
        if run.stochastic:
            drawn.setdefault(run.seed, {})[run.label] = record
        else:
            fixed[run.label] = record
    for fixed, drawn in instances.values():
        if not drawn:
            yield fixed
        for own in drawn.values():
            yield {**fixed, **own}


def contests(records: Iterable[Record], bounding: frozenset[str]) -> dict[str, Contest]:
    """Return how each method fared against the others, by label.

    bounding : labels of the methods that give bounds alone; they take no part.
    """
    found: dict[str, Contest] = {}
    for problem in problems(records):
        values = {
            label: None if record.status in FAILED else record.measurement.objective
            for label, record in problem.items()
            if record.status is not Status.UNSUPPORTED and label not in bounding
        }
        solved = sorted(value for value in values.values() if value is not None)
        if len(values) < 2 or not solved:
            continue
        for label, value in values.items():
            own = found.setdefault(label, Contest())
            if value is None or value > solved[0]:
                own.losses += 1
            elif len(solved) > 1 and solved[1] == value:
                own.ties += 1
            else:
                own.wins += 1
    return found


RESAMPLES = 10_000
SEED = 20_260_101
# Resampling more values than this says what the normal interval says, to about a hundredth of its width.
MOST_RESAMPLED = 500
_LEVEL = (0.025, 0.975)
_NORMAL = 1.959963984540054


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of the values and its 95% interval: percentiles of 10,000 resampled means.

    The draws are fixed, so equal values get equal intervals. Beyond 500 values the interval is the normal one. One value
    has no spread: it is its own interval.

    Raises
    ------
    ValueError
        for no values at all.
    """
    if not values:
        raise ValueError("the mean of no values")
    sample = np.asarray(values, dtype=np.float64)
    mean = math.fsum(values) / len(values)
    if sample.size == 1 or np.ptp(sample) == 0:
        return mean, mean, mean
    if sample.size > MOST_RESAMPLED:
        half = _NORMAL * float(sample.std(ddof=1)) / math.sqrt(sample.size)
        return mean, mean - half, mean + half
    low, high = np.quantile(_shares(sample.size) @ sample, _LEVEL)
    return mean, float(low), float(high)


def chance_above(values: Sequence[float]) -> float:
    """Return the p-value of Student's test that the mean of the values is above 0, one-sided; 0 or 1 where they are all one.

    That it is below 0 has 1 - p.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.size == 1 or np.ptp(sample) == 0:
        return float(sample[0] <= 0)
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return float(stdtr(sample.size - 1, -math.fsum(values) / sample.size / error))


def sure_of(chances: Mapping[T, float], level: float = _LEVEL[0]) -> set[T]:
    """Return those whose p-values reject, with a false discovery rate of at most `level` (Benjamini and Hochberg, 1995)."""
    ordered = sorted(chances, key=lambda each: chances[each])
    passed = [rank for rank, each in enumerate(ordered, 1) if chances[each] <= rank / len(ordered) * level]
    return set(ordered[: max(passed, default=0)])


@lru_cache(maxsize=2)
def _shares(size: int) -> FloatArray:
    """Return how much of each resample is of each value: (RESAMPLES, size), rows add up to 1.

    Methods of one suite have as many instances each, so one table serves their gaps and one their times. O(RESAMPLES
    size), 40 MB at most.
    """
    cells = np.random.default_rng(SEED).integers(size, size=(RESAMPLES, size))
    cells += size * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(cells.ravel(), minlength=RESAMPLES * size)
    del cells
    return counts.reshape(RESAMPLES, size) / size
