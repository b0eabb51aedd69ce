import itertools

import numpy as np
import pytest
from scipy.sparse import csc_array

from schedgap.formulations.backends import BACKENDS, dispatch, solve
from schedgap.formulations.backends.contract import SolveLimits, whole
from schedgap.formulations.linear_model import LinearModel
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status

INF = np.inf
MIP = [name for name, backend in BACKENDS.items() if backend.mip]
LP = [name for name, backend in BACKENDS.items() if backend.lp]
MIXED = [name for name in MIP if name != "cp-sat"]


def program(cost, rows, row_lower, row_upper, lower, upper, integral=True, **fields):
    size = len(cost)
    matrix = csc_array(np.array(rows, dtype=float).reshape(len(row_lower), size))
    kinds = [integral] * size if isinstance(integral, bool) else integral
    return LinearModel("tiny", cost, matrix, row_lower, row_upper, lower, upper, kinds, **fields)


def tried(model):
    """Return the least objective of a pure integer program by trying everything, or None where nothing is feasible."""
    ranges = [
        range(int(np.ceil(low)), int(np.floor(high)) + 1) for low, high in zip(model.lower, model.upper, strict=True)
    ]
    points = np.array(list(itertools.product(*ranges)), dtype=float).reshape(-1, model.cost.shape[0])
    activity = points @ model.matrix.toarray().T
    feasible = ((activity >= model.row_lower - 1e-9) & (activity <= model.row_upper + 1e-9)).all(axis=1)
    return float((points[feasible] @ model.cost).min()) + model.offset if feasible.any() else None


def drawn(seed):
    """Draw a pure integer program with many columns in one row only, where presolve does much."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    rows = np.zeros((m, n))
    for j in range(n):
        k = 1 if rng.random() < 0.6 else int(rng.integers(1, m + 1))
        rows[rng.choice(m, k, replace=False), j] = rng.integers(-3, 6, k)
    row_lower = rng.integers(-2, 10, m).astype(float)
    row_upper = row_lower + rng.integers(0, 4, m) if rng.random() < 0.5 else np.full(m, INF)
    lower = rng.integers(-2, 1, n) - (0.5 if rng.random() < 0.3 else 0.0)
    upper = rng.integers(1, 4, n) + (0.5 if rng.random() < 0.3 else 0.0)
    return program(rng.integers(-2, 9, n), rows, row_lower, row_upper, lower, upper, offset=float(rng.integers(-9, 9)))


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize("backend", MIP)
def test_equals_trying_everything(backend, presolve):
    for seed in range(60 if backend in ("highs", "scip") else 12):
        model = drawn(seed)
        best = tried(model)
        result = solve(model, backend, presolve=presolve)
        if best is None:
            assert (result.status, result.x, result.bound) == (Status.INFEASIBLE, None, None)
        else:
            assert (result.status, result.objective) == (Status.OPTIMAL, best)
            assert best - 1e-6 <= result.bound <= best + 1e-9
            assert result.objective == model.cost @ result.x + model.offset


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize("backend", MIXED)
@pytest.mark.parametrize(
    ("cost", "whole_ones", "row_lower", "best"),
    # min x + 1.5 y, x + y >= 2.5, x whole: x = 2, y = 0.5. HiGHS 1.14's presolve finds x = 3. The other: 2 * 4.5.
    [([1, 1.5], [True, False], 2.5, 2.75), ([2, 3], [False, True], 4.5, 9.0)],
)
def test_whole_and_continuous_variables_together(backend, presolve, cost, whole_ones, row_lower, best):
    model = program(cost, [[1, 1]], [row_lower], [INF], [0, 0], [10, 10], whole_ones)
    result = solve(model, backend, presolve=presolve)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, abs=1e-9)
    assert best - 1e-6 <= result.bound <= best + 1e-9


@pytest.mark.parametrize("backend", MIP)
def test_bounds_between_whole_numbers_are_rounded_inwards(backend):
    # min -x - 2y, x + y <= 4.5, -0.5 <= x <= 2.5, -1.5 <= y <= 3.5: y = 3, x = 1.
    model = program([-1, -2], [[1, 1]], [-INF], [4.5], [-0.5, -1.5], [2.5, 3.5])
    result = solve(model, backend)
    assert (result.status, result.x.tolist(), result.objective) == (Status.OPTIMAL, [1, 3], -7)
    none = program([1, 2], [[1, 1]], [1], [INF], [0.2, 0], [0.8, 3])
    assert solve(none, backend).status is Status.INFEASIBLE


@pytest.mark.parametrize(("backend", "relax"), [*((name, False) for name in MIP), *((name, True) for name in LP)])
@pytest.mark.parametrize(
    "model",
    [
        program([1, 2], [[1, 1]], [2], [INF], [3, 0], [2, 3]),
        program([1, 2], [[1, 1]], [3], [2], [0, 0], [3, 3]),
        program([1, 2], [[0, 0], [1, 1]], [1, 2], [INF, INF], [0, 0], [3, 3]),
        program([1, 2], [[1, 1]], [1e19], [INF], [0, 0], [3, 3]),
    ],
    ids=["bounds", "row-sides", "empty-row", "out-of-reach"],
)
def test_contradictions_are_infeasible_everywhere(backend, relax, model):
    result = solve(model, backend, relax=relax)
    assert (result.status, result.x, result.objective, result.bound) == (Status.INFEASIBLE, None, None, None)


@pytest.mark.parametrize("backend", LP)
def test_a_model_without_variables(backend):
    assert solve(program([], [[]], [1], [INF], [], []), backend).status is Status.INFEASIBLE
    assert solve(program([], [[]], [-INF], [-1], [], []), backend).status is Status.INFEASIBLE
    empty = solve(program([], [[]], [0], [INF], [], [], offset=7.0), backend)
    assert (empty.status, empty.objective, empty.x.shape) == (Status.OPTIMAL, 7.0, (0,))


@pytest.mark.parametrize("backend", BACKENDS)
def test_bounds_beyond_all_arithmetic_are_infinite(backend):
    # CBC forgets the lower side of a row whose upper side is 1e25, as PDLP does.
    relax = not BACKENDS[backend].mip
    result = solve(program([1, 2], [[1, 1]], [2], [1e25], [0, 0], [3, 3]), backend, relax=relax)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(2, abs=1e-6)


@pytest.mark.parametrize("backend", LP)
def test_large_costs(backend):
    """HiGHS's dual simplex ends such programs without a status unless their costs are scaled."""
    rng = np.random.default_rng(23)
    rows = rng.integers(0, 5, (4, 20))
    cost = rng.integers(10**9, 10**10, 20)
    small, large = (
        program(cost * unit, rows, [9, 7, 8, 3], [INF] * 4, [0] * 20, [10] * 20, False) for unit in (1e-9, 1)
    )
    expected = solve(small, "glop").objective * 1e9
    result = solve(large, backend, relax=True)
    assert result.objective == pytest.approx(expected, rel=1e-5)
    if BACKENDS[backend].duals and backend != "pdlp":
        assert expected * (1 - 1e-6) <= result.bound <= expected * (1 + 1e-12)


@pytest.mark.parametrize("backend", MIXED)
def test_an_unbounded_integer_program_is_refused(backend):
    model = program([-1, 1], [[1, 1]], [2], [INF], [0, 0], [INF, INF])
    with pytest.raises(BackendError, match="tiny"):
        solve(model, backend)


@pytest.mark.parametrize("backend", MIXED)
def test_infeasible_is_told_from_unbounded(backend):
    model = program([-1, 1], [[1, 1], [1, 1]], [5, -INF], [INF, 4], [0, 0], [INF, INF])
    assert solve(model, backend).status is Status.INFEASIBLE
    assert solve(model, backend, relax=True).status is Status.INFEASIBLE


@pytest.mark.parametrize("backend", MIP)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_bounds_at_a_limit_hold_where_the_objective_is_negative(backend, offset):
    """Before CP-SAT has a bound it says 0, which is none where costs are negative."""
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 40, (30, 120))
    model = program(
        -rng.integers(10, 60, 120),
        rows,
        np.full(30, -INF),
        np.full(30, 800.0),
        np.zeros(120),
        np.ones(120),
        offset=offset,
    )
    # -1840 is reached, so no bound is above it.
    for time_limit_s in (1e-9, 1e-3, 0.05):
        result = solve(model, backend, time_limit_s=time_limit_s)
        assert result.status in (Status.NO_SOLUTION, Status.FEASIBLE)
        assert result.bound is None or result.bound <= offset - 1840


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("time_limit_s", [0, -1.0])
def test_no_time_is_no_solution(backend, time_limit_s):
    relax = not BACKENDS[backend].mip
    model = program([1, 2], [[1, 1]], [2], [INF], [0, 0], [3, 3])
    result = solve(model, backend, time_limit_s=time_limit_s, relax=relax)
    assert (result.status, result.x, result.bound, result.backend) == (Status.NO_SOLUTION, None, None, backend)


@pytest.mark.parametrize("backend", [name for name in MIP if BACKENDS[name].warm_start])
@pytest.mark.parametrize("start", [[2, 1], [0, 0], [9, -9], [0.5, 1.5]])
def test_no_warm_start_changes_the_optimum(backend, start):
    """Feasible or not, within bounds or not, whole or not."""
    model = program([2, 3], [[1, 1]], [3], [INF], [0, 0], [3, 3])
    result = solve(model, backend, warm_start=start)
    assert (result.status, result.x.tolist()) == (Status.OPTIMAL, [3, 0])


def test_the_warm_start_must_have_one_value_a_variable():
    model = program([2, 3], [[1, 1]], [3], [INF], [0, 0], [3, 3])
    with pytest.raises(BackendError, match=r"tiny: warm start has shape \(2, 1\), expected \(2,\)"):
        solve(model, warm_start=[[1], [2]])


def test_unknown_back_ends_and_bad_threads_are_refused_even_without_time():
    model = program([2, 3], [[1, 1]], [3], [INF], [0, 0], [3, 3])
    with pytest.raises(BackendError, match=r"there is no back end 'gurobi'; known are highs, "):
        solve(model, "gurobi", time_limit_s=0)
    with pytest.raises(BackendError, match="tiny: 0 threads; give at least 1"):
        solve(model, threads=0, time_limit_s=0)


def test_a_missing_package_is_named(monkeypatch):
    def absent(*_):
        raise ImportError("No module named 'highspy'")

    gone = BACKENDS["highs"].__class__("highs", "HiGHS", "highspy", absent, absent, lp=True, mip=True)
    monkeypatch.setitem(dispatch.BACKENDS, "highs", gone)
    model = program([2, 3], [[1, 1]], [3], [INF], [0, 0], [3, 3])
    for time_limit_s in (None, 0):
        with pytest.raises(BackendError, match="back end highs needs the package highspy"):
            solve(model, time_limit_s=time_limit_s)


def test_values_far_from_whole_are_not_rounded():
    model = program([2, 3], [[1, 1]], [3], [INF], [0, 0], [3, 3])
    assert whole(model, np.array([2.000001, 0.999999]), "x").tolist() == [2, 1]
    with pytest.raises(BackendError, match=r"x calls 0\.999 a whole number"):
        whole(model, np.array([2.0, 0.999]), "x")
    assert SolveLimits().presolve
