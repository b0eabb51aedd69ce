"""Exact fair points: what is right is proven at any spread, what is not is refused to the last digit."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness import TASK, UNLIMITED, alice_bob, shares_of
from schedgap.instances.fairness.certificate import ExactCut, FairPoint, allocation_at, check_fair_point
from schedgap.instances.fairness.verify import check_feasible

HALF = Fraction(1, 2)


@pytest.fixture
def alice_and_bob():
    """4 of 8 each: Alice has machines 1 and 2, Bob the fast one, whose cores are worth two of the others to him.

    Tasks of a core, worth 1 (2 for Bob on machine 3) as performance in thousandths: a core of 1000 units costs as much.
    """
    tasks = {(0, 0): Fraction(2), (0, 1): Fraction(2), (1, 2): Fraction(2)}
    return FairPoint(tasks, (ExactCut({0: 1, 1: 1}, {(0, 0): 1, (1, 0): 1, (2, 0): 2}),))


def test_alice_and_bob(alice_and_bob):
    assert check_fair_point(alice_bob(), alice_and_bob) == [HALF, HALF]


TINY = Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("worth", "price", "user"),
    [
        ({0: 1}, {}, "(alice|bob)"),
        ({0: 1, 1: 1 + TINY}, {}, "alice"),
        ({0: 1, 1: 1 - TINY}, {}, "alice"),
        ({0: 1, 1: 1}, {(2, 0): 2 + TINY}, "alice"),
        ({0: 1, 1: 1}, {(2, 0): 2 - TINY}, "alice"),
        ({0: 1, 1: 0}, {(2, 0): 0}, "bob"),
    ],
)
def test_cuts_that_prove_nothing(alice_and_bob, worth, price, user):
    """A user missing, worth a part of 10^-30 too much or too little, prices too high or too low; all of it is seen."""
    right = alice_and_bob.cuts[0]
    wrong = ExactCut(worth, {**right.price, **price} if 1 in worth else {(0, 0): 1, (1, 0): 1, (2, 0): 1})
    with pytest.raises(VerifyError, match=f"proves that user {user} has its fair share"):
        check_fair_point(alice_bob(), replace(alice_and_bob, cuts=(wrong,)))


@pytest.mark.parametrize("cut", [ExactCut({}, {}), ExactCut({0: -1}, {}), ExactCut({0: 1, 1: 1}, {(0, 0): -1})])
def test_cuts_that_are_none(alice_and_bob, cut):
    with pytest.raises(VerifyError, match="counts nobody, or has a negative number"):
        check_fair_point(alice_bob(), replace(alice_and_bob, cuts=(cut,)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({(0, 0): 2 + TINY}, "uses more cpu than class"),
        ({(0, 0): 2 - TINY}, "proves that user alice"),
        ({(0, 0): -TINY}, "where it has no use for any"),
        ({(0, 1): 2 - TINY, (1, 1): TINY}, "proves that user alice"),
    ],
)
def test_points_that_are_none(alice_and_bob, change, message):
    with pytest.raises(VerifyError, match=message):
        check_fair_point(alice_bob(), replace(alice_and_bob, tasks={**alice_and_bob.tasks, **change}))


def test_nobody_runs_more_tasks_than_it_has(make):
    """User 0 has one task and needs no price for that; user 1 has the rest of the machine."""
    instance = make([1], [[4]], [[1], [1]], tasks=[1, UNLIMITED])
    cuts = (ExactCut({0: 1}, {}), ExactCut({0: 1, 1: 1}, {(0, 0): Fraction(1, 1000)}))
    point = FairPoint({(0, 0): Fraction(1), (1, 0): Fraction(3)}, cuts)
    assert check_fair_point(instance, point) == [Fraction(1, 4), Fraction(3, 4)]
    with pytest.raises(VerifyError, match="runs more than the 1 tasks of user user-0"):
        check_fair_point(instance, replace(point, tasks={(0, 0): 1 + TINY, (1, 0): 3 - TINY}))


def test_amounts_below_a_unit_are_rounded_up(make):
    """Weights of 10^-3 and 10^9 share a task: 10^-12 of it is one unit, and a unit less for the other is nothing to it."""
    instance = make([1], [[1]], [[1], [1]], weight=[1e-3, 1e9])
    part = Fraction(1, 10**12 + 1)
    point = FairPoint({(0, 0): part, (1, 0): 1 - part}, (ExactCut({0: 1, 1: 1}, {(0, 0): Fraction(1, 1000)}),))
    fair = np.array([float(share) for share in check_fair_point(instance, point)])
    allocation = allocation_at(instance, point)
    check_feasible(instance, allocation)
    assert allocation.amount.tolist() == [1, TASK - 1]
    assert (shares_of(instance, allocation) / fair).min() > 1 - 1e-11
