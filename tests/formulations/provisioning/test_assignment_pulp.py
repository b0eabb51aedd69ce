"""The paper's ILP in PuLP is the same program as `assignment` states in arrays: same size, optimum and relaxation."""

import re

import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import INFEASIBLE_SOLUTION, ModelResult
from schedgap.formulations.provisioning import assignment
from schedgap.formulations.provisioning.assignment_pulp import AssignmentProgram, assignment_pulp, build
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.verify import verify


def free_task(instance):
    """One task of no demand, which still needs a machine."""
    return instance.replace(
        demand=instance.demand[:, :1] * 0, counts=[1], class_names=None, task_names=None, class2workload=None,
        class2job=None, tasks_per_job=None, task2class=None,
    )  # fmt: skip


@pytest.fixture(params=["table3", "two families", "no demand", "table7", "distinct", 0, 1, 2, 3])
def instance(request, paper_example, two_families, random_instance):
    named = {
        "table3": lambda: paper_example,
        "two families": lambda: two_families,
        "no demand": lambda: free_task(paper_example),
        "table7": lambda: table7(6, seed=3),
        "distinct": lambda: distinct(5, seed=1),
    }
    return named[request.param]() if request.param in named else random_instance(request.param)


def test_the_statement_reads_as_the_paper_does(paper_example):
    """Four tasks on four machines of four types or the ghost: the third machine holds what its type has."""
    program = AssignmentProgram(paper_example)
    row = program.problem.get_constraint_by_name("capacity_2_0_0")
    assert str(row).startswith("2000*x_0_2_0 + 1000*x_1_2_0 - 4000*y_2_0 - 1000*y_2_1")
    assert "ghost" not in str(row)
    assert "y_2_ghost" in str(program.problem.get_constraint_by_name("machine_2_has_a_type"))


def test_it_is_the_program_of_the_arrays(instance):
    """The same rows and columns in another order: their numbers, and both bounds, are equal."""
    one, other = build(instance), assignment.build(instance)
    assert one.matrix.shape == other.matrix.shape
    assert one.matrix.nnz == other.matrix.nnz
    assert one.integral.all()
    assert sorted(one.cost) == sorted(other.cost)
    assert solve(one, relax=True).bound == pytest.approx(solve(other, relax=True).bound, rel=1e-9)
    found, known = assignment_pulp(instance), assignment.assignment(instance)
    assert (found.status, found.bound) == (Status.OPTIMAL, known.bound)
    assert verify(instance, found.solution) == known.bound


@pytest.mark.parametrize("backend", ["scip", "cp-sat", "cbc"])
def test_back_ends_agree(two_families, backend):
    assert assignment_pulp(two_families, backend=backend).bound == 3_300_000


def test_no_time_gives_no_solution(paper_example):
    outcome = assignment_pulp(paper_example, time_limit_s=0)
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)


@pytest.mark.parametrize(("solver", "builder"), [(assignment_pulp, build), (assignment.assignment, assignment.build)])
def test_a_solution_that_only_tolerances_allow_is_none(paper_example, monkeypatch, solver, builder):
    """All tasks on the first machine, and all machines ghosts."""
    names = builder(paper_example).variable_names
    values = np.array(
        [float("ghost" in name or (name[:1] == "x" and re.split("[_,]", name)[-2] == "0")) for name in names]
    )
    found = ModelResult(Status.OPTIMAL, values, 0.0, 0.0, 0.0, "highs", "1")
    monkeypatch.setattr(assignment, "solve", lambda *_, **__: found)
    outcome = solver(paper_example)
    assert (outcome.status, outcome.solution, outcome.bound) == (Status.NO_SOLUTION, None, None)
    assert outcome.details == {"reason": INFEASIBLE_SOLUTION}


def test_too_large_an_instance_is_refused_with_the_reason():
    outcome = find_method("provisioning", "assignment-pulp").run(table7(300))
    assert outcome.status is Status.UNSUPPORTED
    assert outcome.details["reason"].startswith("the assignment ILP of 300 tasks has 720000 entries, over 400000; use ")


def test_a_twin_has_the_same_parameters():
    twin = find_method("provisioning", find_method("provisioning", "assignment-pulp").twin)
    assert twin.name == "assignment"
    assert twin.parameters == find_method("provisioning", "assignment-pulp").parameters
