"""What files of every family of rented machines share: machine types, demands, pairwise throughputs, running machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.documents import (
    Amount,
    Amounts,
    Count,
    Custom,
    Field,
    Index,
    Positive,
    RowPart,
    Rows,
    list_of,
    record,
)
from schedgap.instances.documents.amounts import from_units, to_units
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import NOT_ALLOWED
from schedgap.instances.provisioning.running import ANY_NUMBER, Running
from schedgap.instances.units import DOLLAR, resource_scales

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from schedgap.instances.documents import Given, Place, Table

RESOURCES = Annotated[list[str], Constraint(min_length=1)]


def machine_types(*more: Field) -> Rows:
    """Return the field `machine_types` of a document, each with `more` fields.

    Prices and fees are dollars per hour, the price without the fee. `count` is how many can be had; absent for any number.
    """
    return Rows(
        "machine_types",
        Field("name", str, "type_names"),
        RowPart({"family": str}, _read_families, _write_families),
        Amounts("capacity", plural="capacities"),
        RowPart(
            {"price": Positive, "fee": NotRequired[Amount], "count": NotRequired[Index]}, _read_offer, _write_offer
        ),
        *more,
        label="machine type",
        least=1,
    )


def _read_families(types: Sequence[Given], *_: object) -> dict[str, Any]:
    families = tuple(dict.fromkeys(kind["family"] for kind in types))
    return {"families": families, "type2family": [families.index(kind["family"]) for kind in types]}


def _write_families(catalogue: Any, _: Place) -> list[Given]:
    return [{"family": catalogue.families[f]} for f in catalogue.type2family.tolist()]


def _read_offer(types: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
    names = (table.names,)
    price = to_units([kind["price"] for kind in types], DOLLAR, table.at("price"), place.error, names)
    fields: dict[str, Any] = {"price": price}
    if any("fee" in kind for kind in types):
        fields["fee"] = to_units([kind.get("fee", 0) for kind in types], DOLLAR, table.at("fee"), place.error, names)
        fields["price"] = price + fields["fee"]
    if any("count" in kind for kind in types):
        fields["stock"] = np.array([kind.get("count", ANY_NUMBER) for kind in types], np.int64)
    return fields


def _write_offer(catalogue: Any, _: Place) -> list[Given]:
    size = len(catalogue.type_names)
    fees = np.zeros(size, np.int64) if catalogue.fee is None else catalogue.fee
    stocks = [ANY_NUMBER] * size if catalogue.stock is None else catalogue.stock.tolist()
    rows: list[Given] = []
    for price, fee, stock in zip((catalogue.price - fees).tolist(), fees.tolist(), stocks, strict=True):
        more: dict[str, Any] = {} if catalogue.fee is None else {"fee": from_units(fee, DOLLAR)}
        rows.append({"price": from_units(price, DOLLAR)} | more | ({} if stock == ANY_NUMBER else {"count": stock}))
    return rows


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


def running_machines(what: str, names: Callable[[Any], Sequence[str]]) -> Custom:
    """Return the field `running` of a document: machines that run already, with how many tasks of each `what` are on them.

    names : of all that `Running.task_class` numbers, from an instance, or what of it has been read.
    """

    def read(document: Given, place: Place) -> dict[str, Any]:
        if "running" not in document:
            return {}
        owner, machines = place.owner, document["running"]
        type2index = {name: k for k, name in enumerate(owner.type_names)}
        class2index = {name: c for c, name in enumerate(names(owner))}
        entries = []
        for e, machine in enumerate(machines):
            for kind, known, used in (("type", type2index, [machine["type"]]), (what, class2index, machine["counts"])):
                for name in used:
                    if name not in known:
                        raise place.error(
                            f"running machine {machine['name']:.60} names {kind} '{name:.60}', which the file has not; "
                            "add it."
                        )
            entries += [(e, class2index[name], count) for name, count in machine["counts"].items()]
        table = np.array(entries, np.int64).reshape(-1, 3)
        types = np.array([type2index[machine["type"]] for machine in machines], np.int64)
        indptr = np.searchsorted(table[:, 0], np.arange(len(machines) + 1))
        machine_names = tuple(machine["name"] for machine in machines)
        return {"running": Running(machine_names, types, indptr, table[:, 1], table[:, 2])}

    def write(instance: Any, _: Place) -> dict[str, Any]:
        running = instance.running
        if running is None:
            return {}
        known, machines = names(instance), []
        for e, name in enumerate(running.names):
            span = slice(int(running.indptr[e]), int(running.indptr[e + 1]))
            content = zip(running.task_class[span].tolist(), running.count[span].tolist(), strict=True)
            counts = {known[c]: number for c, number in content}
            machines.append({"name": name, "type": instance.type_names[running.machine_type[e]], "counts": counts})
        return {"running": machines}

    machine = record("RunningMachine", {"name": str, "type": str, "counts": dict[str, Count]})
    return Custom({"running": NotRequired[list_of(machine)]}, read, write)
