"""Reconfiguration instances as JSON files, schema `schedgap/reconfiguration/1`.

Machine types, demands and throughputs are written as in `schedgap/provisioning/1`, times in whole seconds. Above 10,000
jobs their columns go to an `.npz` file beside the JSON file. What was paid in the past is a field of its own.

Schedules of reconfiguration instances as JSON files, schema `schedgap/reconfiguration-solution/1`.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.documents import (
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
    Rows,
    SolutionDocument,
    Stored,
    Value,
    list_of,
    record,
)
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.provisioning.files import DEMAND, RESOURCES, machine_types
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import UNMANAGED, Guard
from schedgap.instances.provisioning.running_files import (
    ALL,
    EACH,
    NUMBER,
    read_disruption,
    running_machines,
    written_disruption,
)
from schedgap.instances.reconfiguration.delays import INTERFERENCE, PHASES, STORED_SETS
from schedgap.instances.reconfiguration.model import MILLION, Past, ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.upkeep import OF_JOBS, Upkeep

CATALOGUE = (
    *("resources", "families", "type_names", "type2family", "capacity", "price", "fee", "stock"),
    *("workloads", "class_names", "class2workload", "demand", "throughput"),
)


def _instance(name: str, **fields: Any) -> ReconfigurationInstance:
    catalogue = {key: fields.pop(key) for key in CATALOGUE if key in fields}
    # The model counts the tasks.
    counts = np.ones(len(catalogue["class_names"]), np.int64)
    of_jobs = {key: fields.pop(key) for key in OF_JOBS if key in fields}
    if (upkeep := fields.get("upkeep")) is not None:
        fields["upkeep"] = Upkeep.of(**upkeep, num_jobs=len(fields["arrival_s"]), **of_jobs)
    elif (key := next((key for key, values in of_jobs.items() if (values != OF_JOBS[key]).any()), None)) is not None:
        raise InstanceError(
            f"jobs.{key} is what controllers look at, and there is no upkeep; give it, or leave out {key}."
        )
    job_node, past = fields.pop("job_node", None), fields.pop("past", None)
    if past is not None:
        none = np.full(len(fields["arrival_s"]), -1)
        fields["past"] = Past(**past, job_node=none if job_node is None else job_node)
    elif job_node is not None and (job_node != -1).any():
        raise InstanceError("jobs.ran_on names machines of a past, and there is no past; give it, or leave out ran_on.")
    return ReconfigurationInstance(
        name=name, catalogue=ProvisioningInstance(name=name, counts=counts, **catalogue), **fields
    )


# The machines that were paid, by the second.
PAID = Columns(
    "machines",
    Field("name", str, "names"),
    Lookup("type", str, "machine_type", known=lambda catalogue: catalogue.type_names),
    Field("from_s", Index),
    Field("until_s", Index),
    Field("daemons", Annotated[int, Constraint(ge=-1, le=MILLION)], default=-1, omitted=True),
)
PAST = {"start": int, "end_s": Index, **PAID.keys}


def _read_past(document: Given, place: Place) -> dict[str, Any]:
    if "past" not in document:
        return {}
    given = document["past"]
    return {"past": PAID.read(given, place) | {key: given[key] for key in ("start", "end_s")}}


def _write_past(source: Any, place: Place) -> dict[str, Any]:
    past = source.past
    return {} if past is None else {"past": {"start": past.start, "end_s": past.end_s} | PAID.write(past, place)}


# So many jobs of a guard must be well, or may be away.
GUARD = record(
    "Guard",
    {"name": str, "least_well": NotRequired[NUMBER], "most_away": NotRequired[NUMBER]},
)
# Machines that run at second 0 are in their order.
UPKEEP = {
    **ALL,
    "machines": NotRequired[list_of(record("Upkept", EACH))],
    "new_pools": NotRequired[dict[str, str]],
    "guards": NotRequired[list_of(GUARD)],
}


def _read_upkeep(document: Given, place: Place) -> dict[str, Any]:
    if "upkeep" not in document:
        return {}
    given, owner = document["upkeep"], place.owner
    type2index = {name: k for k, name in enumerate(owner.type_names)}
    running = getattr(owner, "running", None)
    names = () if running is None else running.names
    rows = given.get("machines", [{}] * len(names))
    if len(rows) != len(names):
        raise place.error(
            f"upkeep.machines has {len(rows)} entries, {len(names)} machines run; give one each, or none."
        )
    machines = [{"name": name} | row for name, row in zip(names, rows, strict=True)]
    disruption = read_disruption(given, machines, place, type2index, "upkeep")
    pools = [pool.name for pool in disruption.pools]
    new_pool = np.full(len(type2index), UNMANAGED)
    for name, pool in given.get("new_pools", {}).items():
        if name not in type2index or pool not in pools:
            raise place.error(
                f"upkeep.new_pools names type '{name:.60}' and pool '{pool:.60}'; both must be in the file."
            )
        new_pool[type2index[name]] = pools.index(pool)
    guards = []
    for guard in given.get("guards", ()):
        if ("least_well" in guard) == ("most_away" in guard):
            raise place.error(f"guard '{guard['name']:.60}' of upkeep: give either least_well or most_away.")
        text = guard.get("least_well", guard.get("most_away"))
        guards.append(Guard(guard["name"], int(text.removesuffix("%")), text.endswith("%"), "least_well" in guard))
    return {"upkeep": {"machines": disruption, "new_pool": new_pool, "guards": tuple(guards)}}


def _write_upkeep(source: Any, _: Place) -> dict[str, Any]:
    upkeep: Upkeep | None = source.upkeep
    if upkeep is None:
        return {}
    rows, given = written_disruption(upkeep.machines, source.type_names)
    pools = zip(source.type_names, upkeep.new_pool.tolist(), strict=True)
    new_pools = {name: upkeep.machines.pools[p].name for name, p in pools if p != UNMANAGED}
    guards = [
        {"name": g.name, "least_well" if g.is_least else "most_away": f"{g.number}{'%' * g.is_percent}"}
        for g in upkeep.guards
    ]
    more = (("machines", rows if any(rows) else []), ("new_pools", new_pools), ("guards", guards))
    return {"upkeep": given | {key: value for key, value in more if value}}


INSTANCE = InstanceDocument(
    "schedgap/reconfiguration/1",
    _instance,
    Value("period_s", Count, default=300),
    Value("terminate_s", Index, default=1),
    Value("left_out", list[tuple[str, float]], default=(), omitted=True),
    Value("resources", RESOURCES),
    # With the seconds until a machine is paid, and from then until it runs tasks.
    machine_types(Field("acquire_s", Index), Field("setup_s", Index)),
    Rows("workloads", Field("name", str, "workloads"), *(Field(phase, Index) for phase in PHASES), label="workload"),
    Rows(
        "tasks",
        Field("name", str, "class_names"),
        DEMAND,
        Lookup(
            "workload",
            str,
            "class2workload",
            known=lambda catalogue: catalogue.workloads,
            unknown=", which is not among the workloads; add it there, with its delays.",
        ),
        label="task",
        least=1,
    ),
    INTERFERENCE,
    STORED_SETS,
    Stored(
        "jobs",
        Columns(
            "jobs",
            Field("arrival_s", Index),
            Field("work_s", Count),
            # The class of all of the job's tasks: its name here, its index in the file beside.
            Lookup(
                "task",
                str,
                "job2class",
                known=lambda catalogue: catalogue.class_names,
                unknown=", which is not among the tasks; add it there.",
            ),
            Field("num_tasks", Count, default=1, omitted=True),
            # The machine of `past` on which the job ran, by its number.
            Field("ran_on", Annotated[int, Constraint(ge=-1)], "job_node", default=-1, omitted=True),
            # Of `upkeep`.
            *(Field(key, int, default=value, omitted=True) for key, value in OF_JOBS.items()),
        ),
        arrays=[
            *(Array("arrival_s"), Array("work_s"), Array("task", attribute="job2class"), Array("num_tasks")),
            Array("ran_on", attribute="job_node", optional=True),
            *(Array(key, optional=True) for key in OF_JOBS),
        ],
        size=lambda instance: instance.num_jobs,
    ),
    # A job is named by its number.
    running_machines("job", lambda instance: [str(j) for j in range(len(instance.arrival_s))]),
    Custom({"upkeep": NotRequired[record("Upkeep", UPKEEP)]}, _read_upkeep, _write_upkeep),
    Custom({"past": NotRequired[record("Past", PAST)]}, _read_past, _write_past),
)


class _Flat:
    """An instance together with its catalogue, as the document has them."""

    def __init__(self, instance: ReconfigurationInstance) -> None:
        self.instance = instance
        catalogue = instance.catalogue
        self.throughput = catalogue.throughput
        self.job_node = None if instance.past is None else instance.past.job_node
        for key in OF_JOBS:
            setattr(self, key, None if instance.upkeep is None else getattr(instance.upkeep, key))
        self.class_names = [catalogue.class_name(c) for c in range(catalogue.num_classes)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.instance if hasattr(self.instance, name) else self.instance.catalogue, name)


def write_instance(instance: ReconfigurationInstance, path: Path | str) -> None:
    """Write an instance; `read_instance` gives back one of the same digest."""
    flat: Any = _Flat(instance)
    INSTANCE.write(flat, path)


read_instance = INSTANCE.read


# At that second the task of the job is sent to the machine. Without `task`, the job's first.
MOVES = Columns(
    "moves",
    Field("at_s", Index, "move_s"),
    Field("job", Index),
    Field("machine", Index, "move_machine"),
    Field("task", Index, default=0),
)


def _read_moves(document: Given, place: Place) -> dict[str, Any]:
    fields = MOVES.read(document, place)
    return fields | {"move_task": _tasks(place.owner, fields.pop("job"), fields.pop("task"))}


def _write_moves(schedule: ReconfigurationSchedule, place: Place) -> dict[str, Any]:
    instance: ReconfigurationInstance = place.owner
    first_task = instance.first_task()
    job = np.searchsorted(first_task, schedule.move_task, side="right") - 1
    task = schedule.move_task - first_task[job] if (instance.num_tasks > 1).any() else None
    moves = SimpleNamespace(move_s=schedule.move_s, job=job, task=task, move_machine=schedule.move_machine)
    return MOVES.write(moves, place)


def _tasks(instance: ReconfigurationInstance, job: IntArray, task: IntArray) -> IntArray:
    """(N,) int64: the number of each task among those of all jobs."""
    if (n := first_true(job >= instance.num_jobs)) is not None:
        raise SolutionError(f"moves.job.{n} is {job[n]}; jobs are 0..{instance.num_jobs - 1}.")
    if (n := first_true(task >= instance.num_tasks[job])) is not None:
        raise SolutionError(
            f"moves.task.{n} is {task[n]}; the tasks of job {job[n]} are 0..{instance.num_tasks[job[n]] - 1}."
        )
    return instance.first_task()[job] + task


SOLUTION: SolutionDocument[ReconfigurationInstance, ReconfigurationSchedule] = SolutionDocument(
    "schedgap/reconfiguration-solution/1",
    ReconfigurationSchedule,
    Columns(
        "machines",
        Lookup("type", str, "machine_type", known=lambda instance: instance.catalogue.type_names),
        Field("rented_s", Index),
        Field("released_s", Index),
    ),
    Custom(MOVES.keys, _read_moves, _write_moves),
)
read_solution, write_solution = SOLUTION.read, SOLUTION.write
