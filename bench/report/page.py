"""The page: content through a template into one HTML file that needs nothing else and asks nobody.

What a page shows, as plain data: made of records here, written as HTML in `page`.

The data of the figures and the instances, as the page's script reads them: short JSON that cannot end a script.

Files that a report writes: never over another one unless told to.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from schedgap.bench.records.journal import gc_paused
from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.report.drilldown import (
    Drilldown,
    Failures,
    InstanceCurves,
    InstanceView,
    PackedPictures,
    build_drilldown,
    build_failures,
    build_instance_curves,
    pack,
    picture_order,
    short,
)
from schedgap.bench.report.figures import build_figures
from schedgap.bench.report.figures import drawing as palette
from schedgap.bench.report.figures.drawing import DASHES, SHAPES, Figure, mark
from schedgap.bench.report.figures.packing import (
    FigurePacker,
    Schedules,
    build_curve_figures,
    build_timetables,
    drawn_instances,
)
from schedgap.bench.report.figures.selection import MAX_METHODS, Budget, Selection, clipped, select
from schedgap.bench.report.figures.sweeps import build_sweeps
from schedgap.bench.report.tables import Provenance, Table, build_provenance, build_table
from schedgap.bench.statistics.headlines.gap import GAP
from schedgap.bench.statistics.headlines.registry import find_headline, source_notes
from schedgap.bench.statistics.measure_rows import is_prediction, measure_note
from schedgap.bench.statistics.profiles import MethodMap, build_maps
from schedgap.bench.statistics.summary import Best, Runs, best_of, summarise, told_apart, verified_objective
from schedgap.bench.statistics.tables import measured, readable
from schedgap.bench.suites.results import Results
from schedgap.bench.suites.suite import Suite
from schedgap.instances.documents import json_files
from schedgap.instances.errors import ReportError, about_file
from schedgap.instances.family import find_family


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
    shown = [record for view in drilldown.instances for record in view.records if record.status not in FAILED]
    names = dict.fromkeys(name for record in shown for name in record.measurement.measures)
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


# None of these can stand in a JSON document outside of its strings.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def embedded(value: Any) -> Markup:
    """Return JSON that is safe within a `script` element: no text in it can end the element or open another."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.translate(_ESCAPES))


def page_data(content: Content) -> dict[str, Any]:
    """Return what the page's script needs."""
    selection = content.selection
    numbers = {method: i for i, method in enumerate(selection.methods)}
    places, text = {key: i for i, key in enumerate(content.pictures.pictures)}, selection.budget.text
    statuses: dict[str, int] = {}
    packer = FigurePacker(selection.methods)
    # Distances that are no gaps say the least.
    figures = sorted(content.figures, key=lambda figure: figure.name == "gaps" and not selection.has_bounds)
    return {
        "unit": content.unit,
        "shapes": [outline for outline, _ in SHAPES],
        "dashes": list(DASHES),
        "marks": [astuple(mark(i)) for i in range(MAX_METHODS)],
        "methods": selection.methods,
        "names": selection.instances,
        "wide": selection.is_wide,
        "fruitless": sorted(selection.fruitless),
        "scopes": [{"name": scope.name, "group": scope.group} for scope in selection.scopes],
        "figures": [packer.pack(figure) for figure in figures],
        "sweeps": [packer.pack(sweep) for sweep in content.sweeps],
        "curves": {i: [packer.pack(figure) for figure in own] for i, own in content.curves.figures.items()},
        "columns": list(packer.columns),
        "instances": [_instance(view, numbers, statuses, places, text) for view in content.drilldown.instances],
        "statuses": list(statuses),
        "measures": content.measure_notes,
        "packed": {**content.pictures.to_json(), "pictures": list(content.pictures.pictures.values())},
    }


def _instance(
    view: InstanceView, numbers: dict[str, int], statuses: dict[str, int], places: dict[str, int], text: int
) -> dict[str, Any]:
    """Return an instance with its runs. text : characters of a name or a reason."""
    run, best, family = view.run, view.best, find_family(view.run.family)

    def in_unit(value: int | None) -> float | None:
        return None if value is None else short(value / family.objective_scale, 12)

    def of_run(record: Record) -> list[Any]:
        measurement, has_failed = record.measurement, record.status in FAILED
        method = clipped(record.run.label, text)
        return [
            # A method without a mark of its own goes by its name.
            numbers.get(method, method),
            record.run.repetition if record.run.stochastic else None,
            statuses.setdefault(str(record.status), len(statuses)),
            in_unit(verified_objective(record)),
            None if has_failed else in_unit(measurement.bound),
            _short(best.gap(verified_objective(record))),
            _short(measurement.wall_s),
            _short(measurement.peak_memory_mib),
            clipped(measurement.reason or "", text),
            places.get(record.key),
            [] if has_failed else [[key, short(value)] for key, value in measurement.measures.items()],
        ]

    return {
        "name": clipped(run.instance, text),
        "digest": run.digest[:12],
        "group": clipped(run.group, text),
        "source": clipped(", ".join(f"{key} {value}" for key, value in run.source.items()), text),
        "unit": family.objective_unit,
        "bound": in_unit(best.bound),
        "objective": in_unit(best.objective),
        "proven": best.is_proven,
        "worst": _short(view.worst_gap),
        "failed": view.failed,
        "runs": [of_run(record) for record in view.records],
    }


def _short(value: float | None) -> float | None:
    return None if value is None else short(value, 4)


def mark_symbols(count: int) -> Sequence[tuple[int, int, str]]:
    """Return number, colour and outline of the marks of the first methods."""
    return [(i, mark(i).colour, SHAPES[mark(i).shape][0]) for i in range(count)]


# A page that is mailed, attached to a build and opened on a phone.
PAGE_LIMIT = 3_000_000
_PACKAGE = "schedgap.bench.report"
# In the order in which they need each other; they share one scope.
SCRIPTS = (
    "core.js",
    "theme.js",
    "tables.js",
    "axes.js",
    "drawing.js",
    "chart.js",
    "figures.js",
    "picture.js",
    "timetable.js",
    "instances.js",
)
STYLES = ("page.css", "tables.css", "figures.css")


def write_page(results: Results, path: str | Path, *, force: bool = False) -> Content:
    """Write the page of these results and return what is on it. force : write over an existing file.

    Raises
    ------
    ReportError
        if the file exists or cannot be written.
    """
    path = Path(path)
    refuse_existing([path], force=force)
    budget = Budget()
    while True:
        content = build_content(results, budget)
        # What UTF-8 cannot hold, half a surrogate pair that a run printed, is replaced.
        page = render_page(content).encode(errors="replace")
        if len(page) < PAGE_LIMIT:
            write_whole(path, page)
            return content
        # Limits of counts do not bound bytes: names may be long.
        smaller = budget.halved()
        if smaller == budget:
            raise ReportError(f"{path}: the page has {len(page):,} bytes, more than {PAGE_LIMIT:,}; report on less.")
        budget = smaller


def render_page(content: Content) -> str:
    """Return the page as HTML; the same content gives the same bytes."""
    selection = content.selection
    return render(
        "report.html.j2",
        SCRIPTS,
        selection.methods,
        page_data(content),
        content=content,
        sweep_roles={series.role for sweep in content.sweeps for series in sweep.series},
    )


def render(template: str, scripts: Sequence[str], methods: Sequence[str], data: Any, **values: Any) -> str:
    """Return a page of ours: a template, the scripts that it needs, and the methods that have marks on it."""
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"measured": measured, "readable": readable}
    script = "(() => {\n'use strict';\n" + _joined(scripts) + "})();\n"
    return environment.get_template(template).render(
        **values,
        data=embedded(data),
        numbers={name: i for i, name in enumerate(methods)},
        symbols=mark_symbols(len(methods)),
        style=Markup(_colours() + _joined(STYLES)),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _joined(names: Sequence[str]) -> str:
    folder = files(_PACKAGE).joinpath("templates")
    return "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _colours() -> str:
    """Return the colours of methods as custom properties, for a light and a dark page."""
    pairs = zip(palette.LIGHT, palette.DARK, strict=True)
    properties = "".join(f"--m{i}:light-dark({light},{dark});" for i, (light, dark) in enumerate(pairs))
    page = f"--page:light-dark({palette.LIGHT_PAGE},{palette.DARK_PAGE});"
    classes = "".join(f".m{i}{{--m:var(--m{i})}}\n" for i in range(len(palette.LIGHT)))
    return f":root{{{properties}{page}}}\n{classes}"


def refuse_existing(paths: Iterable[Path], *, force: bool) -> None:
    """Raise unless none of the files exists.

    Raises
    ------
    ReportError
        naming the first file that exists.
    """
    for path in paths:
        if path.exists() and (path.is_dir() or not force):
            way_out = "give another name" if path.is_dir() else "give another name or --force"
            kind = "is a folder" if path.is_dir() else "exists and is not written over"
            raise ReportError(f"{path} {kind}; {way_out}.")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; its folder is made if need be.

    Raises
    ------
    ReportError
        if it cannot be written.
    """
    with about_file(path.parent, "made", ReportError, "give another place"):
        path.parent.mkdir(parents=True, exist_ok=True)
    json_files.write_whole(path, content, ReportError, "give another place")
