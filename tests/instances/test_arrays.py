"""What 64 bits do not hold is refused: NumPy would make other numbers of it. What holds arrays is printed in a line.

Compiled code changes the fields of a record.
"""

import re
from dataclasses import fields

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.instances.arrays import first_true, grouped, locked_ints, longer, ranges, record, records
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.fairness import FairnessAllocation
from schedgap.instances.family import FAMILIES
from schedgap.instances.jit import kernel
from schedgap.instances.provisioning import Provisioning, table3
from schedgap.instances.sharing.model import SharingSchedule

load_families()
TOO_LARGE = [
    np.array([2**63], np.uint64),
    np.array([1, 2**64 - 1], np.uint64),
    np.array([2.0**63]),
    [-1e300],
    [2**64],
    [1, -(2**80)],
    [np.inf],
    [np.nan],
    ["1"],
    [None],
]


@pytest.mark.parametrize("values", TOO_LARGE, ids=repr)
def test_beyond_64_bits(values):
    with pytest.raises(ValueError, match="expected whole numbers"):
        locked_ints(values)
    with pytest.raises(SolutionError, match="start_ms: expected whole numbers"):
        SharingSchedule([0] * len(values), values)
    with pytest.raises(SolutionError, match="amount: expected whole numbers"):
        FairnessAllocation([0] * len(values), [0] * len(values), values, [0] * len(values))


@pytest.mark.parametrize("values", [[-(2**63), 2**63 - 1], np.array([5], np.uint64), [-(2.0**63)], [True], []])
def test_within_64_bits(values):
    locked = locked_ints(values)
    assert locked.dtype == np.int64
    assert locked.tolist() == [int(value) for value in values]


def test_fractions():
    with pytest.raises(ValueError, match="with fractions"):
        locked_ints([0.5])


def test_an_instance_and_its_solution():
    instance = table3()
    assert repr(instance) == "<ProvisioningInstance table3: 4 classes, 4 tasks, 4 types>"
    solution = Provisioning.from_tasks(instance, instance.reservation_type, np.arange(4))
    assert repr(solution) == "<Provisioning: 4 machines>"


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family(name):
    make = next(iter(FAMILIES[name].generators.values()))
    assert re.fullmatch(rf"<\w+Instance {re.escape(make().name)}: \d[\w, ]+>", repr(make()))


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_fields_of_another_type_are_refused_by_name(name):
    """Of every family's instance, each array of whole numbers, each whole number, and the name."""
    instance = next(iter(FAMILIES[name].generators.values()))()
    given = {each.name: getattr(instance, each.name) for each in fields(instance) if each.name not in instance.derived}
    for key, value in given.items():
        wrong = {int: 1.5, np.ndarray: np.array([0.5, 1.0]), str: 5}.get(type(value))
        if (
            wrong is not None
            and getattr(value, "dtype", None) != np.bool_
            and (type(value) is not str or key == "name")
        ):
            with pytest.raises(InstanceError, match=f"{key}|the name of an instance is 5; give a string"):
                instance.replace(**{key: wrong})
    solution = FAMILIES[name].solution
    keys = [each.name for each in fields(solution)]
    arrays = [each.name for each in fields(solution) if str(each.type).startswith("IntArray")]
    with pytest.raises(SolutionError, match=f"{arrays[0]}: expected whole numbers, got float64 with fractions"):
        solution(**dict.fromkeys(keys, 1) | dict.fromkeys(arrays, 0.5))


def test_without_counts_the_shapes():
    schedule = SharingSchedule(machine=[0, 0], start_ms=[0, 5])
    assert repr(schedule) == "<SharingSchedule: machine (2,), start_ms (2,)>"


@pytest.mark.parametrize(("flags", "place"), [([], None), ([0, 0], None), ([0, 1, 1], 1), ([1], 0)])
def test_the_first_flag(flags, place):
    assert first_true(np.array(flags, np.bool_)) == place


def test_groups_are_in_the_order_in_which_they_come_up():
    group, first = grouped(np.array([7, 3, 7, 5, 3]))
    assert (group.tolist(), first.tolist()) == ([0, 1, 0, 2, 1], [0, 1, 3])
    group, first = grouped(np.array([[2, 1], [1, 9], [2, 1]]))
    assert (group.tolist(), first.tolist()) == ([0, 1, 0], [0, 1])


def test_ranges_follow_one_another():
    assert ranges(np.array([5, 0, 8]), np.array([2, 0, 3])).tolist() == [5, 6, 8, 9, 10]
    assert ranges(0, np.array([1, 2])).tolist() == [0, 0, 1]


class Clock:
    now: int
    speed: float


@kernel
def tick(clock):
    clock[0].now += 2
    clock[0].speed *= 0.5
    return clock[0].now


def test_fields_are_read_and_changed_by_name():
    clock = record(Clock, speed=3.0)
    assert (clock[0].now, clock[0].speed) == (0, 3.0)
    assert tick(clock) == 2
    clock[0].now += 1
    assert tick(clock) == 5
    assert (int(clock[0].now), float(clock[0].speed)) == (5, 0.75)


def test_records_have_columns_and_room_for_more():
    """Given columns are copied, a number is that of all, and what is not given is 0; so is what is new in longer arrays."""
    given = np.array([3, 4])
    two = records(Clock, 2, now=given, speed=0.5)
    two[0].now = 7
    assert (two.now.tolist(), two.speed.tolist(), given.tolist()) == ([7, 4], [0.5, 0.5], [3, 4])
    four = longer(two, 4)
    two[0].now = 9
    assert (four.now.tolist(), four.speed.tolist()) == ([7, 4, 0, 0], [0.5, 0.5, 0.0, 0.0])
    assert longer(four, 1).shape == (4,)
    assert tick(two[1:]) == tick.py_func(four[1:])


def test_no_field_hides_what_arrays_have():
    class Job:
        base: float

    with pytest.raises(
        TypeError, match=r"^Job\.base: every array has something of that name; give the field another\.$"
    ):
        records(Job, 2)
