"""What is idle and why, and how many more pods fit: arithmetic by hand, and against trying everything."""

import numpy as np
import pytest

from schedgap.instances.placement import PlacementInstance, random_pods, stranded
from schedgap.instances.placement.model import NO_GANG, NOWHERE
from schedgap.instances.placement.stranded import GPUS, room_of
from tests.oracles.placement import optimum


def cluster(nodes, classes, pods, *, movable=None, model="A"):
    """nodes : (cpu, GPUs) each. classes : (cpu, GPUs, thousandths of each). pods : (class, node, bits of GPUs)."""
    size, demand = np.array(nodes), np.array(classes)
    rows = np.array(pods).reshape(-1, 3)
    return PlacementInstance(
        name="by-hand",
        unit="pods",
        resources=("cpu",),
        type_names=tuple(f"type-{n}" for n in range(len(nodes))),
        capacity=size[:, :1] * 1000,
        num_gpus=size[:, 1],
        gpu_model=tuple(model if gpus else "" for _, gpus in nodes),
        node2type=np.arange(len(nodes)),
        class_names=tuple(f"class-{c}" for c in range(len(classes))),
        demand=demand[:, :1] * 1000,
        gpus=demand[:, 1],
        gpu_milli=demand[:, 2],
        value=np.full(len(classes), 1000),
        admits=np.ones((len(classes), len(nodes)), np.bool_),
        expected=np.zeros(len(classes), np.int64),
        pod2class=rows[:, 0],
        gang=np.full(len(rows), NO_GANG),
        running_node=rows[:, 1],
        running_gpus=rows[:, 2],
        movable=np.ones(len(rows), np.bool_) if movable is None else np.array(movable),
    )


def room(instance):
    return room_of(instance, instance.is_running)


def test_how_many_more_fit():
    """Node 0 has 10 of 16 cores and GPUs of 500, 1000, 1000 left; node 1 has 2 cores and 1000 twice; node 2 no GPU."""
    classes = [(6, 1, 500), (4, 1, 1000), (2, 2, 1000), (3, 1, 400), (5, 0, 0), (0, 0, 0)]
    found = cluster([(16, 3), (2, 2), (16, 0)], classes, [(0, 0, 1)])
    fits = [stranded.fitting(found, room(found), c).tolist() for c in range(len(classes))]
    assert fits[:5] == [[1, 0, 0], [2, 0, 0], [1, 1, 0], [3, 0, 0], [2, 0, 3]]
    assert fits[5] == [stranded.UNLIMITED] * 3


def test_why_gpus_are_idle():
    """A pod of 2 GPUs and 8 cores: one fits on node 0, whose fifth GPU is too few; node 1 lacks CPU; node 2 has one GPU each."""
    found = cluster([(16, 5), (4, 4), (16, 1)], [(8, 2, 1000), (0, 2, 1000)], [(1, 0, 3)])
    gpus, cpu = stranded.stranded(found, room(found), 0)
    assert (gpus.what, gpus.idle, gpus.usable) == (GPUS, 8000, 2000)
    assert gpus.causes == {stranded.SCATTERED: 2000, "lack of cpu": 4000}
    assert (cpu.idle, cpu.usable) == (36_000, 8000)
    assert cpu.causes == {stranded.REST: 4000, "lack of GPUs": 24_000}


def test_what_is_of_another_model_or_closed():
    found = cluster([(8, 2), (8, 2)], [(1, 1, 1000)], [(0, 0, 1)])
    found = found.replace(admits=np.array([[True, False]]), type_names=("type-0", f"{stranded.CLOSED}type-1"))
    gpus, _ = stranded.stranded(found, room(found), 0)
    assert gpus.causes == {stranded.SHUT: 2000}
    found = found.replace(type_names=("type-0", "type-1"))
    assert stranded.stranded(found, room(found), 0)[0].causes == {stranded.ELSEWHERE: 2000}


def test_all_that_is_idle_is_usable_or_has_a_cause():
    for seed in range(20):
        found = random_pods(seed=seed, nodes=5, pods=12, running=0.7)
        now = room(found)
        for c in range(len(found.class_names)):
            for each in stranded.stranded(found, now, c):
                assert each.usable + sum(each.causes.values()) == each.idle
                assert min(each.causes.values(), default=1) > 0


def test_no_plan_holds_more_than_is_proven():
    """Against trying everything, for each class of small clusters whose pods may move."""
    checked = 0
    for seed in range(12):
        found = random_pods(seed=seed, nodes=2, pods=4, classes=3, running=1.0)
        now, tied = room(found), room_of(found, found.is_running & ~found.movable)
        for c in range(3):
            most = stranded.at_most(found, now, tied, c)
            if most >= stranded.UNLIMITED or not found.is_running.any():
                continue
            asked = stranded.asking(found, c, min(most, 3) + 1)
            assert most >= min(most, 3) + 1 - optimum(asked) // 1000
            checked += 1
    assert checked > 10


def test_slices_of_a_gpu():
    """An A100 of 8 slices in two GPUs: a pod of 4 starts at 0 or 4, one of 1 holds slice 5 of the first: one and two fit."""
    found = cluster([(9, 2)], [(1, 1, 500), (1, 1, 125), (1, 1, 1000)], [(1, 0, 1)]).replace(
        gpu_slices=np.array([8]),
        slices=np.array([4, 1, 0]),
        starts=np.array([0b10001, 0b1111111, 0]),
        running_start=np.array([5]),
    )
    # Of one slice there are 7 places on a GPU; whole ones are not to be had of what is divided.
    assert [stranded.fitting(found, room(found), c).tolist() for c in range(3)] == [[3], [8], [0]]
    gpus, _ = stranded.stranded(found, room(found), 0)
    assert (gpus.idle, gpus.usable, gpus.causes) == (1875, 1500, {stranded.SCATTERED: 375})


def test_groups_of_nodes():
    """16 and 15.5 cores are alike; nodes with GPUs stand first."""
    found = cluster([(16, 0), (16, 2), (15, 2)], [(4, 1, 500)], [(0, 1, 1), (0, 2, 1)])
    first, second = stranded.groups(found, room(found))
    assert (first.nodes, first.used, first.total) == (2, {"cpu": 8000, GPUS: 1000}, {"cpu": 31_000, GPUS: 4000})
    assert (second.nodes, second.used, second.total) == (1, {"cpu": 0}, {"cpu": 16_000})


def test_what_pods_have_to_leave_to_clear_nodes():
    """Two of node 0, one of node 1; node 2 has one that may not move, node 3 fewer GPUs than the others."""
    pods = [(0, 0, 1), (0, 0, 2), (0, 1, 1), (1, 1, 0), (0, 2, 1), (0, 3, 1)]
    found = cluster([(8, 2), (8, 2), (8, 2), (8, 1)], [(1, 1, 1000), (1, 0, 0)], pods, movable=[1, 1, 1, 0, 0, 1])
    wanted, wide = stranded.clearing(found)
    assert wide == 2
    assert int((~wanted.is_running).sum()) == 3
    assert stranded.leaving(found, wide) == [1, 2]


def test_whole_nodes_are_cleared_where_there_are_no_gpus():
    found = cluster([(8, 0), (8, 0)], [(1, 0, 0)], [(0, 0, 0), (0, 0, 0)])
    wanted, wide = stranded.clearing(found)
    assert (wide, stranded.leaving(found, 0)) == (0, [0, 2])
    now = room(found)
    classes = np.unique(wanted.pod2class[~wanted.is_running]).tolist()
    assert sum(stranded.fitting(wanted, now, c).sum() for c in classes) == 1


def test_pods_beyond_what_ever_fits_are_not_asked_for():
    """One of the three big ones may fit; a gang stays whole."""
    found = cluster(
        [(8, 0)], [(5, 0, 0), (1, 0, 0)], [(1, 0, 0), *[(0, NOWHERE, 0)] * 3, (1, NOWHERE, 0), (1, NOWHERE, 0)]
    )
    found = found.replace(gang=np.array([-1, -1, -1, -1, 0, 0]))
    asked = stranded.arriving(found, {0: 1, 1: 7})
    assert asked.pod2class.tolist() == [1, 0, 1, 1]
    assert stranded.arriving(found.replace(gang=np.full(6, NO_GANG)), {0: 0, 1: 0}) is None


@pytest.mark.parametrize(("hosts", "fits"), [([1, 3, 5, 7, 7, 7, 8, 11, 15], 3), ([16, 48], 8), ([7] * 9 + [1], 0)])
def test_groups_of_hosts_and_gangs_of_eight(hosts, fits):
    """marin#6950: a group of 64 hosts is as a node here; only groups of 8 and more ever hold 8 together."""
    assert sum(hosts) == 64
    found = cluster([(number, 0) for number in hosts], [(8, 0, 0)], [(0, NOWHERE, 0)])
    assert stranded.fitting(found, room(found), 0).sum() == fits
    assert stranded.at_most(found, room(found), room(found), 0) == fits


def test_gpus_that_are_divided_are_elsewhere_to_pods_of_whole_ones(two_nodes):
    """Node 1 is divided: its 2 GPUs are no scattered ones to a pod of two, but on a node that does not take it."""
    divided = two_nodes(
        type_names=("whole", "mig"),
        capacity=[[8000, 16384]] * 2,
        num_gpus=[2, 2],
        gpu_model=("A", "A"),
        node2type=[0, 1],
        admits=np.ones((3, 2), np.bool_),
        gpu_slices=[0, 8],
        slices=[0, 0, 0],
        starts=[0, 0, 0],
    )
    gpus = stranded.stranded(divided, room(divided), 1)[0]
    assert (gpus.idle, gpus.usable) == (4000, 2000)
    assert gpus.causes == {stranded.ELSEWHERE: 2000}
