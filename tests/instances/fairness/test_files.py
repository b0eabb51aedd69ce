"""Instances as files: what is written is read back, what is wrong is said."""

import json

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import alice_bob, micro, random_users, read_instance, write_instance


@pytest.mark.parametrize(
    "instance",
    [
        alice_bob(),
        micro(lie=False, notion="tsf"),
        random_users(9, kind="interval", weights="random", limited=True, resources=3, seed=2),
        random_users(9, speeds="machine", seed=3),
        random_users(2001, classes=4, machines=9, limited=True),
    ],
    ids=lambda instance: instance.name,
)
def test_round_trip(tmp_path, instance):
    write_instance(instance, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert (again.digest, again.name) == (instance.digest, instance.name)
    assert (tmp_path / "i.arrays.npz").exists() == (instance.num_users > 2000)


def test_notes_are_kept_and_no_part_of_the_content(tmp_path):
    instance = alice_bob().replace(notes=("assumed",))
    write_instance(instance, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert (again.notes, again.digest) == (("assumed",), alice_bob().digest)


def test_names_go_beside_too(tmp_path):
    many = random_users(2001, classes=2, machines=4)
    named = many.replace(user_names=tuple(f"u{i}" for i in range(2001)))
    write_instance(named, tmp_path / "i.json")
    assert read_instance(tmp_path / "i.json").digest == named.digest != many.digest


def document(**changes):
    base = {
        "schema": "schedgap/fairness/1",
        "name": "two",
        "notion": "eunomia",
        "resources": ["cpu", "ram_gib"],
        "machine_classes": [
            {"name": "old", "count": 3, "capacity": [4, 8]},
            {"name": "new", "capacity": [8, 16.5], "performance": 1.5},
        ],
        "users": [
            {"name": "a", "demand": [0.5, 1], "allowed": ["new"], "tasks": 7},
            {"name": "b", "demand": [1, 2], "weight": 2.5, "performance": {"old": 0.25}},
            {"name": "c", "demand": [1, 2], "performance": 3},
        ],
    } | changes
    return {key: value for key, value in base.items() if value is not None}


@pytest.fixture
def read(tmp_path):
    def read(**changes):
        (tmp_path / "i.json").write_text(json.dumps(document(**changes)))
        return read_instance(tmp_path / "i.json")

    return read


def test_numbers_as_people_write_them(read):
    instance = read()
    assert instance.capacity.tolist() == [[4000, 8192], [8000, 16896]]
    assert instance.machine_count.tolist() == [3, 1]
    assert instance.demand.tolist() == [[500, 1024], [1000, 2048], [1000, 2048]]
    assert instance.performance.tolist() == [[1000, 1500], [250, 1500], [3000, 3000]]
    assert instance.weight.tolist() == [1000, 2500, 1000]
    assert instance.allowed.tolist() == [[False, True], [True, True], [True, True]]
    assert instance.tasks.tolist() == [7, -1, -1]
    assert instance.user_names == ("a", "b", "c")


def user(**changes):
    return [{"name": "a", "demand": [1, 1]} | changes]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"users": user(allowed=["older"])}, "user a is allowed on machine class 'older'; there are old, new"),
        ({"users": user(performance={"older": 1})}, "user a has a performance on machine class 'older'"),
        ({"users": user(allowed=[])}, "two: user a is allowed on no machine class"),
        ({"users": user(weight=0)}, r"users.0.weight: input should be greater than 0 \(found 0\)"),
        ({"users": user(weight=-1)}, r"users.0.weight: input should be greater than 0 \(found -1\)"),
        ({"users": user(weight=0.0001)}, "users.weight of 'a': 0.0001 is not a whole number of 1/1000"),
        ({"users": user(performance=0)}, "user a has zero performance wherever its tasks may run"),
        ({"users": user(performance=-1)}, "users.0.performance"),
        ({"users": user(demand=[1])}, "user a has 1 demands for the 2 resources cpu, ram_gib; give one each"),
        ({"users": user(demand=[0, 0])}, "user a demands nothing of any resource"),
        ({"users": user(tasks=0)}, "users.0.tasks: input should be greater than or equal to 1"),
        ({"users": [*user(), {"demand": [1, 1]}]}, "users.1 has no name, others have; name all of them or none"),
        ({"users": user() * 2}, "user 'a' is given twice; rename one"),
        ({"users": []}, "there is no user; give at least one"),
        ({"users": user(share=1)}, "users.0.share: unknown field"),
        ({"machine_classes": [{"name": "m", "capacity": [1]}]}, "machine class m has 1 capacities for the 2 resources"),
        ({"machine_classes": []}, "machine_classes"),
        ({"machine_classes": [{"name": "m", "count": 0, "capacity": [1, 1]}]}, "machine_classes.0.count"),
        ({"notion": "equal"}, "notion: input should be 'eunomia', 'tsf', 'cmmf' or 'drf'"),
        ({"users": None}, "give either 'users' or 'users_file'"),
        ({"users_file": "x.npz"}, "give either 'users' or 'users_file'"),
        ({"users": None, "users_file": "x.npz"}, "x.npz: cannot be read .*; keep it beside this file"),
        ({"users": None, "users_file": "../x.npz"}, "without a folder"),
    ],
)
def test_a_malformed_instance(read, changes, message):
    with pytest.raises(InstanceError, match=f"i.json: .*{message}"):
        read(**changes)


def test_arrays_that_are_not_all_there(tmp_path):
    write_instance(random_users(2001, classes=2, machines=4), tmp_path / "i.json")
    np.savez(tmp_path / "i.arrays.npz", demand=np.ones((3, 2), int))
    with pytest.raises(InstanceError, match="no array 'weight'; write the instance anew"):
        read_instance(tmp_path / "i.json")
