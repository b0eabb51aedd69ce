"""Scores by hand, and the choice among nodes.

Nodes of 4000m/10000 and 6000m/10000 MiB, a task of 3000m/5000 (noderesources tests of kube-scheduler): shares in use 3/4
and 1/2; 1/2 and 1/2.
"""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
from schedgap.heuristics.provisioning.kubernetes.kernels_scores import (
    LEAST,
    MOST,
    RATIO,
    Scoring,
    balance_score,
    fit_score,
    schedule,
)
from schedgap.heuristics.provisioning.kubernetes.kube_scheduler import kube_scheduler
from schedgap.instances.provisioning import verify

TYPES = {"four": (4, [4000, 10_000]), "six": (6, [6000, 10_000])}


def test_scores_of_one_resource():
    assert fit_score(LEAST, 3000, 4000) == 25
    assert fit_score(LEAST, 5000, 4000) == 0
    # 2000 x 100 / 3000 = 66.7
    assert fit_score(LEAST, 1000, 3000) == 66
    assert fit_score(MOST, 3000, 4000) == fit_score(RATIO, 3000, 4000) == 75
    assert fit_score(MOST, 5000, 4000) == 100


def test_balance():
    # |0.75 - 0.5| / 2 = 0.125
    assert balance_score(0.75, 0.5) == 87
    assert balance_score(0.5, 0.5) == 100


@pytest.mark.parametrize(
    ("score", "balanced", "expected"),
    [
        # (25 + 50) / 2 = 37 and (50 + 50) / 2 = 50.
        ("least-allocated", False, "node-b"),
        # (75 + 50) / 2 = 62 and 50.
        ("most-allocated", False, "node-a"),
        # round(62.5) = 63 and 50.
        ("requested-to-capacity-ratio", False, "node-a"),
        # 37 + 87 and 50 + 100.
        ("least-allocated", True, "node-b"),
        # 62 + 87 = 149 and 50 + 100 = 150.
        ("most-allocated", True, "node-b"),
        # 63 + 87 and 50 + 100 are equal: the first.
        ("requested-to-capacity-ratio", True, "node-a"),
    ],
)
def test_choice_of_two_nodes(make, score, balanced, expected):
    instance = make(TYPES, [([3000, 5000], 1)], [("four", [0]), ("six", [0])], resources=("cpu", "ram_mib"))
    solution = kube_scheduler(instance, np.random.default_rng(1), score=score, balanced=balanced, ties="first").solution
    assert [instance.running.names[e] for e in solution.keeps] == [expected]


def test_what_asks_for_nothing_counts_in_scores(make):
    # Ten tasks without requests count as 1000m and 2000 MiB on node-a: 75 and 80; the eleventh goes to node-b (97 and 98).
    instance = make(TYPES, [([0, 0], 11)], [("four", [10]), ("four", [0])], resources=("cpu", "ram_mib"))
    solution = kube_scheduler(instance, np.random.default_rng(1), balanced=False).solution
    assert solution.machines(1)[1].tolist() == [[10], [1]]


def test_ties_at_random_reach_all_nodes(make):
    instance = make(TYPES, [([1000, 1000], 1)], [("four", [0])] * 5, resources=("cpu", "ram_mib"))
    seen = {int(kube_scheduler(instance, np.random.default_rng(seed)).solution.keeps[0]) for seed in range(60)}
    assert seen == set(range(5))


def test_spreads_where_there_is_room_and_adds_nodes_where_not(make):
    # Two nodes take two tasks each, in turn; the fifth needs a node: `four`, of which it leaves less free.
    nodes = [("four", [0]), ("four", [0])]
    instance = make(TYPES, [([2000, 1000], 5)], nodes, resources=("cpu", "ram_mib"))
    solution = kube_scheduler(instance, np.random.default_rng(1)).solution
    assert solution.machines(1)[1].tolist() == [[2], [2], [1]]
    assert solution.keeps.tolist() == [0, 1, -1]
    assert verify(instance, solution) == 12


@pytest.mark.parametrize("score", ["least-allocated", "most-allocated", "requested-to-capacity-ratio"])
@pytest.mark.parametrize("seed", range(25))
def test_solutions_verify(drawn, seed, score):
    instance = drawn(seed, stock=[-1, 6, 6, 6] if seed % 2 else None)
    solution = kube_scheduler(instance, np.random.default_rng(seed), score=score).solution
    assert verify(instance, solution) > 0


def test_of_many_nodes_only_some_are_looked_at(make):
    # Of 150 nodes max(100, 150 x 49%) are: 0 to 99 for the first task, then 100 to 149 and 0 to 49, with the full 120.
    nodes = [("four", [2 * (e == 120)]) for e in range(150)]
    instance = make(TYPES, [([1000, 1000], 4)], nodes, resources=("cpu", "ram_mib"))
    cluster = Cluster.of(instance, np.arange(4))
    asked = np.zeros((150, 2), np.int64)
    asked[120] = [2000, 2000]
    scoring = Scoring(MOST, False, np.array([0, 1]), np.array([100, 200]), asked, False, *cluster.now(), True)
    given = (cluster.tasks, cluster.catalogue(), cluster.nodes, 150, scoring)
    assert schedule(cluster.waiting, *given, 0, np.zeros(1, np.uint64)) == 50
    assert cluster.tasks.place.tolist() == [120, 120, 0, 120]


def test_balance_is_left_out_for_tasks_without_requests(make):
    """kubernetes/kubernetes 129138: n1 is balanced (8/16 and 32/64), n2 is not (2/16 and 32/64); 40 tasks ask for nothing.

    By NodeResourcesFit alone n2 has 69 to n1's 50, and each task costs it less than a half: all or all but one go to n2. With
    BalancedAllocation n1 has 100 more, n2 81: the first go to n1, until it has 20 of them.
    """
    types = {"n": (1, [16_000, 65_536, 110])}
    tasks = [([8000, 32_768, 1], 1), ([2000, 32_768, 1], 1), ([0, 0, 1], 40)]
    nodes = [("n", [1, 0, 0]), ("n", [0, 1, 0])]
    instance = make(types, tasks, nodes, resources=("cpu", "ram_mib", "pods"))
    for parameters, on_second in (
        ({}, (39, 40)),
        ({"balanced_skips_idle": False}, (20,)),
        ({"balanced": False}, (39, 40)),
    ):
        solution = kube_scheduler(instance, np.random.default_rng(1), **parameters).solution
        assert solution.machines(3)[1][1, 2] in on_second


def test_what_comes_with_a_node_counts_in_its_scores(make):
    """Room for (2000, 5000) is left on both. `four` has 4000 and 10,000 in all, `six` 6000 and 10,000.

    A task of (1000, 1000): LeastAllocated of four, of which (2000, 5000) are taken: 25 and 40, so 32; of six, of which
    (4000, 5000) are: 16 and 40, so 28. Of what is left alone both have 50 and 80. Balance: (0.75, 0.6) 92 and (5/6, 0.6) 88.
    """
    types = {"four": (4, [2000, 5000]), "six": (6, [2000, 5000])}
    plain = make(types, [([1000, 1000], 1)], [("six", [0]), ("four", [0])], resources=("cpu", "ram_mib"))
    amounts = {"whole": [[6000, 10_000], [4000, 10_000]], "reserved": [[4000, 5000], [2000, 5000]]}
    whole = plain.replace(running=replace(plain.running, **amounts))
    for instance, name in ((plain, "node-a"), (whole, "node-b")):
        solution = kube_scheduler(instance, np.random.default_rng(1), ties="first").solution
        assert [instance.running.names[e] for e in solution.keeps] == [name]
