import numpy as np
import pytest

from schedgap.instances.placement import Placement, measures, picture, random_pods, shrink, verify


def test_figures_by_hand(two_nodes):
    """Of 4 GPUs, 0.5, 0.5 and 2 are asked for; the pod of two is refused: 1 of 4 is allocated, 12 of 16 cores are used."""
    found = measures(two_nodes(), Placement([0, 0, -1, 1], [1, 2, 0, 0]))
    assert (found["placed_pods"], found["refused_pods"], found["nodes_used"]) == (3, 1, 2)
    assert (found["allocated_percent"], found["idle_percent"]) == (25, 75)
    assert found["cpu_utilisation"] == 12 / 16
    assert "moves" not in found


def test_idle_is_the_mean_over_the_arrivals_that_round_to_a_mark(two_nodes):
    """Rules of the published experiments by hand: pods 1, 2, 0.5, none, 0.5, 0.5 on 4 GPUs; the last is refused.

    Arrived 25, 75, 88, 88, 100, 112 per cent, allocated 25, 75, 87.5, 87.5, 100, 100.
    """
    instance = two_nodes(
        class_names=("half", "two", "none", "one"),
        demand=np.zeros((4, 2), np.int64),
        gpus=[1, 2, 0, 1],
        gpu_milli=[500, 1000, 0, 1000],
        value=[500, 2000, 0, 1000],
        admits=np.ones((4, 1), np.bool_),
        expected=[0] * 4,
        pod2class=[3, 1, 0, 2, 0, 0],
        gang=[-1] * 6,
        running_node=[-1] * 6,
        running_gpus=[0] * 6,
        movable=[True] * 6,
    )
    found = measures(instance, Placement([1, 0, 1, 1, 1, -1], [1, 3, 2, 0, 2, 0]))
    assert found["idle_at_100"] == 0
    assert "idle_at_90" not in found
    assert found["idle_percent"] == 0


def test_moves_are_counted_where_pods_run(two_nodes):
    instance = two_nodes(running_node=[0, 1, -1, -1], running_gpus=[1, 1, 0, 0])
    assert measures(instance, Placement([0, 0, -1, -1], [1, 1, 0, 0]))["moves"] == 1


def test_equal_contents_are_drawn_once(two_nodes):
    shown = picture(two_nodes(), Placement([0, 1, -1, -1], [1, 1, 0, 0]))
    assert [(bar.repeat, bar.parts[0].label) for bar in shown.bars] == [(2, "half")]
    assert shown.curves[0].y[-1] == 25


@pytest.mark.parametrize("seed", range(6))
def test_a_small_copy_is_an_instance_of_its_own(seed):
    instance = random_pods(seed=seed, nodes=20, pods=60, running=0.5, gangs=True)
    small = shrink(instance)
    assert small.num_pods == 12
    assert small.num_nodes <= 6 + small.is_running.sum()
    assert verify(small, Placement(small.running_node, small.running_gpus)) >= 0
