"""Which nodes Karpenter gives up: cases of kubernetes-sigs/karpenter, pkg/controllers/disruption, and budgets by hand."""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster, Limits
from schedgap.heuristics.provisioning.kubernetes.karpenter import candidates, karpenter_consolidation, queue_of
from schedgap.instances.provisioning import verify
from schedgap.instances.provisioning.running import (
    EMPTY,
    GOING,
    HELD,
    STARTING,
    UNDERUTILIZED,
    Budget,
    Disruption,
    Pool,
)
from schedgap.instances.provisioning.windows import Window

CPU = ("cpu",)


@pytest.fixture
def limited(make):
    """A maker of instances with pools: `nodes` are (type, counts), with the pool and the marks of each."""

    def made(types, tasks, nodes, pools=(), pool=None, marks=None, spot=(), **more):
        instance = make(types, tasks, nodes, resources=CPU)
        size = len(nodes)
        pool, marks = ([0] * size if pool is None else pool), ([0] * size if marks is None else marks)
        given = Disruption(
            pools or (Pool("default"),), np.array(pool), np.array(marks), np.array(spot, np.int64), **more
        )
        return instance.replace(running=replace(instance.running, disruption=given))

    return made


def kept(instance, **parameters):
    """The names of the machines that are kept, `new` for others, and the price."""
    solution = karpenter_consolidation(instance, **parameters).solution
    names = ["new" if e < 0 else instance.running.names[e].removeprefix("node-") for e in solution.keeps]
    return "".join(sorted(names)), verify(instance, solution)


def percent(number, *reasons):
    return (Budget(number, True, reasons or (EMPTY, UNDERUTILIZED)),)


@pytest.mark.parametrize(("nodes", "left"), [(100, 0), (0, 10), (30, 7)])
def test_empty_nodes_go_as_far_as_the_budget_says(limited, nodes, left):
    """emptiness_test.go: of 10 empty nodes all, none, or 3 go at once. One more node has the task; 30% of 11 is 4, less its own.

    The full node is of no pool here, so that the budget is of ten.
    """
    full = [("m", [2])] + [("m", [0])] * 10
    instance = limited({"m": (5, [2])}, [([1], 2)], full, (Pool("p", percent(nodes)),), pool=[-1] + [0] * 10)
    assert kept(instance, passes=1)[1] == 5 * (left + 1)
    # In the end the pool is empty, unless nothing may ever go.
    assert kept(instance)[1] == (55 if nodes == 0 else 5)


def test_half_of_three_is_two_of_each_pool(limited):
    """emptiness_test.go, `should allow 2 nodes from each nodePool to be deleted`: 50% of 3, ten times."""
    pools = tuple(Pool(f"p{i}", percent(50)) for i in range(10))
    nodes = [("m", [0])] * 30 + [("m", [1])]
    pool = [p for p in range(10) for _ in range(3)] + [-1]
    instance = limited({"m": (5, [1])}, [([1], 1)], nodes, pools, pool)
    assert kept(instance, passes=1)[1] == 5 * 11


def test_budgets_for_empty_machines_and_for_others_are_told_apart(limited):
    # A node with a task that fits on `a`, and an empty one.
    nodes = [("m", [2]), ("m", [1]), ("m", [0])]
    types, tasks = {"m": (5, [4])}, [([1], 3)]
    assert kept(limited(types, tasks, nodes)) == ("a", 5)
    # The empty one may not go: all tasks fit on it.
    assert kept(limited(types, tasks, nodes, (Pool("p", percent(0, EMPTY)),))) == ("c", 5)
    assert kept(limited(types, tasks, nodes, (Pool("p", percent(0, UNDERUTILIZED)),)))[0] == "ab"
    assert kept(limited(types, tasks, nodes, (Pool("p", percent(0)),))) == ("abc", 15)


def test_only_empty_machines_of_a_pool_with_that_policy_go(limited):
    nodes = [("m", [2]), ("m", [1]), ("m", [0])]
    instance = limited({"m": (5, [4])}, [([1], 3)], nodes, (Pool("p", only_empty=True),))
    assert kept(instance) == ("ab", 10)


def test_nodes_of_no_pool_stay_and_take_pods(limited):
    """consolidation_test.go, `can delete nodes, when non-Karpenter capacity can fit pods`."""
    nodes = [("m", [3]), ("m", [0])]
    instance = limited({"m": (5, [10])}, [([1], 3)], nodes, pool=[0, -1])
    assert kept(instance) == ("b", 5)
    # Without room for the pod, it is paid all the same.
    types = {"m": (5, [3]), "small": (2, [1])}
    assert kept(limited(types, [([3], 1)], [("m", [1]), ("small", [0])], pool=[0, -1])) == ("ab", 7)


@pytest.mark.parametrize("mark", [HELD, GOING])
def test_held_nodes_stay(limited, mark):
    """consolidation_test.go, `can delete nodes, considers karpenter.sh/do-not-disrupt on pods`: B would go, is held; so A goes.

    A node that goes already takes no pods either, so that both stay.
    """
    nodes = [("m", [2]), ("m", [1])]
    instance = limited({"m": (5, [10]), "dear": (9, [10])}, [([1], 3)], nodes, marks=[0, mark])
    assert kept(instance) == (("b", 5) if mark == HELD else ("ab", 10))


def test_no_pod_goes_to_a_node_that_has_not_started(limited):
    """consolidation_test.go, `won't delete node if it would require pods to schedule on an uninitialized node`.

    `considers initialized nodes before uninitialized nodes`: with room on C, which has started, B goes.
    """
    types, tasks = {"m": (5, [4])}, [([1], 5)]
    assert kept(limited(types, tasks, [("m", [1]), ("m", [4])], marks=[STARTING, 0])) == ("ab", 10)
    nodes = [("m", [0]), ("m", [2]), ("m", [1])]
    instance = limited(types, [([1], 3)], nodes, marks=[STARTING, 0, 0])
    assert kept(instance, passes=1)[0] in ("ab", "ac")
    # Not even where a cheaper machine could be had for them.
    small = {"m": (5, [4]), "small": (1, [1])}
    assert kept(limited(small, [([1], 1)], [("m", [0]), ("m", [1])], marks=[STARTING, 0])) == ("ab", 10)
    assert kept(limited(small, [([1], 1)], [("m", [1])])) == ("new", 1)


def test_budgets_count_started_nodes_less_what_goes_already(limited):
    # Of five nodes one has not started: 50% of 4 are 2; one is unwell or about to go: 1.
    pools = (Pool("p", percent(50)),)
    nodes = [("m", [1])] * 5
    instance = limited({"m": (5, [9])}, [([1], 5)], nodes, pools, marks=[STARTING, GOING, 0, 0, 0])
    cluster, limits = Cluster.of(instance, queue_of(instance)), Limits.of(instance)
    # The one that has not started is the last.
    assert limits.budgets(cluster, UNDERUTILIZED) == [1, 0]
    assert limits.may_go(cluster, UNDERUTILIZED).tolist() == [1, 2, 3]
    assert limits.within(cluster, np.array([3, 2, 1]), UNDERUTILIZED).tolist() == [3]
    assert limits.may_go(cluster, EMPTY).tolist() == []


def test_a_node_neither_goes_nor_takes_pods_for_a_while_after_one_came_or_went(limited):
    """`consolidateAfter`: 60 s of it have passed for B alone. Its pod may go to C, for 60 s are over there, and not to A."""
    types, tasks, nodes = {"m": (5, [4])}, [([1], 5)], [("m", [2]), ("m", [1]), ("m", [2])]
    pools = (Pool("p", consolidate_after_s=60),)
    assert kept(limited(types, tasks, nodes, pools, quiet_s=[59, 60, 60]), passes=1) == ("ac", 10)
    # Nor may an empty one go.
    emptied = [("m", [4]), ("m", [0])]
    assert kept(limited(types, [([1], 4)], emptied, pools, quiet_s=[60, 59])) == ("ab", 10)
    assert kept(limited(types, [([1], 4)], emptied, pools, quiet_s=[60, 60])) == ("a", 5)
    # Only A has room for B's pod, which has settled: as if it was not there, there is none but a new machine.
    full = [("m", [3]), ("m", [1]), ("m", [4])]
    for quiet_s, cheap, names in ((59, 5, "abc"), (59, 4, "acnew"), (60, 4, "ac")):
        instance = limited({"m": (5, [4]), "small": (cheap, [1])}, [([1], 8)], full, pools, quiet_s=[quiet_s, 60, 60])
        assert kept(instance, passes=1)[0] == names
    # Pending pods go there all the same.
    waiting = limited(types, [([1], 4)], [("m", [3])], pools, quiet_s=[0])
    assert kept(waiting) == ("a", 5)


def test_machines_of_a_pool_that_never_consolidates_stay_and_take_pods(limited):
    pools = (Pool("p"), Pool("never", consolidate_after_s=-1))
    instance = limited({"m": (5, [4])}, [([1], 3)], [("m", [2]), ("m", [1])], pools, pool=[0, 1])
    assert kept(instance) == ("b", 5)


def test_a_budget_of_the_working_day_holds_by_the_time_of_the_instance(limited):
    """1970-01-01 was a Thursday; from 9 to 17 o'clock nothing may go."""
    pools = (Pool("p", (Budget(0, True, window=Window("0 9 * * 1-5", 8 * 3600)), Budget(100, True))),)
    nodes = [("m", [2]), ("m", [1])]
    for hour, names in ((8.9, "a"), (9, "ab"), (16.9, "ab"), (17, "a"), (9 + 48, "a")):
        instance = limited({"m": (5, [4])}, [([1], 3)], nodes, pools, at_s=int(hour * 3600))
        assert kept(instance)[0] == names
    assert kept(limited({"m": (5, [4])}, [([1], 3)], nodes, pools))[0] == "a"


def test_pools_take_turns_in_single_node(limited):
    pools = (Pool("p"), Pool("q"), Pool("none", percent(0)))
    instance = limited({"m": (5, [9])}, [([1], 6)], [("m", [1])] * 6, pools, pool=[0, 0, 0, 1, 1, 2])
    cluster, limits = Cluster.of(instance, queue_of(instance)), Limits.of(instance)
    chosen = candidates(cluster, "savings-ratio", np.arange(6))
    assert limits.in_turn(cluster, chosen, UNDERUTILIZED).tolist() == [0, 3, 1, 4, 2]


def test_new_machines_are_of_the_pool_of_their_family(limited):
    # The task of a pending pod needs a machine of its own, which is held by the policy of the pool.
    types = {"m": (5, [4])}
    for only_empty in (False, True):
        pools = (Pool("p", only_empty=only_empty),)
        instance = limited(types, [([3], 2)], [("m", [1])], pools)
        cluster = Cluster.of(instance, queue_of(instance))
        cluster.add_nodes(0, 1)
        assert Limits.of(instance).pools_of(cluster, np.array([0, 1])).tolist() == [0, 0]
        assert kept(instance) == ("anew", 10)


SPOT_TYPES = {"od": (100, [4])} | {f"s{i}": (10 + i, [4]) for i in range(17)}


def test_spare_capacity_replaces_spare_capacity_only_behind_the_gate(limited):
    """consolidation_test.go, `spot to spot`: off by default; on, a single node needs 15 cheaper types.

    s16, for 26, has 16 cheaper ones; s14 has 14.
    """
    for kind, replaced in (("s16", True), ("s15", True), ("s14", False)):
        instance = limited(SPOT_TYPES, [([4], 1)], [(kind, [1])], spot=range(1, 18))
        assert kept(instance)[0] == "a"
        assert kept(instance, spot_to_spot=True) == (("new", 10) if replaced else ("a", 24))


def test_several_nodes_of_spare_capacity_need_no_fifteen_types(limited):
    types = {"od": (100, [9]), "s": (10, [4]), "large": (15, [9])}
    instance = limited(types, [([4], 2)], [("s", [1]), ("s", [1])], spot=[1, 2])
    assert kept(instance) == ("ab", 20)
    assert kept(instance, spot_to_spot=True) == ("new", 15)


def test_what_is_on_demand_becomes_spare_capacity_if_it_may(limited):
    """A claim that may be both is pinned to spot: even where something on demand would be cheaper still."""
    types = {"od": (100, [4]), "cheap": (40, [4]), "s": (50, [4])}
    instance = limited(types, [([4], 1)], [("od", [1])], spot=[2])
    assert kept(instance) == ("new", 50)
    assert kept(instance.replace(price=[100, 40, 100])) == ("a", 100)
    # Of spare capacity that ran out nothing is known any more.
    assert kept(instance.replace(stock=[-1, -1, 0])) == ("new", 40)
