"""Schedules of reconfiguration instances as JSON files, schema `schedgap/reconfiguration-solution/1`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.arrays import IntArray, first_true
from schedgap.instances.documents import Columns, Custom, Field, Given, Index, Lookup, Place, SolutionDocument
from schedgap.instances.errors import SolutionError
from schedgap.instances.reconfiguration.solution import ReconfigurationSchedule

if TYPE_CHECKING:
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

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
