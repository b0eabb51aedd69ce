"""Several numbers in one parameter, ranges and names."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.workloads import check_ranges, decimals, unusual, vm_sizes, whole_numbers


def test_numbers():
    assert whole_numbers("cores", "2, 4,8") == (2, 4, 8)
    assert whole_numbers("cores", 2) == (2,)
    assert whole_numbers("tasks", "20-120", "-") == (20, 120)
    assert decimals("rates", "1,2.5") == (1.0, 2.5)
    assert vm_sizes("2,8", 8, (4,)) == (2, 8)


def test_names():
    assert unusual({"grid_s": (60.0, 0.0), "kills": ("oldest", "oldest"), "vms": (3, 4)}) == ["grid-s-60", "vms-3"]


def test_bad_values():
    with pytest.raises(InstanceError, match=r"cores is '2;4'; give whole numbers such as 2 or 2,8\."):
        whole_numbers("cores", "2;4")
    with pytest.raises(InstanceError, match=r"rates is ''; give numbers such as 1 or 1,2.5"):
        decimals("rates", "")
    with pytest.raises(InstanceError, match=r"load is 2; give 0 to 1.5"):
        check_ranges(("load", 2, 0, 1.5))
    with pytest.raises(InstanceError, match="VMs have up to 8 cores, and tasks or minimum sizes up to 9"):
        vm_sizes("2", 8, (9,))
