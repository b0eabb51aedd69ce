"""Public sets of instances in a suite: a list with what is published of each, and files that only `--trace` gives.

What a suite shows of its runs beside a published source: its figures, its setting, and plots and maps like its own.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import SuiteError

# Parts of a suite's file refuse what they do not know, and numbers that are none.
STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class _Strict(BaseModel):
    model_config = STRICT


class Reference(_Strict):
    """A published figure to show beside ours, for a method and, if given, one group or one size of instances.

    method : of ours; none for a program of others, whose scores the headline `scores` shows.
    tasks : the size, as the family measures it (see `Family.size`).
    measures : figures by the names of the family's measures.
    """

    method: str = ""
    name: str
    group: str | None = None
    tasks: int | None = None
    mean: float | None = None
    std: float | None = None
    time_s: float | None = None
    note: str = ""
    measures: dict[str, float] = {}


class Setting(_Strict):
    """What must hold of a suite's runs for the paper's figures to be comparable: a mean over each group, within bounds.

    method : whose runs, by its label. groups : in which; empty for all. why : where the paper says so.
    """

    measure: str
    method: str
    least: float | None = None
    most: float | None = None
    groups: list[str] = []
    why: str

    @model_validator(mode="after")
    def _is_bounded(self) -> Setting:
        if self.least is None and self.most is None:
            raise ValueError("give 'least' or 'most', or both")
        return self

    def holds(self, value: float) -> bool:
        """Return whether a mean is within the bounds."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


class Allowed(_Strict):
    """Regressions that are told and do not fail the gate.

    method, instance, group, what : which, as patterns with * and ?; `what` is a kind of finding, such as objective or time.
    change : only up to so much, 0.01 for 1%; of a mean gap 1 percentage point; None for any change.
    """

    method: str = "*"
    instance: str = "*"
    group: str = "*"
    what: str = "*"
    change: Annotated[float, Field(gt=0)] | None = None
    reason: Annotated[str, Field(min_length=1)]

    @property
    def told(self) -> str:
        """Why a finding does not fail the gate."""
        return f"allowed by the suite: {self.reason}"


class Gate(_Strict):
    """What makes a regression of a suite, where the command line does not say: see `compare`'s options of these names."""

    min_effect: Annotated[float, Field(ge=0, le=1)] | None = None
    fail_on: str | None = None
    allowed: list[Allowed] = []


class Sweep(_Strict):
    """A figure of the report: a measure against a parameter, a line for each method without it.

    x : a parameter of the methods, else of the instances, else another measure. methods : names of those to show, empty
    for all. price : a parameter of the instances that prices x against y, so that the objective is y + worth x, where
    `worth` is a measure: every instance's bound then lies under all points of the others that differ in the price only.
    """

    title: str
    x: str
    y: str
    methods: list[str] = []
    log_y: bool = False
    price: str = ""
    worth: str = ""


class Map(_Strict):
    """A table of which method is the best where: by the lowest mean of a measure, for each pair of two parameters' values.

    x, y : parameters of the instances; those of each group have a map of their own. methods : labels of those to compare,
    empty for all.
    """

    title: str
    x: str
    y: str
    measure: str
    methods: list[str] = []


NUMBERS = ("lower", "upper", "optimum")


class Listed(BaseModel):
    """An instance of a public set: its file, and what is published of its objective, in the family's shown unit.

    file : its path below the directory, or in the archive, that `--trace` gives. upper : of the best solution; lower : the
    best proven bound; optimum : where it is known.
    """

    model_config = STRICT

    name: str
    group: str = ""
    file: str
    status: str = ""
    lower: float | None = None
    upper: float | None = None
    optimum: float | None = None

    @property
    def best_bound(self) -> float | None:
        """The highest published bound."""
        return self.lower if self.optimum is None else self.optimum

    @property
    def best_solution(self) -> float | None:
        """The lowest published objective."""
        return self.upper if self.optimum is None else self.optimum

    @property
    def is_closed(self) -> bool:
        """Whether the optimum follows from what is published."""
        return self.best_bound is not None and self.best_bound == self.best_solution


class Collection(BaseModel):
    """Instances from a public set, one for each that is listed; a list may be a CSV file beside the suite's.

    importer : the format that reads a file of it; it has the parameters `member` and `name`. origin : what the set is, and
    where to get it. table : the CSV file, whose columns are the fields of `Listed`. where : of its rows only those with one
    of the values in each of these columns. listed : instead of a table, or what was read from it.
    """

    model_config = STRICT

    importer: str
    origin: str
    table: str = ""
    where: dict[str, list[str]] = {}
    listed: list[Listed] = []

    @model_validator(mode="after")
    def _lists_some(self) -> Collection:
        if not self.listed:
            raise ValueError("give 'listed', or a 'table' of which some rows are as 'where' says")
        return self


def with_tables(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a suite's document with what its collections list in tables. folder : of its file.

    Raises
    ------
    SuiteError
        for a table that cannot be read.
    """
    given = document.get("collection")
    if not isinstance(given, list):
        return document
    return {**document, "collection": [_with_rows(each, folder) for each in given]}


def _with_rows(given: Any, folder: Path) -> Any:
    table = given.get("table") if isinstance(given, dict) else None
    where = given.get("where", {}) if table else None
    if not isinstance(table, str) or not isinstance(where, dict) or "listed" in given:
        return given
    path = folder / table
    try:
        rows = list(csv.DictReader(io.StringIO(read_given(path).decode(), newline=""), strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise SuiteError(f"{path}: cannot be read as a CSV table ({error!s:.100}); give one as 'table'.") from None
    missing = [column for column in where if rows and column not in rows[0]]
    if missing:
        raise SuiteError(f"{path}: no column '{missing[0]:.60}', which 'where' asks for; it has {', '.join(rows[0])}.")
    chosen = [row for row in rows if all(row[column] in values for column, values in where.items())]
    return {**given, "listed": [_row(path, row) for row in chosen]}


def _row(path: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as `Listed` has it: numbers as such, without what is empty."""
    try:
        return {key: float(value) if key in NUMBERS else value for key, value in row.items() if value not in ("", None)}
    except (TypeError, ValueError):
        raise SuiteError(f"{path}: {row.get('name')}: a published figure is no number; mend the row.") from None
