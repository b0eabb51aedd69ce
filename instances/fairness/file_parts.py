"""What files of every family of shared machines have in common: machine classes, and what their users need of them.

Performance is written at the machine classes, and at a user only where it differs from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.documents import Amount, Amounts, Count, Field, Positive, RowPart, Rows, Value, optional_names
from schedgap.instances.documents.amounts import to_units
from schedgap.instances.fairness.model import ONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.instances.documents import Given, Place, Table

# At the head of the document. A machine class's performance is that of users who give none of their own.
SHARED_MACHINES = (
    Value("notion", Literal["eunomia", "tsf", "cmmf", "drf"]),
    Value("resources", Annotated[list[str], Constraint(min_length=1)]),
    Rows(
        "machine_classes",
        Field("name", str, "machine_names"),
        Field("count", Count, "machine_count", default=1),
        Amounts("capacity", plural="capacities"),
        Field("performance", Amount, scale=ONE, default=ONE, omitted=True, get=lambda shared: shared.performance[0]),
        label="machine class",
        least=1,
    ),
)


def sharer_fields(names: str) -> tuple[Field | RowPart, ...]:
    """Return the fields of a user of machines. names : the attribute that holds the users' names."""
    return (
        optional_names(names),
        Amounts("demand", plural="demands"),
        Field("weight", Positive, scale=ONE, default=ONE, omitted=True),
        # `allowed` names machine classes, all by default; `performance` is one number, or one a class.
        RowPart(
            {"allowed": NotRequired[list[str]], "performance": NotRequired[Amount | dict[str, Amount]]}, _read, _write
        ),
    )


def _read(sharers: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
    classes: Sequence[str] = place.owner.machine_names
    class2index = {name: k for k, name in enumerate(classes)}
    performance = np.tile(np.asarray(place.owner.performance) / ONE, (len(sharers), 1))
    allowed = np.ones(performance.shape, np.bool_)
    for i, sharer in enumerate(sharers):
        if "allowed" in sharer:
            allowed[i] = False
            where = f"{table.row(i)} is allowed on"
            allowed[i, _indices(where, sharer["allowed"], class2index, place)] = True
        own = sharer.get("performance")
        if isinstance(own, dict):
            where = f"{table.row(i)} has a performance on"
            performance[i, _indices(where, own, class2index, place)] = list(own.values())
        elif own is not None:
            performance[i] = own
    names = table.names or [str(i) for i in range(len(sharers))]
    return {"performance": to_units(performance, ONE, "performance", place.error, (names, classes)), "allowed": allowed}


def _write(shared: Any, _: Place) -> list[Given]:
    sharers: list[Given] = []
    for i, allowed in enumerate(shared.allowed):
        sharer: dict[str, Any] = {}
        if not allowed.all():
            sharer["allowed"] = [shared.machine_names[k] for k in np.flatnonzero(allowed).tolist()]
        other = np.flatnonzero(shared.performance[i] != shared.performance[0]).tolist()
        if other:
            own = shared.performance[i].tolist()
            sharer["performance"] = {shared.machine_names[k]: own[k] / ONE for k in other}
        sharers.append(sharer)
    return sharers


def _indices(
    where: str, names: Sequence[str] | Mapping[str, float], known: Mapping[str, int], place: Place
) -> list[int]:
    for name in names:
        if name not in known:
            raise place.error(f"{where} machine class '{name:.60}'; there are {', '.join(known):.200}.")
    return [known[name] for name in names]
