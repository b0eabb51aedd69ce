"""The assignment ILP of Eva's section 4.1 as its readers would write it: stated in PuLP, term by term.

The same program as `assignment`, whose docstring has its mathematics, by other code: where both find the same optimum, neither
has a row wrong (`schedgap run --audit` compares them). Stating a term takes PuLP a microsecond or more, where arrays take
some nanoseconds.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES
from schedgap.formulations.backends.pulp_models import give_values, read_program
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.provisioning.assignment import demand_groups, solved, too_many_entries
from schedgap.formulations.provisioning.limits import classes_apart, without_interference
from schedgap.instances.arrays import FloatArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import price_step

# Stating as many takes 3 s and 200 MB; arrays take 0.1 s.
MAX_ENTRIES = 400_000
GHOST = "ghost"


def too_large(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the program is not stated in PuLP for the instance."""
    return without_interference(instance) or too_many_entries(instance, MAX_ENTRIES, "assignment")


class AssignmentProgram:
    """The program: `problem`, its variables `x[task, machine, group]` and `y[machine, type]`."""

    def __init__(self, instance: ProvisioningInstance) -> None:
        from pulp import LpBinary, LpMinimize, LpProblem, lpSum

        self.instance = instance
        self.unit = price_step(instance)
        tasks = machines = range(instance.num_tasks)
        types, resources = range(instance.num_types), range(len(instance.resources))
        price, capacity = (instance.price // self.unit).tolist(), instance.capacity.tolist()
        # Families on which all demands are equal are one group.
        group_of_family = demand_groups(instance).tolist()
        groups = range(max(group_of_family) + 1)
        in_group = {g: [k for k in types if group_of_family[instance.type2family[k]] == g] for g in groups}
        by_task = instance.demand[:, instance.task_classes()].tolist()
        demand = [by_task[group_of_family.index(g)] for g in groups]
        where = [[g for g in groups if demand[g][t][0] >= 0] for t in tasks]
        task_class, most = instance.task_classes().tolist(), instance.most_together.tolist()
        apart = classes_apart(instance).tolist()

        problem = self.problem = LpProblem("assignment", LpMinimize)
        x = self.x = problem.add_variable_dict(
            "x_%d_%d_%d", [(t, i, g) for t in tasks for i in machines for g in where[t]], cat=LpBinary
        )
        y = self.y = problem.add_variable_dict(
            "y_%d_%s", [(i, k) for i in machines for k in (GHOST, *types)], cat=LpBinary
        )

        problem += lpSum(price[k] * y[i, k] for i in machines for k in types), "price"
        for t in tasks:
            problem += lpSum(x[t, i, g] for i in machines for g in where[t]) == 1, f"task_{t}_is_placed"
        for i in machines:
            problem += lpSum(y[i, k] for k in (GHOST, *types)) == 1, f"machine_{i}_has_a_type"
            for g in groups:
                here = [t for t in tasks if g in where[t]]
                for r in resources:
                    used = lpSum(demand[g][t][r] * x[t, i, g] for t in here)
                    problem += used <= lpSum(capacity[k][r] * y[i, k] for k in in_group[g]), f"capacity_{i}_{g}_{r}"
                for t in here:
                    if not any(demand[g][t]):
                        problem += x[t, i, g] <= lpSum(y[i, k] for k in in_group[g]), f"task_{t}_on_{i}_{g}_is_rented"
                for c in apart:
                    beside = lpSum(x[t, i, g] for t in here if task_class[t] == c)
                    problem += beside <= most[c] * lpSum(y[i, k] for k in in_group[g]), f"apart_{c}_on_{i}_{g}"

    def model(self, name: str) -> LinearModel:
        """Return the program as arrays."""
        self.problem.name = name
        return read_program(self.problem, self.unit)

    def solution(self, values: FloatArray) -> Provisioning:
        """Read the machines and their tasks out of the variables; a ghost that has tasks counts as the first type."""
        give_values(self.problem, values)
        task2machine = {t: i for (t, i, _), chosen in self.x.items() if chosen.value() > 0.5}
        machine2type = {i: k for (i, k), chosen in self.y.items() if k != GHOST and chosen.value() > 0.5}
        used = sorted(set(task2machine.values()))
        tasks = np.searchsorted(used, [task2machine[t] for t in range(self.instance.num_tasks)])
        return Provisioning.from_tasks(self.instance, np.array([machine2type.get(i, 0) for i in used]), tasks)


@model_builder("assignment-pulp", family=FAMILY)
def build(instance: ProvisioningInstance) -> LinearModel:
    """State the paper's ILP in PuLP."""
    return AssignmentProgram(instance).model(f"assignment-pulp-{instance.name}")


@method(
    "assignment-pulp",
    family=FAMILY,
    supports=too_large,
    exact=True,
    choices=MIP_CHOICES,
    twin="assignment",
    handles=(PER_MACHINE,),
)
def assignment_pulp(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Solve the ILP of the paper's section 4.1 as stated in PuLP, term by term: the second statement of `assignment`."""
    start = time.perf_counter()
    return solved(instance, AssignmentProgram(instance), start, time_limit_s, threads, backend)
