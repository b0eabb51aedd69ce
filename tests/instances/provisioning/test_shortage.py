"""What is proven to be missing: by hand, and never where tasks do fit."""

import numpy as np
import pytest

from schedgap.instances.provisioning import ProvisioningInstance, Running
from schedgap.instances.provisioning.plans import shortage


def instance(stock, counts, **changes):
    """Family x: 4 cores; y: 8 cores and 4 GPUs. Class a takes 1 core anywhere, b 3 cores anywhere, c 1 core and 1 GPU."""
    made = ProvisioningInstance(
        name="short",
        resources=("cpu", "gpu"),
        families=("x", "y"),
        type_names=("x", "y"),
        type2family=[0, 1],
        capacity=[[4000, 0], [8000, 4000]],
        price=[1, 2],
        demand=[
            [[1000, 0], [3000, 0], [-1, -1]],
            [[1000, 0], [3000, 0], [1000, 1000]],
        ],
        counts=counts,
        class_names=("a", "b", "c"),
        stock=stock,
    )
    return made.replace(**changes)


def test_enough_and_without_end():
    assert shortage(instance([1, 1], [2, 2, 4])) is None
    assert shortage(instance(None, [90, 90, 90])) is None
    # Machines of x are without end; c has one of y to itself.
    assert shortage(instance([-1, 1], [90, 90, 4])) is None


def test_a_resource_in_all():
    """12 cores are there. 2 a, 3 b and 4 c take 15: one b is enough to leave out."""
    found = shortage(instance([1, 1], [2, 3, 4]))
    lack = found.lacks[0]
    assert (lack["what"], lack["needed"], lack["available"], lack["short"], lack["tasks"]) == ("cpu", 15, 12, 3, 1)
    assert found.sentences[1] == "3 cpu short: 15 are asked for, at most 12 can be had."


def test_a_resource_of_one_family():
    """12 cores are there, of which c can use the 8 of y: three tasks of 3 cores are one too many."""
    found = shortage(instance([1, 1], [1, 1, 3], demand=[[[0, 0], [0, 0], [-1, -1]], [[0, 0], [0, 0], [3000, 0]]]))
    assert found.tasks == 1
    assert "1 cpu short on y: 9 are asked for, at most 8 can be had." in found.sentences


def test_large_tasks_are_counted():
    """One x and one y have 12 cores, and room for 1 + 2 tasks of 3: four of these are too many, though 12 cores are there."""
    found = shortage(
        instance([1, 1], [1, 4, 1], demand=np.array([[[0, 0], [3000, 0], [-1, -1]], [[0, 0], [3000, 0], [0, 1000]]]))
    )
    (lack,) = found.lacks
    assert (lack["what"], lack["needed"], lack["available"], found.tasks) == (
        "tasks that ask for 3 cpu or more",
        4,
        3,
        1,
    )


def test_a_class_that_shares_with_few_of_its_own():
    found = shortage(instance([1, 1], [4, 1, 1], per_machine=[1, -1, -1]))
    (lack,) = found.lacks
    assert (lack["what"], lack["available"], lack["short"]) == ("tasks of a", 2, 2)


def test_a_class_for_which_nothing_is_left():
    """Its machines' count is 0."""
    found = shortage(instance([5, 0], [1, 1, 2]))
    assert found is not None
    assert found.tasks == 2


def test_pending_tasks_are_told():
    running = Running.from_contents(["n"], [0], [[1, 0, 0]])
    found = shortage(instance([1, 1], [2, 3, 4], running=running))
    assert found.sentences[0].startswith(
        "The pending tasks do not fit in what there is: 8 are on no machine, at least 1 find no place"
    )


@pytest.mark.parametrize("seed", range(30))
def test_what_is_placed_is_never_short(seed):
    """Machines are filled at random; what fills them fits in them."""
    rng = np.random.default_rng(seed)
    stock, content = rng.integers(1, 4, 2), np.zeros(3, np.int64)
    made = instance(None, [1, 1, 1])
    for k, number in enumerate(stock.tolist()):
        for _ in range(number):
            left = made.capacity[k].copy()
            for c in rng.integers(0, 3, 12).tolist():
                demand = made.demand[k, c]
                if demand[0] >= 0 and (demand <= left).all():
                    left -= demand
                    content[c] += 1
    assert shortage(instance(stock, np.maximum(content, 0) + (content == 0))) is None or (content == 0).any()
