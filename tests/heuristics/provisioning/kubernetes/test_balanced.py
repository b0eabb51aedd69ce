"""The score of Karpenter's policy Balanced: the numbers of the RFC (pull request 2942) and of balanced_test.go, and by hand."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.balanced import LEAST_SCORE, Balance, balanced_score, pool_scores
from schedgap.heuristics.provisioning.kubernetes.cluster import AS_POOLS, BALANCED, WHEN_EMPTY, Cluster, Limits
from schedgap.heuristics.provisioning.kubernetes.karpenter import (
    candidates,
    consolidate,
    karpenter_consolidation,
    queue_of,
)
from schedgap.instances.provisioning import verify
from schedgap.instances.provisioning.running import ONE_TASK, Disruption, Pool

CPU = ("cpu",)


@pytest.mark.parametrize(
    ("savings", "disruption", "totals", "score"),
    [
        # Cents a day: eight nodes at 484 and two at 968, 80 pods and ten nodes.
        (726, 4, (5808, 90), 2.8125),
        (484, 5, (5808, 90), 1.5),
        (242, 9, (5808, 90), 0.4167),
        (0, 11, (5808, 90), 0),
        (-242, 11, (5808, 90), 0),
        # Ten nodes at 484: half of a node's price for a tenth of all pods is one half exactly.
        (242, 9, (4840, 90), 0.5),
        # Pods that count ten: 107 in all.
        (484, 5, (5808, 117), 1.95),
        (484, 32, (5808, 117), 0.3047),
        # On demand and spot alike, and ten times the pool.
        (484, 4, (4840, 90), 2.25),
        (145, 4, (1450, 90), 2.25),
        (726, 4, (58080, 900), 2.8125),
        # The only node of a pool; one without pods.
        (484, 2, (484, 2), 1),
        (484, 1, (5808, 90), 7.5),
        # Nothing that is disrupted, and pools of which nothing is known.
        (484, 0, (5808, 90), math.inf),
        (0, 0, (5808, 90), 0),
        (484, 5, (0, 90), 0),
        (484, 5, (5808, 0), 0),
    ],
)
def test_scores(savings, disruption, totals, score):
    found = balanced_score(savings, disruption, *totals)
    assert float(found) == pytest.approx(score, abs=5e-5)
    assert (found >= LEAST_SCORE) == (score >= 0.5)


def test_a_score_of_one_half_passes_and_what_is_a_hair_less_does_not():
    assert balanced_score(242, 9, 4840, 90) == LEAST_SCORE
    assert balanced_score(242, 9 * ONE_TASK, 4840, 90 * ONE_TASK) == LEAST_SCORE
    assert balanced_score(242, 9 * ONE_TASK + 1, 4840, 90 * ONE_TASK) < LEAST_SCORE


def test_savings_are_split_by_the_price_of_what_goes():
    # 6 and 2 go for one of 4: 3 of the 4 that are saved are the first pool's, 1 the second's. The third does not score.
    given = (np.array([6, 2, 1]), np.array([2, 4, 9]), np.array([0, 1, 2]))
    scores = pool_scores(*given, 5, {0: (60, 20), 1: (8, 8)})
    assert scores == {0: Fraction(6 * 4, 9) * 20 / (60 * 2), 1: Fraction(2 * 4, 9) * 8 / (8 * 4)}
    assert pool_scores(*given, 5, {}) == {}


def kept(instance, **parameters):
    solution = karpenter_consolidation(instance, **parameters).solution
    names = ["new" if e < 0 else instance.running.names[e].removeprefix("node-") for e in solution.keeps]
    return "".join(sorted(names)), verify(instance, solution)


@pytest.fixture
def uniform(make):
    """Ten full machines of 4 for $2, and one that has two of its four tasks; `small` for $1 has room for two."""
    nodes = [("large", [4])] * 10 + [("large", [2])]
    return make({"large": (2, [4]), "small": (1, [2])}, [([1], 42)], nodes, resources=CPU)


def test_what_saves_enough_for_its_share_of_pods(make, uniform):
    """Of 22 $ one is saved, of 53 three are disrupted: 0.803. At twice the prices but for `small`, one of 44: 0.402."""
    assert kept(uniform, policy=BALANCED) == ("abcdefghijnew", 21)
    dear = uniform.replace(price=[4, 3])
    assert kept(dear, policy=BALANCED) == ("abcdefghijk", 44)
    assert kept(dear) == ("abcdefghijnew", 43)
    assert kept(uniform, policy=WHEN_EMPTY) == ("abcdefghijk", 22)


def test_what_counts_more_stays(make):
    """Two pods that count 4.5 each, of 60: 0.273. Another node goes instead, four of whose pods find room: 0.545."""
    nodes = [("large", [4, 0])] * 10 + [("large", [0, 2])]
    types, tasks = {"large": (2, [4]), "small": (1, [2])}, [([1], 40), ([1], 2)]
    heavy = make(types, tasks, nodes, resources=CPU, disruption=[ONE_TASK, 9 * ONE_TASK // 2])
    assert kept(heavy, policy=BALANCED) == ("bcdefghijknew", 21)
    cluster = Cluster.of(heavy, queue_of(heavy))
    balance = Balance.of(cluster, None, everywhere=True)
    assert [balance.passes(np.array([m]), 1) for m in (0, 10)] == [True, False]


def test_every_pool_with_the_policy_must_approve(make):
    """Two halves go on one machine. In the second pool, all of whose price and pods it is, the score is that of its savings."""
    nodes = [("m", [2, 0]), ("m", [0, 2])]
    instance = make({"m": (10, [4]), "n": (9, [4])}, [([1], 2), ([1], 2)], nodes, resources=CPU)

    def pools(*balanced):
        given = Disruption(tuple(Pool(f"p{i}", balanced=b) for i, b in enumerate(balanced)), [0, 1], [0, 0], [])
        return instance.replace(running=replace(instance.running, disruption=given))

    # a goes to b: 10 of 10 for 3 of 3.
    assert kept(pools(True, True))[1] == kept(pools(False, False))[1] == 9
    cluster = Cluster.of(pools(True, False), queue_of(instance))
    balance = Balance.of(cluster, Limits.of(pools(True, False)))
    assert balance.totals == {0: (10, 3 * ONE_TASK)}
    # Both for one of n: 11 saved, 5.5 each, of 10: 0.55. For one of m at 10: one half. For one at 11: less.
    both = np.array([0, 1])
    assert balance.passes(both, 1)
    assert balance.passes(both, 0)
    assert not replace(balance, prices=np.array([11])).passes(both, 0)
    assert Balance.of(cluster, Limits.of(pools(False, False))) is None
    assert Balance.of(cluster, None, everywhere=True).totals == {0: (20, 6 * ONE_TASK)}


def test_totals_are_of_all_nodes_of_a_pool_also_those_that_stay(make):
    nodes = [("m", [1]), ("m", [3]), ("m", [0])]
    instance = make({"m": (10, [4])}, [([1], 4)], nodes, resources=CPU)
    given = Disruption((Pool("p", balanced=True),), [0, 0, -1], [0, 1, 0], [])
    instance = instance.replace(running=replace(instance.running, disruption=given))
    balance = Balance.of(Cluster.of(instance, queue_of(instance)), Limits.of(instance))
    assert balance.totals == {0: (20, 6 * ONE_TASK)}
    assert balance.can_pass(np.array([0, 1])).tolist() == [True, True]


def test_tasks_that_count_nothing_leave_a_machine_empty(make):
    """Nodes a and b have one task each, that of a counts nothing: it goes as an empty node does, and its task to b."""
    nodes = [("m", [1, 0]), ("m", [0, 1])]
    instance = make({"m": (10, [4])}, [([1], 1), ([1], 1)], nodes, resources=CPU, disruption=[0, ONE_TASK])
    assert kept(instance, policy=WHEN_EMPTY) == ("b", 10)
    assert kept(instance.replace(disruption=None), policy=WHEN_EMPTY) == ("ab", 20)
    # By itself it moves to a new machine once, and stays there.
    alone = make({"m": (10, [1])}, [([1], 1)], [("m", [1])], resources=CPU, disruption=[0])
    assert kept(alone, policy=WHEN_EMPTY) == ("new", 10)


def test_nodes_are_in_the_order_of_what_they_save_for_what_they_disrupt(make):
    """Prices 6, 6, 4, 9 over costs 1 + 2, 1 + 1/2, 1 + 1, 1 + 8: 2, 4, 2, 1."""
    nodes = [("m", [2, 0]), ("m", [0, 1]), ("s", [1, 0]), ("l", [8, 0])]
    types = {"m": (6, [9]), "s": (4, [9]), "l": (9, [9])}
    instance = make(types, [([1], 11), ([1], 1)], nodes, resources=CPU, disruption=[ONE_TASK, ONE_TASK // 2])
    cluster = Cluster.of(instance, queue_of(instance))
    assert candidates(cluster, "savings-ratio", np.arange(4)).tolist() == [1, 0, 2, 3]
    assert candidates(cluster, "node-cost", np.arange(4)).tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize(("policy", "gone"), [(AS_POOLS, 1), (WHEN_EMPTY, 0), (BALANCED, 1)])
def test_a_pass_without_pools_has_the_policy(uniform, policy, gone):
    cluster = Cluster.of(uniform, queue_of(uniform))
    assert consolidate(cluster, np.zeros(1, np.int64), "savings-ratio", 100, 2**62, policy=policy) == gone


@pytest.mark.parametrize("seed", range(30))
def test_limits_on_disruption_hold_with_weights(drawn, seed):
    rng = np.random.default_rng(seed)
    instance = drawn(seed, disruption=rng.integers(0, 4, 4) * ONE_TASK // 2)
    if instance.running is None:
        pytest.skip("nothing runs")
    size = instance.running.size
    instance = instance.replace(running=replace(instance.running, node_disruption=rng.integers(0, 3, size) * ONE_TASK))
    for limit in (2, 9):
        for policy in (AS_POOLS, BALANCED, WHEN_EMPTY):
            limited = instance.replace(max_disruption=limit * ONE_TASK)
            found = karpenter_consolidation(limited, policy=policy).solution
            if found is not None:
                verify(limited, found)
