import numpy as np
import pytest

from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.placement import Placement, moves, verify


@pytest.mark.parametrize(
    ("node", "gpus", "refused"),
    [
        # Both halves on GPU 0 of node 0, both GPUs of node 1 for the pod of two.
        ([0, 0, 1, 1], [1, 1, 3, 0], 0),
        ([0, 0, -1, 1], [1, 2, 0, 0], 2000),
        ([-1, 0, 1, -1], [0, 1, 3, 0], 500),
        ([-1] * 4, [0] * 4, 3000),
    ],
)
def test_objective_is_the_value_of_the_refused_pods(two_nodes, node, gpus, refused):
    assert verify(two_nodes(), Placement(node, gpus)) == refused


@pytest.mark.parametrize(
    ("node", "gpus", "message"),
    [
        ([0, 0, 1], [1, 1, 3, 0], r"node has shape \(3,\); the instance has 4 pods"),
        ([0, 0, 2, 1], [1, 1, 3, 0], "pod-2 is on node 2; there are 2"),
        ([-1, 0, 1, 1], [1, 1, 3, 0], "pod-0 is refused and has GPUs"),
        ([0, 0, 0, 1], [1, 1, 3, 0], "node node-0 is over its cpu: 12 cpu used, it has 8 cpu"),
        ([0, -1, 0, -1], [1, 0, 3, 0], r"GPU 0 of node node-0 is over: 1500 of 1000"),
        ([0, 0, 1, 1], [1, 4, 3, 0], r"pod-1 has GPUs \[2\] of node node-0, which has 2; it takes 1"),
        ([0, 0, 1, 1], [1, 1, 1, 0], r"pod-2 has GPUs \[0\] of node node-1, which has 2; it takes 2"),
        ([0, 0, 1, 1], [1, 1, 3, 1], r"pod-3 has GPUs \[0\] of node node-1, which has 2; it takes 0"),
        ([0, 0, 1, 1], [1, -1, 3, 0], "pod-1 has GPUs"),
    ],
)
def test_the_first_violation_is_named(two_nodes, node, gpus, message):
    with pytest.raises(VerifyError, match=message):
        verify(two_nodes(), Placement(node, gpus))


def test_a_node_type_that_does_not_admit_a_class(two_nodes):
    instance = two_nodes(
        type_names=("big", "other"), capacity=[[8000, 16384]] * 2, num_gpus=[2, 2], gpu_model=("G2", "T4"),
        node2type=[0, 1], admits=[[True, False], [True, True], [True, True]],
    )  # fmt: skip
    with pytest.raises(VerifyError, match="pod-0 is on node node-1 of type other, which does not admit it"):
        verify(instance, Placement([1, -1, -1, -1], [1, 0, 0, 0]))


def test_a_gang_is_all_or_nothing(two_nodes):
    instance = two_nodes(gang=[-1, 0, 0, -1])
    assert verify(instance, Placement([0, 0, 1, 1], [1, 1, 3, 0])) == 0
    with pytest.raises(VerifyError, match="of gang 0, 1 of 2 pods are placed"):
        verify(instance, Placement([0, -1, 1, 1], [1, 0, 3, 0]))


def test_of_alike_pods_those_of_the_highest_priority_are_placed(two_nodes):
    """Nobody else is compared: of pods 0 and 1, both halves, the second may not go first; pods 2 and 3 are of other kinds."""
    instance = two_nodes(priority=[7, 5, 5, -1])
    assert verify(instance, Placement([0, -1, -1, 0], [1, 0, 0, 0])) == 2500
    with pytest.raises(VerifyError, match="pod-0 of priority 7 is refused, and an alike one of 5 is placed"):
        verify(instance, Placement([-1, 0, -1, 0], [0, 1, 0, 0]))
    assert verify(two_nodes(), Placement([-1, 0, -1, 0], [0, 1, 0, 0])) == 2500
    with pytest.raises(InstanceError, match="pod-1 arrives after one of lower priority"):
        two_nodes(priority=[1, 2, 0, 0])
    # Of a gang the first pod counts, and what runs has its place.
    assert two_nodes(priority=[3, 5, 9, 2], gang=[0, 0, 0, -1]).priority.tolist() == [3, 5, 9, 2]
    runs = two_nodes(priority=[0, 4, 3, 2], running_node=[0, -1, -1, -1], running_gpus=[1, 0, 0, 0])
    assert runs.digest != runs.replace(priority=None).digest == runs.replace(priority=[0] * 4).digest
    assert runs.chosen(np.array([True, True, False, True]), "some").priority.tolist() == [0, 4, 2]


def test_no_pod_is_refused_that_finds_room_as_it_arrives(two_nodes):
    """The halves on either node leave no two GPUs for the third pod; on one they do. The fourth fits the rest of node 0."""
    instance = two_nodes(accepts=True)
    assert verify(instance, Placement([0, 1, -1, 0], [1, 1, 0, 0])) == 2000
    with pytest.raises(VerifyError, match="pod-2 is refused, and node node-1 had room for it"):
        verify(instance, Placement([0, 0, -1, 1], [1, 1, 0, 0]))
    with pytest.raises(VerifyError, match="pod-3 is refused, and node node-0 had room"):
        verify(instance, Placement([0, 1, -1, -1], [1, 1, 0, 0]))
    with pytest.raises(InstanceError, match="leave out gangs"):
        two_nodes(accepts=True, gang=[0, 0, -1, -1])


def test_what_runs_stays_or_moves(two_nodes):
    """Halves run on GPUs 0 and 1 of node 0: one must move to the other GPU or node for the pod of two to fit there."""
    runs = {"running_node": [0, 1, -1, -1], "running_gpus": [1, 1, 0, 0]}
    moved = Placement([0, 0, 1, 1], [1, 1, 3, 0])
    assert verify(two_nodes(**runs), moved) == 0
    assert moves(two_nodes(**runs), moved) == 1
    assert moves(two_nodes(**runs), Placement([0, 1, -1, -1], [2, 1, 0, 0])) == 1
    with pytest.raises(VerifyError, match="1 pods moved; at most 0 may"):
        verify(two_nodes(**runs, max_moves=0), moved)
    with pytest.raises(VerifyError, match="pod-1 moved from node node-1; it may not"):
        verify(two_nodes(**runs, movable=[True, False, True, True]), moved)
    with pytest.raises(VerifyError, match="pod-0 runs and is refused"):
        verify(two_nodes(**runs), Placement([-1, 0, 1, 1], [0, 1, 3, 0]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gpu_milli": [500, 500, 0]}, "class two takes 500 thousandths of each of 2 GPUs"),
        ({"num_gpus": [63]}, "node type big has 63 GPUs; give 0 to 62"),
        ({"gang": [0, -1, 0, -1]}, "the pods of a gang do not stand together"),
        ({"gang": [0, 0, -1, -1], "running_node": [0, -1, -1, -1], "running_gpus": [1, 0, 0, 0]}, "pod-0 runs and is in a"),
        ({"running_node": [0, 0, 0, -1], "running_gpus": [1, 1, 0, 0]}, r"pod-2 has GPUs \[\] of node node-0"),
        ({"running_node": [0, 0, -1, 0], "running_gpus": [1, 1, 0, 0]}, "node node-0 is over its cpu: 12 cpu used"),
        ({"running_gpus": [1, 0, 0, 0]}, "pod-0 has GPUs and runs on no node"),
        ({"unit": "dollars"}, "unit"),
        ({"pod2class": [0, 0, 1, 3]}, "pod2class.3 is 3; give 0 to 2"),
        ({"value": [-1, 0, 0]}, "value of pod class half is -1"),
        ({"max_moves": -2}, "max_moves is -2"),
    ],
)  # fmt: skip
def test_what_is_inconsistent_is_refused(two_nodes, changes, message):
    with pytest.raises(InstanceError, match=message):
        two_nodes(**changes)


@pytest.fixture
def divided(two_nodes):
    """Node 0 has 2 GPUs of 8 slices, node 1 two whole ones. Classes: 1 slice anywhere up to 6, 4 slices at 0 or 4, one GPU."""
    return two_nodes(
        type_names=("mig", "whole"),
        capacity=[[8000, 16384]] * 2,
        num_gpus=[2, 2],
        gpu_model=("A100", "A100"),
        node2type=[0, 1],
        class_names=("1g", "3g", "gpu"),
        demand=np.zeros((3, 2), np.int64),
        gpus=[1, 1, 1],
        gpu_milli=[125, 500, 1000],
        value=[125, 500, 1000],
        admits=np.ones((3, 2), np.bool_),
        pod2class=[0, 0, 1, 2],
        gpu_slices=[8, 0],
        slices=[1, 4, 0],
        starts=[0b1111111, 0b10001, 0],
    )


def test_slices_of_a_gpu(divided):
    assert divided.fits().tolist() == [[True, False], [True, False], [False, True]]
    assert verify(divided, Placement([0, 0, 0, 1], [1, 1, 1, 1], [4, 6, 0, 0])) == 0


@pytest.mark.parametrize(
    ("node", "gpus", "start", "message"),
    [
        ([0, 0, 0, 1], [1, 1, 1, 1], [4, 4, 0, 0], "slice 4 of GPU 0 of node node-0 is taken 2 times"),
        ([0, 0, 0, 1], [1, 1, 1, 1], [3, 6, 0, 0], "slice 3 of GPU 0 of node node-0 is taken 2 times"),
        ([0, 0, 0, 1], [1, 1, 1, 1], [4, 7, 0, 0], "pod-1 takes 1 slices from slice 7 on of a GPU of 8 slices"),
        ([0, 0, 0, 1], [1, 1, 1, 1], [4, 6, 2, 0], "pod-2 takes 4 slices from slice 2 on"),
        ([1, 0, 0, 1], [1, 1, 1, 2], [0, 6, 0, 0], "pod-0 takes 1 slices from slice 0 on of a GPU of 0 slices"),
        ([0, 0, 0, 0], [1, 1, 1, 2], [4, 6, 0, 0], "pod-3 takes 0 slices"),
        ([0, 0, 0, 1], [1, 1, 1, 1], [4, 6, 0, 1], "pod-3 takes 0 slices from slice 1 on"),
        ([0, 0, 0, 1], [1, 1, 1, 1], [-1, 6, 0, 0], "pod-0 takes 1 slices from slice -1 on"),
    ],
)
def test_slices_that_may_not_be_there(divided, node, gpus, start, message):
    with pytest.raises(VerifyError, match=message):
        verify(divided, Placement(node, gpus, start))


def test_another_slice_is_a_move(divided):
    runs = divided.replace(running_node=[0, -1, -1, -1], running_gpus=[1, 0, 0, 0], running_start=[3, 0, 0, 0])
    assert moves(runs, Placement([0, -1, -1, -1], [1, 0, 0, 0], [3, 0, 0, 0])) == 0
    assert moves(runs, Placement([0, -1, -1, -1], [1, 0, 0, 0], [4, 0, 0, 0])) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gpu_slices": [17, 0]}, "node type mig has 17 slices a GPU; give 0 to 16"),
        ({"starts": [0, 1, 0]}, "class 1g takes 1 slices of 1 GPUs, starting at 0b0"),
        ({"gpus": [1, 2, 1], "gpu_milli": [125, 1000, 1000]}, "class 3g takes 4 slices of 2 GPUs"),
    ],
)
def test_slices_that_make_no_sense(divided, changes, message):
    with pytest.raises(InstanceError, match=message):
        divided.replace(**changes)


def test_fields_of_slices_are_left_out_where_nothing_is_divided(divided, two_nodes):
    whole = two_nodes().replace(slices=[0, 0, 0], starts=[0, 0, 0], gpu_slices=[0], running_start=[0] * 4)
    assert whole.slices is None
    assert whole.digest == two_nodes().digest
    assert divided.running_start.tolist() == [0] * 4
