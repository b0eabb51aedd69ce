"""Solutions as plain fields and back."""

from dataclasses import dataclass

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.instances.errors import SolutionError
from schedgap.instances.fairness import Certificate, FairnessAllocation
from schedgap.instances.family import FAMILIES
from schedgap.instances.fields import fields_hash, from_fields, to_fields
from schedgap.instances.provisioning import Provisioning
from schedgap.instances.waiting import WaitingSchedule

load_families()
PLAN = WaitingSchedule(3, [0, -1], [5, 2**62])


def allocation():
    certificate = Certificate([0], [1], [0.1], [0], [2], [0], [1e300])
    return FairnessAllocation([1], [2], [10**12], [-1], certificate)


@pytest.mark.parametrize(
    "solution", [PLAN, allocation(), Provisioning([0], [1], [0, 1], [0], [2])], ids=lambda s: type(s).__name__
)
def test_back_and_forth(solution):
    fields = to_fields(solution)
    assert to_fields(from_fields(type(solution), fields)).keys() == fields.keys()
    again = to_fields(from_fields(type(solution), fields))
    assert repr(again) == repr(fields)


def test_equal_solutions_have_equal_hashes_and_others_others():
    others = [
        WaitingSchedule(4, [0, -1], [5, 2**62]),
        WaitingSchedule(3, [-1, 0], [5, 2**62]),
        WaitingSchedule(3, [0, 5], [-1, 2**62]),
        WaitingSchedule(3, [0], [5]),
        allocation(),
        FairnessAllocation([1], [2], [10**12], [-1]),
        PLAN,
    ]
    assert fields_hash(PLAN) == fields_hash(WaitingSchedule(3, [0, -1], [5, 2**62]))
    assert len({fields_hash(each) for each in others}) == len(others)


def test_no_certificate_and_no_tasks_are_none():
    bare = FairnessAllocation([1], [2], [3], [-1])
    assert to_fields(bare)["certificate"] is None
    assert from_fields(FairnessAllocation, to_fields(bare)).certificate is None


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_family_has_solutions_that_can_cross(family):
    with pytest.raises(SolutionError, match="missing"):
        from_fields(FAMILIES[family].solution, {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"machine": None}, "'machine' must be an array of int64"),
        ({"machine": [0, 1]}, "'machine' must be an array of int64"),
        ({"machine": np.array([0.0, 1.0])}, "'machine' must be an array of int64"),
        ({"machine": np.array(["a", "b"], dtype=object)}, "'machine' must be an array of int64"),
        ({"num_machines": 2.5}, "'num_machines' is a float; it must be a whole number"),
        ({"num_machines": "3"}, "'num_machines' is a str; it must be a whole number"),
        ({"num_machines": np.zeros(1, np.int64)}, "'num_machines'"),
        ({"extra": 1}, "field 'extra' of WaitingSchedule is unknown"),
        ({"start_us": np.zeros(3, np.int64)}, r"places \(2,\) jobs and starts \(3,\)"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_fields(change, message):
    with pytest.raises((SolutionError, TypeError), match=message):
        from_fields(WaitingSchedule, to_fields(PLAN) | change)


def test_a_certificate_is_no_number():
    with pytest.raises(SolutionError, match="'certificate' must hold fields of its own, not a int"):
        from_fields(FairnessAllocation, to_fields(allocation()) | {"certificate": 7})


def test_smuggled_values_are_found_where_they_are_packed():
    crooked = WaitingSchedule(3, [0], [0])
    object.__setattr__(crooked, "machine", [0.5])
    with pytest.raises(ValueError, match="whole numbers"):
        to_fields(crooked)


@dataclass(frozen=True)
class Odd:
    name: str


def test_a_family_whose_solutions_cannot_cross_is_a_fault_of_ours():
    with pytest.raises(TypeError, match=r"Odd.name is a <class 'str'>"):
        to_fields(Odd("a"))
