"""What files of shared machines have in common: written, and read again."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import random_users
from schedgap.instances.fairness.file_parts import (
    read_machine_classes,
    read_sharer_names,
    read_sharers,
    written_machine_classes,
    written_sharer,
)


@pytest.mark.parametrize("options", [{}, {"speeds": "machine"}, {"weights": "random", "resources": 3}])
def test_what_is_written_is_read(options):
    instance = random_users(12, classes=4, machines=7, seed=1, **options)
    classes = written_machine_classes(instance)
    sharers = [written_sharer(instance, i, f"u{i}") for i in range(12)]
    fields = read_machine_classes(instance.resources, classes) | read_sharers(
        "user", sharers, instance.resources, classes
    )
    for key in ("machine_count", "capacity", "demand", "weight", "performance", "allowed"):
        assert np.array_equal(fields[key], getattr(instance, key))
    assert fields["machine_names"] == instance.machine_names
    assert read_sharer_names("user", sharers) == tuple(f"u{i}" for i in range(12))


def test_only_what_differs_is_written():
    instance = random_users(12, classes=4, machines=7, speeds="machine", seed=1)
    anywhere = int(np.argmax(instance.allowed.all(axis=1)))
    assert set(written_sharer(instance, anywhere, None)) == {"demand"}
    assert all("performance" not in written_sharer(instance, i, None) for i in range(12))
    slow = instance.replace(performance=np.full((12, 4), 1000))
    assert all("performance" not in kind for kind in written_machine_classes(slow))


def test_names_of_all_or_none():
    assert read_sharer_names("job", [{"demand": [1]}]) is None
    with pytest.raises(InstanceError, match=r"jobs.1 has no name, others have; name all of them or none"):
        read_sharer_names("job", [{"name": "a", "demand": [1]}, {"demand": [1]}])


def test_messages_name_whose_field_it_is():
    with pytest.raises(InstanceError, match="job 1 has 2 demands for the 1 resources cpu; give one each"):
        read_sharers("job", [{"demand": [1]}, {"demand": [1, 2]}], ["cpu"], [{"name": "m", "capacity": [1]}])
