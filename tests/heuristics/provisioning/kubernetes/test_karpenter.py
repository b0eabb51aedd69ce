"""Worked examples of Karpenter's own tests and of its performance suite; stocks, running machines, overfull machines."""

from collections import Counter

import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
from schedgap.heuristics.provisioning.kubernetes.karpenter import karpenter, queue_of
from schedgap.instances.method import Status
from schedgap.instances.provisioning import karpenter_basic, verify
from schedgap.instances.provisioning.moves import moves

# Karpenter's fake types less 100m and 10Mi: default 4 CPUs, 4Gi, 5 pods; small 2 CPUs, 2Gi, 5 pods.
FAKE = {"default": (2, [3900, 4_284_481_536, 5000]), "small": (1, [1900, 2_136_997_888, 5000])}


def contents(instance, solution):
    """How many machines of each type with each content."""
    types, content = solution.machines(instance.num_classes)
    return Counter((instance.type_names[k], *row) for k, row in zip(types.tolist(), content.tolist(), strict=True))


def test_nodes_at_capacity(make):
    """scheduling/suite_test.go, `should create new nodes when a node is at capacity`: 2 x 1.8e9 of 4.28e9 bytes."""
    instance = make(FAKE, [([0, 1_800_000_000, 1000], 40)])
    assert contents(instance, karpenter(instance).solution) == {("default", 2): 20}


def test_small_and_large_pods_together(make):
    """`should pack small and large pods together`: each claim of two takes one of 4e8 more, 4.4e9 would be too much."""
    instance = make(FAKE, [([0, 1_800_000_000, 1000], 40), ([0, 400_000_000, 1000], 20)])
    assert contents(instance, karpenter(instance).solution) == {("default", 2, 1): 20}


def test_pod_limit(make):
    """`should create new nodes when a node is at capacity due to pod limits per node`: five a node, and small holds five."""
    instance = make(FAKE, [([1, 1, 1000], 25)])
    assert contents(instance, karpenter(instance).solution) == {("small", 5): 5}


def test_performance_suite():
    # Large pods by fours fill m-16x, and 125 claims take two small ones each; the other 250 go by 17 to s-16x.
    # 125 x 0.537438 + 15 x 0.468719 $; with prices that are not cut to the micro-dollar it is 74.210661 $.
    # Of types that differ in their architecture alone the first is rented.
    instance = karpenter_basic()
    solution = karpenter(instance).solution
    large, small = "m-16x-amd64-linux", "s-16x-amd64-linux"
    assert contents(instance, solution) == {(large, 2, 4): 125, (small, 17, 0): 14, (small, 12, 0): 1}
    assert verify(instance, solution) == 125 * 537_438 + 15 * 468_719 == 74_210_535


def test_queue_is_by_cpu_then_memory_then_list_order(make):
    tasks = [([1000, 5, 0], 1), ([2000, 1, 0], 1), ([1000, 7, 0], 1), ([1000, 5, 0], 1)]
    instance = make({"t": (1, [4000, 40, 9])}, tasks, task2class=[3, 0, 1, 2])
    assert queue_of(instance).tolist() == [2, 3, 0, 1]


def test_claims_with_the_fewest_tasks_come_first(make):
    # 5 | 5: two claims, of 8; 2 goes to the first, then 1 to the second, which has fewer, although the first has room.
    instance = make({"t": (9, [8, 0, 0])}, [([5, 0, 0], 2), ([2, 0, 0], 1), ([1, 0, 0], 1)])
    assert contents(instance, karpenter(instance).solution) == {("t", 1, 1, 0): 1, ("t", 1, 0, 1): 1}


def test_pending_tasks_go_to_running_machines_by_name(make):
    # 8 of 10 free on node-a, 10 on node-b: two pending of 4 go to node-a, the third to node-b.
    nodes = [("t", [1, 0]), ("t", [1, 1])]
    instance = make({"t": (9, [10, 0, 0])}, [([2, 0, 0], 2), ([4, 0, 0], 4)], nodes, max_disruption=0)
    solution = karpenter(instance).solution
    assert solution.keeps.tolist() == [0, 1]
    assert solution.machines(2)[1].tolist() == [[1, 2], [1, 2]]
    assert verify(instance, solution) == 18


def test_stock_ends_while_claims_are_launched(make):
    # Claims of two would be `large`; only one can be had. The two tasks of the other claim are placed again: on small ones.
    types = {"large": (3, [10, 0, 0]), "small": (2, [5, 0, 0])}
    instance = make(types, [([5, 0, 0], 4)], stock=[1, -1])
    solution = karpenter(instance).solution
    assert contents(instance, solution) == {("large", 2): 1, ("small", 1): 2}
    assert verify(instance, solution) == 7


def test_nothing_is_left(make):
    outcome = karpenter(make({"t": (3, [10, 0, 0])}, [([6, 0, 0], 3)], stock=[2]))
    assert outcome.claimed_status is Status.NO_SOLUTION
    assert outcome.details["reason"] == "1 tasks are not placed: the machines that fit them ran out"


def test_an_overfull_machine_keeps_what_fits(make):
    # 6 + 6 on 10: one leaves.
    instance = make({"t": (3, [10, 0, 0])}, [([6, 0, 0], 2)], [("t", [2])])
    solution = karpenter(instance).solution
    assert (verify(instance, solution), moves(instance, solution)) == (6, 1)
    refused = karpenter(instance.replace(max_disruption=0))
    assert refused.details["reason"] == "1 tasks moved from overfull machines, max_disruption 0"


def test_pools_of_families_are_tried_in_file_order(two_families):
    # a a b c c: with one pool c (3, 8) opens x; with a pool a family, too, as x is first and takes everything.
    one, family = karpenter(two_families), karpenter(two_families, pools="family")
    assert verify(two_families, one.solution) > 0
    assert set(two_families.type2family[family.solution.machine_type].tolist()) == {0}


@pytest.mark.parametrize("seed", range(40))
def test_solutions_verify_and_nothing_moves(drawn, seed):
    instance = drawn(seed, stock=[-1, 6, 6, 6] if seed % 2 else None)
    cluster = Cluster.of(instance, queue_of(instance))
    overfull = cluster.num_moved
    solution = karpenter(instance).solution
    assert verify(instance, solution) > 0
    if instance.running is not None:
        assert moves(instance, solution) <= overfull
