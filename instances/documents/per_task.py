"""Rows that are jobs of several tasks, with amounts for each task or one for all."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.documents.amounts import to_units
from schedgap.instances.documents.fields import Given, Place, RowPart, Table
from schedgap.instances.documents.kinds import Positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import FloatArray

OneOrEach = Positive | Annotated[list[Positive], Constraint(min_length=1)]


def per_task(scale: int, first: tuple[str, str], *others: tuple[str, str]) -> RowPart:
    """Return the keys `tasks` and those given, each with its attribute; by default the others are as the first.

    The attribute `first_task`, (J + 1,), says which tasks are a job's.
    """
    fields = (first, *others)

    def read(rows: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
        def each(index: int, key: str) -> FloatArray:
            row = rows[index]
            given, main = row.get(key, row[first[0]]), row[first[0]]
            tasks = row.get("tasks", len(main) if isinstance(main, list) else 1)
            if not isinstance(given, list):
                return np.full(tasks, given, np.float64)
            if tasks != len(given):
                raise place.error(
                    f"{table.row(index)} has {tasks} tasks and {len(given)} numbers in {key}; "
                    "give one number, or one each."
                )
            return np.array(given, np.float64)

        amounts = {key: [each(index, key) for index in range(len(rows))] for key, _ in fields}
        sizes = [amount.size for amount in amounts[first[0]]]
        names = np.repeat(table.names or np.arange(len(rows)).astype(str), sizes).tolist()
        return {"first_task": np.cumsum([0, *sizes])} | {
            attribute: to_units(np.concatenate([*amounts[key], []]), scale, table.at(key), place.error, (names,))
            for key, attribute in fields
        }

    def write(source: Any, _: Place) -> Sequence[Given]:
        values = {key: (getattr(source, attribute) / scale).tolist() for key, attribute in fields}
        first_task = source.first_task.tolist()
        rows = []
        for begin, end in itertools.pairwise(first_task):
            row: dict[str, Any] = {"tasks": end - begin}
            for key in values:
                amounts = values[key][begin:end]
                if key == first[0] or amounts != values[first[0]][begin:end]:
                    row[key] = amounts[0] if len(set(amounts)) == 1 else amounts
            rows.append(row)
        return rows

    keys: dict[str, Any] = {"tasks": NotRequired[Annotated[int, Constraint(ge=1, le=10**8)]], first[0]: OneOrEach}
    return RowPart(keys | {key: NotRequired[OneOrEach] for key, _ in others}, read, write)
