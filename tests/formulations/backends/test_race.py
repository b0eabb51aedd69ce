"""Two back ends at once: the first proof counts, the other is ended, and what one lacks the other gives."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array

from schedgap.formulations.backends import dispatch, race, solve
from schedgap.formulations.backends.contract import Backend
from schedgap.formulations.linear_model import LinearModel, ModelResult
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status


def split(rows, columns):
    """Numbers to be cut into halves of equal sums, row by row, or nearly: much too hard from 5 rows of 40 on."""
    rng = np.random.default_rng(columns)
    number = rng.integers(1, 100, (rows, columns)).astype(float)
    half = number.sum(axis=1) // 2
    matrix = csc_array(np.hstack([number, np.eye(rows), -np.eye(rows)]))
    upper = np.concatenate((np.ones(columns), np.full(2 * rows, 1000.0)))
    cost = np.concatenate((np.zeros(columns), np.ones(2 * rows)))
    return LinearModel("split", cost, matrix, half, half, np.zeros_like(cost), upper, np.ones(cost.shape))


def rival(monkeypatch, run):
    """Have `x-rival` solve by a function."""
    known = Backend("x-rival", "X", "numpy", run, lambda: "1", mip=True, mip_bound=True)
    monkeypatch.setitem(dispatch.BACKENDS, "x-rival", known)


def answer(status, objective=None, bound=None, unproven=None):
    x = None if objective is None else np.zeros(50)
    return ModelResult(status, x, objective, bound, 0.0, "x-rival", "1", unproven=unproven)


def refuses(model, limits):
    raise BackendError("refused")


@pytest.mark.parametrize("columns", range(12, 20))
def test_the_optimum_is_that_of_each(columns):
    model = split(3, columns)
    found = race(model, "scip")
    assert found.status is Status.OPTIMAL
    assert found.objective == solve(model, "highs").objective == solve(model, "scip").objective


def test_an_infeasible_model_is_one():
    model = split(2, 12)
    assert (
        race(replace(model, row_lower=model.row_upper + 0.5, row_upper=model.row_upper + 0.6), "scip").status
        is Status.INFEASIBLE
    )


def test_a_proof_of_the_rival_ends_highs(monkeypatch):
    rival(monkeypatch, lambda model, limits: answer(Status.OPTIMAL, 0.0, 0.0))
    # Without it HiGHS would not end within days.
    assert race(split(6, 50), "x-rival").backend == "x-rival"


def test_a_proof_of_highs_ends_the_rival(monkeypatch):
    rival(monkeypatch, lambda model, limits: time.sleep(1e5))
    assert race(split(2, 12), "x-rival").backend == "highs"


@pytest.mark.parametrize(
    "run",
    [refuses, lambda model, limits: answer(Status.OPTIMAL, 0.0, unproven="trust me"), lambda model, limits: 1 / 0],
)
def test_who_proves_nothing_leaves_it_to_highs(monkeypatch, run):
    rival(monkeypatch, run)
    model = split(2, 12)
    found = race(model, "x-rival")
    assert (found.backend, found.status, found.objective) == ("highs", Status.OPTIMAL, solve(model).objective)


def test_without_a_proof_the_better_halves_count(monkeypatch):
    rival(monkeypatch, lambda model, limits: answer(Status.FEASIBLE, 1e6, 0.5))
    found = race(split(6, 50), "x-rival", time_limit_s=0.5)
    assert (found.status, found.backend, found.bound) == (Status.FEASIBLE, "highs", 0.5)
    assert found.objective < 1e6


def test_both_may_fail(monkeypatch):
    rival(monkeypatch, refuses)
    monkeypatch.setitem(dispatch.BACKENDS, "highs", replace(dispatch.BACKENDS["highs"], run=refuses))
    with pytest.raises(BackendError, match="refused"):
        race(split(2, 12), "x-rival")


def test_one_may_fail(monkeypatch):
    monkeypatch.setitem(dispatch.BACKENDS, "highs", replace(dispatch.BACKENDS["highs"], run=refuses))
    assert race(split(2, 12), "scip").backend == "scip"
