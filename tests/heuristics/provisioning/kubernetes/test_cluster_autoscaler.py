"""Expanders, scale-down, group sizes and moves of cluster-autoscaler."""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster_autoscaler import EXPANDERS, cluster_autoscaler
from schedgap.instances.provisioning import verify
from schedgap.instances.provisioning.moves import moves
from schedgap.instances.provisioning.running import GOING, HELD, NO_SCALE_DOWN, ONE_TASK, Disruption

RESOURCES = ("cpu", "ram_mib")


def run(instance, seed=1, **parameters):
    return cluster_autoscaler(instance, np.random.default_rng(seed), **parameters).solution


def names(instance, solution):
    return sorted(np.array(instance.type_names)[np.repeat(solution.machine_type, solution.repeat)].tolist())


def test_least_waste(make):
    """expander/waste/waste_test.go, TestLeastWaste: one pod, groups for 16/16, 16/32 and 8/16 such pods."""
    types = {"balanced": (1, [16, 16]), "memory": (1, [16, 32]), "cpu": (1, [8, 16])}
    for chosen, offered in (("balanced", ("balanced", "memory")), ("cpu", tuple(types))):
        instance = make({name: types[name] for name in offered}, [([1, 1], 1)], resources=RESOURCES)
        assert names(instance, run(instance)) == [chosen]


def test_expanders_choose_by_their_own_measure(make):
    # Twelve tasks of (2, 2), of which four fill a `small`, but six a `large` with memory to spare; `wide` takes all.
    types = {"small": (3, [8, 8]), "large": (5, [12, 18]), "wide": (40, [26, 40])}
    instance = make(types, [([2, 2], 12)], resources=RESOURCES)
    # Waste: 0 + 0, 0 + 1 - 24 / 36, 1 - 24 / 26 + 1 - 24 / 40.
    assert names(instance, run(instance)) == ["small"] * 3
    assert names(instance, run(instance, expander="least-nodes")) == ["wide"]
    # All take all twelve: a tie, broken at random.
    assert len({tuple(names(instance, run(instance, seed, expander="most-pods"))) for seed in range(20)}) == 3
    assert len({tuple(names(instance, run(instance, seed, expander="random"))) for seed in range(20)}) == 3


def test_price_expander_weighs_price_against_fit(make):
    # Four tasks of half a core and 512 MiB: 4 x (0.5 x 0.033174 + 0.5 x 0.004446) = 0.07524 $ of Google's list, and
    # s = 0.5 x 0.033174 + 500 / 1024 x 0.004446 = 0.018758 $. One core is preferred in a small cluster.
    # Two of 1 core: (0.1 + s) / (0.07524 + s) = 1.2633, unfitness 1. One of 2 cores at 0.08 $: 1.0506 x 2.
    types = {"one": (50_000, [1000, 1024]), "two": (80_000, [2000, 2048])}
    instance = make(types, [([500, 512], 4)], resources=RESOURCES)
    assert names(instance, run(instance, expander="price")) == ["one", "one"]
    # At 0.02 $ it is 0.4122 x 2.
    cheap = instance.replace(price=[50_000, 20_000])
    assert names(cheap, run(cheap, expander="price")) == ["two"]


def test_group_size_ends(make):
    types = {"small": (3, [8, 8]), "large": (9, [12, 18])}
    instance = make(types, [([2, 2], 12)], resources=RESOURCES, stock=[1, -1])
    assert names(instance, run(instance)) == ["large", "large", "small"]


def test_little_used_nodes_go_and_nothing_is_replaced(make):
    # Used 5, 6 and 2 of 10: a at half goes, to b (6 + 2 + 2) with its two of 2 and to c with 1; then c, 3 of 10, fits nowhere.
    nodes = [("t", [1, 2, 0]), ("t", [0, 0, 2]), ("t", [0, 1, 0])]
    instance = make({"t": (9, [10]), "s": (1, [4])}, [([1], 1), ([2], 3), ([3], 2)], nodes, resources=("cpu",))
    solution = run(instance)
    assert solution.keeps.tolist() == [1, 2]
    assert verify(instance, solution) == 18
    assert moves(instance, solution) == 3
    kept = run(instance.replace(max_disruption=2 * ONE_TASK))
    # Three moves are too many for a; c alone moves one, to a.
    assert kept.keeps.tolist() == [0, 1]
    assert moves(instance, kept) == 1
    assert run(instance, scale_down=False).keeps.tolist() == [0, 1, 2]
    assert run(instance, utilisation_percent=10).keeps.tolist() == [0, 1, 2]


def test_of_nodes_with_a_gpu_only_the_gpu_counts(make):
    nodes = [("g", [1, 0]), ("g", [0, 1])]
    types = {"g": (9, [10, 2000])}
    instance = make(types, [([1, 2000], 1), ([9, 0], 1)], nodes, resources=("cpu", "gpu"))
    # node-a uses 1 of 10 CPUs and all GPUs: it stays; node-b uses 9 of 10 and no GPU: its task goes to node-a.
    assert run(instance).keeps.tolist() == [0]


@pytest.mark.parametrize("expander", EXPANDERS)
@pytest.mark.parametrize("seed", range(25))
def test_solutions_verify(drawn, seed, expander):
    instance = drawn(seed, stock=[-1, 6, 6, 6] if seed % 2 else None)
    solution = run(instance, seed, expander=expander)
    price = verify(instance, solution)
    assert 0 < price <= verify(instance, run(instance, seed, expander=expander, scale_down=False))
    if instance.running is not None:
        limit = moves(instance, solution)
        assert moves(instance, run(instance.replace(max_disruption=limit * ONE_TASK), seed, expander=expander)) <= limit


def loaded(make, capacity, content, **more):
    """Machines of one type with one task of (1, 5) each as `content` says; `more` of `Running`."""
    nodes = [("m", [number]) for number in content]
    instance = make({"m": (10, capacity)}, [([1, 5], sum(content))], nodes, resources=RESOURCES)
    return instance.replace(running=replace(instance.running, **more))


def test_daemon_sets_count_in_utilisation(make):
    """kubernetes/autoscaler 894: 35 of 70 are a DaemonSet's, 5 a task's: 40/70 = 57% > 50%, and all four stay.

    With --ignore-daemonsets-utilization it is 5/35 = 14%: all tasks fit on one.
    """
    amounts = {"whole": [[40, 70]] * 4, "reserved": [[1, 35]] * 4}
    instance = loaded(make, [39, 35], [1] * 4, **amounts)
    assert verify(instance, run(instance)) == 40
    assert verify(instance, run(instance, ignore_daemonsets=True)) == 10
    # 30 of 70: 35/70 is 50%, not above; new and old nodes alike.
    assert verify(instance, run(loaded(make, [39, 35], [1] * 4, whole=[[40, 70]] * 4, reserved=[[1, 30]] * 4))) == 10
    assert verify(instance, run(loaded(make, [39, 35], [1] * 4))) == 10


def test_a_node_that_daemon_sets_fill_stays_though_it_is_empty(make):
    instance = loaded(make, [39, 35], [7, 0], whole=[[40, 70]] * 2, reserved=[[1, 36]] * 2)
    assert verify(instance, run(instance)) == 20
    assert verify(instance, run(instance, ignore_daemonsets=True)) == 10
    assert verify(instance, run(instance, scale_down=False)) == 10


def test_marked_nodes_stay(make):
    for mark, price in ((NO_SCALE_DOWN, 20), (GOING, 20), (HELD, 10)):
        given = replace(Disruption.of(2), marks=[mark, mark])
        instance = loaded(make, [39, 35], [1, 0], disruption=given)
        assert verify(instance, run(instance)) == price


def test_of_a_gpu_node_the_gpu_alone_counts(make):
    """kubernetes/autoscaler 1367: a device plugin that takes most of the CPU does not keep a node with a free GPU."""
    nodes = [("g", [1, 0]), ("g", [0, 1])]
    tasks = [([1, 1, 1], 1), ([1, 1, 0], 1)]
    instance = make({"g": (10, [4, 10, 1])}, tasks, nodes, resources=(*RESOURCES, "nvidia.com/gpu"))
    amounts = {"whole": [[10, 10, 1]] * 2, "reserved": [[6, 0, 0]] * 2}
    instance = instance.replace(running=replace(instance.running, **amounts))
    assert verify(instance, run(instance)) == 10
