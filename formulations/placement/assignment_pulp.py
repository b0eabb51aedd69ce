"""The placement program as its readers would write it: stated in PuLP, term by term.

The same program as `assignment`, whose docstring has its mathematics, by other code: where both find the same optimum,
neither has a row wrong (`schedgap run --audit` compares them).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES
from schedgap.formulations.backends.cbc import give_values, read_program
from schedgap.formulations.export import model_builder
from schedgap.formulations.placement.assignment import (
    HANDLES,
    AssignmentProgram,
    objective_step,
    solved,
    too_many_variables,
)
from schedgap.instances.method import Outcome, method
from schedgap.instances.placement.model import ANY, FAMILY, ONE, PlacementInstance

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.placement.model import Placement

# Stating as many takes a second.
MAX_VARIABLES = 20_000


def too_large(instance: PlacementInstance) -> str | None:
    """Return None, or why the program is not stated in PuLP for the instance."""
    return too_many_variables(instance, MAX_VARIABLES, "assignment")


class PulpProgram(AssignmentProgram):
    """The program `problem`; its variables have the order of those of `assignment`, kind by kind."""

    def __init__(self, instance: PlacementInstance) -> None:
        from pulp import LpBinary, LpInteger, LpMinimize, LpProblem, lpSum

        super().__init__(instance)
        classes, nodes, resources = map(range, (len(instance.class_names), instance.num_nodes, len(instance.resources)))
        running, gangs, size = self.running.tolist(), range(self.gangs.size), self.gang_size.tolist()
        pods, pod2class, alone = instance.class_counts().tolist(), instance.pod2class.tolist(), self.alone.tolist()
        demand, capacity = instance.demand.tolist(), instance.capacity[instance.node2type].tolist()
        milli, takes, value = instance.gpu_milli.tolist(), instance.gpus.tolist(), instance.value.tolist()
        gpus = instance.num_gpus[instance.node2type].tolist()
        fits, where = instance.fits(), instance.running_node.tolist()
        step = self.step = objective_step(instance)

        problem = self.problem = LpProblem("placement", LpMinimize)
        new = problem.add_variable
        pairs = [(c, n) for c in classes for n in nodes if fits[c, instance.node2type[n]]]
        x = {(c, n): new(f"x_{c}_{n}", 0, pods[c], LpInteger) for c, n in pairs}
        y = {
            (c, n, g): new(f"y_{c}_{n}_{g}", 0, pods[c], LpInteger)
            for c, n in x
            if 0 < milli[c] < ONE
            for g in range(gpus[n])
        }
        z = {(n, g): new(f"z_{n}_{g}", cat=LpBinary) for n in nodes for g in range(gpus[n])}
        stays = {p: new(f"stays_{p}", 0 if instance.movable[p] else 1, 1, LpInteger) for p in running}
        refused = [new(f"refused_{c}", 0, alone[c], LpInteger) for c in classes]
        no_gang = {a: new(f"no_gang_{a}", cat=LpBinary) for a in gangs}

        lost = lpSum(value[c] // step * refused[c] for c in classes)
        problem += lost + lpSum(size[a][c] * value[c] // step * no_gang[a] for a in gangs for c in classes), "refused"
        for c in classes:
            placed = lpSum(x[c, n] for n in nodes if (c, n) in x)
            stayed = lpSum(stays[p] for p in running if pod2class[p] == c)
            left_out = refused[c] + lpSum(size[a][c] * no_gang[a] for a in gangs)
            problem += placed + stayed + left_out == pods[c], f"pods_{c}"
        for n in nodes:
            here = [c for c in classes if (c, n) in x]
            on = [p for p in running if where[p] == n]
            for r in resources:
                used = lpSum(demand[c][r] * x[c, n] for c in here)
                kept = lpSum(demand[pod2class[p]][r] * stays[p] for p in on)
                problem += used + kept <= capacity[n][r], f"capacity_{n}_{r}"
            for c in here:
                if 0 < milli[c] < ONE:
                    problem += lpSum(y[c, n, g] for g in range(gpus[n])) == x[c, n], f"share_{c}_{n}"
            whole = lpSum(takes[c] * x[c, n] for c in here if milli[c] == ONE)
            problem += lpSum(z[n, g] for g in range(gpus[n])) == whole, f"whole_{n}"
            for g in range(gpus[n]):
                shared = lpSum(milli[c] * y[c, n, g] for c in here if (c, n, g) in y)
                held = lpSum(milli[pod2class[p]] * stays[p] for p in on if int(instance.running_gpus[p]) >> g & 1)
                problem += shared + ONE * z[n, g] + held <= ONE, f"gpu_{n}_{g}"
        if instance.max_moves != ANY:
            problem += lpSum(stays.values()) >= len(running) - instance.max_moves, "moves"
        self.order = [*x.values(), *y.values(), *z.values(), *stays.values(), *refused, *no_gang.values()]

    def model(self, name: str) -> LinearModel:
        """Return the program as arrays."""
        self.problem.name = name
        return read_program(self.problem, self.step)

    def solution(self, values: FloatArray) -> Placement:
        """Return the placement that values of PuLP's variables mean."""
        give_values(self.problem, values)
        return super().solution(np.array([variable.value() or 0.0 for variable in self.order]))


@model_builder("assignment-pulp", family=FAMILY)
def build(instance: PlacementInstance) -> LinearModel:
    """State the program in PuLP."""
    return PulpProgram(instance).model(f"assignment-pulp-{instance.name}")


@method(
    "assignment-pulp",
    family=FAMILY,
    supports=too_large,
    exact=True,
    choices=MIP_CHOICES,
    twin="assignment",
    handles=HANDLES,
)
def assignment_pulp(
    instance: PlacementInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Solve the placement program as stated in PuLP, term by term: the second statement of `assignment`."""
    start = time.perf_counter()
    return solved(instance, PulpProgram(instance), start, time_limit_s, threads, backend)
