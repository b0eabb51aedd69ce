"""What files of provisioning and of reconfiguration share, there and back."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.file_parts import (
    check_square,
    read_demand,
    read_machine_types,
    resource_scales,
    written_demand,
    written_machine_types,
)

RESOURCES = ("cpu", "ram_gib", "disk_mib")


def test_units_of_resources():
    assert resource_scales(RESOURCES).tolist() == [1000, 1024, 1]


def test_machine_types_there_and_back(two_families):
    types = written_machine_types(two_families)
    assert types[1] == {"name": "x-large", "family": "x", "capacity": [8, 16], "price": 1.9}
    for key, value in read_machine_types(two_families.resources, types).items():
        assert np.array_equal(value, getattr(two_families, key))


def test_demands_there_and_back(two_families):
    """Of the classes, `a` asks the same on both families, `b` less on y, and `c` may not run there."""
    tasks = [{"name": name, "demand": written_demand(two_families, c)} for c, name in enumerate("abc")]
    assert [task["demand"] for task in tasks] == [
        {"any": [2, 2]},
        {"x": [4, 2], "y": [2, 2]},
        {"x": [3, 8]},
    ]
    assert np.array_equal(read_demand(tasks, ("x", "y"), two_families.resources), two_families.demand)


def test_a_family_goes_before_any():
    tasks = [{"name": "a", "demand": {"any": [1, 1, 1], "y": [2, 2, 2]}}]
    assert read_demand(tasks, ("x", "y"), RESOURCES).tolist() == [[[1000, 1024, 1]], [[2000, 2048, 2]]]


@pytest.mark.parametrize(
    ("demand", "message"),
    [
        ({"z": [1, 1, 1]}, "task a has a demand for family 'z'; machine types have x, y, or write 'any'"),
        ({"x": [1, 1]}, "task a has 2 demands on 'x' for 3 resources; give one each"),
        ({"x": [1, 1, 0.5]}, "tasks.demand of 'x', 'a', 'disk_mib': 0.5 is not a whole number of 1/1; round it"),
    ],
)
def test_demands_that_are_none(demand, message):
    with pytest.raises(InstanceError, match=message):
        read_demand([{"name": "a", "demand": demand}], ("x", "y"), RESOURCES)


def test_capacities_and_tables_of_another_size():
    with pytest.raises(
        InstanceError, match="machine type m has 1 capacities for the 3 resources cpu, ram_gib, disk_mib"
    ):
        read_machine_types(RESOURCES, [{"name": "m", "family": "x", "capacity": [1], "price": 1}])
    check_square(["a", "b"], [[1, 1], [1, 1]])
    with pytest.raises(InstanceError, match="throughput is not 2 x 2, one row and column for each workload"):
        check_square(["a", "b"], [[1, 1], [1]])
