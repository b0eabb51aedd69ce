"""Whole tasks on single machines, against all there are."""

import itertools

import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.fairness import whole_tasks as module
from schedgap.formulations.fairness.whole_tasks import build, is_too_large, whole_tasks_program
from schedgap.formulations.linear_model import ModelResult
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness import (
    FAIR,
    alice_bob,
    fair_shares,
    micro,
    random_users,
    share_of_a_task,
    tasks_per_class,
    verify,
)
from schedgap.instances.method import Status


def best_by_brute_force(instance):
    """Return the largest s such that whole tasks give every user the part s of its fair share."""
    parts = share_of_a_task(instance) / fair_shares(instance)[:, None]
    fit = np.where(instance.allowed, np.floor(instance.fitting()), 0).astype(int)
    contents = []
    for k in np.repeat(np.arange(instance.num_machine_classes), instance.machine_count):
        options = itertools.product(*(range(most + 1) for most in fit[:, k]))
        contents.append(
            [
                np.array(x) * parts[:, k]
                for x in options
                if (np.array(x) @ instance.demand <= instance.capacity[k]).all()
            ]
        )
    return max(sum(chosen).min() for chosen in itertools.product(*contents))


def test_illustrative_example_is_whole():
    outcome = whole_tasks_program(alice_bob())
    assert verify(alice_bob(), outcome.solution) == FAIR
    assert outcome.details == {"claimed_bound": FAIR, "claimed_best": True}
    assert tasks_per_class(alice_bob(), outcome.solution).tolist() == [[2, 2, 0], [0, 0, 2]]


def test_micro_benchmark():
    """12.5 type-4 slots are not whole. The best leaves 37 of 37.5 units of progress to the worst-off: 37.5 / 37."""
    outcome = whole_tasks_program(micro())
    assert verify(micro(), outcome.solution) == round(37.5 / 37 * FAIR)
    assert outcome.claimed_status is Status.FEASIBLE
    assert outcome.bound == FAIR
    assert outcome.details["claimed_best"]
    assert 0 <= 37.5 / 37 * FAIR - outcome.details["claimed_bound"] < 5


@pytest.mark.parametrize("backend", ["highs", "scip"])
def test_best_of_all(small_instance, backend):
    tried = 0
    for seed in range(400):
        instance = small_instance(seed, users=2, classes=2, resources=2, limited=False, notion="eunomia")
        if instance.machine_count.sum() > 3 or instance.fitting().max() > 6:
            continue
        best = best_by_brute_force(instance)
        if best == 0:
            continue
        outcome = whole_tasks_program(instance, backend=backend)
        assert verify(instance, outcome.solution) == pytest.approx(FAIR / best, rel=1e-6)
        assert outcome.details["claimed_bound"] <= FAIR / best
        assert outcome.details["claimed_bound"] == pytest.approx(FAIR / best, rel=1e-5)
        tried += 1
    assert tried >= 5


def test_the_others_get_as_much_as_they_can(two_levels):
    """User 0 can have one whole task of 2/3 machine; that is the worst, and user 1 still has all its 4."""
    instance = two_levels.replace(demand=[[1500], [1500]])
    outcome = whole_tasks_program(instance)
    assert tasks_per_class(instance, outcome.solution).tolist() == [[1, 0], [0, 4]]


def test_numbers_of_tasks(two_levels):
    instance = two_levels.replace(tasks=[-1, 3])
    outcome = whole_tasks_program(instance)
    assert verify(instance, outcome.solution) == FAIR
    assert tasks_per_class(instance, outcome.solution).sum(axis=1).tolist() == [2, 3]


def test_model_is_exported(two_levels):
    """Two users, two machines: the pairs (0, both), (1, both), (1, one), two parts and the least."""
    model = build(two_levels)
    assert model.integral.tolist() == [True] * 3 + [False] * 3
    assert solve(model).objective == -1.0


def test_too_large():
    assert is_too_large(micro()) is None
    assert "more than 20000; use fair-point-rounding" in is_too_large(random_users(100, machines=1000, seed=1))


def test_no_time():
    assert whole_tasks_program(micro(), time_limit_s=0.0).claimed_status is Status.NO_SOLUTION


def test_tasks_that_a_solver_has_too_many_of_are_taken_off(two_levels, monkeypatch):
    """Two users with 2 cores for both and 6 for one of them, who has 5 tasks: 2 + 2 there and 7 here are too many."""
    instance = two_levels.replace(tasks=[-1, 5])

    def solve(model, backend, **limits):
        x = np.concatenate(([2.0, 2.0, 7.0], np.ones(3)))
        return ModelResult(Status.FEASIBLE, x, -1.0, -1.0, 0.0, backend, "")

    monkeypatch.setattr(module, "solve", solve)
    found = whole_tasks_program(instance).solution
    assert verify(instance, found) >= FAIR
    assert tasks_per_class(instance, found).sum() == 7


def test_a_back_end_that_fails_is_no_exception(monkeypatch):
    def solve(model, backend, **limits):
        raise BackendError("it calls 3.5 a whole number.")

    monkeypatch.setattr(module, "solve", solve)
    outcome = whole_tasks_program(alice_bob())
    assert (outcome.status, outcome.details) == (Status.NO_SOLUTION, {"reason": "it calls 3.5 a whole number."})
