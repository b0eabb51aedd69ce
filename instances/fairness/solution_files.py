"""Allocations as JSON files, schema `schedgap/fairness-solution/1`.

Amounts are in tasks, as exact decimals: a number, or text where a number of 15 digits would not be exact.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NotRequired

import numpy as np

from schedgap.instances.documents import (
    Columns,
    Custom,
    Field,
    Index,
    Lookup,
    Positive,
    SolutionDocument,
    Table,
    list_of,
    record,
)
from schedgap.instances.errors import SolutionError
from schedgap.instances.fairness.solution import SPREAD, TASK, Certificate, FairnessAllocation, shown_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.documents import Given, Place
    from schedgap.instances.fairness.model import FairnessInstance

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
