"""Schedules of reconfiguration instances as JSON files, schema `schedgap/reconfiguration-solution/1`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import SolutionError
from schedgap.instances.file_kinds import STRICT
from schedgap.instances.files import naming_file, read_document, refuse_other_instance, write_document
from schedgap.instances.reconfiguration.schedule import ReconfigurationSchedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

Number = Annotated[int, Field(ge=0, le=2**53)]


@with_config(STRICT)
class MachinesFile(TypedDict):
    """A column each; entry m of all is machine m. `type` is the name of its type."""

    type: list[str]
    rented_s: list[Number]
    released_s: list[Number]


@with_config(STRICT)
class MovesFile(TypedDict):
    """A column each: at that second the task of the job is sent to the machine. Without `task`, to the job's first."""

    at_s: list[Number]
    job: list[Number]
    task: NotRequired[list[Number]]
    machine: list[Number]


@with_config(STRICT)
class SolutionFile(TypedDict):
    """The document; `instance` is the digest of the instance that it solves, checked where it is given."""

    schema: Literal["schedgap/reconfiguration-solution/1"]
    instance: NotRequired[str]
    machines: MachinesFile
    moves: MovesFile


SOLUTION = TypeAdapter(SolutionFile)


def read_solution(instance: ReconfigurationInstance, path: Path | str) -> ReconfigurationSchedule:
    """Read a schedule of an instance; whether it is feasible is for `verify` to say.

    Raises
    ------
    SolutionError
        for a malformed file, an unknown machine type, a job or task that the instance has not, or the digest of
        another instance.
    """
    path = Path(path)
    document = read_document(path, SOLUTION, SolutionError)
    refuse_other_instance(path, document.get("instance"), instance.name, instance.digest)
    machines, moves = document["machines"], document["moves"]
    with naming_file(path):
        task = moves.get("task", [0] * len(moves["job"]))
        _same_length("machines", {**machines})
        _same_length("moves", {**moves})
        return ReconfigurationSchedule(
            machine_type=_types(instance, machines["type"]),
            rented_s=np.array(machines["rented_s"], np.int64),
            released_s=np.array(machines["released_s"], np.int64),
            move_s=np.array(moves["at_s"], np.int64),
            move_task=_tasks(instance, moves["job"], task),
            move_machine=np.array(moves["machine"], np.int64),
        )


def write_solution(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule, path: Path | str) -> None:
    """Write a schedule."""
    first_task = instance.first_task()
    job = np.searchsorted(first_task, schedule.move_task, side="right") - 1
    moves: MovesFile = {
        "at_s": schedule.move_s.tolist(),
        "job": job.tolist(),
        "machine": schedule.move_machine.tolist(),
    }
    if (instance.num_tasks > 1).any():
        moves["task"] = (schedule.move_task - first_task[job]).tolist()
    document: SolutionFile = {
        "schema": "schedgap/reconfiguration-solution/1",
        "instance": instance.digest,
        "machines": {
            "type": [instance.catalogue.type_names[k] for k in schedule.machine_type.tolist()],
            "rented_s": schedule.rented_s.tolist(),
            "released_s": schedule.released_s.tolist(),
        },
        "moves": moves,
    }
    write_document(path, SOLUTION, document, SolutionError)


def _types(instance: ReconfigurationInstance, given: list[str]) -> IntArray:
    name2type = {name: k for k, name in enumerate(instance.catalogue.type_names)}
    for m, name in enumerate(given):
        if name not in name2type:
            known = list(name2type)
            raise SolutionError(
                f"machines.type.{m} is '{name:.60}'; the instance has "
                f"{', '.join(known[:6])}{', ...' if len(known) > 6 else ''}."
            )
    return np.array([name2type[name] for name in given], np.int64)


def _tasks(instance: ReconfigurationInstance, job: list[int], task: list[int]) -> IntArray:
    """(N,) int64: the number of each task among those of all jobs."""
    jobs, tasks = np.array(job, np.int64), np.array(task, np.int64)
    if (jobs >= instance.num_jobs).any():
        n = int(np.argmax(jobs >= instance.num_jobs))
        raise SolutionError(f"moves.job.{n} is {jobs[n]}; jobs are 0..{instance.num_jobs - 1}.")
    beyond = tasks >= instance.num_tasks[jobs]
    if beyond.any():
        n = int(np.argmax(beyond))
        raise SolutionError(
            f"moves.task.{n} is {tasks[n]}; the tasks of job {jobs[n]} are 0..{instance.num_tasks[jobs[n]] - 1}."
        )
    return instance.first_task()[jobs] + tasks


def _same_length(what: str, columns: Mapping[str, Any]) -> None:
    first, *others = columns
    for name in others:
        if len(columns[name]) != len(columns[first]):
            raise SolutionError(
                f"{what}: {name} has {len(columns[name])} entries, {first} has {len(columns[first])}; give one each."
            )
