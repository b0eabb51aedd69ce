"""Measures over a parameter: what was measured, what models predict, and the paper's figures.

Figures of a suite's own table: its costs beside the paper's, and times by the number of tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from schedgap.bench.records.runs import Record, Scalar
from schedgap.bench.report.figures.drawing import DASHES, Axis, Figure, Series, mark
from schedgap.bench.report.figures.selection import MAX_METHODS, Budget, Selection, clipped, evenly
from schedgap.bench.report.tables import seconds
from schedgap.bench.statistics.measure_rows import Line, lines_of
from schedgap.bench.statistics.profiles import bound_line, with_ratios
from schedgap.bench.statistics.tables import measured, number, readable
from schedgap.bench.suites.collection import Reference, Sweep
from schedgap.bench.suites.suite import Suite
from schedgap.instances.method import method_label, parse_method, spelled

# An axis of the parameter is logarithmic if its ends are further apart than this.
WIDE = 50.0


# A method, its group of instances and its other parameters: what has the same mark in all figures.
Identity = tuple[str, str, tuple[tuple[str, "Scalar"], ...]]
# What was measured of a method, and what a model predicts of it; one of them may be missing.
Strand = tuple["Line | None", "Line | None"]


def build_sweeps(suite: Suite | None, records: Sequence[Record], budget: Budget) -> tuple[Figure, ...]:
    """Return figures of the suite's sweeps that have something to show."""
    numbers: dict[Identity, int] = {}
    figures: list[Figure] = []
    sweeps = () if suite is None else suite.sweep[: budget.sweeps]
    records = with_ratios(records, [name for sweep in sweeps for name in (sweep.x, sweep.y)])
    for sweep in sweeps:
        chosen = [record for record in records if not sweep.methods or record.run.method in sweep.methods]
        lines = lines_of(chosen, sweep.x, sweep.y)
        if lines and sweep.price:
            lines += _under(sweep, lines, records)
        if suite is not None and lines:
            name = f"sweep-{len(figures) + 1}"
            figures.append(_figure(name, sweep, lines, suite.reference, numbers, budget))
    return tuple(figures)


def _under(sweep: Sweep, lines: Sequence[Line], records: Sequence[Record]) -> list[Line]:
    xs = [x for line in lines for x in line.x]
    if len(set(xs)) < 2:
        return []
    bound = bound_line(records, (min(xs), max(xs)), sweep.price, sweep.worth, is_log_x=_is_wide(xs))
    return [] if bound is None else [bound]


def _is_wide(xs: Sequence[float]) -> bool:
    return min(xs) > 0 and max(xs) > WIDE * min(xs)


def _figure(
    name: str,
    sweep: Sweep,
    lines: Sequence[Line],
    references: Sequence[Reference],
    numbers: dict[Identity, int],
    budget: Budget,
) -> Figure:
    strands = _paired(lines)
    names, marks = _names(strands), _marks(strands, numbers)
    x, y, title = (clipped(text, budget.text) for text in (readable(sweep.x), readable(sweep.y), sweep.title))
    series: list[Series] = []
    for i, strand in enumerate(strands):
        if i in marks:
            papers = _papers(strand[0], sweep, references, budget)
            series += _series(marks[i], clipped(names[i], budget.text), strand, papers, (x, y), budget)
    drawn = [line for i, strand in enumerate(strands) if i in marks for line in strand if line is not None]
    xs = [x for line in drawn for x in line.x]
    # There is no logarithm of less than 0; 0 has a place of its own.
    is_log = (
        sweep.log_y
        and all(y >= 0 for line in drawn for y in line.least)
        and any(y > 0 for line in drawn for y in line.most)
    )
    left_out = len(strands) - len(marks)
    more = f"; {left_out} more line{'s' * (left_out != 1)} left out: the figures cannot tell more apart"
    return Figure(
        name,
        title,
        f"{y} by {x}" + (more if left_out else ""),
        Axis(x, "log" if xs and _is_wide(xs) else "linear"),
        Axis(y, "log" if is_log else "linear"),
        tuple(series),
        heading=(title,),
        has_own_legend=True,
    )


def _series(
    method: int,
    name: str,
    strand: Strand,
    papers: Sequence[tuple[float, float, str]],
    titles: tuple[str, str],
    budget: Budget,
) -> list[Series]:
    """Return what was measured, what a model predicts and what the paper has: of one mark."""
    xs = {x for line in strand if line is not None for x in line.x} | {x for x, _, _ in papers}
    texts = {x: _text(x, strand, papers, titles) for x in xs}
    series = []
    for line in strand:
        if line is None:
            continue
        kept = evenly(len(line.x), budget.curve)
        x, mean, least, most = (tuple(values[i] for i in kept) for values in (line.x, line.mean, line.least, line.most))
        own = Series(method, name, x, mean, line="line", text=tuple(texts[at] for at in x))
        if line.is_predicted:
            series.append(replace(own, marks="strokes", role="model"))
        else:
            spans = None if least == mean == most else (least, most)
            said = ", ".join(f"{measured(y)} at {number(at)}" for at, y in zip(x, mean, strict=True))
            series.append(replace(own, marks="all", spans=spans, said=said))
    if papers:
        x, y, _ = zip(*papers, strict=True)
        text = tuple(texts[at] for at in x)
        series.append(Series(method, name, x, y, marks="hollow", role="paper", text=text))
    return series


def _text(x: float, strand: Strand, papers: Sequence[tuple[float, float, str]], titles: tuple[str, str]) -> str:
    """Return what there is at a place: the measured mean with its range, and the others with the difference to them."""
    said = [f"{titles[0]} {number(x)}", titles[1]]
    ours, model = (None if line is None or x not in line.x else line.x.index(x) for line in strand)
    mean = None
    if strand[0] is not None and ours is not None:
        mean, least, most = (values[ours] for values in (strand[0].mean, strand[0].least, strand[0].most))
        said.append(measured(mean) + ("" if least == most else f", from {measured(least)} to {measured(most)}"))
    if strand[1] is not None and model is not None:
        said.append(f"model {measured(strand[1].mean[model])}{_against(mean, strand[1].mean[model])}")
    said += [f"the paper {measured(y)}{_against(mean, y)}, {name}" for at, y, name in papers if at == x]
    return "\n".join(said)


def _against(ours: float | None, other: float) -> str:
    if ours is None or ours == other or other == 0:
        return ""
    share = 100 * (ours - other) / abs(other)
    return f" (ours {'−' if share < 0 else '+'}{abs(share):.1f}%)"


def _paired(lines: Sequence[Line]) -> list[Strand]:
    """Return each measured line with its model's: that which was given all that the method was; then models alone."""
    played = [line for line in lines if not line.is_predicted]
    models = [line for line in lines if line.is_predicted]
    strands: list[Strand] = []
    used: list[Line] = []
    for line in played:
        own = [m for m in models if m.predicts == line.method and line.given.items() <= m.given.items()]
        strands.append((line, own[0] if own else None))
        used += own[:1]
    return strands + [(None, model) for model in models if not any(model is other for other in used)]


def _first(strand: Strand) -> Line:
    line = strand[0] or strand[1]
    assert line is not None
    return line


def _names(strands: Sequence[Strand]) -> list[str]:
    """Return method, parameters and group of each line without what is the same on all lines."""
    lines = [_first(strand) for strand in strands]
    telling = {key for line in lines for key in line.given if _varies(lines, key)}
    has_groups = len({line.group for line in lines if not line.is_predicted}) > 1
    return [
        method_label(line.method, {key: _plain(value) for key, value in line.given.items() if key in telling})
        + (f", {line.group or 'no group'}" if has_groups and not line.is_predicted else "")
        for line in lines
    ]


def _varies(lines: Sequence[Line], key: str) -> bool:
    """Whether a parameter tells lines apart: by two values, or because one line of a method has it and another not."""
    having = [line for line in lines if key in line.given]
    methods = {line.method for line in having}
    return len({line.given[key] for line in having}) > 1 or any(
        key not in line.given for line in lines if line.method in methods
    )


def _plain(value: Scalar) -> Scalar:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _marks(strands: Sequence[Strand], numbers: dict[Identity, int]) -> dict[int, int]:
    """Return the numbers of marks by strand: as in the figures before, else the first whose colour is still free here.

    numbers : what was given away before; grows.
    """
    found: dict[int, int] = {}
    lines = [_first(strand) for strand in strands]
    identities = [(line.method, line.group, tuple(sorted(line.given.items()))) for line in lines]
    taken = {mark(numbers[identity]).colour for identity in identities if identity in numbers}
    for i, identity in enumerate(identities):
        if identity not in numbers:
            free = [number for number in range(MAX_METHODS) if number not in numbers.values()]
            if not free:
                continue
            numbers[identity] = next((number for number in free if mark(number).colour not in taken), free[0])
            taken.add(mark(numbers[identity]).colour)
        found[i] = numbers[identity]
    return found


def _papers(
    line: Line | None, sweep: Sweep, references: Sequence[Reference], budget: Budget
) -> tuple[tuple[float, float, str], ...]:
    """Return the paper's figures of a line: those of its method with its other parameters, at a place on the axis."""
    found: list[tuple[float, float, str]] = []
    for reference in () if line is None else filter(attrgetter("method"), references):
        method, given = parse_method(reference.method)
        x = _number(given.pop(sweep.x, None))
        y = reference.measures.get(sweep.y)
        if line is None or x is None or y is None or method != line.method:
            continue
        if reference.group in (None, line.group) and spelled(given) == spelled(line.given):
            found.append((x, y, clipped(reference.name, budget.text)))
    return tuple(found)


def _number(value: Scalar | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def pairs(selection: Selection) -> Figure | None:
    """Return costs over the optimum: measured here, and the paper's."""
    rows = [row for row in selection.rows if row.get("paper_mean") and row.get("normalised_cost_mean")]
    if not rows:
        return None
    names = [clipped(row["method"], selection.budget.text) for row in rows]
    groups = [clipped(row["group"], selection.budget.text) for row in rows]
    several = len(set(groups)) > 1
    return Figure(
        "paper",
        "The paper and ours",
        "Filled: measured here. Hollow: the paper's. Lines: standard deviations.",
        Axis("cost / optimum", includes=1.0),
        Axis(
            "",
            "rows",
            names=tuple(f"{name}, {group}" if several else name for name, group in zip(names, groups, strict=True)),
        ),
        tuple(series for i, row in enumerate(rows) for series in _pair(selection, i, row)),
        is_broad=True,
    )


def _pair(selection: Selection, i: int, row: Mapping[str, Any]) -> tuple[Series, Series]:
    ours, ours_std = row["normalised_cost_mean"], row["normalised_cost_std"]
    paper, paper_std = row["paper_mean"], row["paper_std"]
    text = f"ours {_with_deviation(ours, ours_std)}\npaper {_with_deviation(paper, paper_std)}"
    method = selection.numbers[row["method"]]
    name = selection.methods[method]
    shown = clipped(row["group"], selection.budget.text)
    group = selection.groups.index(shown) if shown in selection.groups else None
    said = f"ours {ours:.3f}, the paper's {paper:.2f}"
    return (
        Series(method, name, (ours,), marks="all", row=i, shift=-0.15, spans=_around(ours, ours_std), group=group,
               text=text, said=said),
        Series(method, name, (paper,), marks="hollow", row=i, shift=0.15, spans=_around(paper, paper_std), group=group,
               text=text, role="paper"),
    )  # fmt: skip


def growth(selection: Selection) -> Figure | None:
    """Return how times grow with the number of tasks, from the rows of a `runtime` table."""
    lines: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in selection.rows:
        if row.get("tasks") and row["time_median_s"]:
            lines.setdefault((row["group"], row["method"]), []).append(row)
    series = [s for (group, label), own in lines.items() if len(own) > 1 for s in _line(selection, group, label, own)]
    if not series:
        return None
    note = "Median time of a run. Hollow: the paper's, on its machine."
    if len(selection.groups) > 1:
        note += " Each group of instances has dashes of its own."
    return Figure(
        "growth",
        "Time by size",
        note,
        Axis("tasks", "log"),
        Axis("median time", "log", "seconds"),
        tuple(series),
        is_broad=True,
    )


def _line(selection: Selection, group: str, label: str, own: list[Mapping[str, Any]]) -> list[Series]:
    method = selection.numbers[label]
    shown = clipped(group, selection.budget.text)
    number_of_group = selection.groups.index(shown)
    name = ", ".join(filter(None, (selection.methods[method], shown)))
    tasks, times = tuple(row["tasks"] for row in own), tuple(row["time_median_s"] for row in own)
    papers = [(row["tasks"], row["paper_time_s"]) for row in own if row["paper_time_s"]]
    line = Series(
        method,
        name,
        tasks,
        times,
        line="line",
        marks="all",
        dash=number_of_group % len(DASHES),
        group=number_of_group,
        text=tuple(f"{number(n)} tasks\nmedian {seconds(time)}" for n, time in zip(tasks, times, strict=True)),
        said=f"{seconds(times[-1])} for {number(tasks[-1])} tasks",
    )
    if not papers:
        return [line]
    texts = tuple(f"the paper\n{number(n)} tasks\n{seconds(time)}" for n, time in papers)
    xs, ys = zip(*papers, strict=True)
    return [line, Series(method, name, xs, ys, marks="hollow", role="paper", group=number_of_group, text=texts)]


def _around(mean: float, deviation: float | None) -> tuple[tuple[float], tuple[float]]:
    return (mean - (deviation or 0.0),), (mean + (deviation or 0.0),)


def _with_deviation(mean: float, deviation: float | None) -> str:
    return f"{mean:.3f}" + ("" if deviation is None else f" ± {deviation:.3f}")
