"""Allocations as JSON files, schema `schedgap/fairness-solution/1`.

Amounts are in tasks, as exact decimals: a number, or text where a number of 15 digits would not be exact.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import SolutionError
from schedgap.instances.fairness.allocation import SPREAD, TASK, Certificate, FairnessAllocation, shown_tasks
from schedgap.instances.file_kinds import STRICT
from schedgap.instances.files import naming_file, read_document, refuse_other_instance, write_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.fairness.model import FairnessInstance

Index = Annotated[int, Field(ge=0, le=2**53)]
Positive = Annotated[float, Field(gt=0)]
# Amounts of fewer units have at most 15 digits.
EXACT_UNITS = 10**15
LARGEST_UNITS = 2**63


@with_config(STRICT)
class CutFile(TypedDict):
    """One cut: the weight of each user's share, and per machine class the price of an integer unit of each resource."""

    weights: dict[str, Positive]
    prices: dict[str, dict[str, Positive]]


@with_config(STRICT)
class SolutionFile(TypedDict):
    """The document, a column each. `machine` is null where an amount is spread over all machines of the class."""

    schema: Literal["schedgap/fairness-solution/1"]
    instance: NotRequired[str]
    user: list[str]
    machine_class: list[str]
    tasks: list[float | str]
    machine: NotRequired[list[Index | None]]
    certificate: NotRequired[list[CutFile]]


SOLUTION = TypeAdapter(SolutionFile)


def read_solution(instance: FairnessInstance, path: Path | str) -> FairnessAllocation:
    """Read an allocation of an instance; whether it is feasible, and its certificate true, is for `verify` to say.

    Raises
    ------
    SolutionError
        for a malformed file, a name that the instance has not, or the digest of another instance.
    """
    path = Path(path)
    document = read_document(path, SOLUTION, SolutionError)
    refuse_other_instance(path, document.get("instance"), instance.name, instance.digest)
    with naming_file(path):
        size = len(document["tasks"])
        machine = document.get("machine", [None] * size)
        for key, column in (("user", document["user"]), ("machine_class", document["machine_class"])):
            if len(column) != size:
                raise SolutionError(f"{key} has {len(column)} entries beside {size} tasks; give one each.")
        if len(machine) != size:
            raise SolutionError(f"machine has {len(machine)} entries beside {size} tasks; give one each.")
        users, classes = _users(instance), _numbers(instance.machine_names)
        cuts = document.get("certificate")
        return FairnessAllocation(
            _found("user", document["user"], users),
            _found("machine_class", document["machine_class"], classes),
            np.array([_units(amount, f"tasks.{e}") for e, amount in enumerate(document["tasks"])], np.int64),
            np.array([SPREAD if copy is None else copy for copy in machine], np.int64),
            None if cuts is None else _certificate(cuts, users, classes, _numbers(instance.resources)),
        )


def write_solution(instance: FairnessInstance, allocation: FairnessAllocation, path: Path | str) -> None:
    """Write an allocation."""
    document: SolutionFile = {
        "schema": "schedgap/fairness-solution/1",
        "instance": instance.digest,
        "user": [instance.user_name(i) for i in allocation.user.tolist()],
        "machine_class": [instance.machine_names[k] for k in allocation.machine_class.tolist()],
        "tasks": [
            amount / TASK if amount < EXACT_UNITS else shown_tasks(amount) for amount in allocation.amount.tolist()
        ],
    }
    if (allocation.copy != SPREAD).any():
        document["machine"] = [None if copy == SPREAD else copy for copy in allocation.copy.tolist()]
    if allocation.certificate is not None:
        document["certificate"] = _cuts(instance, allocation.certificate)
    write_document(path, SOLUTION, document, SolutionError)


def _certificate(
    cuts: Sequence[CutFile], users: Mapping[str, int], classes: Mapping[str, int], resources: Mapping[str, int]
) -> Certificate:
    weights = [(c, user, weight) for c, cut in enumerate(cuts) for user, weight in cut["weights"].items()]
    prices = [
        (c, name, resource, price)
        for c, cut in enumerate(cuts)
        for name, of_class in cut["prices"].items()
        for resource, price in of_class.items()
    ]
    return Certificate(
        share_cut=np.array([c for c, _, _ in weights], np.int64),
        share_user=_found("certificate.weights", [user for _, user, _ in weights], users),
        share_weight=np.array([weight for _, _, weight in weights]),
        price_cut=np.array([c for c, _, _, _ in prices], np.int64),
        price_class=_found("certificate.prices", [name for _, name, _, _ in prices], classes),
        price_resource=_found("certificate.prices", [resource for _, _, resource, _ in prices], resources),
        price=np.array([price for _, _, _, price in prices]),
    )


def _cuts(instance: FairnessInstance, certificate: Certificate) -> list[CutFile]:
    cuts: dict[int, CutFile] = {}
    for cut, user, weight in zip(
        certificate.share_cut.tolist(),
        certificate.share_user.tolist(),
        certificate.share_weight.tolist(),
        strict=True,
    ):
        cuts.setdefault(cut, {"weights": {}, "prices": {}})["weights"][instance.user_name(user)] = weight
    for cut, k, r, price in zip(
        certificate.price_cut.tolist(),
        certificate.price_class.tolist(),
        certificate.price_resource.tolist(),
        certificate.price.tolist(),
        strict=True,
    ):
        of_class = cuts.setdefault(cut, {"weights": {}, "prices": {}})["prices"]
        of_resource = of_class.setdefault(instance.machine_names[k], {})
        of_resource[instance.resources[r]] = of_resource.get(instance.resources[r], 0.0) + price
    return [cuts[cut] for cut in sorted(cuts)]


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


def _users(instance: FairnessInstance) -> dict[str, int]:
    return {instance.user_name(i): i for i in range(instance.num_users)}


def _numbers(names: Sequence[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(names)}


def _found(what: str, names: Sequence[str], known: Mapping[str, int]) -> IntArray:
    for name in names:
        if name not in known:
            raise SolutionError(f"{what} names '{name:.60}', which the instance has not; correct the name.")
    return np.array([known[name] for name in names], np.int64)
