"""Performance profiles (Dolan and More, 2002, https://doi.org/10.1007/s101070100263): shares of problems as step curves.

A problem is a pair of instance and seed (see `problems`). A method's share is of all the problems that the records
hold for it: one that it failed on, found nothing on or does not support never counts as reached.

Measures relative to those of another method: `cost/no-packing` is a run's cost over no-packing's on its instance.

Proven bounds under a trade-off: the same instance with several prices of one figure against another.

What was known when: incumbents and bounds over a run's time, and the areas under their gaps.

Berthold (2013), Measuring the impact of primal heuristics, https://doi.org/10.1016/j.orl.2013.08.007: the primal
integral is the area under the gap of the incumbent to the best known objective, 1 before there is one. The dual integral
is the same of the bound, the primal-dual integral of the incumbent to the bound of the same run. All go from 0 to the
time limit that the method was told, in seconds: 0 is perfect, the limit the worst.

The points of a trajectory are claims of the method, which nobody verified on the way. They are read against what was
verified at the end: an incumbent is never cheaper than the run's verified objective, a bound never above the run's own
proven bound, both only improve, and without a verified end there was nothing on the way either. So a false claim can make a
run look at most as good, earlier, as it verifiably was when it ended.

Maps: which method is the best where, over two parameters of the instances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from schedgap.bench.records.runs import FAILED, Record, Scalar
from schedgap.bench.statistics.measure_rows import Line, figure
from schedgap.bench.statistics.summary import Best, best_of, bounds_only, is_solved, mean, problems, verified_objective
from schedgap.bench.suites.collection import Map
from schedgap.instances.family import find_family
from schedgap.instances.method import Status

# The clock's resolution, seconds: shorter times count as this, so that no ratio is by zero.
RESOLUTION_S = 1e-6

Curves = dict[str, tuple[list[float], list[float]]]


def time_profile(records: Sequence[Record]) -> Curves:
    """Return, by method, the share of problems that it solved in at most x times what the fastest method took there.

    A problem is solved by any verified solution, or by a proven bound if the method gives bounds alone.
    x ascends from 1 to the largest ratio of all methods; the share holds from its x up to the next. Where nobody solved
    a problem, nobody reached it.
    """
    bounding = bounds_only(records)
    ratios: dict[str, list[float | None]] = {}
    for problem in problems(records):
        times = {
            label: max(wall_s, RESOLUTION_S)
            for label, record in problem.items()
            if (wall_s := record.measurement.wall_s) is not None and is_solved(record, bounding)
        }
        least = min(times.values(), default=None)
        for label in problem:
            time = times.get(label)
            ratios.setdefault(label, []).append(None if time is None or least is None else time / least)
    return _curves(ratios, 1.0)


def gap_profile(records: Sequence[Record]) -> Curves:
    """Return, by method, the share of problems that it solved with a gap of at most x to the best proven bound.

    x ascends from 0 to the largest gap of all methods; the share holds from its x up to the next. A ratio of gaps, which
    a profile of times would suggest, has no meaning where the best gap is 0. Problems whose instance has no proven
    bound, and methods that give bounds alone, are left out.
    """
    best, bounding = best_of(records), bounds_only(records)
    gaps: dict[str, list[float | None]] = {}
    for problem in problems(records):
        # All of one instance.
        known = best[next(iter(problem.values())).run.digest]
        if known.bound is None:
            continue
        for label, record in problem.items():
            if label not in bounding:
                gaps.setdefault(label, []).append(known.gap(verified_objective(record)))
    return _curves(gaps, 0.0)


def _curves(values: dict[str, list[float | None]], first: float) -> Curves:
    """Return a step curve for each method, from `first` to the largest value of all; None is never reached."""
    last = max((value for own in values.values() for value in own if value is not None), default=first)
    curves: Curves = {}
    for label, own in values.items():
        x, share = [first], [0.0]
        for reached, value in enumerate(sorted(value for value in own if value is not None), start=1):
            if value > x[-1]:
                x.append(value)
                share.append(0.0)
            share[-1] = reached / len(own)
        if x[-1] < last:
            x.append(last)
            share.append(share[-1])
        curves[label] = x, share
    return curves


OVER = "/"


def with_ratios(records: Sequence[Record], names: Iterable[str]) -> list[Record]:
    """Return the records with the measures among `names` that are ratios; the others are there already.

    A ratio is over the mean of the other method's runs on the same instance; without one it is absent.
    """
    wanted = {name: name.split(OVER, 1) for name in names if OVER in name}
    if not wanted:
        return list(records)
    found: dict[tuple[str, str, str], list[float]] = {}
    for record in records:
        for measure, other in wanted.values():
            value = figure(record, measure)
            if record.run.label == other and value is not None:
                found.setdefault((record.run.digest, measure, other), []).append(value)
    return [_with(record, wanted, found) for record in records]


def _with(record: Record, wanted: dict[str, list[str]], found: dict[tuple[str, str, str], list[float]]) -> Record:
    ratios = {}
    for name, (measure, other) in wanted.items():
        value, base = figure(record, measure), mean(found.get((record.run.digest, measure, other), []))
        if value is not None and base:
            ratios[name] = value / base
    if not ratios:
        return record
    measures = {**record.measurement.measures, **ratios}
    return replace(record, measurement=replace(record.measurement, measures=measures))


NAME = "proven bound"
POINTS = 60


def bound_line(
    records: Sequence[Record], x: tuple[float, float], price: str, worth: str, *, is_log_x: bool
) -> Line | None:
    """Return the upper envelope of y >= bound - worth x, one straight line an instance; None where it would prove nothing.

    The objective is y + worth x, so each instance's bound holds for all schedules of the others, if they differ in the
    price only: instances that differ in more have no common line.

    records : of all methods. x : from where to where, both positive if `is_log_x`. price : the parameter of the
    instances' sources that tells them apart. worth : the measure that says what a unit of x is worth.
    """
    best = best_of(records)
    lines: dict[str, tuple[float, float]] = {}
    sources = set()
    for record in records:
        slope, known = figure(record, worth), best[record.run.digest]
        if slope is None or known.bound is None:
            continue
        lines[record.run.digest] = known.bound / find_family(record.run.family).objective_scale, slope
        sources.add(tuple(sorted((key, str(value)) for key, value in record.run.source.items() if key != price)))
    if len(sources) != 1:
        return None
    grid = np.geomspace(*x, POINTS) if is_log_x else np.linspace(*x, POINTS)
    heights = np.max([bound - slope * grid for bound, slope in lines.values()], axis=0)
    ys = tuple(heights.tolist())
    return Line(NAME, True, "", {}, tuple(grid.tolist()), ys, ys, ys)


# A mean over many runs changes at every point of each of them; more than these cannot be told apart on a picture.
MAX_POINTS = 1000


class Known(NamedTuple):
    """What a run knew from `elapsed_s` on, until its next point; integer units, None for nothing yet."""

    elapsed_s: float
    objective: int | None
    bound: int | None


@dataclass(frozen=True, slots=True)
class Integrals:
    """Areas under the gaps of one run, seconds; None where the instance's best objective is not known.

    horizon_s : up to where they go, the time limit; each divided by it is a mean gap in [0, 1].
    """

    primal_s: float | None
    dual_s: float | None
    primal_dual_s: float
    horizon_s: float


def trajectory(record: Record) -> list[Known]:
    """Return the points at which a run's incumbent or bound became better, as read against its verified end.

    The first is at 0 s; the last has the verified objective and the proven bound, when the run ended at the latest.
    """
    measurement = record.measurement
    objective = verified_objective(record)
    bound = None if record.status in FAILED or measurement.bound is None else max(measurement.bound, 0)
    end = _end_s(record)
    points = [Known(0.0, None, None)]
    for elapsed_s, claimed, proven in [*sorted(measurement.trajectory, key=itemgetter(0)), (end, objective, bound)]:
        last = points[-1]
        found, known = last.objective, last.bound
        if objective is not None and claimed is not None:
            found = max(claimed, objective) if found is None else min(found, max(claimed, objective))
        if bound is not None and proven is not None:
            known = max(known or 0, min(proven, bound))
        if (found, known) != (last.objective, last.bound):
            point = Known(min(max(elapsed_s, 0.0), end), found, known)
            if point.elapsed_s == last.elapsed_s:
                points.pop()
            points.append(point)
    return points


def _end_s(record: Record) -> float:
    wall_s = record.measurement.wall_s
    return record.run.limits.time_limit_s if wall_s is None else wall_s


def integrals(record: Record, best: Best) -> Integrals | None:
    """Return the integrals of a run; None of one that was not supported.

    best : what is known of its instance, over all runs.
    """
    if record.status is Status.UNSUPPORTED:
        return None
    horizon_s = record.run.limits.time_limit_s
    points = trajectory(record)
    primal = dual = both = 0.0
    for i, point in enumerate(points):
        until = points[i + 1].elapsed_s if i + 1 < len(points) else horizon_s
        length = max(0.0, min(until, horizon_s) - point.elapsed_s)
        primal += length * _gap(point.objective, best.objective)
        dual += length * _gap(best.objective, point.bound)
        both += length * _gap(point.objective, point.bound)
    if best.objective is None:
        return Integrals(None, None, both, horizon_s)
    return Integrals(primal, dual, both, horizon_s)


# How a run's gap changed: the bound that it is to, and pairs of seconds and change.
Changes = tuple[int, list[tuple[float, float]]]


def gap_curves(
    records: Sequence[Record], read: dict[str, Changes] | None = None
) -> dict[str, tuple[list[float], list[float]]]:
    """Return, by method, seconds (ascending from 0) and the mean gap that its runs had from each of them to the next.

    The gap is to the best proven bound of the instance, as in the tables, and 1 while there is no solution, so a failed
    run counts as 1 throughout; after its end a run keeps its gap. All curves go on to the last change of any of them.
    Instances without a bound, runs that were not supported, and methods that give bounds alone are left out.

    read : is filled with what was read of runs, by key, and saves reading it again for another choice of the same runs.
    """
    read = {} if read is None else read
    best, bounding = best_of(records), bounds_only(records)
    changes: dict[str, list[tuple[float, float]]] = {}
    runs: dict[str, int] = {}
    unsupported = Status.UNSUPPORTED
    for record in records:
        run = record.run
        label, bound = run.label, best[run.digest].bound
        if bound is None or label in bounding or record.measurement.status is unsupported:
            continue
        runs[label] = runs.get(label, 0) + 1
        known = read.get(record.key)
        if known is None or known[0] != bound:
            known = read[record.key] = bound, _changes(record, bound)
        changes.setdefault(label, []).extend(known[1])
    ordered = {label: _in_order(own) for label, own in changes.items()}
    end = max((own[-1, 0] for own in ordered.values() if len(own)), default=0.0)
    return {label: _mean_curve(own, float(end), runs[label]) for label, own in ordered.items()}


def _in_order(changes: list[tuple[float, float]]) -> NDArray[np.float64]:
    """Return changes, (N, 2), sorted as pairs are."""
    pairs = np.fromiter(chain.from_iterable(changes), np.float64, 2 * len(changes)).reshape(-1, 2)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _changes(record: Record, bound: int) -> list[tuple[float, float]]:
    """Return when and by how much a run's gap to a bound changed, from 1 at the start."""
    if not record.measurement.trajectory:
        # Only its end, which is what `trajectory` would say.
        after = _gap(verified_objective(record), bound)
        return [] if after == 1.0 else [(_end_s(record), after - 1.0)]
    found = []
    before = 1.0
    for point in trajectory(record):
        after = _gap(point.objective, bound)
        if after != before:
            found.append((point.elapsed_s, after - before))
            before = after
    return found


def _mean_curve(changes: NDArray[np.float64], end: float, runs: int) -> tuple[list[float], list[float]]:
    """Return where a mean changed, and what it was from there on, of changes in order of their seconds. end : of the curve."""
    elapsed = np.concatenate(([0.0], changes[:, 0], [end]))
    # One after another, as they would be added up by hand.
    totals = np.cumsum(np.concatenate(([float(runs)], changes[:, 1], [0.0])))
    # What changes at one moment changes at once.
    last = np.flatnonzero(np.append(np.diff(elapsed) > 0, True))
    seconds, totals = elapsed[last], totals[last]
    step = -(-len(seconds) // MAX_POINTS)
    # From the end, so that the last value, that of the tables, stays.
    kept = sorted({0, *range(len(seconds) - 1, 0, -step)})
    return seconds[kept].tolist(), np.clip(totals[kept] / runs, 0.0, 1.0).tolist()


def _gap(objective: int | None, bound: int | None) -> float:
    """Return (objective - bound) / objective, 1 without one of them; a bound below 0 counts as 0."""
    if objective is None or bound is None:
        return 1.0
    if bound < 0:
        bound = 0
    return 0.0 if objective <= bound else (objective - bound) / objective


@dataclass(frozen=True, slots=True)
class Cell:
    """The method with the lowest mean, its mean, and on how many of the instances it is the best or as good as that."""

    method: str
    mean: float
    won: int
    instances: int


@dataclass(frozen=True, slots=True)
class MethodMap:
    """One map, of the instances of a group.

    x, y, measure : names. xs, ys : values, ascending if they are numbers, else as they come. cells : (len(ys), len(xs)), None
    where no method has a figure of each instance.
    """

    title: str
    group: str
    x: str
    y: str
    measure: str
    xs: tuple[Scalar, ...]
    ys: tuple[Scalar, ...]
    cells: tuple[tuple[Cell | None, ...], ...]

    @property
    def name(self) -> str:
        """What tells the map from the others of its suite."""
        return f"{self.title}: {self.group}" if self.group else self.title

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        cells = [
            {
                self.x: x,
                self.y: y,
                "method": cell.method,
                "mean": cell.mean,
                "won": cell.won,
                "instances": cell.instances,
            }
            for y, row in zip(self.ys, self.cells, strict=True)
            for x, cell in zip(self.xs, row, strict=True)
            if cell is not None
        ]
        return {"title": self.title, "group": self.group, "measure": self.measure, "cells": cells}


# By (x, y), then method, then instance: what was measured.
Figures = dict[tuple["Scalar", "Scalar"], dict[str, dict[str, list[float]]]]


def build_maps(maps: Sequence[Map], records: Iterable[Record]) -> tuple[MethodMap, ...]:
    """Return a suite's maps, one for each group of instances that has both parameters."""
    records = with_ratios(list(records), [chosen.measure for chosen in maps])
    found = []
    for chosen in maps:
        groups: dict[str, Figures] = {}
        for record in records:
            run, value = record.run, figure(record, chosen.measure)
            if not {chosen.x, chosen.y} <= run.source.keys() or (chosen.methods and run.label not in chosen.methods):
                continue
            cell = groups.setdefault(run.group, {}).setdefault((run.source[chosen.x], run.source[chosen.y]), {})
            # A run without a figure leaves its method out of the cell.
            own = cell.setdefault(run.label, {}).setdefault(run.digest, [])
            own.append(float("inf") if value is None else value)
        found += [_map(chosen, group, figures) for group, figures in groups.items()]
    return tuple(found)


def _map(chosen: Map, group: str, figures: Figures) -> MethodMap:
    xs, ys = _sorted(x for x, _ in figures), _sorted(y for _, y in figures)
    cells = tuple(tuple(_cell(figures.get((x, y), {})) for x in xs) for y in ys)
    return MethodMap(chosen.title, group, chosen.x, chosen.y, chosen.measure, xs, ys, cells)


def _sorted(values: Iterable[Scalar]) -> tuple[Scalar, ...]:
    different = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) for value in different):
        different.sort(key=lambda value: float(value))
    return tuple(different)


def _cell(figures: Mapping[str, Mapping[str, Sequence[float]]]) -> Cell | None:
    """Return the best of the methods; the first of equals."""
    instances = {digest for own in figures.values() for digest in own}
    means = {
        method: {digest: fsum(values) / len(values) for digest, values in own.items()}
        for method, own in figures.items()
        if own.keys() == instances and float("inf") not in (value for values in own.values() for value in values)
    }
    if not means:
        return None
    overall = {method: fsum(own.values()) / len(own) for method, own in means.items()}
    best = min(overall, key=overall.__getitem__)
    won = sum(value <= min(own[digest] for own in means.values()) for digest, value in means[best].items())
    return Cell(best, overall[best], won, len(instances))
