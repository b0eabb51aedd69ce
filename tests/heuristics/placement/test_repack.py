import numpy as np
import pytest

from schedgap.heuristics.placement.repack import Layout, repack
from schedgap.instances.placement import moves, openb_like, random_pods, verify


def repacked(instance, **options):
    return repack(instance, rng=np.random.default_rng(0), **options).solution


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"running": 0.6, "moves": 1},
        {"running": 0.6, "moves": 2, "gangs": True},
        {"running": 0.5, "moves": 2, "divided": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(8))
def test_it_is_feasible_and_near_the_optimum(least_refused, kind, seed):
    instance = random_pods(seed=200 + seed, pods=7, unit="pods", **kind)
    refused = verify(instance, repacked(instance))
    assert least_refused(instance) <= refused <= least_refused(instance) + 2000


def test_moves_make_room_and_stay_within_what_is_allowed():
    """Pods of one GPU are spread over all nodes; then pods of eight GPUs arrive: some moves empty nodes for them."""
    like = openb_like(nodes=12, arrived=10)
    eight = int(np.flatnonzero(like.gpus == 8)[0])
    big = np.flatnonzero(like.num_gpus == 8)[0]
    one = int(np.flatnonzero((like.gpus == 1) & (like.gpu_milli == 1000))[0])
    instance = like.replace(
        unit="pods",
        value=np.full(len(like.class_names), 1000),
        node2type=np.full(12, big),
        pod2class=[*[one] * 12, *[eight] * 8],
        gang=[-1] * 20,
        running_node=[*range(12), *[-1] * 8],
        running_gpus=[*[1] * 12, *[0] * 8],
        movable=[True] * 20,
        pod_names=None,
    )
    # Each move empties a node, and the pod goes to a node that holds another.
    for allowed in (0, 3, 8):
        limited = instance.replace(max_moves=allowed)
        solution = repacked(limited)
        assert moves(limited, solution) == allowed
        assert verify(limited, solution) == (8 - allowed) * 1000


def test_changes_are_taken_back():
    instance = random_pods(seed=5, pods=12, running=0.5, divided=True)
    layout = Layout(instance)
    before = layout.free.copy(), layout.left.copy(), layout.taken.copy(), layout.node.copy(), np.array(layout.places)
    for pod in np.flatnonzero(instance.is_running).tolist():
        layout.put(pod, (-1, 0, 0))
    assert (layout.node == -1).all()
    assert layout.moved.sum() == instance.is_running.sum()
    layout.undo(0)
    for was, now in zip(before, (layout.free, layout.left, layout.taken, layout.node, layout.places), strict=True):
        assert (was == now).all()
    assert not layout.moved.any()
