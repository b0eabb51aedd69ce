"""Writing a model for any other solver, as MPS (free format) or LP; every number reads back to the same float.

A `model_builder` makes a formulation exportable: `schedgap export INSTANCE --formulation NAME`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from schedgap.formulations.linear_model import LinearModel
from schedgap.instances.errors import MethodError, did_you_mean

Builder = Callable[[Any], "LinearModel"]
MODEL_BUILDERS: dict[tuple[str, str], Builder] = {}
FORMATS = ("mps", "lp")
# What a reader of LP files takes for a number or a word of the format.
LP_WORD = re.compile(
    r"[0-9.]|e[0-9]|(?:free|inf|infinity|end|st|bounds?|binary|binaries|bin|generals?|gen|integers?)$", re.IGNORECASE
)


def model_builder(name: str, *, family: str) -> Callable[[Builder], Builder]:
    """Register a function from an instance to its `LinearModel`, under the name of its method.

    Raises
    ------
    MethodError
        if the family already has a model of that name from another place.
    """

    def register(func: Builder) -> Builder:
        known = MODEL_BUILDERS.setdefault((family, name), func)
        if (known.__module__, known.__qualname__) != (func.__module__, func.__qualname__):
            raise MethodError(f"model {name} of family {family} is registered twice; rename one of them.")
        return func

    return register


def find_model_builder(family: str, name: str) -> Builder:
    """Return a builder.

    Raises
    ------
    MethodError
        naming the family's exportable formulations.
    """
    if (family, name) not in MODEL_BUILDERS:
        known = sorted(key[1] for key in MODEL_BUILDERS if key[0] == family)
        raise MethodError(
            f"family {family} has no exportable formulation '{name}'; {did_you_mean(name, known)}"
            f"it has: {', '.join(known) or 'none'}."
        )
    return MODEL_BUILDERS[family, name]


def write_model(model: LinearModel, path: Path, file_format: str, note: str = "") -> None:
    """Write a model as `mps` or `lp`; its first line is the note, a comment for people.

    Raises
    ------
    MethodError
        for another format.
    """
    if file_format not in FORMATS:
        raise MethodError(f"a model is written as {' or '.join(FORMATS)}, not as '{file_format}'.")
    (write_mps if file_format == "mps" else write_lp)(model, path, note=note)


def write_mps(model: LinearModel, path: Path, *, names: bool = True, note: str = "") -> None:
    """Write free-format MPS. names : keep the model's names; else rows are r0, r1, ... and variables x0, x1, ..."""
    rows, columns = _names(model, _mps_name, names)
    first = [f"* {note}"] if note else []
    path.write_text("\n".join([*first, *_mps_lines(model, rows, columns)]) + "\n", encoding="utf-8")


def write_lp(model: LinearModel, path: Path, *, note: str = "") -> None:
    """Write the CPLEX LP format; a row with two different finite sides becomes two, the second named `..._upper`."""
    rows, columns = _names(model, _lp_name, True)
    first = [f"\\ {note}"] if note else []
    path.write_text("\n".join([*first, *_lp_lines(model, rows, columns)]) + "\n", encoding="utf-8")


def column_names(model: LinearModel, file_format: str) -> list[str]:
    """Return what the variables are called in a file of a format."""
    return _names(model, _mps_name if file_format == "mps" else _lp_name, True)[1]


def _names(model: LinearModel, cleaned: Callable[[str], str], keep: bool) -> tuple[list[str], list[str]]:
    m, n = model.matrix.shape
    rows = model.row_names if keep and model.row_names is not None else [f"r{i}" for i in range(m)]
    columns = model.variable_names if keep and model.variable_names is not None else [f"x{j}" for j in range(n)]
    return _unique(map(cleaned, rows)), _unique(map(cleaned, columns))


def _unique(names: Iterable[str]) -> list[str]:
    """Return the names, numbered where cleaning made them equal."""
    seen: dict[str, int] = {}
    out: list[str] = []
    for name in names:
        cand = name
        while cand in seen:
            seen[name] += 1
            cand = f"{name}_{seen[name]}"
        seen[cand] = 0
        out.append(cand)
    return out


def _mps_name(name: str) -> str:
    return re.sub(r"\s", "_", name)


def _lp_name(name: str) -> str:
    """Keep what every LP reader takes; a name may neither look like a number (`e9`) nor be a word of the format."""
    clean = re.sub(r"[^A-Za-z0-9_.(),#]", "_", name)
    return f"_{clean}" if LP_WORD.match(clean) else clean


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def _mps_lines(model: LinearModel, rows: list[str], columns: list[str]) -> Iterator[str]:
    yield f"NAME {_mps_name(model.name)} FREE"
    yield "ROWS"
    yield " N objective"
    kinds = [_row_kind(low, high) for low, high in zip(model.row_lower, model.row_upper, strict=True)]
    for kind, row in zip(kinds, rows, strict=True):
        yield f" {kind} {row}"
    yield "COLUMNS"
    matrix, whole = model.matrix, False
    for j, column in enumerate(columns):
        if bool(model.integral[j]) != whole:
            whole = not whole
            yield f" MARKER 'MARKER' '{'INTORG' if whole else 'INTEND'}'"
        span = slice(matrix.indptr[j], matrix.indptr[j + 1])
        if model.cost[j] or span.start == span.stop:
            yield f" {column} objective {_number(model.cost[j])}"
        for i, value in zip(matrix.indices[span], matrix.data[span], strict=True):
            yield f" {column} {rows[i]} {_number(value)}"
    if whole:
        yield " MARKER 'MARKER' 'INTEND'"
    yield "RHS"
    if model.offset:
        yield f" RHS objective {_number(-model.offset)}"
    for kind, row, low, high in zip(kinds, rows, model.row_lower, model.row_upper, strict=True):
        side = high if kind == "L" else low
        if kind != "N" and side:
            yield f" RHS {row} {_number(side)}"
    yield "RANGES"
    for kind, row, low, high in zip(kinds, rows, model.row_lower, model.row_upper, strict=True):
        if kind == "G" and math.isfinite(high):
            yield f" RNG {row} {_number(high - low)}"
    yield "BOUNDS"
    for column, low, high in zip(columns, model.lower, model.upper, strict=True):
        yield from _mps_bounds(column, low, high)
    yield "ENDATA"


def _row_kind(low: float, high: float) -> str:
    if low == high:
        return "E"
    if math.isfinite(low):
        return "G"
    return "L" if math.isfinite(high) else "N"


def _mps_bounds(column: str, low: float, high: float) -> Iterator[str]:
    """Write both bounds always: readers differ in what an integer variable has without them."""
    if low == high:
        yield f" FX BND {column} {_number(low)}"
    elif not math.isfinite(low) and not math.isfinite(high):
        yield f" FR BND {column}"
    else:
        yield f" LO BND {column} {_number(low)}" if math.isfinite(low) else f" MI BND {column}"
        yield f" UP BND {column} {_number(high)}" if math.isfinite(high) else f" PL BND {column}"


def _lp_lines(model: LinearModel, rows: list[str], columns: list[str]) -> Iterator[str]:
    yield f"\\ {model.name}"
    yield "Minimize"
    priced = np.flatnonzero(model.cost)
    terms = [f"{_signed(model.cost[j])} {columns[j]}" for j in priced] or [f"+0 {columns[0]}"]
    yield " objective:"
    yield from _wrapped(terms + ([_signed(model.offset)] if model.offset else []))
    yield "Subject To"
    by_row = model.matrix.tocsr()
    for i, row in enumerate(rows):
        span = slice(by_row.indptr[i], by_row.indptr[i + 1])
        terms = [
            f"{_signed(a)} {columns[j]}" for j, a in zip(by_row.indices[span], by_row.data[span], strict=True)
        ] or [f"+0 {columns[0]}"]
        low, high = model.row_lower[i], model.row_upper[i]
        sides = [("=", low, "")] if low == high else [(">=", low, ""), ("<=", high, "_upper")]
        sides = [side for side in sides if math.isfinite(side[1])]
        for relation, side, suffix in sides:
            yield f" {row}{suffix if len(sides) == 2 else ''}:"
            yield from _wrapped([*terms, f"{relation} {_number(side)}"])
    yield "Bounds"
    for column, low, high in zip(columns, model.lower, model.upper, strict=True):
        left = _number(low) if math.isfinite(low) else "-inf"
        right = _number(high) if math.isfinite(high) else "+inf"
        yield f" {left} <= {column} <= {right}"
    if model.integral.any():
        yield "General"
        yield from _wrapped([columns[j] for j in np.flatnonzero(model.integral)])
    yield "End"


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "-") + _number(abs(value))


def _wrapped(words: list[str]) -> Iterator[str]:
    """Put a few terms on a line: LP readers limit its length to some 500 characters."""
    for i in range(0, len(words), 5):
        yield "  " + " ".join(words[i : i + 5])
