"""A solution of the provisioning problem: which machines, and which tasks on each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from schedgap.instances import exact
from schedgap.instances.arrays import Brief, IntArray, lock, locked_ints, ranges
from schedgap.instances.errors import SolutionError
from schedgap.instances.provisioning.model import ProvisioningInstance

# In place of a running machine: newly rented.
NEW = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Provisioning(Brief):
    """Machines in P groups; the machines of a group have the same type and the same number of tasks of each class.

    machine_type : (P,) int64. repeat : (P,) int64, machines in the group, at least 1.
    indptr : (P + 1,) int64; group p holds `count[i]` tasks of class `task_class[i]`, indptr[p] <= i < indptr[p + 1].
    task_class, count : (N,) int64.
    task2machine : (T,) int64 into the machines (group after group, each `repeat` times), in the instance's task order;
        None where only the numbers per class were decided (tasks of one class are interchangeable).
    keeps : (P,) int64, the running machine that a group is, which then is one machine; -1 for newly rented ones. None
        where nobody asked: then all are new.
    """

    machine_type: IntArray
    repeat: IntArray
    indptr: IntArray
    task_class: IntArray
    count: IntArray
    task2machine: IntArray | None = None
    keeps: IntArray | None = None

    def __post_init__(self) -> None:
        fields = ("machine_type", "repeat", "indptr", "task_class", "count", "task2machine", "keeps")
        lock(self, (key for key in fields if getattr(self, key) is not None), error=SolutionError)
        groups, entries = self.machine_type.shape[0], self.task_class.shape[0]
        if (
            self.repeat.shape != (groups,)
            or self.indptr.shape != (groups + 1,)
            or self.count.shape != (entries,)
            or (self.keeps is not None and self.keeps.shape != (groups,))
            or self.indptr[0] != 0
            or self.indptr[-1] != entries
            or (np.diff(self.indptr) < 0).any()
        ):
            raise SolutionError("a solution's arrays do not fit together: see the shapes of Provisioning.")

    @property
    def num_machines(self) -> int:
        """Number of machines."""
        return int(exact.dot(self.repeat, np.ones_like(self.repeat)))

    @property
    def entry2group(self) -> IntArray:
        """(N,) int64: the group of each entry of `task_class` and `count`."""
        return np.repeat(np.arange(self.machine_type.shape[0], dtype=np.int64), np.diff(self.indptr))

    def machines(self, num_classes: int) -> tuple[IntArray, IntArray]:
        """Return one row a machine: its type (M,) int64, and its tasks of each class (M, C) int64."""
        content = np.zeros((self.machine_type.shape[0], num_classes), np.int64)
        np.add.at(content, (self.entry2group, self.task_class), self.count)
        return np.repeat(self.machine_type, self.repeat), np.repeat(content, self.repeat, axis=0)

    @classmethod
    def from_machines(cls, machine_type: ArrayLike, content: ArrayLike) -> Provisioning:
        """Build from one row a machine: `machine_type` (M,) and `content` (M, C); equal machines are grouped."""
        rows, repeat = np.unique(np.column_stack((machine_type, content)), axis=0, return_counts=True)
        return cls.from_patterns(rows[:, 0], repeat, rows[:, 1:])

    @classmethod
    def from_tasks(
        cls, instance: ProvisioningInstance, machine_type: ArrayLike, task2machine: ArrayLike
    ) -> Provisioning:
        """Build from one type a machine and one machine a task, in the instance's task order.

        machine_type : (M,) ints. task2machine : (T,) ints into the machines.

        Raises
        ------
        SolutionError
            if a task is missing or names a machine that does not exist.
        """
        types, task2machine = locked_ints(machine_type), locked_ints(task2machine)
        if task2machine.shape != (instance.num_tasks,):
            raise SolutionError(f"{task2machine.shape[0]} tasks are placed, the instance has {instance.num_tasks}.")
        num_machines = types.shape[0]
        if task2machine.size and (task2machine.min() < 0 or task2machine.max() >= num_machines):
            raise SolutionError(f"a task is placed on machine {task2machine.max()}; there are {num_machines}.")
        keys = task2machine * instance.num_classes + instance.task_classes()
        entries, count = np.unique(keys, return_counts=True)
        indptr = np.searchsorted(entries, np.arange(num_machines + 1) * instance.num_classes)
        return cls(
            types,
            np.ones(num_machines, np.int64),
            indptr,
            entries % instance.num_classes,
            count,
            task2machine,
        )

    @classmethod
    def from_patterns(cls, machine_type: ArrayLike, repeat: ArrayLike, patterns: ArrayLike) -> Provisioning:
        """Build from `machine_type` (P,), `repeat` (P,) and `patterns` (P, C) tasks per class; zero repeats go."""
        types, times, matrix = (np.asarray(a, dtype=np.int64) for a in (machine_type, repeat, patterns))
        used = times > 0
        matrix = matrix[used]
        rows, columns = np.nonzero(matrix)
        indptr = np.concatenate(([0], np.cumsum((matrix > 0).sum(axis=1))))
        return cls(types[used], times[used], indptr, columns, matrix[rows, columns])

    @classmethod
    def from_cover(
        cls, instance: ProvisioningInstance, machine_type: ArrayLike, repeat: ArrayLike, patterns: ArrayLike
    ) -> Provisioning:
        """Like `from_patterns`, for patterns that may cover a class too often: surplus tasks are taken off again.

        Taking a task off a machine keeps it feasible and never raises the objective.

        Raises
        ------
        SolutionError
            if a class is covered too seldom.
        """
        types, times, matrix = (np.array(a, dtype=np.int64) for a in (machine_type, repeat, patterns))
        surplus = times @ matrix - instance.counts
        if (surplus < 0).any():
            c = int(np.argmin(surplus))
            raise SolutionError(f"task {instance.class_name(c)} is covered {surplus[c]} times too seldom.")
        for c in np.flatnonzero(surplus).tolist():
            left = int(surplus[c])
            for p in np.flatnonzero(matrix[:, c] * times).tolist():
                if left == 0:
                    break
                whole, part = divmod(left, int(matrix[p, c]))
                if whole < times[p] and part:
                    types, times, matrix = _split(types, times, matrix, p)
                    matrix[-1, c] -= part
                    left -= part
                emptied = min(whole, int(times[p]))
                if emptied:
                    left -= emptied * int(matrix[p, c])
                    if emptied < times[p]:
                        types, times, matrix = _split(types, times, matrix, p, emptied)
                        matrix[-1, c] = 0
                    else:
                        matrix[p, c] = 0
        times[matrix.sum(axis=1) == 0] = 0
        return cls.from_patterns(types, times, matrix)

    def with_tasks(self, instance: ProvisioningInstance) -> Provisioning:
        """Return the same machines with `task2machine` set: the tasks of a class fill the machines in order."""
        if self.task2machine is not None:
            return self
        first = np.concatenate(([0], np.cumsum(self.repeat)[:-1]))
        lengths = self.repeat[self.entry2group]
        entry = np.repeat(np.arange(self.task_class.shape[0]), lengths)
        machine = ranges(first[self.entry2group], lengths)
        by_class = np.argsort(self.task_class[entry], kind="stable")
        slots = np.repeat(machine[by_class], self.count[entry[by_class]])
        task2machine = np.empty(instance.num_tasks, np.int64)
        task2machine[np.argsort(instance.task_classes(), kind="stable")] = slots
        expanded = np.repeat(self.machine_type, self.repeat)
        keeps = None if self.keeps is None else np.repeat(self.keeps, self.repeat)
        return replace(Provisioning.from_tasks(instance, expanded, task2machine), keeps=keeps)


def _split(
    types: IntArray, times: IntArray, matrix: IntArray, p: int, number: int = 1
) -> tuple[IntArray, IntArray, IntArray]:
    """Move `number` machines of group p to a new last group."""
    times = np.append(times, number)
    times[p] -= number
    return np.append(types, types[p]), times, np.vstack((matrix, matrix[p : p + 1]))
