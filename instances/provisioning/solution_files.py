"""Provisioning solutions as JSON files, schema `schedgap/provisioning-solution/1`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired

import numpy as np

from schedgap.instances.documents import Count, Custom, Given, Place, SolutionDocument, list_of, record
from schedgap.instances.errors import SolutionError
from schedgap.instances.provisioning.solution import NEW, Provisioning

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

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

# What a reader of the file does with it, and no part of the solution: see `plans/drain.py`.
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
