"""Placement instances as JSON files, schema `schedgap/placement/1`, and placements, schema `schedgap/placement-solution/1`.

Numbers are written as people write them (cores, GiB, 0.5 of a GPU) and converted exactly to integer units. Above 10,000
pods the arrays of nodes and pods go to an `.npz` file beside the JSON file, in integer units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.arrays import IntArray
from schedgap.instances.documents import (
    Amount,
    Amounts,
    Array,
    Columns,
    Field,
    Given,
    Index,
    InstanceDocument,
    Lookup,
    Place,
    RowPart,
    Rows,
    SolutionDocument,
    Stored,
    Table,
    Value,
    list_of,
)
from schedgap.instances.documents.json_files import from_units, to_units
from schedgap.instances.placement.model import (
    ANY,
    MAX_GPUS,
    NO_GANG,
    NOWHERE,
    ONE,
    SCHEMA,
    Placement,
    PlacementInstance,
    devices_of,
)


class _Numbers(Field):
    """GPUs of a node, or slices of a GPU, as lists of their numbers; the attribute has a bit for each."""

    def loaded(self, values: Sequence[Any], table: Table, place: Place) -> IntArray:
        found = np.zeros(len(values), np.int64)
        # Rows without the key have a 0.
        for index, numbers in enumerate(value or [] for value in values):
            if len(set(numbers)) < len(numbers) or max(numbers, default=0) >= MAX_GPUS:
                raise place.error(
                    f"{table.at(self.key)}.{index} is {numbers!s:.60}; give each once, from 0 to {MAX_GPUS - 1}."
                )
            found[index] = sum(1 << number for number in numbers)
        return found

    def dumped(self, values: IntArray, place: Place) -> list[Any]:
        held = devices_of(values, MAX_GPUS)
        numbers = np.split(np.nonzero(held)[1], np.cumsum(held.sum(axis=1))[:-1])
        return [own.tolist() for own in numbers] if len(values) else []


def _given(values: IntArray | None, like: IntArray) -> IntArray:
    return np.zeros_like(like) if values is None else values


def _read_classes(rows: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
    """Read `gpus`, whole GPUs or a share of one; `value`, by default what the unit counts; `types`, by default all."""
    owner = place.owner
    milli = to_units([row.get("gpus", 0.0) for row in rows], ONE, table.at("gpus"), place.error, (table.names,))
    types = {name: t for t, name in enumerate(owner.type_names)}
    admits = np.ones((len(rows), len(types)), np.bool_)
    for c, row in enumerate(rows):
        if milli[c] > ONE and milli[c] % ONE:
            raise place.error(f"{table.row(c)} takes {milli[c] / ONE:g} GPUs; give whole GPUs, or a share of one.")
        if "types" in row:
            if unknown := sorted(set(row["types"]) - types.keys()):
                known = ", ".join(types)
                raise place.error(f"{table.row(c)} may run on node type '{unknown[0]:.60}'; there are {known:.200}.")
            admits[c] = [name in row["types"] for name in types]
    each = np.where(milli > ONE, ONE, milli)
    counted = {"GPUs": milli, "pods": np.full(len(rows), ONE)}.get(owner.unit, np.zeros(len(rows), np.int64))
    given = to_units([row.get("value", 0.0) for row in rows], ONE, table.at("value"), place.error, (table.names,))
    value = np.where(["value" in row for row in rows], given, counted)
    return {"gpus": -(-milli // ONE), "gpu_milli": each, "value": value, "admits": admits}


def _write_classes(instance: PlacementInstance, _: Place) -> list[Given]:
    rows: list[Given] = []
    for c, milli in enumerate((instance.gpus * instance.gpu_milli).tolist()):
        row: dict[str, Any] = {"gpus": from_units(milli, ONE), "value": from_units(int(instance.value[c]), ONE)}
        if not instance.admits[c].all():
            row["types"] = [instance.type_names[t] for t in np.flatnonzero(instance.admits[c]).tolist()]
        rows.append(row)
    return rows


INSTANCE = InstanceDocument(
    SCHEMA,
    PlacementInstance,
    Value("unit", Literal["GPUs", "pods", "value"]),
    Value("resources", Annotated[list[str], Constraint(min_length=1)]),
    Value("max_moves", Index, default=ANY, omitted=True),
    Value("accepts", bool, default=False, omitted=True),
    Value("notes", list[str], default=(), omitted=True),
    Rows(
        "node_types",
        Field("name", str, "type_names"),
        Amounts("capacity", plural="capacities"),
        Field("gpus", Index, "num_gpus", default=0, omitted=True),
        Field("model", str, "gpu_model"),
        Field("gpu_slices", Index, default=0, omitted=True, get=lambda given: _given(given.gpu_slices, given.num_gpus)),
        label="node type",
        least=1,
    ),
    Rows(
        "pod_classes",
        Field("name", str, "class_names"),
        Amounts("demand", plural="demands"),
        RowPart(
            {"gpus": NotRequired[Amount], "value": NotRequired[Amount], "types": NotRequired[list_of(str)]},
            _read_classes,
            _write_classes,
        ),
        Field("slices", Index, default=0, omitted=True, get=lambda given: _given(given.slices, given.gpus)),
        _Numbers("starts", list[Index], default=0, omitted=True, get=lambda given: _given(given.starts, given.gpus)),
        Field("expected", Index, default=0, omitted=True),
        label="pod class",
        least=1,
    ),
    Stored(
        "nodes",
        Columns("nodes", Lookup("type", str, "node2type", known=lambda instance: instance.type_names)),
        Value("node_names", list[str], default=None, omitted=True),
        arrays=[Array("node2type"), Array("node_names", text=True, optional=True)],
        size=lambda instance: instance.num_nodes,
    ),
    Stored(
        "pods",
        Columns(
            "pods",
            Lookup("class", str, "pod2class", known=lambda instance: instance.class_names),
            Field("gang", Index, null=NO_GANG, default=NO_GANG, omitted=True),
            Field("node", Index, "running_node", null=NOWHERE, default=NOWHERE, omitted=True),
            _Numbers("gpus", list[Index], "running_gpus", default=0, omitted=True),
            Field(
                "slice",
                Index,
                "running_start",
                default=0,
                omitted=True,
                get=lambda given: _given(given.running_start, given.pod2class),
            ),
            Field("movable", bool, default=True, omitted=True),
            Field("priority", int, default=0, omitted=True, get=lambda given: _given(given.priority, given.pod2class)),
        ),
        Value("pod_names", list[str], default=None, omitted=True),
        arrays=[
            *(Array("pod2class"), Array("gang"), Array("running_node"), Array("running_gpus"), Array("movable")),
            Array("running_start", optional=True),
            Array("priority", optional=True),
            Array("pod_names", text=True, optional=True),
        ],
        size=lambda instance: instance.num_pods,
    ),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write

# Entry p of both columns is pod p; null where it is refused.
SOLUTION: SolutionDocument[PlacementInstance, Placement] = SolutionDocument(
    "schedgap/placement-solution/1",
    Placement,
    Columns(
        "",
        Field("node", Index, null=NOWHERE),
        _Numbers("gpus", list[Index]),
        Field("slice", Index, "start", default=0, omitted=True),
    ),
)
read_solution, write_solution = SOLUTION.read, SOLUTION.write
