import numpy as np
import pytest

from schedgap.formulations.placement.moves_bound import Movable, bound_moves
from schedgap.instances.placement import random_pods


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"running": 0.6, "moves": 0},
        {"running": 0.6, "moves": 1},
        {"running": 0.5, "moves": 2, "gangs": True, "unit": "value"},
        {"running": 0.8, "unit": "pods"},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(12))
def test_it_never_passes_the_least_that_must_be_refused(least_refused, kind, seed):
    instance = random_pods(seed=100 + seed, pods=7, **kind)
    assert bound_moves(instance).bound <= least_refused(instance)


def on_one_node(running, arriving, moves):
    """One node of 4 GPUs and 8 cores; classes: 0.5 GPU and 1 core, 1 GPU and 2 cores, 2 GPUs, 2 cores without a GPU.

    running : (class, GPUs as bits) of pods. arriving : classes.
    """
    classes, gpus = zip(*running, strict=True) if running else ((), ())
    pods = len(running) + len(arriving)
    return random_pods(nodes=1, pods=1, classes=1).replace(
        unit="pods",
        capacity=[[8000, 1]],
        num_gpus=[4],
        gpu_model=("A",),
        class_names=("half", "one", "two", "none"),
        demand=[[1000, 0], [2000, 0], [0, 0], [2000, 0]],
        gpus=[1, 1, 2, 0],
        gpu_milli=[500, 1000, 1000, 0],
        value=[1000] * 4,
        admits=np.ones((4, 1), np.bool_),
        expected=[0] * 4,
        pod2class=[*classes, *arriving],
        gang=[-1] * pods,
        running_node=[*[0] * len(running), *[-1] * len(arriving)],
        running_gpus=[*gpus, *[0] * len(arriving)],
        movable=[True] * pods,
        max_moves=moves,
    )


@pytest.mark.parametrize(
    ("running", "c", "moves", "slots"),
    [
        # Empty: 4 GPUs hold 8 halves, 4 whole pods of 2 cores, 2 pairs; 8 cores hold 4 pods without a GPU.
        ([], 0, 0, 8),
        ([], 1, 0, 4),
        ([], 2, 0, 2),
        ([], 3, 0, 4),
        # Halves on GPUs 0 and 1: 2 pairs need both to leave, one pair fits as it is.
        ([(0, 1), (0, 2)], 2, 0, 1),
        ([(0, 1), (0, 2)], 2, 1, 1),
        ([(0, 1), (0, 2)], 2, 2, 2),
        # A pair that leaves takes such a slot itself: nothing is gained by it.
        ([(2, 3)], 2, 1, 1),
        # It takes no cores, so a pod of one GPU asks for no less: both its GPUs count as free once it has left.
        ([(2, 3)], 1, 1, 4),
        # Pods without a GPU hold cores only: 2 of 8 are free, each that leaves frees 2 more and takes 2 of its own class.
        ([(3, 0)] * 3, 3, 3, 1),
        ([(3, 0)] * 3, 1, 2, 3),
    ],
)
def test_slots_by_hand(running, c, moves, slots):
    assert Movable(on_one_node(running, [c], moves)).slots(c) == slots


def test_pods_that_ask_for_more_count_as_well():
    """Three pairs arrive where two fit, and a pod of one GPU beside two pairs does not: two of the four are refused."""
    assert bound_moves(on_one_node([], [2, 2, 2, 1], 0)).bound == 1000
    assert bound_moves(on_one_node([], [1] * 6, 0)).bound == 2000


def test_a_gang_that_never_fits_is_refused_as_a_whole():
    gang = on_one_node([], [2, 2, 2], 0).replace(gang=[0, 0, 0])
    assert bound_moves(gang).bound == 3000
