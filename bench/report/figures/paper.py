"""Figures of a suite's own table: its costs beside the paper's, and times by the number of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.bench.report.figures.budget import clipped
from schedgap.bench.report.figures.figure import Axis, Figure, Series, seconds
from schedgap.bench.report.figures.palette import DASHES
from schedgap.bench.statistics.tables import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.bench.report.figures.selection import Selection


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
