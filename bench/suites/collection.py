"""Public sets of instances in a suite: a list with what is published of each, and files that only `--trace` gives."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, model_validator

from schedgap.bench.suites.published import STRICT
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import SuiteError

if TYPE_CHECKING:
    from pathlib import Path

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
