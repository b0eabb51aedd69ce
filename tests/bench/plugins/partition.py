"""Tasks to divide among identical machines (P || Cmax): the last one ends as early as possible."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import IntArray, content_hash, locked_ints
from schedgap.instances.documents import (
    Columns,
    Count,
    Field,
    Index,
    InstanceDocument,
    Positive,
    SolutionDocument,
    Value,
)
from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.family import Family, register_family
from schedgap.instances.method import Outcome, method
from schedgap.instances.model import InstanceModel
from schedgap.instances.units import SECOND_MS


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PartitionInstance(InstanceModel):
    name: str
    num_machines: int
    length_ms: IntArray
    digest: str = ""

    def __post_init__(self) -> None:
        self._lock(("length_ms",), ("num_machines",))
        if self.num_machines < 1 or self.length_ms.ndim != 1 or self.length_ms.size == 0 or self.length_ms.min() < 1:
            raise InstanceError(f"{self.name}: give at least one machine, and tasks of at least 1 ms.")
        object.__setattr__(self, "digest", content_hash(["schedgap/partition/1", self.num_machines, self.length_ms]))

    @property
    def num_tasks(self) -> int:
        return int(self.length_ms.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    task2machine: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "task2machine", locked_ints(self.task2machine))


def verify(instance, solution) -> int:
    machine = solution.task2machine
    if machine.shape != (instance.num_tasks,):
        raise VerifyError(
            f"task2machine has shape {machine.shape}; give one machine for each of {instance.num_tasks} tasks."
        )
    if machine.min() < 0 or machine.max() >= instance.num_machines:
        raise VerifyError(f"a task is on machine {machine.max()}; there are {instance.num_machines}.")
    load = np.zeros(instance.num_machines, np.int64)
    np.add.at(load, machine, instance.length_ms)
    return int(load.max())


def uniform(tasks: int = 20, machines: int = 4, *, seed: int = 0) -> PartitionInstance:
    """Draw lengths from 1 to 100 seconds."""
    rng = generator("partition", "uniform", tasks, machines, seed)
    return PartitionInstance(
        f"uniform-{tasks}-{machines}-s{seed}", machines, rng.integers(SECOND_MS, 100 * SECOND_MS, tasks, endpoint=True)
    )


def shrink(instance):
    return instance.replace(name=f"{instance.name}-shrunk", length_ms=instance.length_ms[:8])


INSTANCE = InstanceDocument(
    "schedgap/partition/1",
    PartitionInstance,
    Value("machines", Count, "num_machines"),
    Columns("tasks", Field("length_s", Positive, "length_ms", scale=SECOND_MS)),
)
SOLUTION = SolutionDocument(
    "schedgap/partition-solution/1", Partition, Columns("", Field("machine", Index, "task2machine"))
)


def native(runs):
    """As somebody else scores: one over the sum of all ends, in ten thousandths, and the share that has an answer."""
    ends_s = [run.objective / SECOND_MS for run in runs if run.objective is not None]
    return {"ten_thousands": 1e4 / (1 + sum(ends_s)), "answered": len(ends_s) / len(runs)}


PARTITION = register_family(
    Family(
        name="partition",
        instance=PartitionInstance,
        solution=Partition,
        verify=verify,
        read_instance=INSTANCE.read,
        write_instance=INSTANCE.write,
        read_solution=SOLUTION.read,
        write_solution=SOLUTION.write,
        objective_scale=SECOND_MS,
        objective_unit="s",
        generators={"uniform": uniform},
        importers={},
        shrink=shrink,
        bound_methods=("bound-work",),
        native_score=native,
    )
)


@method("longest-first", family="partition")
def longest_first(instance):
    """Give each task, the longest first, to the machine that is free first."""
    task2machine = np.empty(instance.num_tasks, np.int64)
    free = [(0, machine) for machine in range(instance.num_machines)]
    for task in np.argsort(-instance.length_ms, kind="stable").tolist():
        free_ms, machine = free[0]
        task2machine[task] = machine
        heapq.heapreplace(free, (free_ms + int(instance.length_ms[task]), machine))
    return Partition(task2machine)


@method("bound-work", family="partition", bounds=True)
def work_bound(instance):
    """Prove max(longest task, even split)."""
    total = sum(instance.length_ms.tolist())
    return Outcome(bound=max(int(instance.length_ms.max()), -(-total // instance.num_machines)))
