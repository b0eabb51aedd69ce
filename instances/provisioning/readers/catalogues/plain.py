"""A price list of one's own: CSV with `name`, `price` and a column for each resource; see docs/kubernetes.md."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues.catalogue import (
    ARCHITECTURES,
    ON_DEMAND,
    SPOT,
    SYSTEMS,
    Catalogue,
    MachineType,
    Offering,
    merged,
    size_labels,
    type_labels,
)
from schedgap.instances.provisioning.readers.quantities import (
    CPU,
    PODS,
    RAM,
    THOUSAND,
    column_resource,
    decimal,
    listed,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from schedgap.instances.provisioning.readers.catalogues.catalogue import Labels

MIB = 2**20
WHAT = "price list"
COLUMNS = ("name", "price")
# Columns that are no resource.
OTHERS = (*COLUMNS, "spot_price", "zone", "family", "count", "fee", "arch", "os", "gpu_name")


def plain(path: Path) -> Catalogue:
    """Read a price list; every column beside `OTHERS` is a resource, empty where a type has none.

    Raises
    ------
    InstanceError
        naming line and column of what is malformed.
    """
    types, notes = plain_types(path)
    if not types:
        raise InstanceError(f"{path.name}: no machine types after the header; the price list is empty.")
    return Catalogue(types, notes)


def plain_types(path: Path, columns: Collection[str] = ()) -> tuple[tuple[MachineType, ...], tuple[str, ...]]:
    """Return the machine types of a price list, and what is to be said of them. columns : those that are read; all if empty."""
    types, rounded = [], 0
    strange: dict[str, None] = {}
    for line, given in read_rows(path, COLUMNS, WHAT):
        row = {key: text for key, text in given.items() if not columns or key in columns}
        name, fee, arch, system = (row.get(key, "").strip() for key in ("name", "fee", "arch", "os"))
        capacity, inexact = row_amounts(path, line, row, OTHERS, math.floor)
        rounded += inexact
        empty = {column_resource(column)[0] for column, text in row.items() if not text.strip()}
        # Of GPUs and the like an empty field is none.
        capacity = {key: size for key, size in capacity.items() if key not in empty & {CPU, RAM, PODS}}
        strange |= {
            f"{column} '{text:.60}'": None
            for column, text, known in (("arch", arch, ARCHITECTURES), ("os", system, SYSTEMS))
            if text and text.lower() not in known
        }
        types.append(
            MachineType(
                row_name(path, line, row),
                capacity,
                row_offerings(path, line, row),
                labels=type_labels(name, arch, system) | _size_labels(row, capacity),
                family=row.get("family", "").strip(),
                gpu_model=row.get("gpu_name", "").strip(),
                fee=amount(path, line, "fee", fee) if fee else None,
            )
        )
    notes = [f"{path.name}: {rounded} capacities are no whole bytes or thousandths and were rounded down."]
    notes = notes if rounded else []
    if strange:
        notes.append(
            f"{path.name}: not known to Kubernetes, so that these machines count as any: {listed([*strange])}."
        )
    return merged(path.name, types), tuple(notes)


def _size_labels(row: Mapping[str, str], capacity: Mapping[str, int]) -> Labels:
    """Return the labels that follow from a row's amounts, which are those of the whole machine."""
    cpu, ram, gpus = (capacity.get(name) for name in (CPU, RAM, "gpu"))
    column = next((name for name in row if column_resource(name)[0] == RAM), "")
    return size_labels(
        None if cpu is None else Fraction(cpu, THOUSAND),
        None if ram is None else Fraction(ram, MIB),
        None if gpus is None or gpus % THOUSAND else gpus // THOUSAND,
        rounded=column.endswith("_gib"),
    )


def row_name(path: Path, line: int, row: Mapping[str, str]) -> str:
    """Return the field `name`, which must not be empty."""
    name = row["name"].strip()
    if not name or not name.isprintable():
        raise InstanceError(f"{path.name} line {line}: name is {name!r:.60}; give one in printable characters.")
    return name


def row_offerings(path: Path, line: int, row: Mapping[str, str]) -> tuple[Offering, ...]:
    """Return the prices of a row with `price` and, if it has them, `spot_price`, `zone` and `count`; an empty price is none."""
    zone, count = row.get("zone", "").strip(), row.get("count", "").strip()
    number = whole_number(path, line, "count", count) if count else -1
    columns = (("price", ON_DEMAND), ("spot_price", SPOT))
    given = [(column, kind, text) for column, kind in columns if (text := row.get(column, "").strip())]
    if not given:
        raise InstanceError(f"{path.name} line {line}: no price; give dollars an hour, or remove the line.")
    return tuple(Offering(kind, zone, positive(path, line, column, text), number) for column, kind, text in given)


def row_amounts(
    path: Path, line: int, row: Mapping[str, str], others: Sequence[str], rounding: object
) -> tuple[dict[str, int], int]:
    """Return the resources of a row in fine units, and how many had to be rounded. rounding : `math.floor` or `ceil`."""
    amounts: dict[str, int] = {}
    rounded = 0
    for column, text in row.items():
        if column in others:
            continue
        resource, scale = column_resource(column)
        if resource in amounts:
            raise InstanceError(f"{path.name} line 1: two columns are {resource}, one of them '{column}'; remove one.")
        value = amount(path, line, column, text) * scale if text.strip() else 0
        amounts[resource] = rounding(value)  # type: ignore[operator]
        rounded += amounts[resource] != value
    return amounts, rounded


def amount(path: Path, line: int, column: str, text: str) -> Fraction:
    """Return a field as an exact number that is not negative.

    Raises
    ------
    InstanceError
        naming the line and the column of anything else.
    """
    value = decimal(text)
    if value is None or value > 2**50:
        raise InstanceError(
            f"{path.name} line {line}: {column:.60} is {text.strip()!r:.60}, not a number from 0 to 2^50; mend or remove "
            "the line."
        )
    return value


def positive(path: Path, line: int, column: str, text: str) -> Fraction:
    """Return a price: an exact number above 0 that is at least a micro-dollar and below 2^40 dollars."""
    value = amount(path, line, column, text)
    if not 1 <= value * 10**6 < 2**60:
        raise InstanceError(
            f"{path.name} line {line}: {column} is {text.strip()!r:.60}; it must be at least a micro-dollar and "
            "below 2^40 dollars."
        )
    return value
