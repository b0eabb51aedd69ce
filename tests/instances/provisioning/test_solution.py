import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances import SolutionError
from schedgap.instances.provisioning import Provisioning, ProvisioningInstance, table7, verify
from schedgap.instances.provisioning.ec2 import ec2_types


def test_from_tasks_counts_per_class(two_families):
    solution = Provisioning.from_tasks(two_families, [2, 0, 0, 0], [0, 0, 3, 1, 2])
    assert solution.indptr.tolist() == [0, 1, 2, 3, 4]
    assert solution.task_class.tolist() == [0, 2, 2, 1]
    assert solution.count.tolist() == [2, 1, 1, 1]


@pytest.mark.parametrize(
    ("task2machine", "message"),
    [([0, 0, 0], "3 tasks are placed, the instance has 5"), ([0, 0, 0, 0, 9], "placed on machine 9; there are 1")],
)
def test_from_tasks_refuses(two_families, task2machine, message):
    with pytest.raises(SolutionError, match=message):
        Provisioning.from_tasks(two_families, [1], task2machine)


def test_mismatched_arrays(two_families):
    with pytest.raises(SolutionError, match="do not fit together"):
        Provisioning([0], [1], [0, 2], [0], [1])


def test_from_cover_takes_surplus_off(two_families):
    # Three y-small machines with 2 a each cover a six times; two are needed.
    cover = Provisioning.from_cover(two_families, [2, 0, 0], [3, 1, 2], [[2, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert verify(two_families, cover) == 700_000 + 1_000_000 + 2_000_000
    with pytest.raises(SolutionError, match="task c is covered -1 times"):
        Provisioning.from_cover(two_families, [2, 0, 0], [1, 1, 1], [[2, 0, 0], [0, 1, 0], [0, 0, 1]])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_from_cover_is_exact_for_any_cover(data):
    """Whatever patterns cover the tasks, the trimmed solution places each task once and costs no more."""
    counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    num_classes = counts.shape[0]
    rows = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=num_classes, max_size=num_classes), max_size=5))
    times = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    patterns = np.array([*rows, *np.eye(num_classes, dtype=int)]).reshape(-1, num_classes)
    repeat = np.array([*times, *counts])
    demand = np.zeros((3, num_classes, 3), int)
    instance = ProvisioningInstance(name="free", **ec2_types(), demand=demand, counts=counts)
    solution = Provisioning.from_cover(instance, np.zeros(patterns.shape[0], int), repeat, patterns)
    assert verify(instance, solution) <= int(repeat.sum()) * int(instance.price[0])
    named = solution.with_tasks(instance)
    assert verify(instance, named) == verify(instance, solution)


def test_with_tasks_names_every_task():
    instance = table7(50, seed=3)
    by_class = Provisioning.from_patterns(
        instance.reservation_type, instance.counts, np.eye(instance.num_classes, dtype=int)
    )
    named = by_class.with_tasks(instance)
    assert named.num_machines == 50
    assert verify(instance, named) == verify(instance, by_class)
