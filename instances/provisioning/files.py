"""Provisioning instances as JSON files, schema `schedgap/provisioning/1`.

Numbers are written as people write them (cores, GiB, dollars) and converted exactly to integer units. Above 10,000 task
classes the arrays of the tasks go to an `.npz` file beside the JSON file, in integer units.

What files of every family of rented machines share: machine types, demands, pairwise throughputs.

Provisioning solutions as JSON files, schema `schedgap/provisioning-solution/1`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.arrays import IntArray
from schedgap.instances.documents import (
    Amount,
    Amounts,
    Array,
    Count,
    Custom,
    Field,
    Given,
    Index,
    InstanceDocument,
    Place,
    Positive,
    RowPart,
    Rows,
    SolutionDocument,
    Stored,
    Table,
    Value,
    list_of,
    record,
)
from schedgap.instances.documents.json_files import from_units, to_units
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.provisioning.model import NOT_ALLOWED, ProvisioningInstance
from schedgap.instances.provisioning.plans import restrained_tasks
from schedgap.instances.provisioning.running import ANY_NUMBER, ONE_TASK
from schedgap.instances.provisioning.running_files import from_tasks, running_machines
from schedgap.instances.provisioning.solution import NEW, Provisioning
from schedgap.instances.units import DOLLAR, resource_scales

RESOURCES = Annotated[list[str], Constraint(min_length=1)]


def machine_types(*more: Field | RowPart) -> Rows:
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


# `throughput[i][j]` is the normalised throughput of workload i beside workload j.
Interference = record(
    "Interference",
    {"workloads": list[str], "throughput": list[list[Annotated[float, Constraint(ge=0, le=1)]]]},
)


def _read_interference(document: Given, place: Place) -> dict[str, Any]:
    if "interference" not in document:
        return {}
    names, given = document["interference"]["workloads"], document["interference"]["throughput"]
    check_square(names, given)
    throughput = to_units(given, 1000, "interference.throughput", place.error, (names, names))
    return {"workloads": tuple(names), "throughput": throughput}


def _write_interference(instance: ProvisioningInstance, _: Place) -> dict[str, Any]:
    if instance.throughput is None:
        return {}
    throughput = (instance.throughput / 1000).tolist()
    return {"interference": {"workloads": list(instance.workloads), "throughput": throughput}}


def _read_workloads(tasks: Sequence[Given], _: Table, place: Place) -> dict[str, Any]:
    labels = [task.get("workload") for task in tasks]
    used = dict.fromkeys(label for label in labels if label is not None)
    workloads = getattr(place.owner, "workloads", tuple(used))
    unknown = [label for label in used if label not in set(workloads)]
    if unknown:
        raise place.error(f"workload '{unknown[0]}' is not among the interference workloads; add it there.")
    workload2index = {None: -1} | {label: w for w, label in enumerate(workloads)}
    return {"workloads": workloads, "class2workload": [workload2index[label] for label in labels]}


def _write_workloads(instance: ProvisioningInstance, _: Place) -> list[Given]:
    return [{"workload": instance.workloads[w]} if w >= 0 else {} for w in instance.class2workload.tolist()]


def _read_jobs(tasks: Sequence[Given], *_: object) -> dict[str, Any]:
    jobs = {job: j for j, job in enumerate(dict.fromkeys(task["job"] for task in tasks if "job" in task))}
    return {"job_names": tuple(jobs), "class2job": [jobs[task["job"]] if "job" in task else -1 for task in tasks]}


def _write_jobs(instance: ProvisioningInstance, _: Place) -> list[Given]:
    return [{"job": instance.job_names[j]} if j >= 0 else {} for j in instance.class2job.tolist()]


def _read_limits(tasks: Sequence[Given], *_: object) -> dict[str, Any]:
    if not any("per_machine" in task for task in tasks):
        return {}
    return {"per_machine": [task.get("per_machine", ANY_NUMBER) for task in tasks]}


def _write_limits(instance: ProvisioningInstance, _: Place) -> list[Given]:
    if instance.per_machine is None:
        return [{}] * instance.num_classes
    return [{} if limit == ANY_NUMBER else {"per_machine": limit} for limit in instance.per_machine.tolist()]


def _read_weights(tasks: Sequence[Given], table: Table, place: Place) -> dict[str, Any]:
    if not any("disruption" in task for task in tasks):
        return {}
    given = [task.get("disruption", 1) for task in tasks]
    return {"disruption": from_tasks(given, table.at("disruption"), place.error, (table.names,))}


def _write_weights(instance: ProvisioningInstance, _: Place) -> list[Given]:
    if instance.disruption is None:
        return [{}] * instance.num_classes
    weights = instance.disruption.tolist()
    return [{} if weight == ONE_TASK else {"disruption": from_units(weight, ONE_TASK)} for weight in weights]


def _read_limit(document: Given, place: Place) -> dict[str, Any]:
    """Read the limit on disruption; `max_moves` is that of files from before there were weights."""
    if "max_moves" not in document:
        if "max_disruption" not in document:
            return {}
        # Down, not to the nearest: what is too fine is less than anybody's.
        return {"max_disruption": math.floor(Fraction(document["max_disruption"]) * ONE_TASK)}
    if "max_disruption" in document:
        raise place.error("max_disruption and max_moves are both given; leave the latter out, which is an old name.")
    return {"max_disruption": document["max_moves"] * ONE_TASK}


def _write_limit(instance: ProvisioningInstance, _: Place) -> dict[str, Any]:
    most = instance.max_disruption
    return {} if most is None else {"max_disruption": from_units(most, ONE_TASK)}


def _read_usual(types: Sequence[Given], *_: object) -> dict[str, Any]:
    return {"usual_tasks": tuple((kind["name"], kind["usual_tasks"]) for kind in types if "usual_tasks" in kind)}


def _write_usual(instance: ProvisioningInstance, _: Place) -> list[Given]:
    usual = dict(instance.usual_tasks)
    return [{"usual_tasks": usual[name]} if name in usual else {} for name in instance.type_names]


def _class_names(instance: Any) -> Sequence[str]:
    return instance.class_names or [f"task-{c}" for c in range(len(instance.counts))]


class _Tasks(Stored):
    """Task classes, whose demands in a file beside are by machine family, in the order of the document's."""

    def read(self, given: Given, place: Place) -> dict[str, Any]:
        fields = super().read(given, place)
        stored, families = fields.pop("families", place.owner.families), place.owner.families
        if stored != families:
            raise place.error(
                f"{given[self.file_key]}: is of families {', '.join(stored)}, this file has {', '.join(families)}; "
                "write the instance anew."
            )
        return fields


INSTANCE = InstanceDocument(
    "schedgap/provisioning/1",
    ProvisioningInstance,
    Value("resources", RESOURCES),
    machine_types(RowPart({"usual_tasks": NotRequired[Count]}, _read_usual, _write_usual)),
    Custom({"interference": NotRequired[Interference]}, _read_interference, _write_interference),
    _Tasks(
        "tasks",
        Rows(
            "tasks",
            Field("name", str, "class_names", get=_class_names),
            Field("count", Count, "counts", default=1),
            DEMAND,
            RowPart({"workload": NotRequired[str]}, _read_workloads, _write_workloads),
            RowPart({"job": NotRequired[str]}, _read_jobs, _write_jobs),
            Field("tasks_per_job", Count, default=1, omitted=True),
            RowPart({"per_machine": NotRequired[Count]}, _read_limits, _write_limits),
            RowPart({"disruption": NotRequired[Amount]}, _read_weights, _write_weights),
            label="task",
        ),
        Value("task_order", list[Index], "task2class", default=None, omitted=True),
        Value("task_names", list[str], default=None, omitted=True),
        arrays=[
            *(Array("demand", 3), Array("counts"), Array("class2workload", optional=True)),
            *(
                Array(name, optional=True)
                for name in ("class2job", "tasks_per_job", "task2class", "per_machine", "disruption")
            ),
            *(Array(name, text=True, optional=True) for name in ("class_names", "task_names", "job_names")),
            *(Array("workloads", text=True, optional=True), Array("families", text=True)),
        ],
        size=lambda instance: instance.num_classes,
    ),
    running_machines("task", _class_names, disruption=True),
    restrained_tasks(_class_names),
    Custom({"max_disruption": NotRequired[Amount], "max_moves": NotRequired[Index]}, _read_limit, _write_limit),
    Value("unit", str, default="", omitted=True),
    Value("notes", list[str], default=(), omitted=True),
)
read_instance, write_instance = INSTANCE.read, INSTANCE.write


# One machine with its `tasks` by name, or `repeat` equal machines with `counts` of tasks per class; `keeps` names the
# running machine that it is.
MACHINE = record(
    "Machine",
    {
        "type": str,
        "tasks": NotRequired[list[str]],
        "counts": NotRequired[dict[str, Count]],
        "repeat": NotRequired[Count],
        "keeps": NotRequired[str],
    },
)

# What a reader of the file does with it, and no part of the solution: see `plans.py`.
MOVE = record("Move", {"task": str, "count": Count, "to": str})
STEP = record(
    "Step", {"machine": str, "moves": list_of(MOVE), "stays": NotRequired[bool], "evicts_first": NotRequired[bool]}
)


class _Content(NamedTuple):
    """What a file holds; drain : the steps that lead to the solution, None for not written."""

    solution: Provisioning
    drain: list[dict[str, Any]] | None = None


def task_names(instance: ProvisioningInstance) -> list[str]:
    """Return the name of every task: its own, its class's where that has one task, else `class/0`, `class/1`, ...

    Where two tasks would have one name, of classes `x` and `x/0`, those of classes with one task are numbered, too.
    """
    if instance.task_names is not None:
        return list(instance.task_names)
    seen = [0] * instance.num_classes
    names, numbered = [], []
    for c in instance.task_classes().tolist():
        name = instance.class_name(c)
        numbered.append(f"{name}/{seen[c]}")
        names.append(name if instance.counts[c] == 1 else numbered[-1])
        seen[c] += 1
    return names if len(set(names)) == len(names) else numbered


def _read(document: Given, place: Place) -> dict[str, Any]:
    instance: ProvisioningInstance = place.owner
    machines = document["machines"]
    by_task = ["tasks" in machine for machine in machines]
    for m, machine in enumerate(machines):
        if machine["type"] not in instance.type_names:
            raise SolutionError(
                f"machines.{m} has type '{machine['type']:.60}'; the instance has "
                f"{', '.join(instance.type_names[:6])}{', ...' if instance.num_types > 6 else ''}."
            )
        if ("counts" in machine) == by_task[m] or by_task[m] != by_task[0] or ("repeat" in machine and by_task[m]):
            raise SolutionError(
                f"machines.{m} must have either 'tasks' (every machine then) or 'counts' with 'repeat'."
            )
    types = np.array([instance.type_names.index(machine["type"]) for machine in machines], np.int64)
    keeps = _kept(instance, machines)
    if machines and by_task[0]:
        task2machine = _named_tasks(instance, [machine["tasks"] for machine in machines])
        return {"solution": replace(Provisioning.from_tasks(instance, types, task2machine), keeps=keeps)}
    name2class = {instance.class_name(c): c for c in range(instance.num_classes)}
    entries = []
    for m, machine in enumerate(machines):
        for name, count in machine["counts"].items():
            if name not in name2class:
                raise SolutionError(f"machines.{m} holds task class '{name:.60}', which the instance has not.")
            entries.append((m, name2class[name], count))
    table = np.array(entries, np.int64).reshape(-1, 3)
    repeat = np.array([machine.get("repeat", 1) for machine in machines], np.int64)
    indptr = np.searchsorted(table[:, 0], np.arange(len(machines) + 1))
    return {"solution": Provisioning(types, repeat, indptr, table[:, 1], table[:, 2], keeps=keeps)}


def _kept(instance: ProvisioningInstance, machines: Sequence[Given]) -> IntArray | None:
    """(P,) int64, the running machines that are kept; None if none is."""
    names = () if instance.running is None else instance.running.names
    name2index = {name: e for e, name in enumerate(names)}
    keeps = np.full(len(machines), NEW, np.int64)
    for m, machine in enumerate(machines):
        if "keeps" in machine:
            if machine["keeps"] not in name2index:
                raise SolutionError(f"machines.{m} keeps '{machine['keeps']:.60}', which does not run in the instance.")
            keeps[m] = name2index[machine["keeps"]]
    return keeps if (keeps != NEW).any() else None


def _named_tasks(instance: ProvisioningInstance, contents: Sequence[Sequence[str]]) -> IntArray:
    name2task = {name: t for t, name in enumerate(task_names(instance))}
    task2machine = np.full(instance.num_tasks, -1, np.int64)
    for m, names in enumerate(contents):
        for name in names:
            task = name2task.get(name)
            if task is None:
                raise SolutionError(f"machines.{m} holds task '{name:.60}', which the instance has not.")
            if task2machine[task] >= 0:
                raise SolutionError(f"task {name} is on machines {task2machine[task]} and {m}; place it once.")
            task2machine[task] = m
    if (task2machine < 0).any():
        missing = next(name for name, t in name2task.items() if task2machine[t] < 0)
        raise SolutionError(f"task {missing} is on no machine; place every task.")
    return task2machine


def _write(solution: Provisioning, place: Place) -> dict[str, Any]:
    """Write task names where the solution says which task goes where, else counts per class."""
    instance: ProvisioningInstance = place.owner
    machines: list[dict[str, Any]] = []
    kept = _names_kept(instance, solution)
    if solution.task2machine is not None:
        types = np.repeat(solution.machine_type, solution.repeat)
        owners = np.repeat(np.arange(solution.repeat.shape[0]), solution.repeat).tolist()
        machines = [{"type": instance.type_names[k], "tasks": []} | kept[p] for k, p in zip(types, owners, strict=True)]
        for name, machine in zip(task_names(instance), solution.task2machine.tolist(), strict=True):
            machines[machine]["tasks"].append(name)
        return {"machines": machines}
    for p, k in enumerate(solution.machine_type.tolist()):
        span = slice(solution.indptr[p], solution.indptr[p + 1])
        content = zip(solution.task_class[span].tolist(), solution.count[span].tolist(), strict=True)
        counts = {instance.class_name(c): n for c, n in content}
        machines.append({"type": instance.type_names[k], "counts": counts, "repeat": int(solution.repeat[p])} | kept[p])
    return {"machines": machines}


def _names_kept(instance: ProvisioningInstance, solution: Provisioning) -> list[dict[str, Any]]:
    """Return for each group of machines the key `keeps` with the name of the running machine that it is, or nothing."""
    if solution.keeps is None or instance.running is None:
        return [{}] * solution.machine_type.shape[0]
    return [{} if e == NEW else {"keeps": instance.running.names[e]} for e in solution.keeps.tolist()]


SOLUTION: SolutionDocument[ProvisioningInstance, Any] = SolutionDocument(
    "schedgap/provisioning-solution/1",
    lambda solution: solution,
    Custom({"machines": list_of(MACHINE)}, _read, lambda content, place: _write(content.solution, place)),
    Custom(
        {"drain": NotRequired[list_of(STEP)]},
        lambda *_: {},
        lambda content, _: {} if content.drain is None else {"drain": content.drain},
    ),
)


def read_solution(instance: ProvisioningInstance, path: Path | str) -> Provisioning:
    """Read a solution, as `SolutionDocument.read` does; the steps of `drain` are not looked at."""
    solution: Provisioning = SOLUTION.read(instance, path)
    return solution


def write_solution(instance: ProvisioningInstance, solution: Provisioning, path: Path | str) -> None:
    """Write a solution, as `SolutionDocument.write` does."""
    SOLUTION.write(instance, _Content(solution), path)


def write_plan(
    instance: ProvisioningInstance, solution: Provisioning, drain: list[dict[str, Any]], path: Path | str
) -> None:
    """Write a solution with the steps that lead to it."""
    SOLUTION.write(instance, _Content(solution, drain), path)
