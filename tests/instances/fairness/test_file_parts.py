"""What files of shared machines have in common: written, and read again."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from schedgap.instances.documents import Place, Rows
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import random_users
from schedgap.instances.fairness.files import SHARED_MACHINES, sharer_fields

CLASSES = SHARED_MACHINES[-1]
USERS = Rows("users", *sharer_fields("user_names"), label="user")
JOBS = Rows("jobs", *sharer_fields("job_names"), label="job")


def place(owner):
    return Place(Path("i.json"), InstanceError, owner)


@pytest.mark.parametrize("options", [{}, {"speeds": "machine"}, {"weights": "random", "resources": 3}])
def test_what_is_written_is_read(options):
    instance = random_users(12, classes=4, machines=7, seed=1, **options)
    instance = instance.replace(user_names=tuple(f"u{i}" for i in range(12)))
    document = CLASSES.write(instance, place(instance)) | USERS.write(instance, place(instance))
    fields = CLASSES.read(document, place(SimpleNamespace(resources=instance.resources)))
    fields |= USERS.read(document, place(SimpleNamespace(resources=instance.resources, **fields)))
    for key in ("machine_count", "capacity", "demand", "weight", "performance", "allowed"):
        assert np.array_equal(fields[key], getattr(instance, key))
    assert fields["machine_names"] == instance.machine_names
    assert fields["user_names"] == instance.user_names


def test_only_what_differs_is_written():
    instance = random_users(12, classes=4, machines=7, speeds="machine", seed=1)
    users = USERS.write(instance, place(instance))["users"]
    anywhere = int(np.argmax(instance.allowed.all(axis=1)))
    assert set(users[anywhere]) == {"demand"}
    assert all("performance" not in user for user in users)
    slow = instance.replace(performance=np.full((12, 4), 1000))
    assert all("performance" not in kind for kind in CLASSES.write(slow, place(slow))["machine_classes"])


def test_messages_name_whose_field_it_is():
    owner = SimpleNamespace(resources=("cpu",), machine_names=("m",), performance=np.array([1000]))
    assert JOBS.read({"jobs": [{"demand": [1]}]}, place(owner))["job_names"] is None
    with pytest.raises(InstanceError, match=r"jobs.1 has no name, others have; name all of them or none"):
        JOBS.read({"jobs": [{"name": "a", "demand": [1]}, {"demand": [1]}]}, place(owner))
    with pytest.raises(InstanceError, match="job 1 has 2 demands for the 1 resources cpu; give one each"):
        JOBS.read({"jobs": [{"demand": [1]}, {"demand": [1, 2]}]}, place(owner))
