"""The table that answers a suite's question, as plain rows: `tables.py` prints them, `--json` carries them."""

from __future__ import annotations

from statistics import median, stdev
from typing import TYPE_CHECKING, Any

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.measure_rows import is_prediction, measured_row, predicting, predictions_of
from schedgap.bench.statistics.ratios import with_ratios
from schedgap.bench.statistics.summary import best_of, by_label, gaps, is_optimal, mean, summarise, verified_objective
from schedgap.instances.family import find_family
from schedgap.instances.method import parse_method, spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.suite import Reference, Suite

Row = dict[str, Any]


def headline_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return the rows of the suite's own table."""
    makers = {
        "gap": _gap_rows,
        "normalised-cost": _normalised_cost_rows,
        "runtime": _runtime_rows,
        "objective": _objective_rows,
        "measures": _measure_rows,
    }
    return makers[suite.headline](suite, records)


def _gap_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """One row a method: how far from proven, how often better than the others, how fast."""
    return [
        {
            "method": s.method,
            "runs": s.runs,
            "failed": s.failed,
            "unsupported": s.unsupported,
            "proven_optimal": s.proven_optimal,
            "gap_mean": s.gap_mean,
            "gap_median": s.gap_median,
            "gap_p95": s.gap_p95,
            "gap_worst": s.gap_worst,
            "wins": s.wins,
            "ties": s.ties,
            "losses": s.losses,
            "sgm_time_s": s.sgm_time_s,
            "par10_s": s.par10_s,
        }
        for s in summarise(records)
    ]


def _normalised_cost_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """One row a group and method, as Eva's Table 4: cost over the best proven bound, the optimum where proven."""
    best = best_of(records)
    rows = []
    for group, members in _by_group(records):
        for label, own in by_label(members).items():
            ratios = []
            for record in own:
                objective, bound = verified_objective(record), best[record.run.digest].bound
                if objective is not None and bound:
                    ratios.append(objective / bound)
            known = gaps(own, best)
            reference = _reference(suite, label, group=group)
            rows.append(
                {
                    "group": group,
                    "method": label,
                    "runs": len(own),
                    "failed": _failed(own),
                    "normalised_cost_mean": mean(ratios),
                    "normalised_cost_std": stdev(ratios) if len(ratios) > 1 else None,
                    **_paper(reference, "mean", "std"),
                    "gap_mean": mean(known),
                    "gap_worst": max(known, default=None),
                    "proven_optimal": sum(is_optimal(r, best) for r in own),
                    "time_mean_s": mean(_times(own)),
                    **_paper(reference, "time_s", "note"),
                }
            )
    return rows


def _runtime_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """One row a group, number of tasks and method: median seconds, as Eva's Table 5."""
    best = best_of(records)
    rows = []
    for group, members in _by_group(records):
        for label, own in by_label(members).items():
            sizes = sorted({_tasks(record) for record in own})
            for tasks in sizes:
                same = [record for record in own if _tasks(record) == tasks]
                reference = _reference(suite, label, group=group, tasks=tasks)
                times = _times(same)
                known = gaps(same, best)
                rows.append(
                    {
                        "group": group,
                        "method": label,
                        "tasks": tasks,
                        "runs": len(same),
                        "failed": _failed(same),
                        "time_median_s": median(times) if times else None,
                        **_paper(reference, "time_s"),
                        "gap_mean": mean(known),
                        "peak_memory_mib": max((r.measurement.peak_memory_mib or 0 for r in same), default=None),
                    }
                )
    return rows


def _objective_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """One row a group and method: mean verified objective and proven bound in the family's unit, and the gap."""
    best = best_of(records)
    scale = find_family(suite.family).objective_scale
    rows = []
    for group, members in _by_group(records):
        for label, own in by_label(members).items():
            objectives = [value / scale for r in own if (value := verified_objective(r)) is not None]
            bounds = [b / scale for r in own if r.status not in FAILED and (b := r.measurement.bound) is not None]
            known = gaps(own, best)
            rows.append(
                {
                    "group": group,
                    "method": label,
                    "runs": len(own),
                    "failed": _failed(own),
                    "objective_mean": mean(objectives),
                    "bound_mean": mean(bounds),
                    "gap_mean": mean(known),
                    "gap_worst": max(known, default=None),
                    "proven_optimal": sum(is_optimal(r, best) for r in own),
                    "time_mean_s": mean(_times(own)),
                    "time_worst_s": max(_times(own), default=None),
                }
            )
    return rows


def _measure_rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """One row a group and method: the suite's measures, what models predict and the paper's beside them."""
    best = best_of(records)
    records = with_ratios(records, suite.measures)
    models = predictions_of(records)
    rows = []
    for group, members in _by_group(record for record in records if not is_prediction(record)):
        for label, own in by_label(members).items():
            predictions = predicting(models.get(own[0].run.method, ()), own[0].run)
            reference = _reference(suite, label, group=group)
            rows.append(
                {
                    "group": group,
                    "method": label,
                    "runs": len(own),
                    "failed": _failed(own),
                    **measured_row(own, suite.measures, {} if reference is None else reference.measures, predictions),
                    "gap_mean": mean(gaps(own, best)),
                    "time_mean_s": mean(_times(own)),
                }
            )
    return rows


def _by_group(records: Iterable[Record]) -> list[tuple[str, list[Record]]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.run.group, []).append(record)
    return list(groups.items())


def _canonical(text: str) -> tuple[str, dict[str, str]]:
    """Return name and parameters of a method, whatever their order and spelling: `[b=false,a=1]` is `[a=1.0,b=False]`."""
    name, parameters = parse_method(text)
    return name, spelled(parameters)


def _reference(suite: Suite, label: str, *, group: str, tasks: int | None = None) -> Reference | None:
    for reference in suite.reference:
        same_group = reference.group in (None, group)
        if _canonical(reference.method) == _canonical(label) and same_group and reference.tasks == tasks:
            return reference
    return None


def _paper(reference: Reference | None, *keys: str) -> Row:
    return {f"paper_{key}": None if reference is None else getattr(reference, key) or None for key in keys}


def _tasks(record: Record) -> int:
    """Return the parameter `tasks` of the run's instance, 0 without one or for a range; a suite may write it as text."""
    text = str(record.run.source.get("tasks", 0))
    return int(text) if text.isdecimal() else 0


def _times(records: Iterable[Record]) -> list[float]:
    return [r.measurement.wall_s for r in records if r.status not in FAILED and r.measurement.wall_s is not None]


def _failed(records: Iterable[Record]) -> int:
    return sum(record.status in FAILED for record in records)
