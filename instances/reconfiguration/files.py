"""Reconfiguration instances as JSON files, schema `schedgap/reconfiguration/1`.

Machine types, demands and throughputs are written as in `schedgap/provisioning/1`, times in whole seconds. Above 10,000
jobs their columns go to an `.npz` file beside the JSON file.

Schedules of reconfiguration instances as JSON files, schema `schedgap/reconfiguration-solution/1`.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

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
)
from schedgap.instances.errors import SolutionError
from schedgap.instances.provisioning.files import DEMAND, RESOURCES, machine_types
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running_files import running_machines
from schedgap.instances.reconfiguration.delays import INTERFERENCE, PHASES, STORED_SETS
from schedgap.instances.reconfiguration.model import ReconfigurationInstance, ReconfigurationSchedule

CATALOGUE = (
    *("resources", "families", "type_names", "type2family", "capacity", "price", "fee", "stock"),
    *("workloads", "class_names", "class2workload", "demand", "throughput"),
)


def _instance(name: str, **fields: Any) -> ReconfigurationInstance:
    catalogue = {key: fields.pop(key) for key in CATALOGUE if key in fields}
    # The model counts the tasks.
    counts = np.ones(len(catalogue["class_names"]), np.int64)
    return ReconfigurationInstance(
        name=name, catalogue=ProvisioningInstance(name=name, counts=counts, **catalogue), **fields
    )


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
        ),
        arrays=[Array("arrival_s"), Array("work_s"), Array("task", attribute="job2class"), Array("num_tasks")],
        size=lambda instance: instance.num_jobs,
    ),
    # A job is named by its number.
    running_machines("job", lambda instance: [str(j) for j in range(len(instance.arrival_s))]),
)


class _Flat:
    """An instance together with its catalogue, as the document has them."""

    def __init__(self, instance: ReconfigurationInstance) -> None:
        self.instance = instance
        catalogue = instance.catalogue
        self.throughput = catalogue.throughput
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
