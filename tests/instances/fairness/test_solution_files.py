"""Allocations as files: exact amounts, certificates that still prove, clear words for the rest."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedgap.instances.errors import SolutionError
from schedgap.instances.fairness import (
    FAIR,
    SPREAD,
    TASK,
    FairnessAllocation,
    alice_bob,
    allocation_of,
    micro,
    read_solution,
    verify,
    write_solution,
)


def same(one, other):
    return all(
        np.array_equal(getattr(one, key), getattr(other, key)) for key in ("user", "machine_class", "amount", "copy")
    )


def test_round_trip_with_its_proof(tmp_path, fair_alice_and_bob):
    allocation = allocation_of(alice_bob(), [[2, 2, 0], [0, 0, 2]], fair_alice_and_bob)
    write_solution(alice_bob(), allocation, tmp_path / "s.json")
    again = read_solution(alice_bob(), tmp_path / "s.json")
    assert same(again, allocation)
    assert verify(alice_bob(), again) == FAIR
    for key in again.certificate.__slots__:
        assert np.array_equal(getattr(again.certificate, key), getattr(fair_alice_and_bob, key))
    written = json.loads((tmp_path / "s.json").read_text())
    assert (written["user"], written["machine_class"], written["tasks"]) == (
        ["alice", "alice", "bob"],
        ["machine-1", "machine-2", "machine-3"],
        [2, 2, 2],
    )
    assert "machine" not in written


def test_single_machines(tmp_path):
    allocation = FairnessAllocation([0, 0, 3], [0, 0, 3], [TASK, TASK, 7], [4, SPREAD, 0])
    write_solution(micro(), allocation, tmp_path / "s.json")
    assert same(read_solution(micro(), tmp_path / "s.json"), allocation)
    written = json.loads((tmp_path / "s.json").read_text())
    assert written["machine"] == [4, None, 0]
    assert written["tasks"] == [1, 1, 7e-12]
    assert "certificate" not in written


@given(amounts=st.lists(st.integers(1, 2**63 - 1), max_size=30))
def test_every_amount_is_exact(tmp_path_factory, amounts):
    path = tmp_path_factory.mktemp("amounts") / "s.json"
    none = [0] * len(amounts)
    allocation = FairnessAllocation(none, none, amounts, none)
    write_solution(alice_bob(), allocation, path)
    assert read_solution(alice_bob(), path).amount.tolist() == amounts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"user": ["carol"]}, "user.0 is 'carol'; the instance has alice, bob"),
        ({"machine_class": ["machine-4"]}, "machine_class.0 is 'machine-4'; the instance has "),
        ({"user": ["alice", "bob"]}, "machine_class has 1 entries, user has 2; give one each"),
        ({"machine": [None, None]}, "machine has 2 entries, user has 1; give one each"),
        ({"machine": [-1]}, "machine.0: input should be greater than or equal to 0"),
        ({"tasks": ["two"]}, "tasks.0 is 'two'; give a number of tasks, such as 12.5"),
        ({"tasks": ["1e3"]}, "tasks.0 is '1e3'; give a number of tasks"),
        ({"tasks": [-1]}, "tasks.0 is -1.0; give a number of tasks from 0 to 9223372"),
        ({"tasks": [1e7]}, "tasks.0 is 10000000.0; give a number of tasks from 0 to 9223372"),
        ({"tasks": [1e-13]}, "tasks.0 is 1e-13; give at most 12 digits after the point"),
        ({"tasks": ["0.1234567890123"]}, "tasks.0 is 0.1234567890123; give at most 12 digits"),
        (
            {"certificate": [{"weights": {"carol": 1}, "prices": {}}]},
            "certificate weight 0 has user 'carol'",
        ),
        ({"certificate": [{"weights": {}, "prices": {"m": {"cpu": 1}}}]}, "certificate price 0 has machine_class 'm'"),
        (
            {"certificate": [{"weights": {}, "prices": {"machine-1": {"gpu": 1}}}]},
            "certificate price 0 has resource 'gpu'",
        ),
        ({"certificate": [{"weights": {"bob": 0}, "prices": {}}]}, "certificate.0.weights.bob"),
        ({"instance": "0" * 64}, "give the instance that it was made for"),
        ({"amount": [1]}, "amount: unknown field"),
    ],
)
def test_a_malformed_solution(tmp_path, changes, message):
    document = {
        "schema": "schedgap/fairness-solution/1",
        "user": ["alice"],
        "machine_class": ["machine-1"],
        "tasks": [1],
    }
    (tmp_path / "s.json").write_text(json.dumps(document | changes))
    with pytest.raises(SolutionError, match=f"s.json: .*{message}"):
        read_solution(alice_bob(), tmp_path / "s.json")
