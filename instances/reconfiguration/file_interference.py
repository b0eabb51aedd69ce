"""Throughputs of pairs and of whole sets, as files of instances have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired

import numpy as np

from schedgap.instances.documents import Amount, Count, Custom, Given, Place, record
from schedgap.instances.documents.amounts import to_units
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.file_parts import check_square
from schedgap.instances.reconfiguration.stored_sets import ABSENT, StoredSets, in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import IntArray

# `throughput[i][j]` is the normalised throughput of workload i beside workload j; none may be missing.
TABLE = {"workloads": list[str], "throughput": list[list[Amount | None]]}
# Throughputs of sets of three to `most` tasks, and of long ones: `StoredSets`, its ranks as lists of workloads.
SETS = {**TABLE, "sorted": list[str], "listed": list[str], "most": Count, "listed_long": list[str], "most_long": Count}


def read_throughput(given: Given, names: Sequence[str], what: str = "interference") -> IntArray:
    """Return (W, W) int64 thousandths, in the order of the workloads.

    what : the field, for messages.

    Raises
    ------
    InstanceError
        for a workload that is unknown, there twice or missing, and a number that is missing or not in [0, 1].
    """
    check_square(given["workloads"], given["throughput"], what)
    _check_names(what, given["workloads"], names)
    table: dict[tuple[str, str], float | None] = {
        (beside, other): value
        for beside, row in zip(given["workloads"], given["throughput"], strict=True)
        for other, value in zip(given["workloads"], row, strict=True)
    }
    for beside in names:
        for other in names:
            value = table.get((beside, other))
            if value is None or value > 1:
                shown = "missing" if value is None else f"{value:g}"
                raise InstanceError(
                    f"{what}: the throughput of {beside} beside {other} is {shown}; give a number in [0, 1]."
                )
    values = [[table[beside, other] for other in names] for beside in names]
    return to_units(
        np.array(values).reshape(len(names), len(names)), 1000, f"{what}.throughput", InstanceError, (names, names)
    )


def read_stored_sets(given: Given, names: Sequence[str]) -> StoredSets:
    """Return stored sets, in the order of the workloads.

    Raises
    ------
    InstanceError
        for a workload that is unknown, there twice or missing, and anything that `StoredSets` refuses.
    """
    return StoredSets(
        throughput=read_throughput(given, names, "stored_sets"),
        sorted_rank=_rank("sorted", given["sorted"], names, whole=True),
        listed_rank=_rank("listed", given["listed"], names, whole=True),
        long_rank=_rank("listed_long", given["listed_long"], names, whole=False),
        most=given["most"],
        most_long=given["most_long"],
    )


def _rank(key: str, order: list[str], names: Sequence[str], *, whole: bool) -> IntArray:
    _check_names(f"stored_sets.{key}", order, names)
    missing = [name for name in names if name not in order]
    if whole and missing:
        raise InstanceError(f"stored_sets.{key} lacks workload '{missing[0]:.60}'; name each workload once.")
    return np.array([order.index(name) if name in order else ABSENT for name in names], np.int64)


def _check_names(what: str, given: list[str], names: Sequence[str]) -> None:
    for name in given:
        if name not in names or given.count(name) > 1:
            trouble = "twice" if name in names else "which is not among the workloads"
            raise InstanceError(f"{what} names workload '{name:.60}' {trouble}; name each workload once.")


def _read_interference(document: Given, place: Place) -> dict[str, Any]:
    if "interference" not in document:
        return {}
    return {"throughput": read_throughput(document["interference"], place.owner.workloads)}


def _write_interference(source: Any, _: Place) -> dict[str, Any]:
    if source.throughput is None:
        return {}
    return {"interference": _written(source.throughput, source.workloads)}


def _read_sets(document: Given, place: Place) -> dict[str, Any]:
    if "stored_sets" not in document:
        return {}
    return {"stored_sets": read_stored_sets(document["stored_sets"], place.owner.workloads)}


def _write_sets(source: Any, _: Place) -> dict[str, Any]:
    sets, names = source.stored_sets, source.workloads
    if sets is None:
        return {}
    return {
        "stored_sets": {
            **_written(sets.throughput, names),
            "sorted": [names[w] for w in in_order(sets.sorted_rank)],
            "listed": [names[w] for w in in_order(sets.listed_rank)],
            "most": sets.most,
            "listed_long": [names[w] for w in in_order(sets.long_rank)],
            "most_long": sets.most_long,
        }
    }


def _written(throughput: IntArray, names: Sequence[str]) -> dict[str, Any]:
    return {"workloads": list(names), "throughput": (throughput / 1000).tolist()}


INTERFERENCE = Custom(
    {"interference": NotRequired[record("Interference", TABLE)]}, _read_interference, _write_interference
)
STORED_SETS = Custom({"stored_sets": NotRequired[record("StoredSets", SETS)]}, _read_sets, _write_sets)
