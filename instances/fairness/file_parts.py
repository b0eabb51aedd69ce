"""What files of every family of shared machines have in common: machine classes, and what their users need of them.

Performance is written at the machine classes, and at a user only where it differs from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from pydantic import Field, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.model import ONE
from schedgap.instances.file_kinds import STRICT, Amount, Count
from schedgap.instances.files import from_units, to_units
from schedgap.instances.units import resource_scale, resource_scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.fairness.model import FairnessInstance
    from schedgap.instances.sharing.model import SharingInstance

    Shared = FairnessInstance | SharingInstance


@with_config(STRICT)
class MachineClassFile(TypedDict):
    """Equal machines. `performance` is that of users who give none of their own, 1 by default."""

    name: str
    count: NotRequired[Count]
    capacity: list[Amount]
    performance: NotRequired[Amount]


@with_config(STRICT)
class SharerFile(TypedDict):
    """A user of machines. `allowed` names machine classes, all by default; `performance` is one number, or one a class."""

    name: NotRequired[str]
    demand: list[Amount]
    weight: NotRequired[Annotated[float, Field(gt=0)]]
    allowed: NotRequired[list[str]]
    performance: NotRequired[Amount | dict[str, Amount]]


def read_machine_classes(resources: Sequence[str], classes: Sequence[MachineClassFile]) -> dict[str, Any]:
    """Return the fields `resources`, `machine_names`, `machine_count` and `capacity` of an instance.

    Raises
    ------
    InstanceError
        for a capacity of another number of resources, or a number that is not a whole one of units.
    """
    for kind in classes:
        _check_vector(f"machine class {kind['name']}", "capacities", kind["capacity"], resources)
    capacity = np.array([kind["capacity"] for kind in classes]).reshape(len(classes), len(resources))
    names = tuple(kind["name"] for kind in classes)
    return {
        "resources": tuple(resources),
        "machine_names": names,
        "machine_count": [kind.get("count", 1) for kind in classes],
        "capacity": to_units(
            capacity, resource_scales(resources), "machine_classes.capacity", InstanceError, (names, resources)
        ),
    }


def read_sharers(
    what: str, sharers: Sequence[SharerFile], resources: Sequence[str], classes: Sequence[MachineClassFile]
) -> dict[str, Any]:
    """Return the fields `demand`, `weight`, `performance` and `allowed` of an instance.

    what : how messages call one of the sharers, such as `user`.

    Raises
    ------
    InstanceError
        for a demand of another number of resources, an unknown machine class, or a number that is not a whole one of
        units.
    """
    class2index = {kind["name"]: k for k, kind in enumerate(classes)}
    performance = np.empty((len(sharers), len(classes)))
    performance[:] = [kind.get("performance", 1.0) for kind in classes]
    allowed = np.ones((len(sharers), len(classes)), np.bool_)
    for i, sharer in enumerate(sharers):
        label = f"{what} {sharer.get('name', i)}"
        _check_vector(label, "demands", sharer["demand"], resources)
        if "allowed" in sharer:
            allowed[i] = False
            allowed[i, _indices(label, "is allowed on", sharer["allowed"], class2index)] = True
        own = sharer.get("performance")
        if isinstance(own, dict):
            performance[i, _indices(label, "has a performance on", own, class2index)] = list(own.values())
        elif own is not None:
            performance[i] = own
    demand = np.array([sharer["demand"] for sharer in sharers], np.float64).reshape(len(sharers), len(resources))
    weight = [sharer.get("weight", 1.0) for sharer in sharers]
    names = [str(sharer.get("name", i)) for i, sharer in enumerate(sharers)]
    return {
        "demand": to_units(demand, resource_scales(resources), f"{what}s.demand", InstanceError, (names, resources)),
        "weight": to_units(weight, ONE, f"{what}s.weight", InstanceError, (names,)),
        "performance": to_units(performance, ONE, "performance", InstanceError, (names, list(class2index))),
        "allowed": allowed,
    }


def read_sharer_names(what: str, sharers: Sequence[SharerFile]) -> tuple[str, ...] | None:
    """Return the names, None where none has one.

    Raises
    ------
    InstanceError
        where only some have one.
    """
    named = [sharer["name"] for sharer in sharers if "name" in sharer]
    if named and len(named) < len(sharers):
        number = next(i for i, sharer in enumerate(sharers) if "name" not in sharer)
        raise InstanceError(f"{what}s.{number} has no name, others have; name all of them or none.")
    return tuple(named) or None


def written_machine_classes(instance: Shared) -> list[MachineClassFile]:
    """Return the machine classes as their file has them, with the performance that the first user has on them."""
    classes: list[MachineClassFile] = []
    for k, name in enumerate(instance.machine_names):
        kind: MachineClassFile = {
            "name": name,
            "count": int(instance.machine_count[k]),
            "capacity": _amounts(instance.capacity[k], instance.resources),
        }
        if instance.performance[0, k] != ONE:
            kind["performance"] = from_units(int(instance.performance[0, k]), ONE)
        classes.append(kind)
    return classes


def written_sharer(instance: Shared, i: int, name: str | None) -> SharerFile:
    """Return one user as its file has it. name : None for none."""
    sharer: SharerFile = {"demand": _amounts(instance.demand[i], instance.resources)}
    if name is not None:
        sharer = {"name": name, **sharer}
    if instance.weight[i] != ONE:
        sharer["weight"] = from_units(int(instance.weight[i]), ONE)
    if not instance.allowed[i].all():
        sharer["allowed"] = [instance.machine_names[k] for k in np.flatnonzero(instance.allowed[i]).tolist()]
    other = np.flatnonzero(instance.performance[i] != instance.performance[0]).tolist()
    if other:
        own = instance.performance[i].tolist()
        sharer["performance"] = {instance.machine_names[k]: own[k] / ONE for k in other}
    return sharer


def _amounts(values: IntArray, resources: Sequence[str]) -> list[float]:
    return [from_units(v, resource_scale(r)) for v, r in zip(values.tolist(), resources, strict=True)]


def _check_vector(label: str, what: str, vector: Sequence[float], resources: Sequence[str]) -> None:
    if len(vector) != len(resources):
        raise InstanceError(
            f"{label} has {len(vector)} {what} for the {len(resources)} resources {', '.join(resources)}; give one each."
        )


def _indices(label: str, verb: str, names: Sequence[str] | dict[str, float], class2index: dict[str, int]) -> list[int]:
    for name in names:
        if name not in class2index:
            known = ", ".join(class2index)
            raise InstanceError(f"{label} {verb} machine class '{name:.60}'; there are {known:.200}.")
    return [class2index[name] for name in names]
