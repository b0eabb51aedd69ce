"""What a policy may answer: a plan, drafted task by task if it likes, and the check of it.

What can be rented.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import numpy as np

from schedgap.heuristics.player import Whole
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.errors import MethodError


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


ELSEWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Where every task shall be.

    machine : (T,) int64, for each task of the observation an index: below M one of its machines, from M on
        `new_types[index - M]`. new_types : types of the machines to rent. keep : (M,) bool, machines to keep although
        they get no task; None for none. Every other machine without a task is released.
    """

    machine: IntArray
    new_types: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    keep: BoolArray | None = None


class PlanDocument(msgspec.Struct, forbid_unknown_fields=True):
    """A plan as a program answers it: `Plan` in lists."""

    machine: list[Whole]
    new_types: list[Whole] = []
    keep: list[bool] | None = None

    def plan(self) -> Plan:
        """Return the plan."""
        keep = None if self.keep is None else np.array(self.keep, np.bool_)
        return Plan(np.array(self.machine, np.int64), np.array(self.new_types, np.int64), keep)


class Draft:
    """A plan in the making, for policies that go task by task."""

    def __init__(
        self, market: Market, demand: IntArray, task_class: IntArray, task_machine: IntArray, machine_type: IntArray
    ) -> None:
        """Begin with every task where it is; the arrays are those of an observation, whose `draft` this is for."""
        self.market, self.demand, self.task_class = market, demand, task_class
        self.num_machines = machine_type.shape[0]
        self.machine = task_machine.copy()
        self.types: list[int] = machine_type.tolist()
        self._free: list[list[int]] = market.capacity[machine_type].tolist()
        for t, m in enumerate(self.machine.tolist()):
            if m >= 0:
                self._take(t, m, 1)

    def fits(self, task: int, machine: int) -> bool:
        """Return whether there is room for a task on a machine (one that there is, or rented by this draft)."""
        demand = self._demand(task, machine)
        return all(0 <= d <= free for d, free in zip(demand, self._free[machine], strict=True))

    def rent(self, machine_type: int) -> int:
        """Rent a machine and return its index."""
        self.types.append(machine_type)
        self._free.append(self.market.capacity[machine_type].tolist())
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
        return Plan(self.machine, np.array(self.types[self.num_machines :], np.int64))

    def _demand(self, task: int, machine: int) -> list[int]:
        family = self.market.type2family[self.types[machine]]
        demand: list[int] = self.demand[family, self.task_class[task]].tolist()
        return demand

    def _take(self, task: int, machine: int, sign: int) -> None:
        for r, d in enumerate(self._demand(task, machine)):
            self._free[machine][r] -= sign * d


def checked(
    plan: object, where: str, num_tasks: int, num_machines: int, num_types: int
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return `machine`, `new_types` and `keep` of what a policy answered, in arrays of their own.

    Raises
    ------
    MethodError
        if it is no plan for so many tasks, machines of the last plan and machine types; where : the plan, as named in it.
    """
    if not isinstance(plan, Plan):
        raise MethodError(f"{where}: the policy returned {type(plan).__name__}; return a Plan.")
    machine, new_types = np.asarray(plan.machine), np.asarray(plan.new_types)
    keep = np.asarray(np.zeros(num_machines, np.bool_) if plan.keep is None else plan.keep)
    for name, values, kinds, wanted in (
        ("machine", machine, "iu", "int64"),
        ("new_types", new_types, "iu", "int64"),
        ("keep", keep, "b", "bool"),
    ):
        # An empty list is of type float64 to NumPy.
        if values.size and values.dtype.kind not in kinds:
            raise MethodError(f"{where}: {name} is of type {values.dtype}; give {wanted}.")
    if machine.shape != (num_tasks,):
        raise MethodError(f"{where}: machine has shape {machine.shape} for {num_tasks} tasks; give one index each.")
    if new_types.ndim != 1 or (new_types.size and not 0 <= new_types.min() <= new_types.max() < num_types):
        raise MethodError(f"{where}: new_types holds {new_types.tolist()!s:.60}; machine types are 0..{num_types - 1}.")
    if keep.shape != (num_machines,):
        raise MethodError(f"{where}: keep has shape {keep.shape} for {num_machines} machines; give one flag each.")
    return np.array(machine, np.int64), np.array(new_types, np.int64), np.array(keep, np.bool_)
