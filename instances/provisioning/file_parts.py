"""What files of every family of rented machines share: machine types, demands per family, pairwise throughputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.documents import Amount, Amounts, Field, Positive, RowPart, Rows
from schedgap.instances.documents.amounts import from_units, to_units
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import NOT_ALLOWED
from schedgap.instances.units import DOLLAR, resource_scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.documents import Given, Place, Table

RESOURCES = Annotated[list[str], Constraint(min_length=1)]


def machine_types(*more: Field) -> Rows:
    """Return the field `machine_types` of a document, each with `more` fields; prices are dollars per hour."""
    return Rows(
        "machine_types",
        Field("name", str, "type_names"),
        RowPart({"family": str}, _read_families, _write_families),
        Amounts("capacity", plural="capacities"),
        Field("price", Positive, scale=DOLLAR),
        *more,
        label="machine type",
        least=1,
    )


def _read_families(types: Sequence[Given], *_: object) -> dict[str, Any]:
    families = tuple(dict.fromkeys(kind["family"] for kind in types))
    return {"families": families, "type2family": [families.index(kind["family"]) for kind in types]}


def _write_families(catalogue: Any, _: Place) -> list[Given]:
    return [{"family": catalogue.families[f]} for f in catalogue.type2family.tolist()]


def _read_demand(tasks: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
    """(F, C, R) int64, rows of -1 where a class may not run on a family."""
    families, resources = place.owner.families, place.owner.resources
    demand = np.full((len(families), len(tasks), len(resources)), float(NOT_ALLOWED))
    known = {*families, "any"}
    for c, task in enumerate(tasks):
        for family, vector in task["demand"].items():
            if family not in known:
                raise place.error(
                    f"{table.row(c)} has a demand for family '{family}'; machine types have "
                    f"{', '.join(families)}, or write 'any'."
                )
            if len(vector) != len(resources):
                raise place.error(
                    f"{table.row(c)} has {len(vector)} demands on '{family}' for {len(resources)} resources; "
                    "give one each."
                )
        for f, family in enumerate(families):
            vector = task["demand"].get(family, task["demand"].get("any", []))
            if vector:
                demand[f, c] = vector
    allowed = demand[:, :, :1] != NOT_ALLOWED
    names = families, table.names, resources
    units = to_units(np.where(allowed, demand, 0), resource_scales(resources), "tasks.demand", place.error, names)
    return {"demand": np.where(allowed, units, NOT_ALLOWED)}


def _write_demand(catalogue: Any, _: Place) -> list[Given]:
    scales = resource_scales(catalogue.resources).tolist()
    tasks: list[Given] = []
    for c in range(catalogue.demand.shape[1]):
        vectors = {
            family: [from_units(v, scale) for v, scale in zip(vector, scales, strict=True)]
            for family, vector in zip(catalogue.families, catalogue.demand[:, c].tolist(), strict=True)
            if vector[0] != NOT_ALLOWED
        }
        first = next(iter(vectors.values()))
        same = len(vectors) == len(catalogue.families) and all(vector == first for vector in vectors.values())
        tasks.append({"demand": {"any": first} if same else vectors})
    return tasks


# `demand` per machine family, or under `any` for every family not named.
DEMAND = RowPart({"demand": dict[str, list[Amount]]}, _read_demand, _write_demand)


def check_square(workloads: Sequence[str], throughput: Sequence[Sequence[object]], what: str = "interference") -> None:
    """Refuse pairwise throughputs, the field `what`, that have not one row and column for each workload.

    Raises
    ------
    InstanceError
        naming how many there must be.
    """
    width = len(workloads)
    if [len(row) for row in throughput] != [width] * width:
        raise InstanceError(f"{what}: throughput is not {width} x {width}, one row and column for each workload.")
