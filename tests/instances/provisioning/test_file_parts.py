"""What files of provisioning and of reconfiguration share, there and back."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from schedgap.instances.documents import Field, Place, Rows
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.files import DEMAND, check_square, machine_types
from schedgap.instances.units import resource_scales

RESOURCES = ("cpu", "ram_gib", "disk_mib")
TYPES = machine_types()
TASKS = Rows("tasks", Field("name", str, "class_names"), DEMAND, label="task")
OWNER = SimpleNamespace(resources=RESOURCES, families=("x", "y"))


def place(owner):
    return Place(Path("i.json"), InstanceError, owner)


def test_units_of_resources():
    assert resource_scales(RESOURCES).tolist() == [1000, 1024, 1]


def test_machine_types_there_and_back(two_families):
    document = TYPES.write(two_families, place(two_families))
    assert document["machine_types"][1] == {"name": "x-large", "family": "x", "capacity": [8, 16], "price": 1.9}
    for key, value in TYPES.read(document, place(two_families)).items():
        assert np.array_equal(value, getattr(two_families, key))


def test_demands_there_and_back(two_families):
    """Of the classes, `a` asks the same on both families, `b` less on y, and `c` may not run there."""
    document = TASKS.write(two_families, place(two_families))
    assert [task["demand"] for task in document["tasks"]] == [
        {"any": [2, 2]},
        {"x": [4, 2], "y": [2, 2]},
        {"x": [3, 8]},
    ]
    assert np.array_equal(TASKS.read(document, place(two_families))["demand"], two_families.demand)


def test_a_family_goes_before_any():
    document = {"tasks": [{"name": "a", "demand": {"any": [1, 1, 1], "y": [2, 2, 2]}}]}
    assert TASKS.read(document, place(OWNER))["demand"].tolist() == [[[1000, 1024, 1]], [[2000, 2048, 2]]]


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
        TASKS.read({"tasks": [{"name": "a", "demand": demand}]}, place(OWNER))


def test_capacities_and_tables_of_another_size():
    document = {"machine_types": [{"name": "m", "family": "x", "capacity": [1], "price": 1}]}
    with pytest.raises(
        InstanceError, match="machine type m has 1 capacities for the 3 resources cpu, ram_gib, disk_mib"
    ):
        TYPES.read(document, place(OWNER))
    check_square(["a", "b"], [[1, 1], [1, 1]])
    with pytest.raises(InstanceError, match="throughput is not 2 x 2, one row and column for each workload"):
        check_square(["a", "b"], [[1, 1], [1]])
