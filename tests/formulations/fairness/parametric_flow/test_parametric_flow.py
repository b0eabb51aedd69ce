"""The fair point by flows: exact fractions, and cuts that prove them."""

from fractions import Fraction

import numpy as np
import pytest

from schedgap.formulations.fairness.parametric_flow import (
    fair_cuts,
    fair_flow,
    flow_problem,
    is_no_flow,
    parametric_flow,
)
from schedgap.instances.fairness import FAIR, alice_bob, micro, random_users, shares_of, verify
from schedgap.instances.method import Status, find_method


def exact_shares(instance):
    """Return the flow that each user gets for its height, in the unit of the first."""
    problem = flow_problem(instance)
    flow, _ = fair_flow(problem)
    received = [sum((a for (i, _), a in flow.items() if i == user), Fraction(0)) for user in range(instance.num_users)]
    shares = [y / h for y, h in zip(received, problem.height, strict=True)]
    return [share / shares[0] for share in shares]


def test_two_levels(two_levels):
    assert exact_shares(two_levels) == [1, 3]
    outcome = parametric_flow(two_levels)
    assert outcome.status is Status.OPTIMAL
    assert shares_of(two_levels, outcome.solution).tolist() == [1 / 4, 3 / 4]
    assert verify(two_levels, outcome.solution) == outcome.bound == FAIR


def test_its_cuts_by_hand(two_levels):
    """The first cut prices the shared class and counts user 0; the second all classes and both."""
    problem = flow_problem(two_levels)
    cuts = fair_cuts(problem, fair_flow(problem)[0])
    assert list(zip(cuts.share_cut, cuts.share_user, cuts.share_weight, strict=True)) == [
        (0, 0, 1),
        (1, 0, 1),
        (1, 1, 1),
    ]
    assert list(zip(cuts.price_cut, cuts.price_class, strict=True)) == [(0, 0), (1, 0), (1, 1)]
    # 2000 units at 1/8000 are a quarter.
    assert cuts.price.tolist() == [1 / 8000] * 3


def test_finite_tasks(two_levels):
    """User 1 stops at its five tasks, or one; user 0 keeps the two cores."""
    assert exact_shares(two_levels.replace(tasks=[-1, 5])) == [1, Fraction(5, 2)]
    outcome = parametric_flow(two_levels.replace(tasks=[-1, 1]))
    assert shares_of(two_levels, outcome.solution).tolist() == [2 / 8, 1 / 8]
    # A limit is a cut of its own, which prices nothing.
    assert outcome.solution.certificate.price_cut.tolist() == [1]


def test_who_has_all_its_tasks_leaves_room_to_others(two_levels):
    """One class of 8 cores, and users with 1, 3 and any number of tasks: 1, 3 and 4."""
    pool = two_levels.replace(
        machine_names=("pool",),
        machine_count=[1],
        capacity=[[8000]],
        demand=[[1000]] * 3,
        performance=[[1000]] * 3,
        allowed=np.ones((3, 1), bool),
        weight=[1000] * 3,
        tasks=[1, 3, -1],
    )
    assert exact_shares(pool) == [1, 3, 4]
    # All have enough: nobody's limit is a matter of the machines.
    assert exact_shares(pool.replace(tasks=[1, 2, 3])) == [1, 2, 3]


def test_papers_examples():
    assert exact_shares(alice_bob()) == [1, 1]
    assert exact_shares(micro()) == [1, 1, 1, 1]
    tsf = micro(notion="tsf")
    assert shares_of(micro(), parametric_flow(tsf).solution)[3] == 0.4


def test_fractions_stay_exact():
    """A third of a machine each, and sevenths by weight: no rounding at all."""
    pool = micro().replace(
        machine_names=("pool",),
        machine_count=[1],
        capacity=[[1000, 1024]],
        weight=[1000, 2000, 3000, 1000],
        performance=[[1000]] * 4,
        allowed=np.ones((4, 1), bool),
    )
    problem = flow_problem(pool)
    flow, _ = fair_flow(problem)
    assert [flow[i, 0] / problem.capacity[0] for i in range(4)] == [Fraction(w, 7) for w in (1, 2, 3, 1)]


def test_refuses_with_a_reason():
    method = find_method("fairness", "parametric-flow")
    instance = random_users(6, classes=3, machines=10, kind="mixed", seed=3)
    outcome = method.run(instance)
    assert outcome.status is Status.UNSUPPORTED
    assert outcome.details["reason"] == is_no_flow(instance)
    assert is_no_flow(instance).endswith("; use water-filling or progressive-filling")


def test_many_levels():
    """Users crowd on the first of ten classes: the levels rise from there, each proven."""
    instance = random_users(60, classes=10, machines=60, resources=1, kind="interval", speeds="machine", seed=4)
    outcome = parametric_flow(instance)
    assert verify(instance, outcome.solution) == FAIR
    assert np.unique(shares_of(instance, outcome.solution).round(9)).size >= 3


def test_no_time(two_levels):
    assert parametric_flow(two_levels, time_limit_s=0.0).claimed_status is Status.NO_SOLUTION


@pytest.mark.parametrize("seed", range(20))
def test_certificates_are_met_exactly(small_instance, seed):
    """In fractions: what a cut counts is what its classes carry, and nobody in it has more than its last user."""
    instance = small_instance(seed, resources=1, machine_only=True, notion="tsf")
    problem = flow_problem(instance)
    flow, _ = fair_flow(problem)
    cuts = fair_cuts(problem, flow)
    for cut in np.unique(cuts.price_cut):
        users = set(cuts.share_user[cuts.share_cut == cut].tolist())
        classes = set(cuts.price_class[cuts.price_cut == cut].tolist())
        assert sum(a for (i, _), a in flow.items() if i in users) == sum(problem.capacity[k] for k in classes)
        assert all(set(problem.classes_of[i]) <= classes for i in users)
