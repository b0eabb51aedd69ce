"""`schedgap list`: what there is to choose from; light, as `list suites` is asked for often."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from schedgap.bench.cli.options import complete_family
from schedgap.bench.statistics.tables import NOTHING, Head, short, table_lines, terminal_width
from schedgap.bench.suites.shipped import suite_rows
from schedgap.instances.errors import InstanceError, did_you_mean

Kind = Literal["suites", "families", "methods", "backends", "instances", "traces", "schemas"]
Row = dict[str, Any]
# What a line says of each, and how much room it has at the least.
ABOUT = {"suites": "question", "methods": "summary", "instances": "summary"}
LEAST_ABOUT = 24


def list_things(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    family: Annotated[
        str, typer.Option("--family", "-f", help="Of this family of problems only.", autocompletion=complete_family)
    ] = "",
    long: Annotated[
        bool, typer.Option("--long", "-l", help="All that is known of each: parameters, choices, version.")
    ] = False,
    plugin: Annotated[
        list[Path] | None, typer.Option("--plugin", help="Python file with methods of your own; repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")] = False,
) -> None:
    """List suites, families, methods, solver back ends, instance generators and formats, public traces, or file formats."""
    rows: list[Row] = suite_rows() if kind == "suites" else _listed(kind, plugin or [])
    if family:
        known = {row["family"] for row in rows if "family" in row}
        if family not in known:
            raise InstanceError(
                f"there are no {kind} of family '{family}'; {did_you_mean(family, known)}"
                f"families with {kind}: {', '.join(sorted(known)) or 'none'}."
            )
        rows = [row for row in rows if row["family"] == family]
    if as_json:
        typer.echo(json.dumps({kind: rows}))
        return
    lines = _short_lines(rows, ABOUT[kind]) if kind in ABOUT and not long else _long_lines(rows)
    typer.echo("\n".join(lines))


def _listed(kind: Kind, plugins: list[Path]) -> list[Row]:
    rows: list[Row] = getattr(import_module("schedgap.bench.cli.listed"), kind)(plugins)
    return rows


def _short_lines(rows: Sequence[Row], about: str) -> list[str]:
    """Return a line for each row, its name and the beginning of what is said about it, below those of its family."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(", ".join(filter(None, [row["family"], row.get("kind")])), []).append(row)
    lines: list[str] = []
    is_cut = False
    for group, members in groups.items():
        lines += ["", group] if lines else [group]
        width = max(len(row["name"]) for row in members) + 4
        room = terminal_width() - width
        for row in members:
            said = short(row[about], max(room, 3)) if room >= LEAST_ABOUT else ""
            is_cut = is_cut or said != row[about]
            lines.append(f"  {row['name']:<{width - 2}}{said}".rstrip())
    more = "What is said of each is cut; --long has all of it." if is_cut else "--long says more of each."
    return [*lines, "", more] if lines else []


def _long_lines(rows: Sequence[Row]) -> list[str]:
    """Return all that rows say, as a table, or where that is too wide, a block of lines for each."""
    for row in rows:
        _show_choices(row)
    titles = list(rows[0]) if rows else []
    cells = [[_shown(row[title]) or NOTHING for title in titles] for row in rows]
    heads = [
        Head(title, is_text=title != "version", is_prose=title not in ("family", "kind", "name")) for title in titles
    ]
    return table_lines("", heads, cells)


def _show_choices(row: Row) -> None:
    """Show what a method's parameter may be behind its default: `backend=highs|scip|cbc`."""
    for name, choices in row.pop("choices", {}).items():
        default = row["parameters"][name]
        row["parameters"][name] = "|".join([default, *(choice for choice in choices if choice != default)])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    return str(value)
