"""What a policy is given and what it returns: a view of the present and a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

QUEUED, MIGRATING, EXECUTING = 0, 1, 2
ELSEWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Market:
    """What can be rented, known from the start.

    Letters used for shapes: K machine types, F machine families, R resources.

    type2family : (K,) int64. capacity : (K, R) int64. price : (K,) int64, micro-dollars per hour.
    acquire_s, setup_s : (K,) int64 seconds, from an order until a machine is paid, and from then until it runs tasks.
    """

    resources: tuple[str, ...]
    families: tuple[str, ...]
    type_names: tuple[str, ...]
    type2family: IntArray
    capacity: IntArray
    price: IntArray
    acquire_s: IntArray
    setup_s: IntArray
    period_s: int


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The present, in copies: nothing in it leads to what comes.

    Letters used for shapes: C task classes and W workloads seen so far, N unfinished jobs, T their tasks, M machines of
    the last plan.

    demand : (F, C, R) int64; a row of -1 where a class may not run on a family. reservation_type : (C,) int64, the
    cheapest machine type that fits one task. class_names : (C,). class2workload : (C,) int64.
    delays_s : (W, 5) int64, of a workload: fetch, build, kill, upload, init.
    job : (N,) int64, ascending. job_class, job_tasks : (N,) int64. job_arrival_s : (N,) int64.
    job_phase : (N,) int64, QUEUED, MIGRATING (must stay where it was sent) or EXECUTING.
    job_attained_s : (N,) float64, work done. num_ended : jobs that have ended so far. ended, ended_s : (E,) int64, those
    that ended since the last plan, and when.
    job_duration_s : (N,) int64, all the work of a job; None unless the policy knows durations.
    task, task_job, task_class : (T,) int64, task_job an index into `job`; tasks of a job are neighbours.
    task_machine : (T,) int64, index of the machine that the last plan sent it to, -1 for none. task_held_on : (T,)
    int64, of the one that holds it now. task_rate : (T,) float64, normalised throughput now, -1 where none is seen.
    machine : (M,) int64, ascending. machine_type : (M,) int64. machine_running : (M,) bool, false while it boots.
    throughput : (W, W) float64, pairwise; None unless the policy knows the throughput.
    memory : the policy's own, empty at first and kept from plan to plan.
    """

    now_s: int
    market: Market
    demand: IntArray
    reservation_type: IntArray
    class_names: tuple[str, ...]
    class2workload: IntArray
    delays_s: IntArray
    job: IntArray
    job_class: IntArray
    job_tasks: IntArray
    job_arrival_s: IntArray
    job_phase: IntArray
    job_attained_s: FloatArray
    num_ended: int
    ended: IntArray
    ended_s: IntArray
    job_duration_s: IntArray | None
    task: IntArray
    task_job: IntArray
    task_class: IntArray
    task_machine: IntArray
    task_held_on: IntArray
    task_rate: FloatArray
    machine: IntArray
    machine_type: IntArray
    machine_running: BoolArray
    throughput: FloatArray | None
    memory: dict[str, Any]

    @property
    def num_tasks(self) -> int:
        """Number of tasks of unfinished jobs."""
        return int(self.task.shape[0])

    @property
    def num_machines(self) -> int:
        """Number of machines of the last plan."""
        return int(self.machine.shape[0])

    def draft(self) -> Draft:
        """Return a plan to work on, in which every task stays where it is."""
        return Draft(self)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Where every task shall be.

    machine : (T,) int64, for each task of the view an index: below M one of the view's machines, from M on
        `new_types[index - M]`. new_types : types of the machines to rent. keep : (M,) bool, machines to keep although
        they get no task; None for none. Every other machine without a task is released.
    """

    machine: IntArray
    new_types: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    keep: BoolArray | None = None


class Draft:
    """A plan in the making, for policies that go task by task."""

    def __init__(self, view: View) -> None:
        """Begin with every task where it is."""
        self.view = view
        self.machine = view.task_machine.copy()
        self.types = view.machine_type.tolist()
        capacity = view.market.capacity[view.machine_type].tolist()
        self._free: list[list[int]] = capacity
        for t, m in enumerate(self.machine.tolist()):
            if m >= 0:
                self._take(t, m, 1)

    def fits(self, task: int, machine: int) -> bool:
        """Return whether there is room for a task of the view on a machine (of the view, or rented by this draft)."""
        demand = self._demand(task, machine)
        return all(0 <= d <= free for d, free in zip(demand, self._free[machine], strict=True))

    def rent(self, machine_type: int) -> int:
        """Rent a machine and return its index."""
        self.types.append(machine_type)
        self._free.append(self.view.market.capacity[machine_type].tolist())
        return len(self.types) - 1

    def put(self, task: int, machine: int) -> None:
        """Send a task to a machine, from wherever it is; ELSEWHERE takes it off its machine for now."""
        if self.machine[task] >= 0:
            self._take(task, int(self.machine[task]), -1)
        self.machine[task] = machine
        if machine >= 0:
            self._take(task, machine, 1)

    def plan(self) -> Plan:
        """Return the plan."""
        return Plan(self.machine, np.array(self.types[self.view.num_machines :], np.int64))

    def _demand(self, task: int, machine: int) -> list[int]:
        family = self.view.market.type2family[self.types[machine]]
        demand: list[int] = self.view.demand[family, self.view.task_class[task]].tolist()
        return demand

    def _take(self, task: int, machine: int, sign: int) -> None:
        for r, d in enumerate(self._demand(task, machine)):
            self._free[machine][r] -= sign * d
