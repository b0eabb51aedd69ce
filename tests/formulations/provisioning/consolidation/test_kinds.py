import numpy as np
import pytest

from schedgap.formulations.provisioning.consolidation.consolidation import kinds_of, plan_of
from schedgap.instances.provisioning import NOT_ALLOWED, ProvisioningInstance, Running, moves, verify
from schedgap.instances.provisioning.running import ONE_TASK

SMALL, LARGE, ALIKE = 0, 1, 2


def cluster(**changes):
    """Two types of two families; class 1 may not run on the second. Machines 0 and 2 are alike, 3 is empty."""
    running = Running.from_contents(tuple("abcd"), [0, 1, 0, 1], [[2, 0], [1, 1], [2, 0], [0, 0]])
    instance = ProvisioningInstance(
        *(
            "kinds",
            ("cpu",),
            ("x", "y"),
            ("x1", "y1"),
            [0, 1],
            [[4], [6]],
            [10, 15],
            [[[1], [2]], [[2], [NOT_ALLOWED]]],
        ),
        [6, 3],
        running=running,
        stock=[3, -1],
        max_disruption=2 * ONE_TASK,
    )
    return instance.replace(**changes)


def test_machines_of_equal_type_and_content_are_one_kind():
    kinds = kinds_of(cluster())
    assert kinds.machine_type.tolist() == [0, 1, 0, 1, 1]
    assert kinds.limit.tolist() == [3, -1, 2, 1, 1]
    assert kinds.before.tolist() == [[2, 0], [0, 0], [1, 1]]
    assert [members.tolist() for members in kinds.members] == [[0, 2], [3], [1]]
    # Six tasks are on machines, two may leave.
    assert kinds.stay == 4 * ONE_TASK


def test_without_a_limit_on_disruption_there_are_types_only():
    for instance in (cluster(max_disruption=None), cluster(running=None, max_disruption=None, stock=None)):
        kinds = kinds_of(instance)
        assert (kinds.machine_type.tolist(), kinds.members, kinds.stay) == ([0, 1], (), 0)
    assert kinds.limit.tolist() == [-1, -1]


def test_tasks_stay_up_to_what_was_there():
    kinds = kinds_of(cluster())
    content = np.array([[3, 1], [3, 1], [1, 0], [2, 2]])
    assert kinds.staying(np.array([0, 2, 4, 3]), content).tolist() == [[0, 0], [2, 0], [1, 0], [0, 0]]


def test_for_pricing_what_stays_is_a_class_of_its_own():
    expanded, twins, most = kinds_of(cluster()).expanded()
    # Class 1 is on y1, where it may not run any more: it has no twin.
    assert twins.tolist() == [0]
    assert expanded.families == ("x", "y", "running-0", "running-1", "running-2")
    no = NOT_ALLOWED
    assert expanded.demand[:, :, 0].tolist() == [[1, 2, no], [2, no, no], [1, 2, 1], [2, no, no], [2, no, 2]]
    assert most.tolist() == [[6, 3, 0], [6, 3, 0], [6, 3, 2], [6, 3, 0], [6, 3, 1]]
    assert expanded.price.tolist() == [10, 15, 10, 15, 15]


@pytest.fixture
def instance():
    """Three small machines run: two with two of the first class, one with one of each."""
    return ProvisioningInstance(
        *("plans", ("cpu",), ("f",), ("small", "large"), [0, 0], [[4], [8]], [3, 5], [[[1], [2]]], [7, 2]),
        running=Running.from_contents(tuple("abc"), [0, 0, 0], [[2, 0], [1, 1], [2, 0]]),
        max_disruption=ONE_TASK,
    )


def plan(instance, *chosen):
    kind, repeat, content = zip(*chosen, strict=True)
    return plan_of(kinds_of(instance), np.array(kind), np.array(repeat), np.array(content))


def test_machines_that_are_alike_are_kept_each_once(instance):
    # Kind 2 is machine b, kind 3 are a and c.
    assert kinds_of(instance).before.tolist() == [[1, 1], [2, 0]]
    found = plan(instance, (2, 1, [1, 1]), (3, 2, [2, 1]), (SMALL, 1, [4, 0]))
    assert sorted(found.keeps.tolist()) == [-1, 0, 1, 2]
    assert (verify(instance, found), moves(instance, found)) == (12, 0)


def test_what_is_too_much_goes_but_never_what_stays(instance):
    found = plan(instance, (2, 1, [2, 1]), (3, 2, [4, 0]), (SMALL, 1, [0, 2]), (LARGE, 1, [8, 0]))
    # Of 18 and 3 tasks 7 and 2 stay; the large machine has none left.
    assert moves(instance, found) == 0
    assert verify(instance, found) <= 12


def test_new_machines_that_are_alike_are_grouped(instance):
    free = instance.replace(running=None, max_disruption=None)
    found = plan(free, (SMALL, 3, [2, 1]), (SMALL, 1, [1, 0]))
    assert verify(free, found) == 12
    assert found.num_machines == 4
    assert found.machine_type.size < 4


def test_no_plan_where_a_class_is_left_out(instance):
    assert plan(instance, (LARGE, 1, [7, 0])) is None
    assert plan(instance, (LARGE, 0, [7, 2])) is None
