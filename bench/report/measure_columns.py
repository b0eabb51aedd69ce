"""Columns of the headline `measures`: each measure, what models predict of it, and the paper's figure of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.bench.report.tables import NOTHING, Column, measure
from schedgap.bench.statistics import tables as terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Given = Mapping[str, Any]


def measure_columns(rows: Sequence[Given]) -> tuple[Column, ...]:
    """Return the columns of all measures; those of models and of the paper only where any row has their figure."""
    columns: list[Column] = []
    for name in terminal.measured_names(dict(rows[0])) if rows else ():
        title = terminal.readable(name)
        columns.append(
            Column(
                title,
                "mean over the runs; below it the least and the most",
                _value(name),
                _text(name),
                opens=True,
                span=_span(name),
            )
        )
        for whose, title_of, note in (
            ("model", "model", f"{title} as a model of the method predicts it"),
            ("paper", "paper", f"the paper's {title}"),
        ):
            other = f"{whose}_{name}"
            if any(row[other] is not None for row in rows):
                columns.append(Column(title_of, note, _value(other), _text(other)))
                columns.append(
                    Column(
                        f"ours − {title_of}",
                        f"{title}: (ours − {whose}) / {whose}",
                        _difference(name, other),
                        _shown_difference(name, other),
                    )
                )
    return tuple(columns)


def difference(ours: float | None, other: float | None) -> float | None:
    """Return (ours - other) / |other|; None without one of them, or of a difference to 0."""
    if ours is None or other is None:
        return None
    if ours == other:
        return 0.0
    return (ours - other) / abs(other) if other else None


def signed_percent(share: float | None) -> str:
    """Return a difference as a percentage with its sign."""
    if share is None:
        return NOTHING
    shown = f"{100 * share:+,.{1 if abs(share) < 10 else 0}f}%".replace("-", "−")
    return shown if shown[1:] != "0.0%" else "0.0%"


def _value(key: str) -> Callable[[Given], float | None]:
    return lambda row: row[key]


def _text(key: str) -> Callable[[Given], str]:
    return lambda row: measure(row[key])


def _difference(name: str, other: str) -> Callable[[Given], float | None]:
    return lambda row: difference(row[name], row[other])


def _shown_difference(name: str, other: str) -> Callable[[Given], str]:
    return lambda row: signed_percent(difference(row[name], row[other]))


def _span(name: str) -> Callable[[Given], str]:
    def span(row: Given) -> str:
        least, most = measure(row[f"{name}_min"]), measure(row[f"{name}_max"])
        return f"{least} – {most}" if least != most else ""

    return span
