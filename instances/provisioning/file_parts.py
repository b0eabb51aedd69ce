"""What files of every family of rented machines share: machine types, demands per family, pairwise throughputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import InstanceError
from schedgap.instances.file_kinds import STRICT, Amount
from schedgap.instances.files import from_units, to_units
from schedgap.instances.provisioning.model import NOT_ALLOWED
from schedgap.instances.units import resource_scale, resource_scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


@with_config(STRICT)
class MachineTypeFile(TypedDict):
    """One machine type; `price` in dollars per hour."""

    name: str
    family: str
    capacity: list[Amount]
    price: Annotated[float, Field(gt=0)]


@with_config(STRICT)
class DemandFile(TypedDict):
    """A task class: `demand` per machine family, or under `any` for every family not named."""

    name: str
    demand: dict[str, list[Amount]]


def read_machine_types(resources: Sequence[str], types: Sequence[MachineTypeFile]) -> dict[str, Any]:
    """Return the fields of a `ProvisioningInstance` that say what can be rented.

    Raises
    ------
    InstanceError
        for a capacity of another number of resources, or a number that is not a whole one of units.
    """
    for kind in types:
        if len(kind["capacity"]) != len(resources):
            raise InstanceError(
                f"machine type {kind['name']} has {len(kind['capacity'])} capacities for the "
                f"{len(resources)} resources {', '.join(resources)}; give one each."
            )
    families = tuple(dict.fromkeys(kind["family"] for kind in types))
    names = tuple(kind["name"] for kind in types)
    capacity = np.array([kind["capacity"] for kind in types]).reshape(len(types), len(resources))
    return {
        "resources": tuple(resources),
        "families": families,
        "type_names": names,
        "type2family": [families.index(kind["family"]) for kind in types],
        "capacity": to_units(
            capacity, resource_scales(resources), "machine_types.capacity", InstanceError, (names, resources)
        ),
        "price": to_units([kind["price"] for kind in types], 1_000_000, "machine_types.price", InstanceError, (names,)),
    }


def written_machine_types(instance: ProvisioningInstance) -> list[MachineTypeFile]:
    """Return the machine types as their file has them."""
    return [
        {
            "name": name,
            "family": instance.families[instance.type2family[k]],
            "capacity": _amounts(instance.capacity[k], instance.resources),
            "price": from_units(int(instance.price[k]), 1_000_000),
        }
        for k, name in enumerate(instance.type_names)
    ]


def read_demand(tasks: Sequence[DemandFile], families: tuple[str, ...], resources: Sequence[str]) -> IntArray:
    """Return (F, C, R) int64, rows of -1 where a class may not run on a family.

    Raises
    ------
    InstanceError
        for a family that no machine type has, or a vector of another number of resources.
    """
    demand = np.full((len(families), len(tasks), len(resources)), float(NOT_ALLOWED))
    known = set(families) | {"any"}
    for c, task in enumerate(tasks):
        for family, vector in task["demand"].items():
            if family not in known:
                raise InstanceError(
                    f"task {task['name']} has a demand for family '{family}'; machine types have "
                    f"{', '.join(families)}, or write 'any'."
                )
            if len(vector) != len(resources):
                raise InstanceError(
                    f"task {task['name']} has {len(vector)} demands on '{family}' for {len(resources)} resources; "
                    "give one each."
                )
        for f, family in enumerate(families):
            vector = task["demand"].get(family, task["demand"].get("any", []))
            if vector:
                demand[f, c] = vector
    allowed = demand[:, :, :1] != NOT_ALLOWED
    names = families, [task["name"] for task in tasks], resources
    units = to_units(np.where(allowed, demand, 0), resource_scales(resources), "tasks.demand", InstanceError, names)
    return np.where(allowed, units, NOT_ALLOWED)


def written_demand(instance: ProvisioningInstance, c: int) -> dict[str, list[float]]:
    """Return the demand of class `c` as its file has it: `any` where all families have the same."""
    vectors = {
        family: _amounts(instance.demand[f, c], instance.resources)
        for f, family in enumerate(instance.families)
        if instance.demand[f, c, 0] != NOT_ALLOWED
    }
    first = next(iter(vectors.values()))
    same = len(vectors) == len(instance.families) and all(vector == first for vector in vectors.values())
    return {"any": first} if same else vectors


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


def _amounts(values: IntArray, resources: Sequence[str]) -> list[float]:
    return [from_units(v, resource_scale(r)) for v, r in zip(values.tolist(), resources, strict=True)]
