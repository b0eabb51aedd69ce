"""Karpenter's worked example, the rules for replacements, moves, budgets and stocks."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
from schedgap.heuristics.provisioning.kubernetes.karpenter import (
    candidates,
    has_running,
    karpenter,
    karpenter_consolidation,
    queue_of,
)
from schedgap.instances.provisioning import verify
from schedgap.instances.provisioning.moves import moves
from schedgap.instances.provisioning.running import ONE_TASK

CPU = ("cpu",)


def kept(instance, **parameters):
    """The names of the machines that are kept, None for new ones, and the price."""
    solution = karpenter_consolidation(instance, **parameters).solution
    return [None if e < 0 else instance.running.names[e] for e in solution.keeps], verify(instance, solution)


def test_can_delete_nodes(make):
    """disruption/consolidation_test.go, `can delete nodes`: two pods on A and one on B, of the cheapest type, no requests.

    Ratios 2/3 and 2/2: B first. Both together: one new node, but none is cheaper than theirs. B alone fits on A.
    """
    nodes = [("cheapest", [2]), ("cheapest", [1])]
    instance = make({"cheapest": (2, [10]), "dear": (5, [10])}, [([0], 3)], nodes, resources=CPU)
    assert kept(instance) == (["node-a"], 2)


def test_a_dear_machine_is_replaced_by_a_cheaper_one(make):
    instance = make(
        {"large": (5, [10]), "small": (4, [5]), "tiny": (1, [2])}, [([5], 1)], [("large", [1])], resources=CPU
    )
    assert kept(instance) == ([None], 4)
    assert kept(instance.replace(price=[5, 5, 1])) == (["node-a"], 5)


def test_several_are_replaced_by_a_type_cheaper_than_those_that_it_could_be(make):
    # 4 + 4 fit `large` for 9 < 5 + 5; it is no type of those that go.
    types = {"small": (5, [5]), "large": (9, [8])}
    nodes = [("small", [1]), ("small", [1])]
    assert kept(make(types, [([4], 2)], nodes, resources=CPU)) == ([None], 9)
    # 2 + 2 fit `small` too: then it is as if one were deleted, which single-node finds.
    assert kept(make(types, [([2], 2)], nodes, resources=CPU)) == (["node-b"], 5)


def test_one_machine_is_not_split(make):
    # 2 + 2 on `large` for 10 could be two of `tiny` for 2.
    types = {"large": (10, [4]), "tiny": (1, [2])}
    assert kept(make(types, [([2], 2)], [("large", [2])], resources=CPU)) == (["node-a"], 10)


def test_no_more_moves_than_allowed(make):
    types = {"t": (5, [10])}
    nodes = [("t", [3]), ("t", [2]), ("t", [1])]
    instance = make(types, [([1], 6)], nodes, resources=CPU)
    assert kept(instance) == (["node-a"], 5)
    for limit, names in ((2, ["node-a", "node-b"]), (0, ["node-a", "node-b", "node-c"])):
        limited = instance.replace(max_disruption=limit * ONE_TASK)
        assert kept(limited)[0] == names
        assert moves(limited, karpenter_consolidation(limited).solution) <= limit


def test_budget_and_passes(make):
    nodes = [("t", [1])] * 4
    instance = make({"t": (5, [10])}, [([1], 4)], nodes, resources=CPU)
    assert kept(instance, passes=0)[1] == 20
    # Half of four: two at once; all in one pass: the first three fit on the last.
    assert kept(instance, passes=1, budget_percent=50)[1] == 10
    assert kept(instance, passes=1)[1] == 5
    assert kept(instance, budget_percent=0)[1] == 20
    assert kept(instance, budget_percent=1)[1] == 5
    assert kept(instance, budget_percent=1000, passes=1)[1] == 5


def test_a_replacement_needs_stock(make):
    types = {"large": (5, [10]), "small": (4, [5])}
    instance = make(types, [([5], 1)], [("large", [1])], resources=CPU, stock=[1, 0])
    assert kept(instance) == (["node-a"], 5)


def test_orders(make):
    # Ratios 9 / 4, 2 / 2 and 4 / 3 falling; tasks 3, 1 and 2 rising.
    nodes = [("dear", [3]), ("cheap", [1]), ("middle", [2])]
    types = {"dear": (9, [10]), "cheap": (2, [10]), "middle": (4, [10])}
    cluster = Cluster.of(instance := make(types, [([1], 6)], nodes, resources=CPU), queue_of(instance))
    assert candidates(cluster, "savings-ratio", np.arange(3)).tolist() == [0, 2, 1]
    assert candidates(cluster, "node-cost", np.arange(3)).tolist() == [1, 2, 0]
    assert candidates(cluster, "node-cost", np.arange(2)).tolist() == [1, 0]


def test_needs_running_machines(make):
    assert has_running(make({"t": (1, [1])}, [([1], 1)], resources=CPU)).startswith(
        "small-cluster has no running machines"
    )


@pytest.mark.parametrize("order", ["savings-ratio", "node-cost"])
@pytest.mark.parametrize("seed", range(40))
def test_never_dearer_than_placing_alone(drawn, seed, order):
    instance = drawn(seed, stock=[-1, 6, 6, 6] if seed % 2 else None)
    if has_running(instance):
        pytest.skip("nothing runs")
    solution = karpenter_consolidation(instance, order=order).solution
    assert verify(instance, solution) <= verify(instance, karpenter(instance).solution)
    for limit in range(moves(instance, karpenter(instance).solution), moves(instance, solution)):
        limited = instance.replace(max_disruption=limit * ONE_TASK)
        assert verify(limited, karpenter_consolidation(limited, order=order).solution) > 0


def test_tasks_of_a_class_part_where_only_one_shares_a_machine(make):
    """Three on A, as after labels were changed by hand: one stays, the others go to B and to a new machine."""
    instance = make({"t": (5, [10])}, [([1], 3), ([1], 2)], [("t", [3, 0]), ("t", [0, 2])], resources=CPU)
    limited = instance.replace(per_machine=[1, -1])
    placed = karpenter(limited).solution
    assert verify(limited, placed) == 15
    assert moves(limited, placed) == 2
    assert kept(limited) == (["node-a", "node-b", None], 15)
    # Without the limit all fit one machine.
    assert kept(instance)[1] == 5


def test_a_machine_is_not_given_up_for_tasks_that_may_share_no_other(make):
    """Two machines with one task each of a limited class, and one with another: only the last one goes."""
    nodes = [("t", [1, 0]), ("t", [1, 0]), ("t", [0, 1])]
    instance = make({"t": (5, [10])}, [([1], 2), ([1], 1)], nodes, resources=CPU, per_machine=[1, -1])
    names, paid = kept(instance)
    assert paid == 10
    assert len(names) == 2
