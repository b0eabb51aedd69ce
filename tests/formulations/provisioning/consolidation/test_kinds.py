import numpy as np

from schedgap.formulations.provisioning.consolidation.kinds import kinds_of
from schedgap.instances.provisioning import NOT_ALLOWED, ProvisioningInstance, Running


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
        max_moves=2,
    )
    return instance.replace(**changes)


def test_machines_of_equal_type_and_content_are_one_kind():
    kinds = kinds_of(cluster())
    assert kinds.machine_type.tolist() == [0, 1, 0, 1, 1]
    assert kinds.limit.tolist() == [3, -1, 2, 1, 1]
    assert kinds.before.tolist() == [[2, 0], [0, 0], [1, 1]]
    assert [members.tolist() for members in kinds.members] == [[0, 2], [3], [1]]
    # Six tasks are on machines, two may leave.
    assert kinds.stay == 4


def test_without_a_limit_on_moves_there_are_types_only():
    for instance in (cluster(max_moves=None), cluster(running=None, max_moves=None, stock=None)):
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
