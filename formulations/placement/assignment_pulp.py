"""The placement program as its readers would write it: stated in PuLP, term by term.

The same program as `assignment`, whose docstring has its mathematics, by other code: where both find the same optimum,
neither has a row wrong (`schedgap run --audit` compares them).
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES
from schedgap.formulations.backends.pulp_models import give_values, read_program
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.placement.assignment import (
    HANDLES,
    AssignmentProgram,
    objective_step,
    solved,
    too_many_variables,
)
from schedgap.instances.arrays import FloatArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.placement.model import ANY, FAMILY, ONE, Placement, PlacementInstance

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
        self.total = lpSum
        self.nodes, self.gangs_of = range(instance.num_nodes), range(self.gangs.size)
        self.pods, self.pod2class = instance.class_counts().tolist(), instance.pod2class.tolist()
        self.num_gpus = instance.num_gpus[instance.node2type].tolist()
        classes, alone, size = range(len(self.pods)), self.alone.tolist(), self.gang_size.tolist()
        step, value = objective_step(instance), instance.value.tolist()
        fits = instance.fits()[:, instance.node2type]

        problem, self.step = LpProblem("placement", LpMinimize), step
        self.problem, new = problem, problem.add_variable
        pairs = [(c, n) for c in classes for n in self.nodes if fits[c, n]]
        x = self.x = {(c, n): new(f"x_{c}_{n}", 0, self.pods[c], LpInteger) for c, n in pairs}
        y = self.y = {
            (c, n, g, s): new(f"y_{c}_{n}_{g}_{s}", 0, self.pods[c], LpInteger)
            for c, n in pairs
            if self.shares[c]
            for g in range(self.num_gpus[n])
            for s in self.starts(c, n)
        }
        z = self.z = {(n, g): new(f"z_{n}_{g}", cat=LpBinary) for n in self.nodes for g in range(self.num_gpus[n])}
        stays = self.stays = {
            p: new(f"stays_{p}", 0 if instance.movable[p] else 1, 1, LpInteger) for p in self.running.tolist()
        }
        refused = [new(f"refused_{c}", 0, alone[c], LpInteger) for c in classes]
        no_gang = [new(f"no_gang_{a}", cat=LpBinary) for a in self.gangs_of]
        self.order = [*x.values(), *y.values(), *z.values(), *stays.values(), *refused, *no_gang]

        lost = lpSum(value[c] // step * refused[c] for c in classes)
        gangs_lost = lpSum(size[a][c] * value[c] // step * no_gang[a] for a in self.gangs_of for c in classes)
        problem += lost + gangs_lost, "refused"
        for c in classes:
            placed = lpSum(x[c, n] for n in self.nodes if (c, n) in x)
            stayed = lpSum(stays[p] for p in stays if self.pod2class[p] == c)
            left_out = refused[c] + lpSum(size[a][c] * no_gang[a] for a in self.gangs_of)
            problem += placed + stayed + left_out == self.pods[c], f"pods_{c}"
        for n in self.nodes:
            self._state_node(n, [c for c in classes if (c, n) in x])
        if instance.max_moves != ANY:
            problem += lpSum(stays.values()) >= len(stays) - instance.max_moves, "moves"

    def _state_node(self, n: int, here: list[int]) -> None:
        """Add the rows of a node. here : the classes that it may hold."""
        instance, problem, total, kind = self.instance, self.problem, self.total, int(self.instance.node2type[n])
        on = [p for p in self.stays if instance.running_node[p] == n]
        for r, has in enumerate(instance.capacity[kind].tolist()):
            used = total(int(instance.demand[c, r]) * self.x[c, n] for c in here)
            kept = total(int(instance.demand[self.pod2class[p], r]) * self.stays[p] for p in on)
            problem += used + kept <= has, f"capacity_{n}_{r}"
        sharing = [c for c in here if self.shares[c]]
        for c in sharing:
            shared = total(self.y[c, n, g, s] for g in range(self.num_gpus[n]) for s in self.starts(c, n))
            problem += shared == self.x[c, n], f"share_{c}_{n}"
        whole = total(int(instance.gpus[c]) * self.x[c, n] for c in here if c not in sharing)
        problem += total(self.z[n, g] for g in range(self.num_gpus[n])) == whole, f"whole_{n}"
        for g in range(self.num_gpus[n]):
            own = [(c, s) for c in sharing for s in self.starts(c, n)]
            shared = total(int(instance.gpu_milli[c]) * self.y[c, n, g, s] for c, s in own)
            holds = [p for p in on if int(instance.running_gpus[p]) >> g & 1]
            held = total(int(instance.gpu_milli[self.pod2class[p]]) * self.stays[p] for p in holds)
            problem += shared + ONE * self.z[n, g] + held <= ONE, f"gpu_{n}_{g}"
            for i in range(0 if instance.gpu_slices is None else int(instance.gpu_slices[kind])):
                over = total(self.y[c, n, g, s] for c, s in own if s <= i < s + self.slices[c])
                kept = total(self.stays[p] for p in holds if self._covers(p, i))
                problem += over + kept <= 1, f"slice_{n}_{g}_{i}"

    def _covers(self, pod: int, number: int) -> bool:
        """Return whether a pod that runs takes a slice of its GPU."""
        assert self.instance.running_start is not None
        begin = int(self.instance.running_start[pod])
        return begin <= number < begin + int(self.slices[self.pod2class[pod]])

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
