"""What was known when: incumbents and bounds over a run's time, and the areas under their gaps.

Berthold (2013), Measuring the impact of primal heuristics, https://doi.org/10.1016/j.orl.2013.08.007: the primal
integral is the area under the gap of the incumbent to the best known objective, 1 before there is one. The dual integral
is the same of the bound, the primal-dual integral of the incumbent to the bound of the same run. All go from 0 to the
time limit that the method was told, in seconds: 0 is perfect, the limit the worst.

The points of a trajectory are claims of the method, which nobody verified on the way. They are read against what was
verified at the end: an incumbent is never cheaper than the run's verified objective, a bound never above the run's own
proven bound, both only improve, and without a verified end there was nothing on the way either. So a false claim can make a
run look at most as good, earlier, as it verifiably was when it ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.summary import Best, best_of, bounds_only, verified_objective
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from schedgap.bench.records.record import Record

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
