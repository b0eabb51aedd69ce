"""Instances to look at one by one: what each method made of them, and pictures of the solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.report.figures.budget import Budget, clipped
from schedgap.bench.statistics.summary import Best, verified_objective
from schedgap.instances.family import find_family

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from schedgap.bench.records.record import Record


@dataclass(frozen=True, slots=True)
class RunView:
    """One run. objective, bound : in the family's shown unit; the bound is its own. gap : to the best proven bound.

    measures : what the family reads off the verified solution.
    """

    key: str
    method: str
    repetition: int | None
    status: str
    objective: float | None
    bound: float | None
    gap: float | None
    wall_s: float | None
    peak_memory_mib: float | None
    reason: str
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class InstanceView:
    """One instance with all its runs. source : what made it, by words. bound, objective : the best known."""

    name: str
    digest: str
    group: str
    source: str
    unit: str
    bound: float | None
    objective: float | None
    is_proven: bool
    worst_gap: float | None
    failed: int
    runs: tuple[RunView, ...]


@dataclass(frozen=True, slots=True)
class Drilldown:
    """Instances in the suite's order. left_out : instances without a view, the least telling ones."""

    instances: tuple[InstanceView, ...]
    left_out: int


def build_drilldown(records: Sequence[Record], best: Mapping[str, Best], budget: Budget) -> Drilldown:
    """Return views of the instances, if there are too many of those with most failures and those with worst gaps."""
    by_digest: dict[str, list[Record]] = {}
    for record in records:
        by_digest.setdefault(record.run.digest, []).append(record)
    chosen = _chosen(by_digest, best, budget)
    views = tuple(_view(by_digest[digest], best[digest], budget) for digest in by_digest if digest in chosen)
    return Drilldown(views, len(by_digest) - len(views))


def picture_order(drilldown: Drilldown) -> list[str]:
    """Return the keys of the runs whose pictures are wanted, the most telling first.

    Of each instance first the worst and the best solution, then all others.
    """
    first: list[str] = []
    rest: list[str] = []
    for view in drilldown.instances:
        solved = sorted((run for run in view.runs if run.objective is not None), key=lambda run: run.objective or 0)
        first += [run.key for run in solved[:1] + solved[1:][-1:]]
        rest += [run.key for run in solved[1:-1]]
    return first + rest


def _chosen(by_digest: Mapping[str, list[Record]], best: Mapping[str, Best], budget: Budget) -> set[str]:
    """Return the digests that there is room for, by turns of most failures and of worst gap."""
    failures = {digest: sum(record.status in FAILED for record in own) for digest, own in by_digest.items()}
    worst = {digest: _worst(own, best[digest]) or 0.0 for digest, own in by_digest.items()}
    failing = sorted((d for d in by_digest if failures[d]), key=lambda digest: -failures[digest])
    far = sorted(by_digest, key=lambda digest: -worst[digest])
    turns = [digest for pair in zip(failing, far, strict=False) for digest in pair] + failing + far
    chosen: set[str] = set()
    room = budget.runs
    for digest in dict.fromkeys(turns):
        if len(chosen) == budget.instances:
            break
        if len(by_digest[digest]) <= room:
            chosen.add(digest)
            room -= len(by_digest[digest])
    return chosen


def _view(records: Sequence[Record], best: Best, budget: Budget) -> InstanceView:
    run = records[0].run
    family = find_family(run.family)
    return InstanceView(
        clipped(run.instance, budget.text),
        run.digest,
        clipped(run.group, budget.text),
        clipped(", ".join(f"{key} {value}" for key, value in run.source.items()), budget.text),
        family.objective_unit,
        _shown(best.bound, family.objective_scale),
        _shown(best.objective, family.objective_scale),
        best.is_proven,
        _worst(records, best),
        sum(record.status in FAILED for record in records),
        tuple(_run_view(record, best, family.objective_scale, budget) for record in records),
    )


def _run_view(record: Record, best: Best, scale: int, budget: Budget) -> RunView:
    measurement = record.measurement
    return RunView(
        record.key,
        clipped(record.run.label, budget.text),
        record.run.repetition if record.run.stochastic else None,
        str(record.status),
        _shown(verified_objective(record), scale),
        None if record.status in FAILED else _shown(measurement.bound, scale),
        best.gap(verified_objective(record)),
        measurement.wall_s,
        measurement.peak_memory_mib,
        clipped(measurement.reason or "", budget.text),
        {} if record.status in FAILED else measurement.measures,
    )


def _worst(records: Iterable[Record], best: Best) -> float | None:
    found = (best.gap(verified_objective(record)) for record in records)
    return max((gap for gap in found if gap is not None), default=None)


def _shown(value: int | None, scale: int) -> float | None:
    return None if value is None else value / scale
