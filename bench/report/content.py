"""What a page shows, as plain data: made of records here, written as HTML in `page`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from schedgap.bench.records.gc_pause import gc_paused
from schedgap.bench.records.measurement import FAILED
from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.report.drilldown import Drilldown, build_drilldown, picture_order
from schedgap.bench.report.failures import Failures, build_failures
from schedgap.bench.report.figures import build_figures
from schedgap.bench.report.figures.budget import Budget, clipped
from schedgap.bench.report.figures.selection import Selection, select
from schedgap.bench.report.figures.solution_curves import build_curve_figures, drawn_instances
from schedgap.bench.report.figures.sweeps import build_sweeps
from schedgap.bench.report.figures.timetables import Schedules, build_timetables
from schedgap.bench.report.instance_curves import InstanceCurves, build_instance_curves
from schedgap.bench.report.packed_pictures import PackedPictures, pack
from schedgap.bench.report.provenance import Provenance, build_provenance
from schedgap.bench.report.tables import Table, build_table
from schedgap.bench.statistics.headlines import find_headline
from schedgap.bench.statistics.headlines.gap import GAP
from schedgap.bench.statistics.maps import MethodMap, build_maps
from schedgap.bench.statistics.measure_notes import measure_note
from schedgap.bench.statistics.measure_rows import is_prediction
from schedgap.bench.statistics.source_notes import source_notes
from schedgap.bench.statistics.summary import Best, Runs, best_of, summarise, told_apart, verified_objective
from schedgap.instances.family import find_family

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.report.figures.figure import Figure
    from schedgap.bench.suites.results import Results
    from schedgap.bench.suites.suite import Suite


@dataclass(frozen=True, slots=True)
class Fact:
    """One of the figures at the head of the page. is_bad : it wants to be looked at."""

    name: str
    value: str
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """The page.

    source : sentences about the paper's figures. headline : the suite's own table. has_measures : whether that
    is of measures instead of gaps. sweeps : measures over parameters. maps : which method is the best where. methods : each
    method over all instances; None where that is the headline. selection : what the figures are of. without_gap : runs
    that no figure of gaps can show, because they failed, and for lack of a solution or a bound. curves : of the solutions
    of an instance. curve_figures, timetables : for papers, of one instance of each group. Runs of models, which have no
    solution, are in none of methods, figures, without_gap. measure_notes : what measures are.
    """

    title: str
    question: str
    source: tuple[str, ...]
    unit: str
    facts: tuple[Fact, ...]
    headline: Table
    has_measures: bool
    sweeps: tuple[Figure, ...]
    maps: tuple[MethodMap, ...]
    methods: Table | None
    selection: Selection
    figures: tuple[Figure, ...]
    without_gap: tuple[int, int]
    drilldown: Drilldown
    pictures: PackedPictures
    pictures_left_out: int
    curves: InstanceCurves
    curve_figures: tuple[Figure, ...]
    timetables: tuple[Schedules, ...]
    failures: Failures
    provenance: Provenance
    measure_notes: Mapping[str, str]


@gc_paused()
def build_content(results: Results, budget: Budget | None = None) -> Content:
    """Return what the page of these results shows; there must be a record, and the families must be loaded.

    Raises
    ------
    InstanceError
        if the records are of a family that is not installed.
    """
    budget = budget or Budget()
    suite = results.suite
    records = Runs(told_apart(results.records) if suite is None else results.records)
    family, headline = find_family(records[0].run.family), find_headline(suite)
    played = Runs(record for record in records if not is_prediction(record))
    summaries = [asdict(summary) for summary in summarise(played)]
    # The rows of `gap` are of these summaries.
    has_rows = suite is None or (headline is GAP and len(played) == len(records))
    rows: Sequence[dict[str, Any]] = summaries if suite is None or has_rows else headline.rows(suite, records)
    overall = None if headline is GAP else build_table(GAP, summaries, family, budget)
    best = best_of(records)
    drilldown = build_drilldown(records, best, budget)
    order = picture_order(drilldown)
    first = {record.key for own in drawn_instances(played) for record in own}
    pictures = read_pictures(results.directory, first.union(order))
    packed = pack(pictures, order, budget.picture_bytes)
    names = {name: 0 for view in drilldown.instances for run in view.runs for name in run.measures}
    selection = select(played, rows, best, budget)
    return Content(
        clipped(suite.title if suite is not None else f"Runs in {results.directory}", budget.text),
        clipped(suite.question if suite is not None else "", budget.text),
        tuple(clipped(note, budget.text) for note in source_notes(suite, records)),
        family.objective_unit,
        tuple(_facts(results, best)),
        build_table(headline, rows, family, budget),
        headline.of_measures,
        build_sweeps(suite, records, budget),
        () if suite is None else _maps(suite, records, budget),
        overall,
        selection,
        build_figures(selection),
        _without_gap(played, best),
        drilldown,
        packed,
        sum(key in pictures for key in order) - len(packed.pictures),
        build_instance_curves(pictures, drilldown, selection.methods, budget),
        build_curve_figures(played, pictures, selection.methods, budget),
        build_timetables(played, pictures, budget.curve_figures),
        build_failures(records, budget),
        build_provenance(results, budget),
        {name: note for name in names if (note := clipped(measure_note(family, name), budget.text))},
    )


def _without_gap(records: Sequence[Record], best: Mapping[str, Best]) -> tuple[int, int]:
    """Return how many runs have no gap because they failed, and because solution or bound is missing."""
    failed = sum(record.status in FAILED for record in records)
    missing = sum(
        record.status not in FAILED and best[record.run.digest].gap(verified_objective(record)) is None
        for record in records
    )
    return failed, missing


def _maps(suite: Suite, records: Sequence[Record], budget: Budget) -> tuple[MethodMap, ...]:
    """Return the maps that there is room for."""
    found = [shown for shown in build_maps(suite.map, records) if len(shown.xs) * len(shown.ys) <= budget.rows]
    return tuple(found[: budget.sweeps])


def _facts(results: Results, best: Mapping[str, Best]) -> list[Fact]:
    records = results.records
    failed = sum(record.status in FAILED for record in records)
    missing, shard = results.missing, f" (shard {results.shard})" if results.shard else ""
    facts = [
        Fact("runs", f"{len(records):,}" + (f" of {results.planned:,}{shard}" if missing else ""), bool(missing)),
        Fact("instances", f"{len(best):,}"),
        Fact("methods", f"{len({record.run.label for record in records}):,}"),
        Fact("failed runs", f"{failed:,}", bool(failed)),
    ]
    unbounded = sum(known.bound is None for known in best.values())
    if find_headline(results.suite).of_measures and unbounded == len(best):
        # The suite asks for something else than gaps, so it is no fault that there are none.
        return facts
    proven = sum(known.is_proven for known in best.values())
    facts.insert(-1, Fact("instances proven optimal", f"{proven:,} of {len(best):,}"))
    return facts + ([Fact("instances without a bound", f"{unbounded:,}", True)] if unbounded else [])
