"""The assignment ILP of Eva's section 4.1, and the same with its symmetry broken.

Sets        t tasks, i machines (as many as tasks), k machine types and the ghost type 0 of no price and no capacity,
            g groups of machine families on which all demands are equal
Variables   y[i, k] in {0, 1}: machine i has type k;  x[t, i, g] in {0, 1}: task t is on machine i, which is of group g
Minimise    sum_i sum_k price[k] y[i, k]
Rows        sum_i sum_g x[t, i, g] = 1                                           for each task t
            sum_k y[i, k] = 1                                                    for each machine i
            sum_t demand[g, t, r] x[t, i, g] <= sum_{k in g} capacity[k, r] y[i, k]      for each i, g, r
            x[t, i, g] <= sum_{k in g} y[i, k]                                   for each t that demands nothing on g
            sum_{t of c} x[t, i, g] <= most[c] sum_{k in g} y[i, k]              for each c of which only so many share a machine

Where demands do not depend on the family there is one group, and this is the paper's program to the letter. Where they
do, the paper's capacity row multiplies x by y; splitting x by group is the exact linear form whose relaxation is the
tightest, and needs no big M. x[t, i, g] does not exist where t may not run on g.

The symmetric form breaks two symmetries. Machines: i is the machine of its first task, so x[t, i] exists for i <= t
only, x[t, i] <= x[i, i], and i is a ghost unless it holds task i. Equal tasks: those of a class are neighbours, and
t + 1 is on no earlier machine than t. Both hold at once: tasks of a class, placed in their order on the machines opened
before them and then on those that they open themselves, satisfy both.

Both bounds are a solver's own. They are proofs while every capacity row, divided by its greatest common divisor, keeps its
coefficients under 2^21 (2 TiB in MiB), and prices, in multiples of theirs, up to 2^38 (`separable`); beyond, `unsupported`.
"""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import (
    INFEASIBLE_SOLUTION,
    LinearModel,
    Rows,
    improving,
    is_feasible,
    proven_cost,
    whole_claims,
)
from schedgap.formulations.provisioning.limits import claimed, classes_apart, without_interference
from schedgap.formulations.separable import inseparable
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import price_step, verify

# HiGHS needs some 200 bytes an entry in its branch and bound; 8 million keep it within a small machine's memory.
MAX_ENTRIES = 8_000_000


def too_large(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the assignment ILP cannot be built for the instance."""
    return without_interference(instance) or too_many_entries(instance, MAX_ENTRIES, "patterns")


def too_many_entries(instance: ProvisioningInstance, most: int, instead: str) -> str | None:
    """Return None, or why the assignment ILP is too large for a method that takes so many entries of its matrix."""
    groups = len(set(demand_groups(instance).tolist()))
    rows = 1 + len(instance.resources) + (instance.per_machine is not None)
    entries = instance.num_tasks**2 * groups * rows
    if entries <= most:
        return None
    return f"the assignment ILP of {instance.num_tasks} tasks has {entries} entries, over {most}; use {instead}"


def demand_groups(instance: ProvisioningInstance) -> IntArray:
    """(F,) int64: the group of each family; families with equal demands are in one group."""
    _, group = np.unique(instance.demand.reshape(len(instance.families), -1), axis=0, return_inverse=True)
    return group.reshape(-1).astype(np.int64)


class _Assignment:
    """The model's variables and where to find them, for tasks in the order `tasks` (T,) of classes."""

    def __init__(self, instance: ProvisioningInstance, ordered: bool) -> None:
        self.instance, self.ordered = instance, ordered
        order = np.argsort(-instance.reservation_price, kind="stable") if ordered else np.arange(instance.num_classes)
        self.task_class: IntArray = np.repeat(order, instance.counts[order])
        self.groups = demand_groups(instance)
        self.type_group = self.groups[instance.type2family]
        num_groups = int(self.groups.max()) + 1
        family = [int(np.flatnonzero(self.groups == g)[0]) for g in range(num_groups)]
        self.demand = instance.demand[family][:, self.task_class]
        num_tasks = instance.num_tasks
        g, t, i = np.meshgrid(*(np.arange(n) for n in (num_groups, num_tasks, num_tasks)), indexing="ij")
        exists = (self.demand[g, t, 0] >= 0) & ((i <= t) | (not ordered))
        self.x_group, self.x_task, self.x_machine = g[exists], t[exists], i[exists]
        self.num_x = int(exists.sum())
        self.x = np.arange(self.num_x)
        # y[i, 0] is the ghost, y[i, k + 1] type k.
        self.y = self.num_x + np.arange(num_tasks * (instance.num_types + 1)).reshape(num_tasks, -1)

    def model(self, name: str) -> LinearModel:
        """Build the rows."""
        instance, num_tasks, num_types = self.instance, self.instance.num_tasks, self.instance.num_types
        rows = Rows(self.num_x + self.y.size)
        machines = np.arange(num_tasks)
        rows.add("place", (self.x_task, self.x, 1.0), lower=np.ones(num_tasks), upper=1.0)
        owner = np.repeat(machines, num_types + 1)
        rows.add("type", (owner, self.y.ravel(), 1.0), lower=np.ones(num_tasks), upper=1.0)
        for g in range(self.demand.shape[0]):
            mine = np.flatnonzero(self.x_group == g)
            types = np.flatnonzero(self.type_group == g)
            owner = np.repeat(machines, types.size)
            y = self.y[:, types + 1].ravel()
            for r, resource in enumerate(instance.resources):
                self._capacity_rows(rows, f"{resource}_g{g}", g, r, mine, owner, y, types)
            free = mine[(self.demand[g, self.x_task[mine]] == 0).all(axis=1)]
            row = np.arange(free.size)
            rented = np.repeat(row, types.size), self.y[self.x_machine[free]][:, types + 1].ravel(), -1.0
            rows.add(f"rented_g{g}", (row, free, 1.0), rented, upper=np.zeros(free.size))
            self._apart_rows(rows, g, mine, owner, y)
        if self.ordered:
            self._order_rows(rows)
        step = price_step(instance)
        cost = np.zeros(rows.num_variables)
        cost[self.y[:, 1:]] = instance.price // step
        x_names = [f"x({t},{i},{g})" for t, i, g in zip(self.x_task, self.x_machine, self.x_group, strict=True)]
        y_names = [f"y({i},{k})" for i in range(num_tasks) for k in ("ghost", *instance.type_names)]
        return rows.model(name, cost, np.ones(rows.num_variables), step, variable_names=(*x_names, *y_names))

    def _capacity_rows(
        self, rows: Rows, name: str, g: int, r: int, mine: IntArray, owner: IntArray, y: IntArray, types: IntArray
    ) -> None:
        # Dividing by the greatest common divisor changes nothing but the solver's numbers.
        demand, capacity = self.demand[g, self.x_task[mine], r], self.instance.capacity[types, r]
        unit = max(1, int(np.gcd.reduce(np.concatenate((demand, capacity)))))
        num_tasks = self.instance.num_tasks
        room = owner, y, np.tile(-(capacity // unit), num_tasks)
        rows.add(name, (self.x_machine[mine], mine, demand // unit), room, upper=np.zeros(num_tasks))

    def _apart_rows(self, rows: Rows, g: int, mine: IntArray, owner: IntArray, y: IntArray) -> None:
        num_tasks, most = self.instance.num_tasks, self.instance.most_together
        for c in classes_apart(self.instance).tolist():
            tasks = mine[self.task_class[self.x_task[mine]] == c]
            rented = owner, y, -int(most[c])
            rows.add(f"apart_{c}_g{g}", (self.x_machine[tasks], tasks, 1.0), rented, upper=np.zeros(num_tasks))

    def _order_rows(self, rows: Rows) -> None:
        """Break the symmetry of machines and of equal tasks."""
        num_tasks = self.instance.num_tasks
        own = np.flatnonzero(self.x_task == self.x_machine)
        owned = [own[self.x_machine[own] == i] for i in range(num_tasks)]
        later = np.flatnonzero(self.x_task > self.x_machine)
        pair = self.x_task[later] * num_tasks + self.x_machine[later]
        pairs, row = np.unique(pair, return_inverse=True)
        first = [owned[i] for i in pairs % num_tasks]
        sizes = np.array([len(o) for o in first], np.int64)
        opened = np.repeat(np.arange(pairs.size), sizes), np.concatenate((later[:0], *first)), -1.0
        rows.add("opened", (row, later, 1.0), opened, upper=np.zeros(pairs.size))
        # Machine i is rented if and only if it holds task i, which is then of the group that its type is of.
        for g in range(self.demand.shape[0]):
            of_group = own[self.x_group[own] == g]
            types = np.flatnonzero(self.type_group == g)
            rented = np.repeat(np.arange(num_tasks), types.size), self.y[:, types + 1].ravel(), -1.0
            held = self.x_machine[of_group], of_group, 1.0
            rows.add(f"holds_own_g{g}", held, rented, lower=np.zeros(num_tasks), upper=0.0)
        same = np.flatnonzero(self.task_class[1:] == self.task_class[:-1])
        place = np.full(num_tasks + 1, -1, np.int64)
        place[same] = np.arange(same.size)
        earlier, next_one = place[self.x_task], place[self.x_task - 1]
        up, down = np.flatnonzero(earlier >= 0), np.flatnonzero(next_one >= 0)
        rows.add(
            "equal_tasks",
            (earlier[up], up, self.x_machine[up]),
            (next_one[down], down, -self.x_machine[down]),
            upper=np.zeros(same.size),
        )

    def solution(self, x: FloatArray) -> Provisioning:
        """Read the machines and their tasks out of the variables."""
        instance = self.instance
        chosen = np.flatnonzero(x[: self.num_x] > 0.5)
        task2machine = np.empty(instance.num_tasks, np.int64)
        task2machine[self.x_task[chosen]] = self.x_machine[chosen]
        used, place = np.unique(task2machine, return_inverse=True)
        types = np.argmax(x[self.y[used, 1:]], axis=1)
        # Back from the order of classes here to the order in which the instance gives its tasks.
        given = np.empty(instance.num_tasks, np.int64)
        given[np.argsort(instance.task_classes(), kind="stable")] = place[np.argsort(self.task_class, kind="stable")]
        return Provisioning.from_tasks(instance, types, given)


@model_builder("assignment", family=FAMILY)
def build(instance: ProvisioningInstance) -> LinearModel:
    """Build the paper's ILP."""
    return _Assignment(instance, ordered=False).model(f"assignment-{instance.name}")


@model_builder("assignment-symmetry", family=FAMILY)
def build_symmetry(instance: ProvisioningInstance) -> LinearModel:
    """Build the ILP with its symmetry broken."""
    return _Assignment(instance, ordered=True).model(f"assignment-symmetry-{instance.name}")


@method("assignment", family=FAMILY, supports=too_large, exact=True, choices=MIP_CHOICES, handles=(PER_MACHINE,))
def assignment(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Solve the ILP of the paper's section 4.1: one binary for each task and machine."""
    start = time.perf_counter()
    return solved(instance, _Assignment(instance, ordered=False), start, time_limit_s, threads, backend)


@method(
    "assignment-symmetry",
    family=FAMILY,
    supports=too_large,
    exact=True,
    choices=MIP_CHOICES,
    handles=(PER_MACHINE,),
)
def assignment_symmetry(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Solve the paper's ILP with the symmetry of machines and of equal tasks broken."""
    start = time.perf_counter()
    return solved(instance, _Assignment(instance, ordered=True), start, time_limit_s, threads, backend)


class Statement(Protocol):
    """A program and how its variables are read."""

    def model(self, name: str) -> LinearModel:
        """Return the program as arrays."""

    def solution(self, x: FloatArray) -> Provisioning:
        """Return the solution that values of the variables mean."""


def solved(
    instance: ProvisioningInstance,
    statement: Statement,
    start: float,
    time_limit_s: float | None,
    threads: int,
    backend: str,
) -> Outcome:
    """Solve a statement of the ILP, which was begun at `start` of `time.perf_counter()`."""
    model = statement.model(f"assignment-{instance.name}")
    build_s = time.perf_counter() - start
    left = None if time_limit_s is None else max(0.0, time_limit_s - build_s)
    if (reason := inseparable(model)) is not None:
        return Outcome(
            status=Status.UNSUPPORTED,
            build_s=build_s,
            details={"reason": f"{reason}; use patterns or column-generation"},
        )
    result = solve(model, backend, time_limit_s=left, threads=threads)
    start = time.perf_counter()
    unit = model.objective_scale
    bound = None if result.bound is None else proven_cost(result.bound) * unit
    solution = None if result.x is None else statement.solution(result.x)
    if solution is not None and not is_feasible(verify, instance, solution):
        why = {"reason": INFEASIBLE_SOLUTION}
        return Outcome(None, None, Status.NO_SOLUTION, build_s, result.solve_s, backend=result.backend, details=why)
    failed = {} if result.unproven is None else {"reason": result.unproven}
    return Outcome(
        solution,
        bound,
        claimed(instance, solution, bound),
        build_s,
        result.solve_s,
        time.perf_counter() - start,
        improving(whole_claims(result.trajectory, after_s=build_s, unit=unit)),
        result.backend,
        {"columns": int(model.cost.shape[0]), "rows": int(model.row_lower.shape[0]), **failed, **result.details},
    )
