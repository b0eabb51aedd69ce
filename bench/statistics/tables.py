"""Rows on a terminal: which columns, in which unit, with the paper's figure beside ours."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.summary import by_ending, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from schedgap.bench.api import GapResult
    from schedgap.bench.records.record import Record

PLAIN_WIDTH = 320
NOTHING = "-"
# Of a failed run's reason, this much is printed; the journal and `--json` have all of it.
SHOWN_REASON = 160


def console() -> Console:
    """Return a console for stdout; wide where it is no terminal, so that tables in files do not wrap."""
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)


def percent(value: float | None) -> str:
    """Return a share with as many digits as tell it from 0: `0.0008%`."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0%"
    shown = 100 * value
    digits = 2
    while digits < 6 and abs(shown) < 2 * 10.0 ** (1 - digits):
        digits += 1
    return f"{shown:.{digits}f}%"


def seconds(value: float | None) -> str:
    """Return a time in the unit that fits."""
    if value is None:
        return NOTHING
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.2f} s" if value < 100 else f"{value:.0f} s"


def number(value: float | None) -> str:
    """Return an amount with thousands separated."""
    return NOTHING if value is None else f"{value:,.4f}".rstrip("0").rstrip(".")


def _ratio(row: dict[str, Any], mean: str, std: str) -> str:
    if row[mean] is None:
        return NOTHING
    return f"{row[mean]:.3f}" + ("" if row[std] is None else f" ± {row[std]:.3f}")


def _paper_ratio(row: dict[str, Any]) -> str:
    if row["paper_mean"] is None:
        return NOTHING
    return f"{row['paper_mean']:.2f}" + ("" if row["paper_std"] is None else f" ± {row['paper_std']:.2f}")


def _paper_time(row: dict[str, Any]) -> str:
    note = row.get("paper_note")
    return note if note else seconds(row["paper_time_s"])


def _runs(row: dict[str, Any]) -> str:
    return f"{row['runs']}" + (f" ({row['failed']} failed)" if row["failed"] else "")


def time_of(row: Mapping[str, Any], key: str) -> float | None:
    """Return a time of `summarise`; None where every run failed, so that it is made of nothing but limits."""
    return None if row["failed"] and row["failed"] + row["unsupported"] == row["runs"] else row[key]


def limits_note(headline: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what times are made of, where some of the runs behind them failed; empty otherwise."""
    if headline != "gap" or not any(row["failed"] and time_of(row, "sgm_time_s") is not None for row in rows):
        return ""
    return "In time (sgm) a failed run counts with its wall limit, in PAR-10 with ten.\n"


_METHOD = ("method", lambda row: row["method"])
_GROUP = ("instances", lambda row: row["group"] or NOTHING)
_MEAN_GAP = ("mean gap", lambda row: percent(row["gap_mean"]))
_WORST_GAP = ("worst gap", lambda row: percent(row["gap_worst"]))
_PROVEN = ("proven optimal", lambda row: f"{row['proven_optimal']} of {row['runs']}")
_GAPS = (_MEAN_GAP, _WORST_GAP, _PROVEN)
Columns = tuple[tuple[str, "Callable[[dict[str, Any]], str]"], ...]
COLUMNS: dict[str, Columns] = {
    "gap": (
        _METHOD,
        ("runs", _runs),
        ("mean\ngap", _MEAN_GAP[1]),
        ("median\ngap", lambda row: percent(row["gap_median"])),
        ("p95\ngap", lambda row: percent(row["gap_p95"])),
        ("worst\ngap", _WORST_GAP[1]),
        ("proven\noptimal", _PROVEN[1]),
        ("wins-ties\n-losses", lambda row: f"{row['wins']}-{row['ties']}-{row['losses']}"),
        ("time\n(sgm)", lambda row: seconds(time_of(row, "sgm_time_s"))),
        ("PAR-10", lambda row: seconds(time_of(row, "par10_s"))),
    ),
    "normalised-cost": (
        _GROUP,
        _METHOD,
        ("runs", _runs),
        ("cost / optimum", lambda row: _ratio(row, "normalised_cost_mean", "normalised_cost_std")),
        ("paper", _paper_ratio),
        *_GAPS,
        ("mean time", lambda row: seconds(row["time_mean_s"])),
        ("paper's time", _paper_time),
    ),
    "runtime": (
        _GROUP,
        _METHOD,
        ("tasks", lambda row: f"{row['tasks']:,}" if row["tasks"] else NOTHING),
        ("runs", _runs),
        ("median time", lambda row: seconds(row["time_median_s"])),
        ("paper's time", lambda row: seconds(row["paper_time_s"])),
        ("mean gap", lambda row: percent(row["gap_mean"])),
        ("peak memory", lambda row: f"{row['peak_memory_mib']:.0f} MiB"),
    ),
    "objective": (
        _GROUP,
        _METHOD,
        ("runs", _runs),
        ("mean objective", lambda row: number(row["objective_mean"])),
        ("mean bound", lambda row: number(row["bound_mean"])),
        *_GAPS,
        ("mean time", lambda row: seconds(row["time_mean_s"])),
        ("worst time", lambda row: seconds(row["time_worst_s"])),
    ),
}


def measured_names(row: dict[str, Any]) -> list[str]:
    """Return the measures that a row of the headline `measures` has: the paper's column beside each tells."""
    return [key.removeprefix("paper_") for key in row if key.startswith("paper_")]


# How names of measures and parameters end that have a unit.
UNITS = ("s", "h")


def readable(name: str) -> str:
    """Return a measure's or a parameter's name as a title: `mean_wait_s` is `mean wait (s)`."""
    stem, _, unit = name.rpartition("_")
    return f"{stem} ({unit})".replace("_", " ") if stem and unit in UNITS else name.replace("_", " ")


def measured(value: float | None) -> str:
    """Return a measure with four digits that count."""
    return NOTHING if value is None else f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def _measure(key: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: measured(row[key])


def _sure_measure(name: str) -> Callable[[dict[str, Any]], str]:
    """Return what shows a mean and how far the ends of its interval are from it."""

    def show(row: dict[str, Any]) -> str:
        value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
        if value is None or low is None or low == high:
            return measured(value)
        half = float(f"{max(value - low, high - value):.2g}")
        return f"{measured(value)} ± {half:,.10g}"

    return show


def columns_of(headline: str, rows: Sequence[dict[str, Any]]) -> Columns:
    """Return the columns of a headline; a model's and the paper's figures only where there are some."""
    if headline != "measures":
        return COLUMNS[headline]
    columns: list[tuple[str, Callable[[dict[str, Any]], str]]] = [_GROUP, _METHOD, ("runs", _runs)]
    for name in measured_names(rows[0]) if rows else ():
        columns.append((readable(name), _sure_measure(name)))
        for whose in ("model", "paper"):
            if any(row[f"{whose}_{name}"] is not None for row in rows):
                columns.append((whose, _measure(f"{whose}_{name}")))
    if any(row["gap_mean"] is not None for row in rows):
        columns.append(_MEAN_GAP)
    return (*columns, ("mean time", lambda row: seconds(row["time_mean_s"])))


def show_gap(result: GapResult, unit: str) -> None:
    """Print the table and notes of one instance on stdout."""
    screen = console()
    screen.print(gap_table(result, unit))
    screen.print(Text(gap_notes(result, unit)))


def headline_table(title: str, headline: str, rows: Iterable[dict[str, Any]]) -> Table:
    """Return rows of `headlines` as a table; those of `summarise` are rows of the headline `gap`."""
    rows = list(rows)
    columns = columns_of(headline, rows)
    table = ruled_table(title, [name for name, _ in columns])
    previous = None
    for row in rows:
        if previous is not None and row.get("group") != previous:
            table.add_section()
        previous = row.get("group")
        table.add_row(*(Text(show(row)) for _, show in columns))
    return table


def verified_note(records: Iterable[Record]) -> str:
    """Return what figures of these runs rest on."""
    proven = any(record.status not in FAILED and record.measurement.bound is not None for record in records)
    gaps = "gaps are against the best proven bound" if proven else "no bound was proven, so there are no gaps"
    return f"Every solution was verified; {gaps}."


def gap_notes(result: GapResult, unit: str) -> str:
    """Return what to read below the table."""
    content = result.to_json()
    bound, objective = number(content["bound"]), number(content["best_objective"])
    return f"best proven bound {bound}, best verified solution {objective} {unit}"


def gap_table(result: GapResult, unit: str) -> Table:
    """Return one row a method for one instance."""
    content = result.to_json()
    titles = ["method", "status", f"objective ({unit})", "own bound", "gap", "time"]
    table = ruled_table(result.instance, titles)
    for row in content["results"]:
        cells = (
            row["method"],
            row["status"],
            number(row["objective"]),
            number(row["bound"]),
            percent(row["gap"]),
            seconds(row["wall_s"]),
        )
        table.add_row(*map(Text, cells))
    return table


def failures(records: Iterable[Record]) -> list[str]:
    """Return a line for each method and kind of failure: how often, and the reason of the first."""
    return [
        f"{own[0].run.label}: {own[0].status} ({len(own)} of its runs), on {own[0].run.instance}: "
        f"{short(reason_of(own[0]), SHOWN_REASON)}"
        for own in by_ending(record for record in records if record.status in FAILED)
    ]


def short(reason: str, most: int) -> str:
    """Return a reason in one line of at most so many characters, which moves no cursor."""
    line = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(reason.split())
    )
    return line if len(line) <= most else f"{line[: most - 3]}..."


def plain_table(title: str, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of text."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in titles:
        table.add_column(name)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def ruled_table(title: str, titles: Sequence[str]) -> Table:
    """Return a table without rows; numbers are on the right."""
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for name in titles:
        is_text = name in ("method", "instances", "status")
        table.add_column(name, justify="left" if is_text else "right", overflow="fold")
    return table
