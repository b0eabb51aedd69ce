import itertools
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csc_array

from schedgap.formulations.backends import BACKENDS, cp_sat, find_backend, solve
from schedgap.formulations.backends.cp_sat import new_search
from schedgap.formulations.linear_model import LinearModel
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status

INF = np.inf
MIP = [name for name, backend in BACKENDS.items() if backend.mip]
LP = [name for name, backend in BACKENDS.items() if backend.lp]


def covering(**changes):
    # min 3.06 a + 1.5 b + 2.25 c + 0.1323 d + 1.5 over whole 0..5 (d: 0..3);
    # 3a + 2b + d >= 7, 5 <= a + 2c + d <= 9, a + b + c >= 2.
    # d = 3 is cheap; then b = 2 for the first row, c = 1 for the second: 3 + 2.25 + 0.3969 + 1.5 = 7.1469.
    fields = {
        "name": "covering",
        "cost": [3.06, 1.5, 2.25, 0.1323],
        "matrix": csc_array(np.array([[3.0, 2, 0, 1], [1, 0, 2, 1], [1, 1, 1, 0]])),
        "row_lower": [7, 5, 2],
        "row_upper": [INF, 9, INF],
        "lower": [0, 0, 0, 0],
        "upper": [5, 5, 5, 3],
        "integral": [True] * 4,
        "offset": 1.5,
    }
    return LinearModel(**{**fields, **changes})


def hard():
    rng = np.random.default_rng(0)
    matrix = csc_array(rng.integers(1, 40, (30, 120)).astype(float))
    return LinearModel(
        "hard",
        rng.integers(10, 60, 120),
        matrix,
        np.full(30, 800.0),
        np.full(30, INF),
        np.zeros(120),
        np.ones(120),
        np.ones(120),
    )


@pytest.mark.parametrize("backend", MIP)
def test_finds_and_proves_the_optimum(backend):
    result = solve(covering(), backend)
    assert result.status is Status.OPTIMAL
    assert result.x.tolist() == [0, 2, 1, 3]
    assert result.objective == pytest.approx(7.1469, abs=1e-12)
    assert 7.1469 - 1e-6 <= result.bound <= 7.1469 + 1e-9
    assert result.backend == backend
    assert result.row_duals is None


@pytest.mark.parametrize("backend", LP)
def test_solves_the_relaxation_with_duals_and_a_bound_that_holds(backend):
    # y = (0.5925, 0.9675, 0.315): y1 + y3 = b's 1.5 is 2 * 0.5925 + 0.315, a's 3.06, c's 2.25 = 2 * 0.9675 + 0.315.
    result = solve(covering(), backend, relax=True)
    assert result.status is Status.OPTIMAL
    assert result.x == pytest.approx([1, 0.5, 0.5, 3], abs=1e-3)
    assert result.objective == pytest.approx(6.8319, abs=1e-3)
    if BACKENDS[backend].duals:
        assert result.row_duals == pytest.approx([0.5925, 0.9675, 0.315], abs=1e-4)
        assert 6.8319 - 1e-4 < result.bound <= 6.8319
    else:
        assert result.bound is None


@pytest.mark.parametrize("backend", MIP)
def test_infeasible_is_a_status(backend):
    result = solve(covering(row_lower=[100, 5, 2]), backend)
    assert (result.status, result.x, result.objective, result.bound) == (Status.INFEASIBLE, None, None, None)


@pytest.mark.parametrize("backend", LP)
def test_infeasible_lp_is_a_status(backend):
    result = solve(covering(row_lower=[100, 5, 2]), backend, relax=True)
    assert (result.status, result.x, result.bound) == (Status.INFEASIBLE, None, None)


@pytest.mark.parametrize("backend", [name for name in LP if name != "pdlp"])
def test_an_unbounded_model_is_refused(backend):
    model = covering(cost=[-1, 1, 1, 1], row_upper=[INF] * 3, upper=[INF] * 4)
    with pytest.raises(BackendError, match=r"covering: .*[Uu]nbounded.*; bound every variable"):
        solve(model, backend, relax=True)


@pytest.mark.parametrize("backend", MIP)
@pytest.mark.parametrize("time_limit_s", [0, 1e-6, 0.001, 0.003, 0.01, 0.1])
def test_a_limit_gives_no_solution_or_a_feasible_one_never_zeros(backend, time_limit_s):
    model = hard()
    result = solve(model, backend, time_limit_s=time_limit_s)
    assert result.status in (Status.NO_SOLUTION, Status.FEASIBLE)
    assert (result.x is None) == (result.status is Status.NO_SOLUTION)
    if result.x is not None:
        assert (model.matrix @ result.x >= model.row_lower).all()
        assert result.objective == model.cost @ result.x
        assert result.bound is None or result.bound <= result.objective
    if time_limit_s == 0:
        assert result.status is Status.NO_SOLUTION


@pytest.mark.parametrize(("backend", "time_limit_s"), [("highs", 0.001), ("scip", 0.001), ("cbc", 0.1)])
def test_a_warm_start_is_an_incumbent_at_once(backend, time_limit_s):
    """CBC takes it up after its preprocessing, which a limit of a millisecond cuts short."""
    result = solve(hard(), backend, time_limit_s=time_limit_s, warm_start=np.ones(120))
    assert result.status is Status.FEASIBLE
    assert result.objective <= hard().cost.sum()


@pytest.mark.parametrize("backend", ["highs", "cp-sat"])
def test_the_trajectory_ends_at_the_answer(backend, capfd):
    """Points come in order, within the call, in the model's unit; solutions have whole costs here, bounds stay below."""
    result = solve(hard(), backend, time_limit_s=0.5)
    times = [point.elapsed_s for point in result.trajectory]
    found = [point.objective for point in result.trajectory if point.objective is not None]
    bounds = [point.bound for point in result.trajectory if point.bound is not None]
    assert times == sorted(times)
    assert 0 < times[0] <= times[-1] <= result.solve_s
    assert found == sorted(found, reverse=True)
    assert found == pytest.approx([round(cost) for cost in found], abs=1e-6)
    assert found[-1] == pytest.approx(result.objective, abs=1e-6)
    assert 0 < max(bounds) <= result.bound + 1e-6
    assert capfd.readouterr() == ("", "")


def test_cp_sat_tells_bounds_between_solutions():
    """In units of the model, whose costs are multiplied by 100,000 for CP-SAT, and with its offset."""
    model = replace(hard(), cost=hard().cost + 0.00001, offset=7.5)
    alone = [p.bound for p in solve(model, "cp-sat", time_limit_s=0.5).trajectory if p.objective is None]
    assert alone == sorted(alone)
    assert 7.5 < alone[-1] < model.cost.sum()


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_threads_give_the_same_optimum(backend):
    relax = not BACKENDS[backend].mip
    result = solve(covering(), backend, threads=2, relax=relax)
    assert result.objective == pytest.approx(6.8319 if relax else 7.1469, abs=1e-3)


def test_highs_takes_another_number_of_threads_each_time():
    assert [solve(covering(), "highs", threads=n).status for n in (1, 2, 1)] == [Status.OPTIMAL] * 3


@pytest.mark.parametrize("backend", ["glop", "pdlp"])
def test_lp_solvers_refuse_whole_variables(backend):
    with pytest.raises(BackendError, match=f"{backend} solves LPs only; use relax or highs, scip, cp-sat, cbc"):
        solve(covering(), backend)


def test_cp_sat_builds_within_its_limit(monkeypatch):
    """A second goes by at each look at the clock: one at the start, one a row, one before the search."""
    seconds, limits = itertools.count(), []
    monkeypatch.setattr(cp_sat, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
    monkeypatch.setattr(cp_sat, "CHECKED_ROWS", 1)

    def noted(cp_model, threads, left_s):
        limits.append(left_s)
        return new_search(cp_model, threads, left_s)

    monkeypatch.setattr(cp_sat, "new_search", noted)
    result = solve(covering(), "cp-sat", time_limit_s=2)
    assert (result.status, result.x, result.bound, limits) == (Status.NO_SOLUTION, None, None, [])
    assert solve(covering(), "cp-sat", time_limit_s=100).status is Status.OPTIMAL
    assert limits == [96.0]


def test_cp_sat_refuses_what_it_cannot_do_exactly():
    with pytest.raises(BackendError, match="integer programs only"):
        solve(covering(), "cp-sat", relax=True)
    with pytest.raises(BackendError, match="whole variables only"):
        solve(covering(integral=[True, True, True, False]), "cp-sat")
    with pytest.raises(BackendError, match="finite bounds"):
        solve(covering(upper=[5, 5, INF, 3]), "cp-sat")
    third = csc_array(np.array([[1 / 3, 1 / 7, 10_000, 1], [1 / 11, 0, 2, 1], [1, 1, 1, 0]]))
    with pytest.raises(BackendError, match=r"row 0 times 20+ exceeds cp-sat's 62 bits"):
        solve(covering(matrix=third), "cp-sat")


def test_cp_sat_reads_decimals_as_written():
    # 0.1 a >= 0.3 holds for a = 3, although 3 * 0.1 in binary is not 0.3.
    model = LinearModel("tenth", [1], csc_array([[0.1]]), [0.3], [0.3], [0], [9], [True])
    assert solve(model, "cp-sat").x.tolist() == [3]


def test_unknown_names_and_shapes_are_refused():
    with pytest.raises(BackendError, match="did you mean highs"):
        find_backend("higs")
    with pytest.raises(BackendError, match=r"warm start has shape \(3,\), expected \(4,\)"):
        solve(covering(), warm_start=[1, 2, 3])
    with pytest.raises(BackendError, match="0 threads"):
        solve(covering(), threads=0)


@pytest.mark.parametrize("backend", MIP)
def test_the_optimum_is_exact_where_the_default_gap_would_stop_early(backend):
    # A fixed cost of 1e6 makes every solution optimal to a relative gap of 1e-4, HiGHS's default.
    rng = np.random.default_rng(3)
    matrix, cost = rng.integers(1, 40, (5, 12)), rng.integers(10, 60, 12)
    model = LinearModel(
        "fixed-cost",
        cost,
        csc_array(matrix.astype(float)),
        np.full(5, 100.0),
        np.full(5, INF),
        np.zeros(12),
        np.ones(12),
        np.ones(12),
        offset=1e6,
    )
    subsets = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    best = (subsets @ cost)[(subsets @ matrix.T >= 100).all(axis=1)].min()
    assert solve(model, backend).objective == 1e6 + best


def test_nodes_end_a_search():
    """A program that takes HiGHS some hundred nodes ends after few of them, with a bound below what it has found."""
    rng = np.random.default_rng(8)
    weights = rng.integers(1_000, 2_000, (3, 30))
    model = LinearModel(
        "market-split",
        rng.integers(1, 100, 30).astype(float),
        csc_array(weights.astype(float)),
        weights.sum(axis=1) // 2 + 0.0,
        weights.sum(axis=1) // 2 + 30.0,
        np.zeros(30),
        np.ones(30),
        np.ones(30),
    )
    few, all_nodes = solve(model, nodes=5), solve(model, time_limit_s=2.0)
    assert few.status is not Status.OPTIMAL
    assert few.details["nodes"] <= 10 < all_nodes.details["nodes"]


def test_every_backend_has_a_version():
    assert all(backend.version() for backend in BACKENDS.values())


def test_importing_the_backends_imports_no_solver():
    code = (
        "import sys, schedgap.formulations.backends; "
        "print([m for m in ('highspy', 'ortools', 'pulp') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_model_results_do_not_alias_the_model():
    model = covering()
    assert solve(replace(model, integral=np.zeros(4)), "highs").x is not model.lower


def test_an_interior_point_has_a_bound_that_holds():
    """A unit over two columns that cost the same: any share of both is optimal."""
    matrix = csc_array([[1.0, 1.0]])
    model = LinearModel("made", [1, 1], matrix, [1], [1], np.zeros(2), np.ones(2), np.zeros(2, bool))
    result = solve(model, "highs", presolve=False, interior_point=True)
    assert result.status is Status.OPTIMAL
    assert 1 - 1e-6 < result.bound <= 1
