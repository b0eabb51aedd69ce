"""Feasibility to the unit, and the objective by hand."""

import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness import FAIR, SPREAD, TASK, FairnessAllocation, alice_bob, allocation_of, verify
from schedgap.instances.fairness import certificate as reference
from schedgap.instances.fairness.verify import WORST, check_feasible, fair_shares, objective


def allocation(*entries):
    """Return the allocation with entries of (user, machine class, amount in units, machine or SPREAD)."""
    return FairnessAllocation(*(list(column) for column in zip(*entries, strict=True)))


@pytest.fixture
def known(monkeypatch, fair_alice_and_bob):
    """Only Alice's and Bob's fair point is found; what was found before is forgotten. Returns what was looked for."""
    asked = []

    def finder(instance):
        asked.append(instance.name)
        return allocation_of(instance, [[2, 2, 0], [0, 0, 2]], fair_alice_and_bob)

    monkeypatch.setattr(reference, "_finder", lambda: finder)
    monkeypatch.setattr(reference, "_known", reference._known.__class__())
    return asked


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([[2, 2, 0], [0, 0, 2]], FAIR),
        # TSF's: Alice has 3/8 of her 4/8.
        ([[2, 1, 0], [0, 1, 2]], 1_333_333),
        ([[2, 2, 0], [0, 0, 1]], 2_000_000),
        ([[2, 2, 0], [0, 0, 0]], WORST),
    ],
)
def test_how_far_from_fair(known, tasks, expected):
    assert verify(alice_bob(), allocation_of(alice_bob(), tasks)) == expected


def test_the_fair_point_is_found_once(known):
    for _ in range(3):
        verify(alice_bob(), allocation_of(alice_bob(), [[1, 1, 0], [0, 1, 1]]))
    assert known == ["alice-bob"]
    assert fair_shares(alice_bob()).tolist() == [0.5, 0.5]


def test_what_is_verified_does_not_depend_on_what_was(known, fair_alice_and_bob):
    """A certified allocation is no reference for others: it may be off by the tolerance."""
    verify(alice_bob(), allocation_of(alice_bob(), [[2, 2 - 1e-9, 0], [0, 0, 2 - 1e-9]], fair_alice_and_bob))
    assert known == []
    verify(alice_bob(), allocation_of(alice_bob(), [[1, 1, 0], [0, 1, 1]]))
    assert fair_shares(alice_bob()).tolist() == [0.5, 0.5]


def test_a_fair_point_that_is_none(known, monkeypatch, fair_alice_and_bob):
    unfair = [[2, 1, 0], [0, 1, 2]]
    monkeypatch.setattr(
        reference, "_finder", lambda: lambda instance: allocation_of(instance, unfair, fair_alice_and_bob)
    )
    with pytest.raises(VerifyError, match="does not prove that user"):
        verify(alice_bob(), allocation_of(alice_bob(), unfair))
    monkeypatch.setattr(reference, "_finder", lambda: lambda instance: allocation_of(instance, unfair))
    with pytest.raises(VerifyError, match="the fair point found for alice-bob has no certificate"):
        verify(alice_bob(), allocation_of(alice_bob(), unfair))


def test_the_objective_counts_the_worst_off():
    fair = np.array([0.5, 0.25])
    assert objective(np.array([0.25, 0.25]), fair) == 2 * FAIR
    assert objective(np.array([0.9, 0.2]), fair) == 1_250_000
    # More than fair for everybody can only be a rounding error; next to nothing counts as a millionth.
    assert objective(fair * (1 + 1e-12), fair) == FAIR
    assert objective(np.array([0.5, 0.25e-6]), fair) == objective(np.array([0.5, 0]), fair) == WORST


SLOT = 2 * TASK


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            [(0, 0, SLOT + 1, SPREAD)],
            r"a machine of class machine-1 is over its cpu: 2000.000000001 used, it has 2000 \(in integer units\)",
        ),
        ([(0, 1, SLOT - 1, SPREAD), (1, 1, 2, SPREAD)], "a machine of class machine-2 is over its cpu: 2000.000000001"),
        ([(0, 1, SLOT, 0), (1, 1, 1, 0)], "machine 0 of class machine-2 is over its cpu"),
        ([(0, 1, SLOT, 0), (1, 1, 1, SPREAD)], "machine 0 of class machine-2 is over its cpu"),
        ([(0, 2, 1, SPREAD)], "user alice runs tasks on class machine-3; its constraints forbid it"),
        ([(2, 0, 1, SPREAD)], "an entry names user 2; there are 2"),
        ([(0, -1, 1, SPREAD)], "an entry names machine_class -1; there are 3"),
        ([(0, 0, 0, SPREAD)], "an entry has the amount 0; leave out what is not positive"),
        ([(0, 0, 1, SPREAD), (1, 1, -5, SPREAD)], "an entry has the amount -5"),
        ([(0, 0, 1, 1)], "an entry names machine 1 of class machine-1; there are 1"),
        ([(0, 0, 1, -2)], "an entry names machine -2 of class machine-1"),
    ],
)
def test_the_first_violation_is_named(entries, message):
    with pytest.raises(VerifyError, match=message):
        verify(alice_bob(), allocation(*entries))


def test_columns_of_one_length():
    with pytest.raises(VerifyError, match=r"amount has shape \(1,\) beside \(2,\) users; give one each"):
        verify(alice_bob(), FairnessAllocation([0, 1], [0, 1], [TASK], [SPREAD, SPREAD]))


def test_whole_tasks_need_a_machine_each(make):
    """Three tasks of 3 cores fit on two machines of 5 if they may be divided, not if each needs one machine."""
    instance = make([2], [[5]], [[3]])
    check_feasible(instance, allocation((0, 0, 3 * TASK, SPREAD)))
    check_feasible(instance, allocation((0, 0, TASK, 0), (0, 0, TASK, 1)))
    with pytest.raises(VerifyError, match="machine 1 of class m0 is over its r0: 6000 used, it has 5000"):
        check_feasible(instance, allocation((0, 0, TASK, 0), (0, 0, TASK, 1), (0, 0, TASK, 1)))


def test_what_is_spread_is_on_every_machine(make):
    """Two machines of 4: with a task of 1 on the first, 6 more may be spread, 3 on each."""
    instance = make([2], [[4]], [[1]])
    check_feasible(instance, allocation((0, 0, TASK, 0), (0, 0, 6 * TASK, SPREAD)))
    with pytest.raises(VerifyError, match=r"machine 0 of class m0 is over its r0: 4000.0000000005 used"):
        check_feasible(instance, allocation((0, 0, TASK, 0), (0, 0, 6 * TASK + 1, SPREAD)))


def test_no_more_tasks_than_there_are(make):
    instance = make([1, 1], [[4], [4]], [[1]], tasks=[5])
    check_feasible(instance, allocation((0, 0, 4 * TASK, SPREAD), (0, 1, TASK, 0)))
    with pytest.raises(VerifyError, match=r"user user-0 runs 5.000000000001 tasks; it has 5"):
        check_feasible(instance, allocation((0, 0, 4 * TASK, SPREAD), (0, 1, TASK + 1, 0)))


def test_large_numbers_are_exact(make):
    """A billion cores on each of a thousand machines, half a million of them a task: 2,000,000 fit, and no unit more."""
    instance = make([1000], [[10**9]], [[500_000]])
    check_feasible(instance, allocation((0, 0, 2_000_000 * TASK, SPREAD)))
    with pytest.raises(VerifyError, match="is over its r0"):
        check_feasible(instance, allocation((0, 0, 2_000_000 * TASK + 1, SPREAD)))


def test_nothing_at_all_is_feasible():
    check_feasible(alice_bob(), FairnessAllocation([], [], [], []))
