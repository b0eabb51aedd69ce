"""Runs on equal terms: what every method did on the same instance with the same seed, and who was better.

How sure a mean is: the bootstrap interval of a mean over instances (Efron and Tibshirani, 1993, chapter 13).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from scipy.special import stdtr

from schedgap.bench.records.runs import FAILED, Record
from schedgap.instances.arrays import FloatArray
from schedgap.instances.method import Status

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
