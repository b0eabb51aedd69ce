"""Steps in a method's figures over the entries of a history, and what may be said of each.

A figure is better or worse where both sides of a step solved the same runs; that fewer are solved is a step of its own. A gap
changes with bounds, too: so it is better or worse where at least half of its change is that of the objectives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median, mode
from typing import TYPE_CHECKING

from schedgap.bench.statistics.steps import Step, find_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedgap.bench.report.figures.figure import Unit
    from schedgap.bench.statistics.history import MethodFigures

# Changes below these are none: of a gap, of another figure as a share of it, of a time as the logarithm of a ratio, and of
# solved runs, so little that one run that is lost at the last of 500 entries is told.
LEAST_GAP, LEAST_SHARE, LEAST_RATIO, LEAST_RUNS = 0.0005, 0.001, 0.05, 0.05
_SHORTEST_S = 1e-9


@dataclass(frozen=True, slots=True)
class HistoryMeasure:
    """One of the figures. is_lower_better : False also of a figure of which nobody knows."""

    name: str
    field: str
    unit: Unit
    scale: str
    text: Callable[[float | None], str]
    is_lower_better: bool = True

    @property
    def is_time(self) -> bool:
        """Whether it is a time, of which ratios count."""
        return self.field == "time_s"

    @property
    def is_count(self) -> bool:
        """Whether it is the number of solved runs."""
        return self.field == "solved"

    def of(self, figures: MethodFigures) -> float | None:
        """Return a method's figure, None where nothing is known."""
        value: float | None = getattr(figures, self.field)
        return value

    def steps(self, values: Sequence[float]) -> list[Step]:
        """Return the steps of a series; of times, those of their logarithms."""
        if self.is_time:
            return find_steps([math.log(max(value, _SHORTEST_S)) for value in values], LEAST_RATIO)
        if self.is_count:
            return find_steps(values, LEAST_RUNS)
        middle = sorted(map(abs, values))[len(values) // 2]
        return find_steps(values, LEAST_GAP if self.unit == "percent" else LEAST_SHARE * middle or _SHORTEST_S)


@dataclass(frozen=True, slots=True)
class StepView:
    """A row of the table of steps. entry : its number. size : what the change sorts by."""

    method: str
    figure: str
    entry: int
    before: float
    after: float
    before_text: str
    after_text: str
    size: float
    change: str
    verdict: str

    @property
    def is_worse(self) -> bool:
        """Whether something got worse, be it a bound."""
        return self.verdict.startswith("worse") or self.verdict == FELL


OTHER_RUNS, ROSE, FELL = "other runs", "bounds rose", "bounds fell"


def step_views(
    method: str, measure: HistoryMeasure, places: Sequence[int], figures: Sequence[MethodFigures]
) -> list[StepView]:
    """Return the steps of a method's figure, which is known in all these. places : numbers of their entries."""
    steps = measure.steps([value for own in figures if (value := measure.of(own)) is not None])
    cuts = [0, *(step.at for step in steps), len(figures)]
    return [
        _view(method, measure, places[step.at], step, figures[cuts[i] : step.at], figures[step.at : cuts[i + 2]])
        for i, step in enumerate(steps)
    ]


def _view(
    method: str,
    measure: HistoryMeasure,
    entry: int,
    step: Step,
    old: Sequence[MethodFigures],
    new: Sequence[MethodFigures],
) -> StepView:
    before, after = (math.exp(v) if measure.is_time else v for v in (step.before, step.after))
    if measure.unit == "percent":
        size = after - before
        change = f"{100 * size:+.3g} points"
    elif measure.is_count:
        size = after - before
        change = f"{size:+,.0f}"
    else:
        size = after / before if measure.is_time else (after - before) / (abs(before) or 1.0)
        change = f"× {size:.3g}" if measure.is_time else f"{100 * size:+.3g}%"
        size = math.log(size) if measure.is_time else size
    texts = measure.text(before), measure.text(after)
    return StepView(method, measure.name, entry, before, after, *texts, size, change, _verdict(measure, size, old, new))


def _verdict(measure: HistoryMeasure, size: float, old: Sequence[MethodFigures], new: Sequence[MethodFigures]) -> str:
    """Return what a step is, of the figures of the entries from the step before it on, and until the next."""
    if measure.is_count:
        is_same = mode(own.runs for own in old) == mode(own.runs for own in new)
        return OTHER_RUNS if not is_same else "worse" if size < 0 else "better"
    if mode(map(_solved, old)) != mode(map(_solved, new)):
        return OTHER_RUNS
    if not measure.is_lower_better:
        return "changed"
    verdict = "worse" if size > 0 else "better"
    if measure.unit != "percent" or (share := _dearer(old, new)) is None:
        return verdict
    if size * share > 0 and abs(share) >= abs(size) / 2:
        return verdict
    if size > 0:
        return FELL
    return f"worse, {ROSE}" if share >= LEAST_SHARE else ROSE


def _solved(figures: MethodFigures) -> str:
    """Return what tells apart which runs were solved; of entries that do not say, how many did not fail."""
    return figures.over or str(figures.runs - figures.failed)


def _dearer(old: Sequence[MethodFigures], new: Sequence[MethodFigures]) -> float | None:
    """Return the change of the objectives as a share, None where it is not known."""
    before, after = ([own.objective for own in part if own.objective is not None] for part in (old, new))
    if not before or not after:
        return None
    return median(after) / (median(before) or 1.0) - 1.0
