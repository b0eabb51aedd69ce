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
    record,
)
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.provisioning.files import DEMAND, RESOURCES, machine_types
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running_files import running_machines
from schedgap.instances.reconfiguration.delays import INTERFERENCE, PHASES, STORED_SETS
from schedgap.instances.reconfiguration.model import Past, ReconfigurationInstance, ReconfigurationSchedule

CATALOGUE = (
    *("resources", "families", "type_names", "type2family", "capacity", "price", "fee", "stock"),
    *("workloads", "class_names", "class2workload", "demand", "throughput"),
)


def _instance(name: str, **fields: Any) -> ReconfigurationInstance:
    catalogue = {key: fields.pop(key) for key in CATALOGUE if key in fields}
    # The model counts the tasks.
    counts = np.ones(len(catalogue["class_names"]), np.int64)
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


INSTANCE = InstanceDocument(
    "schedgap/reconfiguration/1",
    _instance,
    Value("period_s", Count, default=300),
    Value("terminate_s", Index, default=1),
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
        ),
        arrays=[
            *(Array("arrival_s"), Array("work_s"), Array("task", attribute="job2class"), Array("num_tasks")),
            Array("ran_on", attribute="job_node", optional=True),
        ],
        size=lambda instance: instance.num_jobs,
    ),
    # A job is named by its number.
    running_machines("job", lambda instance: [str(j) for j in range(len(instance.arrival_s))]),
    Custom({"past": NotRequired[record("Past", PAST)]}, _read_past, _write_past),
)


class _Flat:
    """An instance together with its catalogue, as the document has them."""

    def __init__(self, instance: ReconfigurationInstance) -> None:
        self.instance = instance
        catalogue = instance.catalogue
        self.throughput = catalogue.throughput
        self.job_node = None if instance.past is None else instance.past.job_node
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
