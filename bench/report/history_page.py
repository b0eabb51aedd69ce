"""The page of a history: every method's quality and time over commits, with the steps that were found in them.

Steps in a method's figures over the entries of a history, and what may be said of each.

A figure is better or worse where both sides of a step solved the same runs; that fewer are solved is a step of its own. A gap
changes with bounds, too: so it is better or worse where at least half of its change is that of the objectives.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median, mode

from schedgap.bench.report.figures.drawing import DASHES, SHAPES, Axis, Figure, Marks, Series, Unit, mark
from schedgap.bench.report.figures.packing import FigurePacker
from schedgap.bench.report.page import PAGE_LIMIT, SCRIPTS, Fact, refuse_existing, render, write_whole
from schedgap.bench.report.tables import seconds
from schedgap.bench.statistics.history import MEAN_GAP, MEAN_OBJECTIVE, Entry, MethodFigures, Step, find_steps
from schedgap.bench.statistics.tables import measured, percent
from schedgap.instances.errors import ReportError

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


# Where there are more methods, only those with steps are shown at first.
FEW_METHODS = 8
MOST_STEPS = 400
# What the objectives of a gap's solutions are called.
OBJECTIVE = "objective (sgm)"
_WITHOUT = ("picture.js", "timetable.js", "instances.js")


@dataclass(frozen=True, slots=True)
class EntryView:
    """A row of the table of entries. href : where the runs can be seen, empty if nobody says."""

    name: str
    date: str
    commit: str
    runs: int
    failed: int
    directory: str
    href: str


@dataclass(frozen=True, slots=True)
class HistoryContent:
    """The page. hidden : methods that are not shown at first. left_out : older entries that there was no room for."""

    title: str
    question: str
    facts: tuple[Fact, ...]
    methods: tuple[str, ...]
    figures: tuple[Figure, ...]
    hidden: tuple[int, ...]
    steps: tuple[StepView, ...]
    steps_left_out: int
    entries: tuple[EntryView, ...]
    left_out: int
    damaged: tuple[str, ...]


def write_history(
    entries: Sequence[Entry], path: Path, *, damaged: Sequence[str] = (), force: bool = False
) -> HistoryContent:
    """Write the page of these entries, the oldest first, and return what is on it. damaged : what to say of their file.

    Raises
    ------
    ReportError
        if there is no entry, or the file exists or cannot be written.
    """
    refuse_existing([path], force=force)
    if not entries:
        raise ReportError(f"{path}: there is no entry to show; add some by `schedgap history add`.")
    shown = entries
    while True:
        content = build_history(shown, path.parent, damaged=damaged, left_out=len(entries) - len(shown))
        page = render_history(content).encode(errors="replace")
        if len(page) < PAGE_LIMIT:
            write_whole(path, page)
            return content
        if len(shown) == 1:
            raise ReportError(f"{path}: the page has {len(page):,} bytes, more than {PAGE_LIMIT:,}; show less.")
        shown = shown[-(len(shown) // 2) :]


def build_history(
    entries: Sequence[Entry], folder: Path, *, damaged: Sequence[str] = (), left_out: int = 0
) -> HistoryContent:
    """Return what the page shows. folder : of the page, to which links to directories are relative."""
    methods = tuple(dict.fromkeys(label for entry in entries for label in entry.methods))
    quality = entries[-1].quality
    is_gap = quality == MEAN_GAP
    measures = (
        HistoryMeasure(
            quality,
            "quality",
            "percent" if is_gap else "number",
            "gap" if is_gap else "linear",
            percent if is_gap else measured,
            is_gap or quality.startswith(MEAN_OBJECTIVE),
        ),
        HistoryMeasure("time (sgm)", "time_s", "seconds", "log", seconds),
        *[HistoryMeasure(OBJECTIVE, "objective", "number", "log", measured)] * is_gap,
        HistoryMeasure("solved runs", "solved", "number", "linear", measured, is_lower_better=False),
    )
    figures: list[Figure] = []
    found: list[StepView] = []
    for measure in measures:
        series: list[Series] = []
        # A step of the gap tells of the objective, too.
        told = {(step.method, step.entry) for step in found if measure.name == OBJECTIVE and step.figure == MEAN_GAP}
        for number, method in enumerate(methods):
            line, steps = _line(entries, number, method, measure)
            series += line
            found += [step for step in steps if (method, step.entry) not in told]
        # Where every run was solved at all times, or objectives changed as gaps did, a line says nothing more.
        if measure.field in ("quality", "time_s") or any(step.figure == measure.name for step in found):
            figures.append(_figure(measure, series))
    found.sort(key=lambda step: (-step.entry, -abs(step.size)))
    with_steps = {step.method for step in found}
    is_crowded = len(methods) > FEW_METHODS and bool(with_steps)
    last = [step for step in found if step.entry == len(entries) - 1]
    return HistoryContent(
        f"History of {entries[-1].suite}",
        "",
        (
            Fact("entries", f"{len(entries):,}"),
            Fact("methods", f"{len(methods):,}"),
            Fact("steps", f"{len(found):,}"),
            Fact("steps at the last entry", f"{len(last):,}", any(step.is_worse for step in last)),
        ),
        methods,
        tuple(figures),
        tuple(i for i, method in enumerate(methods) if is_crowded and method not in with_steps),
        tuple(found[:MOST_STEPS]),
        max(0, len(found) - MOST_STEPS),
        tuple(_entry(entry, folder) for entry in entries),
        left_out,
        tuple(damaged),
    )


def render_history(content: HistoryContent) -> str:
    """Return the page as HTML; the same content gives the same bytes."""
    packer = FigurePacker(content.methods)
    data = {
        "unit": "",
        "shapes": [outline for outline, _ in SHAPES],
        "dashes": list(DASHES),
        "marks": [astuple(mark(i)) for i in range(len(content.methods))],
        "methods": content.methods,
        "names": [f"{entry.name}, {entry.date[:10]}" for entry in content.entries],
        "wide": False,
        "fruitless": content.hidden,
        "scopes": [],
        "figures": [packer.pack(figure) for figure in content.figures],
        "sweeps": [],
        "curves": {},
        "columns": list(packer.columns),
    }
    scripts = [*(name for name in SCRIPTS if name not in _WITHOUT), "history.js"]
    return render("history.html.j2", scripts, content.methods, data, content=content)


def _line(
    entries: Sequence[Entry], number: int, method: str, measure: HistoryMeasure
) -> tuple[list[Series], list[StepView]]:
    """Return a method's line and its marks, and its steps."""
    known = [
        (i, own, value)
        for i, entry in enumerate(entries)
        if (own := entry.methods.get(method)) is not None and (value := measure.of(own)) is not None
    ]
    if not known:
        return [], []
    places, figures, values = zip(*known, strict=True)
    line = Series(number, method, places, values, line="line", text="{instance}\n{y}", instances=places)
    steps = step_views(method, measure, places, figures)
    by_place = dict(zip(places, values, strict=True))
    better = [step for step in steps if step.verdict == "better"]
    others = [step for step in steps if step.verdict != "better"]
    kinds: tuple[tuple[Marks, list[StepView]], ...] = (("hollow", better), ("large", others))
    marks = [
        Series(
            number,
            method,
            tuple(float(step.entry) for step in own),
            tuple(by_place[step.entry] for step in own),
            marks=kind,
            text=tuple(f"{step.change}: {step.before_text} → {step.after_text}" for step in own),
            instances=tuple(step.entry for step in own),
        )
        for kind, own in kinds
        if own
    ]
    return [line, *marks], steps


def _figure(measure: HistoryMeasure, series: list[Series]) -> Figure:
    return Figure(
        measure.field,
        measure.name[0].upper() + measure.name[1:],
        "each entry's figure, over all runs of a method",
        Axis("entry, the oldest first"),
        Axis(measure.name, scale=measure.scale, unit=measure.unit),  # type: ignore[arg-type]
        tuple(series),
        is_broad=True,
        is_lower_better=measure.is_lower_better,
    )


def _entry(entry: Entry, folder: Path) -> EntryView:
    runs = sum(method.runs for method in entry.methods.values())
    failed = sum(method.failed for method in entry.methods.values())
    href = entry.link if entry.link.startswith(("https://", "http://")) else ""
    if not href and os.path.isdir(entry.directory):
        href = os.path.relpath(entry.directory, folder)
    return EntryView(entry.name, entry.date, entry.commit, runs, failed, entry.directory, href)
