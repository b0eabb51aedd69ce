"""Progressive filling, repaired: worked examples, rounds, limits."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from schedgap.formulations.backends import dispatch
from schedgap.formulations.fairness import progressive_filling as module
from schedgap.formulations.fairness.progressive_filling import progressive_filling
from schedgap.instances.fairness import FAIR, alice_bob, micro, shares_of, tasks_per_class, verify
from schedgap.instances.method import Status

BACKENDS = ["highs", "glop"]


def shares(instance, **parameters):
    outcome = progressive_filling(instance, **parameters)
    assert outcome.status is Status.OPTIMAL
    assert verify(instance, outcome.solution) == outcome.bound == FAIR
    return shares_of(instance, outcome.solution).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_alice_and_bob(backend):
    """Figure 1: by progress Alice runs 2 + 2 slow tasks and Bob 2 fast ones; by number of tasks each has 3."""
    fair = progressive_filling(alice_bob(), backend=backend)
    assert tasks_per_class(alice_bob(), fair.solution) == pytest.approx(np.array([[2, 2, 0], [0, 0, 2]]), abs=1e-9)
    assert shares(alice_bob(), backend=backend) == pytest.approx([4 / 8, 4 / 8], rel=1e-11)
    tsf = progressive_filling(alice_bob(notion="tsf"), backend=backend).solution
    assert shares_of(alice_bob(), tsf).tolist() == pytest.approx([3 / 8, 5 / 8], rel=1e-11)


@pytest.mark.parametrize("notion", ["tsf", "cmmf", "drf"])
def test_micro_benchmark(notion):
    """Tables III and IV: equal progress; by the others Job 4 has all 20 fast slots, 60 / 150 of all progress."""
    assert shares(micro()) == pytest.approx([0.25] * 4, rel=1e-11)
    found = progressive_filling(micro(notion=notion)).solution
    assert shares_of(micro(), found)[3] == pytest.approx(0.4, rel=1e-11)


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_levels(two_levels, backend):
    """Round 1 saturates user 0 at 1/4 and leaves user 1 active: 3 programs; round 2 raises it to 3/4: 2 more."""
    assert shares(two_levels, backend=backend) == pytest.approx([1 / 4, 3 / 4], rel=1e-12)
    assert progressive_filling(two_levels, backend=backend).details == {"rounds": 2, "programs": 5}


def test_weights(two_levels):
    """On one class of 8 cores a user of weight 3 runs three times the tasks of one of weight 1."""
    pool = two_levels.replace(
        machine_names=("pool",),
        machine_count=[1],
        capacity=[[8000]],
        performance=[[1000], [1000]],
        allowed=np.ones((2, 1), bool),
        weight=[1000, 3000],
    )
    found = progressive_filling(pool)
    assert tasks_per_class(pool, found.solution)[:, 0].tolist() == pytest.approx([2, 6], rel=1e-11)


def test_finite_tasks(two_levels):
    """With five tasks user 1 stops at 5/8, with one at 1/8, below user 0."""
    assert shares(two_levels.replace(tasks=[-1, 5])) == pytest.approx([2 / 8, 5 / 8], rel=1e-12)
    assert shares(two_levels.replace(tasks=[-1, 1])) == pytest.approx([2 / 8, 1 / 8], rel=1e-12)


def test_dominant_shares_on_two_resources():
    """DRF's own example (Ghodsi et al., 2011): 9 CPUs and 18 GB; tasks of 1 CPU and 4 GB, of 3 CPUs and 1 GB: 3 and 2 tasks."""
    pool = micro(notion="drf").replace(
        machine_names=("pool",),
        machine_count=[1],
        capacity=[[9000, 18 * 1024]],
        demand=[[1000, 4096], [3000, 1024]],
        weight=[1000, 1000],
        performance=[[1000], [1000]],
        allowed=np.ones((2, 1), bool),
        tasks=[-1, -1],
        user_names=("a", "b"),
    )
    found = progressive_filling(pool)
    assert tasks_per_class(pool, found.solution)[:, 0].tolist() == pytest.approx([3, 2], rel=1e-11)
    assert shares(pool) == pytest.approx([float(Fraction(2, 3))] * 2, rel=1e-11)


def test_limit_returns_the_last_round(two_levels, monkeypatch):
    """Out of time in round 2: what round 1 gave is returned, and claims nothing."""
    assert progressive_filling(two_levels, time_limit_s=0.0).claimed_status is Status.NO_SOLUTION
    calls = []

    def slow(*arguments, **keywords):
        calls.append(1)
        return dispatch.solve(*arguments, **{**keywords, "time_limit_s": 0.0 if len(calls) == 4 else None})

    monkeypatch.setattr(module, "solve", slow)
    outcome = progressive_filling(two_levels, time_limit_s=1e6)
    assert outcome.claimed_status is Status.FEASIBLE
    assert outcome.solution.certificate is None
    assert outcome.bound == FAIR
    assert shares_of(two_levels, outcome.solution).min() == pytest.approx(0.25, rel=1e-12)


def test_impossible_answers_claim_nothing(two_levels, monkeypatch):
    """A back end whose tests all rise above the highest level has lost its accuracy."""
    real = module.Filling.solve

    def raised(self, active, kept, kept_tasks=None):
        point, duals = real(self, active, kept, kept_tasks)
        return (point if active.all() else type(point)(point.tasks, point.shares, 1.0)), duals

    monkeypatch.setattr(module.Filling, "solve", raised)
    outcome = progressive_filling(two_levels)
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)
    assert "all 2 active users can rise above the level 0.25" in outcome.details["reason"]


def test_a_program_that_a_back_end_calls_infeasible_is_tried_in_other_ways(two_levels, monkeypatch):
    """All that have `highs` and presolve fail; then all fail, after the first round and in it."""
    tried, fails = [], [True]

    def solve(model, backend, *, time_limit_s, presolve):
        tried.append((backend, presolve))
        found = dispatch.solve(model, backend, time_limit_s=time_limit_s, presolve=presolve)
        refused = (backend, presolve) == ("highs", True) or (len(tried) > 20 and fails[0])
        return dataclasses.replace(found, status=Status.INFEASIBLE, x=None) if refused else found

    monkeypatch.setattr(module, "solve", solve)
    fails[0] = False
    assert shares(two_levels) == pytest.approx([1 / 4, 3 / 4], rel=1e-12)
    assert tried == [("highs", True), ("highs", False)] * 5
    fails[0] = True
    tried.extend([("", True)] * 4)
    outcome = progressive_filling(two_levels)
    assert outcome.solution is not None
    assert outcome.solution.certificate is None
    assert outcome.details["reason"].endswith("infeasible, which has an optimum.")
    outcome = progressive_filling(two_levels)
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)


def test_duals_that_prove_nothing_are_not_returned(spread_instance):
    """Right shares, whose certificate floating point does not carry, are compared with the exact ones."""
    bare = 0
    for seed in range(10):
        instance = spread_instance(seed, 8, 4, 2, 6)
        outcome = progressive_filling(instance)
        found = None if outcome.solution is None else verify(instance, outcome.solution)
        assert outcome.status is not Status.OPTIMAL or found == FAIR
        bare += outcome.status is Status.OPTIMAL and outcome.solution.certificate is None
    assert bare > 0
