"""Compiled policies against plain ones, functions of what a policy is shown: slow, and by the definitions alone."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from schedgap.heuristics.placement import Player, policies  # noqa: F401
from schedgap.heuristics.player import play
from schedgap.instances.method import find_method
from schedgap.instances.placement import FAMILY, random_pods, verify


def classes_of(observation):
    """The expected mix: (cpu, k, g, admitted types) and pods of each class, until they are 95% of all."""
    mix, counts = observation.mix, Counter()
    for m, pods in enumerate(mix.pods.tolist()):
        admits = mix.admits[m].tolist() if mix.gpus[m] else [True] * mix.admits.shape[1]
        models = sorted({observation.nodes.gpu_model[t] for t, ok in enumerate(admits) if ok})
        spec = "" if all(admits) else "|".join(models)
        numbers = (int(mix.demand[m, 0]), int(mix.gpu_milli[m]), int(mix.gpus[m]))
        counts[(*numbers, spec, tuple(admits))] += pods
    kept, total = [], sum(counts.values())
    for key, pods in sorted(counts.items(), key=lambda each: (each[1], each[0]), reverse=True):
        if 100 * sum(each for _, each in kept) >= 95 * total:
            break
        kept.append((key, pods))
    return kept


def fragment(classes, node_type, cpu, left):
    """F_n(M) times the pods of all classes. left : thousandths of each GPU of the node."""
    booked = 0
    for (asks, milli, k, _, admits), pods in classes:
        fitting = [r for r in left if r >= milli]
        if milli == 0 or not admits[node_type] or len(fitting) < k or cpu < asks:
            booked += pods * sum(left)
        else:
            booked += pods * (sum(left) - sum(fitting))
    return booked


def after(observation, n):
    """Each way to put the pod on a node: GPUs, and what is left of all GPUs of the node."""
    t = observation.nodes.node2type[n]
    left = observation.free_milli[n, : observation.nodes.num_gpus[t]].tolist()
    k, g = observation.gpus, observation.gpu_milli
    ways = []
    if k == 1 and g < 1000:
        ways = [[i] for i, r in enumerate(left) if r >= g]
    else:
        ways = [[i for i, r in enumerate(left) if r == 1000][:k]]
    return left, [(way, [r - g if i in way else r for i, r in enumerate(left)]) for way in ways]


def fgd(observation, exact=False):
    classes = classes_of(observation)
    total = sum(pods for _, pods in classes)
    best = None
    for n in observation.fitting.tolist():
        t, cpu = int(observation.nodes.node2type[n]), int(observation.free[n, 0])
        left, ways = after(observation, n)
        before = fragment(classes, t, cpu, left)
        for way, then in ways:
            gain = before / total - fragment(classes, t, cpu - int(observation.demand[0]), then) / total
            score = gain if exact else int(100 / (1 + math.exp(-gain / 1000)))
            if best is None or score > best[0]:
                best = score, n, way
    return best[1], best[2]


def fgd_exact(observation):
    return fgd(observation, exact=True)


def by_score(score):
    """The policy that takes the first of the nodes of the highest score."""

    def decide(observation):
        return max(observation.fitting.tolist(), key=lambda n: (score(observation, n), -n))

    return decide


@by_score
def first_fit(observation, n):
    return 0


@by_score
def best_fit(observation, n):
    cpu = int(observation.free[n, 0] - observation.demand[0])
    gpu = int(observation.free_milli[n].sum()) - observation.gpus * observation.gpu_milli
    return int((1.0 - (cpu / 128000 * 0.5 + gpu / 8000 * 0.5)) * 100)


@by_score
def dot_product(observation, n):
    cpu = (int(observation.free[n, 0]) / 128000) * (int(observation.demand[0]) / 128000)
    gpu = (int(observation.free_milli[n].sum()) / 8000) * (observation.gpus * observation.gpu_milli / 8000)
    return int(100 * (1 - (cpu + gpu) / 2))


def tag(k, milli):
    return "none" if k == 0 else "share" if milli < 1000 else f"{k}-gpu"


def clustering(observation):
    """Remembers the tags of each node; what it is told of nothing is in its memory. Runs without gangs or running pods."""
    tags = observation.memory.setdefault("tags", {})
    own = tag(observation.gpus, observation.gpu_milli)

    def score(observation, n):
        if own == "none":
            return 0
        there = tags.get(n, set())
        full = 25 * (8000 - int(observation.free_milli[n].sum())) // 8000
        if own in there:
            return full + (75 if there == {own} else 50)
        return full + (0 if there else 25)

    n = by_score(score)(observation)
    if own != "none":
        tags.setdefault(n, set()).add(own)
    return n


@by_score
def packing(observation, n):
    if observation.gpus == 0:
        return 0
    left = observation.free_milli[n, : observation.nodes.num_gpus[observation.nodes.node2type[n]]].tolist()
    free = left.count(1000)
    if free == len(left):
        return max(33 - free, free)
    taken = sorted(r for r in left if r >= observation.gpu_milli)[: observation.gpus]
    if used := taken.count(1000):
        return max(50 - used, 33)
    return max(100 - sum(r * 100 // 1000 for r in taken) // 10, 50)


POLICIES = {
    "first-fit": first_fit,
    "best-fit": best_fit,
    "dot-product": dot_product,
    "clustering": clustering,
    "packing": packing,
    "fgd": fgd,
    "fgd-exact": fgd_exact,
}


def compiled(instance, name, seed=0, **parameters):
    return find_method(FAMILY, name).run(instance, seed=seed, parameters=parameters).solution


def small(seed, **changes):
    """Instances in which pods are refused, and scores tie; every other has gangs and pods that run."""
    options = {"nodes": 3 + seed % 5, "pods": 12 + seed % 13, "classes": 3 + seed % 6}
    if seed % 2:
        options |= {"gangs": True, "running": 0.2}
    return random_pods(seed=seed, **options | changes)


@pytest.mark.parametrize("name", POLICIES)
def test_a_compiled_policy_is_the_plain_one(name):
    refused = undone = 0
    for seed in range(60):
        instance = small(seed, **({"gangs": False, "running": 0.0} if name == "clustering" else {}))
        own = play(Player(instance), POLICIES[name]).solution
        ours = compiled(instance, name)
        verify(instance, ours)
        assert ours.node.tolist() == own.node.tolist()
        assert ours.gpus.tolist() == own.gpus.tolist()
        refused += int((own.node < 0).sum())
        undone += int(((own.node < 0) & (instance.gang >= 0)).sum())
    assert refused > 50
    assert undone > 10 or name == "clustering"


def test_random_draws_each_node_and_gpu_with_room_as_often():
    """The first pod of an instance, on many seeds; and every placement is one that a policy may answer with."""
    instance = small(4)
    seen, first = Counter(), None

    def every(observation):
        nonlocal first
        if first is None:
            first = [
                (n, sum(1 << i for i in way))
                for n in observation.fitting.tolist()
                for way, _ in after(observation, n)[1]
            ]
        return int(observation.fitting[0])

    play(Player(instance), every)
    for seed in range(40 * len(first)):
        placement = compiled(instance, "random", seed)
        verify(instance, placement)
        pod = int(np.flatnonzero(placement.node >= 0)[0])
        seen[int(placement.node[pod]), int(placement.gpus[pod])] += 1
    assert sorted(seen) == sorted(first)
    nodes = Counter(n for n, _ in first)
    for (n, _), times in seen.items():
        wanted = 40 * len(first) / (len(nodes) * nodes[n])
        assert abs(times - wanted) < 5 * math.sqrt(wanted)


def test_a_pod_is_refused_only_where_it_fits_nowhere():
    for seed in range(20):
        instance = small(2 * seed)
        player = Player(instance)
        placement = compiled(instance, "random", seed)
        while (observation := player.observe()) is not None:
            n = int(placement.node[observation.pod])
            assert n in observation.fitting
            player.act((n, [i for i in range(62) if int(placement.gpus[observation.pod]) >> i & 1]))
        assert player.outcome().solution.node.tolist() == placement.node.tolist()


def test_more_classes_than_are_kept(monkeypatch):
    """Scores of a class that gave way to another's are computed anew."""
    instance = small(8, pods=60, classes=9)
    whole = compiled(instance, "fgd")
    monkeypatch.setattr("schedgap.heuristics.placement.state.MOST_SCORES", 2 * instance.num_nodes)
    assert compiled(instance, "fgd").node.tolist() == whole.node.tolist()


def test_more_nodes_than_a_block():
    instance = small(8, nodes=150, pods=400)
    for name in ("best-fit", "fgd"):
        own = play(Player(instance), POLICIES[name]).solution
        assert compiled(instance, name).node.tolist() == own.node.tolist()
