"""A measure as a function of a parameter: what was measured, what models predict, and the paper's figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.bench.report.budget import MAX_METHODS, clipped
from schedgap.bench.report.palette import mark
from schedgap.bench.statistics.measure_rows import MODEL, lines_of
from schedgap.bench.statistics.ratios import with_ratios
from schedgap.bench.statistics.tables import readable
from schedgap.bench.statistics.trade_off import bound_line
from schedgap.instances.method import method_label, parse_method, spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.records.runs import Scalar
    from schedgap.bench.report.budget import Budget
    from schedgap.bench.statistics.measure_rows import Line
    from schedgap.bench.suite import Reference, Suite, Sweep

# An axis of the parameter is logarithmic if its ends are further apart than this.
WIDE = 50.0


@dataclass(frozen=True, slots=True)
class Path:
    """x : (N,) ascending. mean, least, most : (N,) each, over the runs at each x."""

    x: tuple[float, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Strand:
    """A method, the model that predicts it, and the paper's figures of it; they share one mark.

    name : with the parameters that tell the strands of a figure apart. number : of the mark. measured, predicted :
    None where there is nothing of the kind. paper : of x, figure and name.
    """

    name: str
    number: int
    measured: Path | None
    predicted: Path | None
    paper: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True, slots=True)
class SweepView:
    """One figure. x, y : titles of the axes. left_out : strands that have no mark of their own and are not drawn."""

    title: str
    x: str
    y: str
    is_log_x: bool
    is_log_y: bool
    strands: tuple[Strand, ...]
    left_out: int

    @property
    def has_predictions(self) -> bool:
        """Whether a model's line is in the figure."""
        return any(strand.predicted is not None for strand in self.strands)

    @property
    def has_paper(self) -> bool:
        """Whether the paper has a figure to show."""
        return any(strand.paper for strand in self.strands)


# A method, its group of instances and its other parameters: what has the same mark in all figures.
Identity = tuple[str, str, tuple[tuple[str, "Scalar"], ...]]


def build_sweeps(suite: Suite | None, records: Sequence[Record], budget: Budget) -> tuple[SweepView, ...]:
    """Return the suite's sweeps that have something to show."""
    numbers: dict[Identity, int] = {}
    views = []
    sweeps = () if suite is None else suite.sweep[: budget.sweeps]
    records = with_ratios(records, [name for sweep in sweeps for name in (sweep.x, sweep.y)])
    for sweep in sweeps:
        chosen = [record for record in records if not sweep.methods or record.run.method in sweep.methods]
        lines = lines_of(chosen, sweep.x, sweep.y)
        if lines and sweep.price:
            lines += _under(sweep, lines, records)
        if suite is not None and lines:
            views.append(_view(sweep, lines, suite.reference, numbers, budget))
    return tuple(views)


def _under(sweep: Sweep, lines: Sequence[Line], records: Sequence[Record]) -> list[Line]:
    xs = [x for line in lines for x in line.x]
    if len(set(xs)) < 2:
        return []
    bound = bound_line(records, (min(xs), max(xs)), sweep.price, sweep.worth, is_log_x=_is_wide(xs))
    return [] if bound is None else [bound]


def _is_wide(xs: Sequence[float]) -> bool:
    return min(xs) > 0 and max(xs) > WIDE * min(xs)


def _view(
    sweep: Sweep, lines: Sequence[Line], references: Sequence[Reference], numbers: dict[Identity, int], budget: Budget
) -> SweepView:
    strands = _paired(lines)
    names = _names(strands)
    marks = _marks(strands, numbers)
    made = [
        Strand(
            clipped(names[i], budget.text),
            marks[i],
            _path(measured, budget),
            _path(predicted, budget),
            _paper(measured, sweep, references, budget),
        )
        for i, (measured, predicted) in enumerate(strands)
        if i in marks
    ]
    drawn = [path for strand in made for path in (strand.measured, strand.predicted) if path is not None]
    xs = [x for path in drawn for x in path.x]
    least = min((y for path in drawn for y in path.least), default=0.0)
    most = max((y for path in drawn for y in path.most), default=0.0)
    return SweepView(
        clipped(sweep.title, budget.text),
        clipped(readable(sweep.x), budget.text),
        clipped(readable(sweep.y), budget.text),
        bool(xs) and _is_wide(xs),
        # There is no logarithm of less than 0; 0 has a place of its own.
        sweep.log_y and least >= 0 and most > 0,
        tuple(made),
        len(strands) - len(made),
    )


def _paired(lines: Sequence[Line]) -> list[tuple[Line | None, Line | None]]:
    """Return each measured line with its model's: that which was given all that the method was; then models alone."""
    played = [line for line in lines if not line.is_predicted]
    models = [line for line in lines if line.is_predicted]
    strands: list[tuple[Line | None, Line | None]] = []
    used: list[Line] = []
    for line in played:
        own = [m for m in models if m.method == MODEL + line.method and line.given.items() <= m.given.items()]
        strands.append((line, own[0] if own else None))
        used += own[:1]
    return strands + [(None, model) for model in models if not any(model is other for other in used)]


def _first(strand: tuple[Line | None, Line | None]) -> Line:
    line = strand[0] or strand[1]
    assert line is not None
    return line


def _names(strands: Sequence[tuple[Line | None, Line | None]]) -> list[str]:
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


def _marks(strands: Sequence[tuple[Line | None, Line | None]], numbers: dict[Identity, int]) -> dict[int, int]:
    """Return the numbers of marks by strand: as in the figures before, else the first whose colour is still free here.

    numbers : what was given away before; grows.
    """
    found: dict[int, int] = {}
    identities = [_identity(_first(strand)) for strand in strands]
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


def _identity(line: Line) -> Identity:
    return line.method, line.group, tuple(sorted(line.given.items()))


def _path(line: Line | None, budget: Budget) -> Path | None:
    if line is None:
        return None
    kept = np.unique(np.linspace(0, len(line.x) - 1, min(budget.curve, len(line.x))).round().astype(int)).tolist()
    return Path(*(tuple(values[i] for i in kept) for values in (line.x, line.mean, line.least, line.most)))


def _paper(
    line: Line | None, sweep: Sweep, references: Sequence[Reference], budget: Budget
) -> tuple[tuple[float, float, str], ...]:
    """Return the paper's figures of a line: those of its method with its other parameters, at a place on the axis."""
    found: list[tuple[float, float, str]] = []
    for reference in () if line is None else references:
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
