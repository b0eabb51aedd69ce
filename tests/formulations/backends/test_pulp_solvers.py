"""Solvers that PuLP calls, of those that are found here; commercial ones with licences for small programs."""

import itertools
import re

import numpy as np
import pulp
import pytest
from scipy.sparse import csc_array

from schedgap.formulations.backends import find_backend, pulp_models, solve
from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.pulp_program import solved
from schedgap.instances.errors import BackendError, MethodError
from schedgap.instances.method import Status, read_parameters

HERE = pulp_models.found_solvers()
OTHERS = ("GUROBI", "COPT", "XPRESS_PY", "SCIP_PY")
SOLVERS = ["HiGHS", *(pytest.param(each, marks=pytest.mark.skipif(each not in HERE, reason=f"{each} is not installed"))
                      for each in OTHERS)]  # fmt: skip
CBC = pytest.mark.skipif("PULP_CBC_CMD" not in HERE, reason="PuLP carries no CBC for this machine")


INF = np.inf


def program(cost, rows, row_lower, row_upper=None, upper=3.0, integral=True):
    cost, rows, row_lower = (np.array(each, float) for each in (cost, rows, row_lower))
    size = cost.size
    row_upper = np.full(row_lower.size, INF) if row_upper is None else np.array(row_upper, float)
    sides = np.zeros(size), np.full(size, upper)
    return LinearModel("tiny", cost, csc_array(rows), row_lower, row_upper, *sides, np.full(size, integral), offset=1.5)


def covering(**changes):
    """The optimum is 3 + 2.25 + 0.3969 + 1.5 = 7.1469 at 0, 2, 1, 3, of the relaxation 6.8319 (see `test_solve`)."""
    rows = [[3, 2, 0, 1], [1, 0, 2, 1], [1, 1, 1, 0]]
    return program([3.06, 1.5, 2.25, 0.1323], rows, **{"row_lower": [7, 5, 2], "row_upper": [INF, 9, INF]} | changes)


def hard():
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 40, (30, 120))
    return program(rng.integers(10, 60, 120), rows, np.full(30, 800.0), upper=1.0)


def drawn(seed):
    rng = np.random.default_rng(seed)
    lower = rng.integers(-2, 18, 3)
    return program(rng.integers(-3, 9, 4), rng.integers(-3, 6, (3, 4)), lower, lower + rng.integers(0, 4, 3))


def tried(model):
    """Return the least objective by trying everything, or None where nothing is feasible."""
    points = np.array(list(itertools.product(range(4), repeat=4)))
    activity = points @ model.matrix.toarray().T
    feasible = ((activity >= model.row_lower) & (activity <= model.row_upper)).all(axis=1)
    return float((points[feasible] @ model.cost).min()) + model.offset if feasible.any() else None


@pytest.mark.parametrize("solver", SOLVERS)
def test_equals_trying_everything(solver):
    for seed in range(12):
        model = drawn(seed)
        best, result = tried(model), solve(model, f"pulp:{solver}")
        if best is None:
            assert (result.status, result.x, result.bound) == (Status.INFEASIBLE, None, None)
        else:
            assert (result.status, result.objective) == (Status.OPTIMAL, best)
            assert best - 1e-5 <= result.bound <= best + 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_lp_has_a_bound_only_from_its_duals(solver):
    result = solve(covering(), f"pulp:{solver}", relax=True)
    assert (result.status, result.objective) == (Status.OPTIMAL, pytest.approx(6.8319, abs=1e-6))
    assert result.bound is None or 6.8319 - 1e-4 < result.bound <= 6.8319


@pytest.mark.parametrize("solver", SOLVERS)
def test_at_a_limit_nothing_is_called_optimal_that_is_not(solver):
    model = hard()
    result = solve(model, f"pulp:{solver}", time_limit_s=0.3)
    assert result.x is None or (model.matrix @ result.x >= model.row_lower - 1e-3).all()
    # 740.5 is the optimum: nobody may claim a higher bound, nor less than it for a point.
    assert result.bound is None or result.bound <= 740.5 + 1e-6
    assert result.objective is None or result.objective >= 740.5 - 1e-6
    assert result.status is not Status.OPTIMAL or result.objective == pytest.approx(740.5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_may_be_unbounded_is_never_infeasible(solver):
    """Interfaces of PuLP read "infeasible or unbounded" as infeasible."""
    try:
        result = solve(program([-1, 1], [[1, 1]], [2], upper=INF), f"pulp:{solver}")
    except BackendError as error:
        assert re.search("unbounded", str(error))
    else:
        assert result.status in (Status.NO_SOLUTION, Status.FEASIBLE)
        assert result.bound is None


@CBC
def test_a_solver_without_a_bound_proves_nothing():
    result = solve(covering(), "pulp:PULP_CBC_CMD")
    assert (result.status, result.bound, result.x.tolist()) == (Status.FEASIBLE, None, [0, 2, 1, 3])
    assert result.unproven == "PULP_CBC_CMD gives no bound through PuLP, so nothing is proven"
    none = solve(covering(row_lower=[100, 5, 2]), "pulp:PULP_CBC_CMD")
    assert (none.status, none.x) == (Status.NO_SOLUTION, None)


def test_a_point_counts_only_where_it_keeps_the_rows(monkeypatch):
    """Whatever status PuLP reports."""

    def lies(problem, *_):
        problem.assignStatus(1, 1)
        for variable in problem.variables():
            variable.varValue = 0

    monkeypatch.setattr(pulp.LpProblem, "solve", lies)
    result = solve(covering(), "pulp:HiGHS")
    assert (result.status, result.x, result.bound) == (Status.NO_SOLUTION, None, None)


def test_limits_are_passed_on_where_pulp_takes_them():
    limits = pulp_models.SolveLimits(time_limit_s=7.0, threads=2)
    chosen = pulp_models._prepared("HiGHS", limits, True)
    assert (chosen.timeLimit, chosen.threads, chosen.gapRel) == (7.0, 2, pulp_models.GAP)


def test_what_is_not_there_says_so_in_a_sentence():
    with pytest.raises(BackendError, match=r"PuLP knows no solver 'GUROBBI'; did you mean GUROBI"):
        find_backend("pulp:GUROBBI")
    with pytest.raises(
        BackendError, match=r"pulp:MIPCL_CMD: PuLP does not find MIPCL_CMD here; install its program, with"
    ):
        find_backend("pulp:MIPCL_CMD")
    with pytest.raises(MethodError, match=r"is one of highs, pulp:SOLVER, not 'gurobi'"):
        read_parameters("a", {"backend": "gurobi"}, {"backend": "highs"}, {"backend": ("highs", "pulp:SOLVER")})


def knapsack(sense=pulp.LpMinimize):
    """Leave out the least worth: weights 2, 3, 4 within 5, worth 3, 4, 6; without the last, 6."""
    problem = pulp.LpProblem("knapsack", sense)
    left = [problem.add_variable(f"left_{i}", cat=pulp.LpBinary) for i in range(3)]
    problem += 3 * left[0] + 4 * left[1] + 6 * left[2], "worth"
    problem += pulp.lpSum(weight * (1 - each) for weight, each in zip((2, 3, 4), left, strict=True)) <= 5, "weight"
    return problem, left


def test_a_program_stated_in_pulp_becomes_an_outcome():
    problem, left = knapsack()
    outcome = solved(problem, lambda: [each.value() for each in left], unit=10, backend="pulp:HiGHS", threads=1)
    assert (outcome.solution, outcome.bound, outcome.backend) == ([0, 0, 1], 60, "pulp:HiGHS")
    problem, left = knapsack()
    problem += left[0] + left[1] + left[2] <= 0, "all"
    assert solved(problem, list).claimed_status is Status.INFEASIBLE
    with pytest.raises(BackendError, match="knapsack maximises; state it as a program that minimises the negative"):
        solved(knapsack(pulp.LpMaximize)[0], list)
