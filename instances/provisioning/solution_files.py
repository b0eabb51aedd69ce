"""Provisioning solutions as JSON files, schema `schedgap/provisioning-solution/1`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NotRequired

import numpy as np
from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict

from schedgap.instances.errors import SolutionError
from schedgap.instances.file_kinds import STRICT, Count
from schedgap.instances.files import read_document, refuse_other_instance, write_document
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


@with_config(STRICT)
class MachineFile(TypedDict):
    """One machine with its `tasks` by name, or `repeat` equal machines with `counts` of tasks per class."""

    type: str
    tasks: NotRequired[list[str]]
    counts: NotRequired[dict[str, Count]]
    repeat: NotRequired[Count]


@with_config(STRICT)
class SolutionFile(TypedDict):
    """The document; `instance` is the digest of the instance that it solves, checked where it is given."""

    schema: Literal["schedgap/provisioning-solution/1"]
    instance: NotRequired[str]
    machines: list[MachineFile]


SOLUTION = TypeAdapter(SolutionFile)


def task_names(instance: ProvisioningInstance) -> list[str]:
    """Return the name of every task: its own, its class's where that has one task, else `class/0`, `class/1`, ..."""
    if instance.task_names is not None:
        return list(instance.task_names)
    seen = [0] * instance.num_classes
    names = []
    for c in instance.task_classes().tolist():
        name = instance.class_name(c)
        names.append(name if instance.counts[c] == 1 else f"{name}/{seen[c]}")
        seen[c] += 1
    return names


def read_solution(instance: ProvisioningInstance, path: Path | str) -> Provisioning:
    """Read a solution of an instance; whether it is feasible is for `verify` to say.

    Raises
    ------
    SolutionError
        for a malformed file, an unknown type, class or task, or the digest of another instance.
    """
    path = Path(path)
    document = read_document(path, SOLUTION, SolutionError)
    refuse_other_instance(path, document.get("instance"), instance.name, instance.digest)
    machines = document["machines"]
    by_task = ["tasks" in machine for machine in machines]
    for m, machine in enumerate(machines):
        if machine["type"] not in instance.type_names:
            raise SolutionError(
                f"{path.name}: machines.{m} has type '{machine['type']:.60}'; the instance has "
                f"{', '.join(instance.type_names[:6])}{', ...' if instance.num_types > 6 else ''}."
            )
        if ("counts" in machine) == by_task[m] or by_task[m] != by_task[0] or ("repeat" in machine and by_task[m]):
            raise SolutionError(
                f"{path.name}: machines.{m} must have either 'tasks' (every machine then) or 'counts' with 'repeat'."
            )
    types = np.array([instance.type_names.index(machine["type"]) for machine in machines], np.int64)
    if machines and by_task[0]:
        return Provisioning.from_tasks(instance, types, _named_tasks(instance, path, machines))
    name2class = {instance.class_name(c): c for c in range(instance.num_classes)}
    entries = []
    for m, machine in enumerate(machines):
        for name, count in machine["counts"].items():
            if name not in name2class:
                raise SolutionError(
                    f"{path.name}: machines.{m} holds task class '{name:.60}', which the instance has not."
                )
            entries.append((m, name2class[name], count))
    table = np.array(entries, np.int64).reshape(-1, 3)
    return Provisioning(
        types,
        np.array([machine.get("repeat", 1) for machine in machines], np.int64),
        np.searchsorted(table[:, 0], np.arange(len(machines) + 1)),
        table[:, 1],
        table[:, 2],
    )


def write_solution(instance: ProvisioningInstance, solution: Provisioning, path: Path | str) -> None:
    """Write a solution: by task names where it says which task goes where, else by counts per class."""
    machines: list[MachineFile] = []
    if solution.task2machine is not None:
        names = task_names(instance)
        machines = [
            {"type": instance.type_names[k], "tasks": []} for k in np.repeat(solution.machine_type, solution.repeat)
        ]
        for task, machine in enumerate(solution.task2machine.tolist()):
            machines[machine]["tasks"].append(names[task])
    else:
        for p, k in enumerate(solution.machine_type.tolist()):
            span = slice(solution.indptr[p], solution.indptr[p + 1])
            content = zip(solution.task_class[span].tolist(), solution.count[span].tolist(), strict=True)
            counts = {instance.class_name(c): n for c, n in content}
            machines.append({"type": instance.type_names[k], "counts": counts, "repeat": int(solution.repeat[p])})
    document: SolutionFile = {
        "schema": "schedgap/provisioning-solution/1",
        "instance": instance.digest,
        "machines": machines,
    }
    write_document(path, SOLUTION, document, SolutionError)


def _named_tasks(instance: ProvisioningInstance, path: Path, machines: list[MachineFile]) -> IntArray:
    name2task = {name: t for t, name in enumerate(task_names(instance))}
    task2machine = np.full(instance.num_tasks, -1, np.int64)
    for m, machine in enumerate(machines):
        for name in machine["tasks"]:
            task = name2task.get(name)
            if task is None:
                raise SolutionError(f"{path.name}: machines.{m} holds task '{name:.60}', which the instance has not.")
            if task2machine[task] >= 0:
                raise SolutionError(
                    f"{path.name}: task {name} is on machines {task2machine[task]} and {m}; place it once."
                )
            task2machine[task] = m
    if (task2machine < 0).any():
        missing = next(name for name, t in name2task.items() if task2machine[t] < 0)
        raise SolutionError(f"{path.name}: task {missing} is on no machine; place every task.")
    return task2machine
