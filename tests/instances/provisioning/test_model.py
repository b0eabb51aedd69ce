import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import distinct, table3, table7


def test_reservation_prices_of_the_papers_table_3(paper_example):
    """Section 4.2: $12, $3, $0.8 and $0.4."""
    assert paper_example.reservation_price.tolist() == [12_000_000, 3_000_000, 800_000, 400_000]


def test_reservation_type_is_the_first_of_equal_price(two_families):
    # x-small becomes as cheap as y-small: class a fits both, x-small stands first.
    equal = two_families.replace(price=np.array([700_000, 1_900_000, 700_000]))
    assert equal.reservation_type.tolist() == [0, 0, 0]
    assert two_families.reservation_type.tolist() == [2, 2, 0]


def test_arrays_are_locked_and_copies(two_families):
    with pytest.raises(ValueError, match="read-only"):
        two_families.counts[0] = 7
    counts = np.array([2, 1, 2])
    other = two_families.replace(counts=counts)
    counts[0] = 99
    assert other.counts.tolist() == [2, 1, 2]


def test_digest_follows_the_content_not_the_name(two_families):
    assert two_families.replace(name="other").digest == two_families.digest
    assert two_families.replace(counts=np.array([2, 1, 3])).digest != two_families.digest
    assert table3().digest == table3().digest


def test_digest_is_the_same_on_every_machine():
    """A changed digest makes every recorded run stale; change these values only on purpose."""
    assert table3().digest[:16] == "d45196a3ee504c21"
    assert table7(200, seed=0).digest[:16] == "c8c7d39f1dc3cf55"
    assert distinct(50, seed=0).digest[:16] == "860788abed87776c"


def test_job_value_is_the_reservation_price_of_the_whole_job(two_families):
    # Reservation prices 0.7, 0.7, 1.0; jobs of four equal tasks cost four times as much.
    multi = two_families.replace(tasks_per_job=np.array([4, 1, 1]))
    assert multi.job_value.tolist() == [2_800_000, 700_000, 1_000_000]
    # a (2 tasks) and b (1 task) are one named job: 2 x 0.7 + 0.7.
    named = two_families.replace(job_names=("j",), class2job=np.array([0, 0, -1]))
    assert named.job_value.tolist() == [2_100_000, 2_100_000, 1_000_000]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"price": [0, 1, 1]}, "machine type x-small has price 0; it must be positive"),
        ({"capacity": [[0, 0], [1, 1], [1, 1]]}, "machine type x-small has capacity"),
        ({"capacity": [[-1, 5], [1, 1], [1, 1]]}, "none may be negative"),
        ({"counts": [2, 0, 2]}, r"task b has count 0; it must be at least 1"),
        ({"class_names": ("a", "b", "a")}, "class_names names 'a' twice"),
        ({"type_names": ("x", "x", "y")}, "type_names names 'x' twice"),
        ({"class_names": ("a", "b")}, "2 class_names for 3"),
        ({"type2family": [0, 0, 2]}, "families"),
        ({"families": ("x", "y", "z")}, "families"),
        ({"task2class": [0, 0, 0, 1, 2]}, "task2class does not hold each class"),
        ({"counts": [2**50, 1, 2]}, "overflows 62 bits"),
        ({"counts": [2**62, 2**62, 2]}, "overflows 62 bits"),
        ({"tasks_per_job": [2**53, 1, 1]}, "overflows 62 bits"),
        ({"demand": np.full((2, 3, 2), -2)}, "must be not negative"),
    ],
)
def test_refuses_what_is_inconsistent(two_families, change, message):
    with pytest.raises(InstanceError, match=message):
        two_families.replace(**change)


def test_a_task_that_fits_no_type_is_named_with_both_values(two_families):
    demand = two_families.demand.copy()
    demand[:, 1] = [12_000, 1024]
    with pytest.raises(InstanceError, match=r"task b needs 12 cpu on family x, the largest type there has 8 cpu; drop"):
        two_families.replace(demand=demand)


def test_a_task_that_fits_each_resource_but_no_type(two_families):
    # 8 cores only x-large has, 16 GiB too; 4 cores on y but 16 GiB nowhere there.
    demand = two_families.demand.copy()
    demand[0, 2], demand[1, 2] = [-1, -1], [2000, 5 * 1024]
    with pytest.raises(InstanceError, match=r"task c needs 5 ram_gib on family y"):
        two_families.replace(demand=demand)


def test_a_task_without_any_family(two_families):
    demand = two_families.demand.copy()
    demand[:, 0] = -1
    with pytest.raises(InstanceError, match="task a may run on no family"):
        two_families.replace(demand=demand)


def test_throughput_outside_zero_one(two_families):
    with pytest.raises(InstanceError, match=r"throughput of w beside w is 1.2; it must lie in \[0, 1\]"):
        two_families.replace(workloads=("w",), throughput=[[1200]])
