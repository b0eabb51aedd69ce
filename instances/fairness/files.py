"""Fairness instances as JSON files, schema `schedgap/fairness/1`.

Numbers are written as people write them (cores, GiB, performance 1.5) and converted exactly to integer units. Above 2,000
users their arrays go to an `.npz` file beside the JSON file, in integer units.

What files of every family of shared machines have in common: machine classes, and what their users need of them.

Performance is written at the machine classes, and at a user only where it differs from that.

Allocations as JSON files, schema `schedgap/fairness-solution/1`.

Amounts are in tasks, as exact decimals: a number, or text where a number of 15 digits would not be exact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.arrays import IntArray
from schedgap.instances.documents import (
    Amount,
    Amounts,
    Array,
    Columns,
    Count,
    Custom,
    Field,
    Given,
    Index,
    InstanceDocument,
    Lookup,
    Place,
    Positive,
    RowPart,
    Rows,
    SolutionDocument,
    Stored,
    Table,
    Value,
    list_of,
    optional_names,
    record,
)
from schedgap.instances.documents.json_files import to_units
from schedgap.instances.errors import SolutionError
from schedgap.instances.fairness.model import (
    ONE,
    SPREAD,
    TASK,
    UNLIMITED,
    Certificate,
    FairnessAllocation,
    FairnessInstance,
    shown_tasks,
)

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


INSTANCE = InstanceDocument(
    "schedgap/fairness/1",
    FairnessInstance,
    *SHARED_MACHINES,
    Value("notes", list[str], default=(), omitted=True),
    Stored(
        "users",
        Rows(
            "users",
            *sharer_fields("user_names"),
            # Without it a user has more than fit.
            Field("tasks", Count, default=UNLIMITED, omitted=True),
            label="user",
        ),
        arrays=[
            *(Array("demand", 2), Array("weight"), Array("performance", 2), Array("allowed", 2), Array("tasks")),
            Array("user_names", text=True, optional=True),
        ],
        size=lambda instance: instance.num_users,
        inline=2_000,
    ),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write


# Amounts of fewer units have at most 15 digits.
EXACT_UNITS = 10**15
LARGEST_UNITS = 2**63


class _Tasks(Field):
    """Amounts of tasks."""

    def loaded(self, values: Sequence[Any], table: Table, place: Place) -> IntArray:
        return np.array([_units(amount, f"tasks.{e}") for e, amount in enumerate(values)], np.int64)

    def dumped(self, values: IntArray, place: Place) -> list[Any]:
        return [amount / TASK if amount < EXACT_UNITS else shown_tasks(amount) for amount in values.tolist()]


def _units(amount: float | str, where: str) -> int:
    """Return an amount of tasks in units, exactly."""
    if isinstance(amount, str) and not re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,20})?", amount):
        raise SolutionError(f"{where} is '{amount:.60}'; give a number of tasks, such as 12.5.")
    # The shortest decimal that is this number is the one that was written.
    units = Decimal(amount if isinstance(amount, str) else repr(amount)) * TASK
    if units != int(units):
        raise SolutionError(f"{where} is {amount!s:.60}; give at most 12 digits after the point.")
    if not 0 <= units < LARGEST_UNITS:
        raise SolutionError(f"{where} is {amount!s:.60}; give a number of tasks from 0 to {LARGEST_UNITS // TASK}.")
    return int(units)


USER = Lookup("user", str, known=lambda instance: [instance.user_name(i) for i in range(instance.num_users)])
CLASS = Lookup("machine_class", str, known=lambda instance: instance.machine_names)
RESOURCE = Lookup("resource", str, known=lambda instance: instance.resources)


def _read_certificate(document: Given, place: Place) -> dict[str, Any]:
    if "certificate" not in document:
        return {}
    cuts = document["certificate"]
    weights = [(c, user, weight) for c, cut in enumerate(cuts) for user, weight in cut["weights"].items()]
    prices = [
        (c, name, resource, price)
        for c, cut in enumerate(cuts)
        for name, of_class in cut["prices"].items()
        for resource, price in of_class.items()
    ]
    share_cut, share_user, share_weight = zip(*weights, strict=True) if weights else ((),) * 3
    price_cut, price_class, price_resource, price = zip(*prices, strict=True) if prices else ((),) * 4
    in_weights, in_prices = Table("certificate", "certificate weight"), Table("certificate", "certificate price")
    certificate = Certificate(
        share_cut=np.array(share_cut, np.int64),
        share_user=USER.loaded(share_user, in_weights, place),
        share_weight=np.array(share_weight),
        price_cut=np.array(price_cut, np.int64),
        price_class=CLASS.loaded(price_class, in_prices, place),
        price_resource=RESOURCE.loaded(price_resource, in_prices, place),
        price=np.array(price),
    )
    return {"certificate": certificate}


def _write_certificate(allocation: FairnessAllocation, place: Place) -> dict[str, Any]:
    given = allocation.certificate
    if given is None:
        return {}
    users = USER.dumped(given.share_user, place)
    classes, resources = CLASS.dumped(given.price_class, place), RESOURCE.dumped(given.price_resource, place)
    numbers = sorted({*given.share_cut.tolist(), *given.price_cut.tolist()})
    cuts: dict[int, dict[str, Any]] = {cut: {"weights": {}, "prices": {}} for cut in numbers}
    for cut, user, weight in zip(given.share_cut.tolist(), users, given.share_weight.tolist(), strict=True):
        cuts[cut]["weights"][user] = weight
    for cut, name, resource, price in zip(
        given.price_cut.tolist(), classes, resources, given.price.tolist(), strict=True
    ):
        of_class = cuts[cut]["prices"].setdefault(name, {})
        of_class[resource] = of_class.get(resource, 0.0) + price
    return {"certificate": list(cuts.values())}


# The weight of each user's share, and per machine class the price of an integer unit of each resource.
CUT = record("Cut", {"weights": dict[str, Positive], "prices": dict[str, dict[str, Positive]]})
SOLUTION: SolutionDocument[FairnessInstance, FairnessAllocation] = SolutionDocument(
    "schedgap/fairness-solution/1",
    FairnessAllocation,
    Columns(
        "",
        USER,
        CLASS,
        _Tasks("tasks", float | str, "amount"),
        # Null where an amount is spread over all machines of the class.
        Field("machine", Index, "copy", null=SPREAD, default=SPREAD, omitted=True),
    ),
    Custom({"certificate": NotRequired[list_of(CUT)]}, _read_certificate, _write_certificate),
)
read_solution, write_solution = SOLUTION.read, SOLUTION.write
