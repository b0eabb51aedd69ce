"""Compiled policies against plain ones, functions of what a policy is shown: slow, and by the definitions alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from schedgap.heuristics.placement import Player
from schedgap.heuristics.placement.kernels_prices import hole_prices
from schedgap.heuristics.placement.policies import STRATEGIES
from schedgap.heuristics.player import play
from schedgap.instances.method import Status, find_method
from schedgap.instances.placement import FAMILY, Placement, random_pods, verify
from schedgap.instances.placement.measures import power_w, watts_by_type


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
        ways = [[i] for i in np.flatnonzero(observation.open_gpus[n]).tolist()]
    else:
        ways = [[i for i, r in enumerate(left) if r == 1000][:k]]
    return left, [(way, [r - g if i in way else r for i, r in enumerate(left)]) for way in ways]


def fgd(observation, exact=False, score_too=False):
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
    return (best[1], best[2], best[0]) if score_too else (best[1], best[2])


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
    taken = sorted(r for r, ok in zip(left, observation.open_gpus[n], strict=False) if ok)[: observation.gpus]
    if used := taken.count(1000):
        return max(50 - used, 33)
    return max(100 - sum(r * 100 // 1000 for r in taken) // 10, 50)


def in_use(observation, n):
    """What is taken of CPU, memory and GPUs with the pod, and what the node has."""
    nodes = observation.nodes
    t = nodes.node2type[n]
    whole = [int(nodes.capacity[t, 0]), int(nodes.capacity[t, 1]), 1000 * int(nodes.num_gpus[t])]
    free = [int(observation.free[n, 0]), int(observation.free[n, 1]), int(observation.free_milli[n].sum())]
    asks = [int(observation.demand[0]), int(observation.demand[1]), observation.gpus * observation.gpu_milli]
    return whole, [w - f + a for w, f, a in zip(whole, free, asks, strict=True)], asks


def kube(strategy, balanced):
    """NodeResourcesFit, with NodeResourcesBalancedAllocation; pods that ask for none count as something in the first."""

    def decide(observation):
        counted = observation.memory.setdefault("counted", Counter())

        def score(observation, n):
            whole, used, asks = in_use(observation, n)
            values, shares = [], []
            for i in range(3):
                if whole[i] == 0 or (i == 2 and asks[2] == 0):
                    continue
                asked = used[i] + counted[n, i] + (0 if asks[i] else (100, 200, 0)[i])
                share = min(asked, whole[i]) * 100 // whole[i]
                values.append((max(whole[i] - asked, 0) * 100 // whole[i]) if strategy == "least-allocated" else share)
                shares.append(min(used[i] / whole[i], 1.0))
            total = {
                "requested-to-capacity-ratio": lambda: math.floor(
                    sum(values) / max(sum(v > 0 for v in values), 1) + 0.5
                ),
                "balanced-allocation": lambda: 0,
            }.get(strategy, lambda: sum(values) // len(values))()
            if balanced or strategy == "balanced-allocation":
                total += int((1.0 - float(np.std(shares))) * 100.0 + 1e-9)
            return total

        n = by_score(score)(observation)
        for i in range(2):
            counted[n, i] += 0 if observation.demand[i] else (100, 200)[i]
        return n

    return decide


@by_score
def volcano(observation, n):
    whole, used, asks = in_use(observation, n)
    shares = [u / w for w, u, a in zip(whole, used, asks, strict=True) if a]
    return sum(shares) / len(shares) * 100 if shares else 0.0


def kai(is_spread):
    def decide(observation):
        best = None
        for n in observation.fitting.tolist():
            t = observation.nodes.node2type[n]
            num, g = int(observation.nodes.num_gpus[t]), observation.gpu_milli
            left = observation.free_milli[n, :num].tolist()
            free, whole = sum(left), 1000 * num
            if observation.gpus == 0:
                free, whole = int(observation.free[n, 0]), int(observation.nodes.capacity[t, 0])
            able = [(r, i) for i, r in enumerate(left) if observation.open_gpus[n, i]]
            bonus = num == 0 if observation.gpus == 0 else g < 1000 and any(r < 1000 for r, _ in able)
            bonus = bonus and (observation.gpus == 0 or not is_spread)
            score = (free / whole if whole else 0.0) if is_spread else -free
            ways = sorted((-r if is_spread else r, i) for r, i in able)[: observation.gpus]
            if best is None or (bonus, score) > best[0]:
                best = (bonus, score), n, [i for _, i in ways]
        return best[1:]

    return decide


def watts(instance, observation, n, cpu, left):
    """PWR's power of a node. left : thousandths of each GPU."""
    idle, full, processor_idle, processor_full, cores = watts_by_type(instance)[observation.nodes.node2type[n]].tolist()
    capacity = int(observation.nodes.capacity[observation.nodes.node2type[n], 0])
    all_cores, idle_cores = math.ceil(capacity / 2000), cpu // 2000
    active = math.ceil((all_cores - idle_cores) / cores)
    working = sum(r < 1000 for r in left)
    gpus = (len(left) - working) * idle + working * full
    return gpus + (math.ceil(all_cores / cores) - active) * processor_idle + active * processor_full


def added(instance, observation, n):
    """The least watts that the pod adds on a node, and the first way to."""
    left, ways = after(observation, n)
    cpu = int(observation.free[n, 0])
    before = watts(instance, observation, n, cpu, left)
    then = [watts(instance, observation, n, cpu - int(observation.demand[0]), each) - before for _, each in ways]
    return min(then), ways[then.index(min(then))][0]


def pwr(instance):
    def decide(observation):
        n = min(observation.fitting.tolist(), key=lambda n: added(instance, observation, n)[0])
        return n, added(instance, observation, n)[1]

    return decide


def pwr_fgd(instance):
    def decide(observation):
        nodes = observation.fitting.tolist()
        saved = [-added(instance, observation, n)[0] for n in nodes]
        spread = max(saved) - min(saved)
        normed = [(s - min(saved)) * 100 // spread if spread else 100 for s in saved]
        alone = [fgd(replace(observation, fitting=np.array([n])), score_too=True) for n in nodes]
        sums = [100 * power + 900 * own[2] for power, own in zip(normed, alone, strict=True)]
        return alone[sums.index(max(sums))][:2]

    return decide


def priced(observation):
    """Worth by the prices of holes, stranded GPUs and CPU, models that are sought; first of those within a hundredth."""
    mix, nodes, memory = observation.mix, observation.nodes, observation.memory
    if "worth" not in memory:
        shares = sorted({int(g) for g in mix.gpu_milli.tolist() if 0 < g < 1000})
        unit = math.gcd(1000, *shares)
        worth = np.zeros(1000 // unit + 1)
        pods = [float(mix.pods[mix.gpu_milli == g].sum()) for g in shares]
        if shares:
            hole_prices(np.array(shares) // unit, np.array(pods), worth)
        else:
            worth[-1] = 1
        memory["worth"] = [float(worth[r // unit]) for r in range(1001)]
        models, has, asked = nodes.gpu_model, Counter(), Counter()
        for t in nodes.node2type.tolist():
            has[models[t]] += int(nodes.num_gpus[t])
        milli = mix.pods * mix.gpus * mix.gpu_milli
        for m in np.flatnonzero(milli).tolist():
            room = sum(has[model] for model in {models[t] for t in np.flatnonzero(mix.admits[m])})
            if 0 < room < sum(has.values()):
                for model in {models[t] for t in np.flatnonzero(mix.admits[m])}:
                    asked[model] += int(milli[m]) * has[model] / room
        total = max(int(milli.sum()), 1)
        memory["sought"] = [asked[model] * sum(has.values()) / total / max(has[model], 1) for model in models]
        memory["per_gpu"] = (mix.pods * (mix.gpus > 0)) @ mix.demand / total
    worth, best = memory["worth"], None

    def stranded(free, gpu):
        enough = [f / p for f, p in zip(free.tolist(), memory["per_gpu"].tolist(), strict=True) if p > 0]
        lacks = max([0.0, *(gpu - e for e in enough)])
        return (lacks + 0.3 * (max(0.0, enough[0] - gpu) if memory["per_gpu"][0] > 0 else 0.0)) / 1000

    for n in observation.fitting.tolist():
        left, ways = after(observation, n)
        k, g, free = observation.gpus, observation.gpu_milli, observation.free[n]
        lost = stranded(free - observation.demand, float(sum(left) - k * g)) - stranded(free, float(sum(left)))
        lost += 0.02 * memory["sought"][nodes.node2type[n]] * k * g / 1000
        for way, _ in ways:
            hole = 0.0
            if k == 1 and g < 1000:
                r = left[way[0]]
                hole = worth[r] - worth[r - g] - worth[g] + (0.05 if r == 1000 else 0.0)
            score = math.floor(-(lost + hole) / 0.01)
            if best is None or score > best[0]:
                best = score, n, way
    return best[1:]


POLICIES = {
    "priced-fit": priced,
    "volcano-binpack": volcano,
    "kai-binpack": kai(False),
    "kai-spread": kai(True),
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
    """Instances in which pods are refused, and scores tie; every other has gangs and pods that run, every third slices."""
    options = {"nodes": 3 + seed % 5, "pods": 12 + seed % 13, "classes": 3 + seed % 6}
    if seed % 2:
        options |= {"gangs": True, "running": 0.2}
    options |= {"divided": seed % 3 == 2}
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
        assert ours.start.tolist() == own.start.tolist()
        refused += int((own.node < 0).sum())
        undone += int(((own.node < 0) & (instance.gang >= 0)).sum())
    assert refused > 50
    assert undone > 10 or name == "clustering"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("balanced", [False, True])
def test_kube_scheduler_is_the_plain_one(strategy, balanced):
    for seed in range(0, 40, 2):
        instance = small(seed)
        own = play(Player(instance), kube(strategy, balanced)).solution
        ours = compiled(instance, "kube-scheduler", score=strategy, balanced=balanced)
        assert ours.node.tolist() == own.node.tolist()
        assert ours.gpus.tolist() == own.gpus.tolist()
        assert ours.start.tolist() == own.start.tolist()


@pytest.mark.parametrize(("name", "plain"), [("pwr", pwr), ("pwr-fgd", pwr_fgd)])
def test_power_is_saved_as_in_plain(name, plain):
    models = {"A": "T4", "B": "G3", "": ""}
    for seed in range(40):
        instance = small(seed)
        instance = instance.replace(
            gpu_model=tuple(models[model] for model in instance.gpu_model), capacity=instance.capacity * 16
        )
        own = play(Player(instance), plain(instance)).solution
        ours = compiled(instance, name)
        assert ours.node.tolist() == own.node.tolist()
        assert ours.gpus.tolist() == own.gpus.tolist()
        assert ours.start.tolist() == own.start.tolist()
        before = power_w(instance, Placement(instance.running_node, instance.running_gpus))
        assert power_w(instance, ours) >= before


def test_power_of_unknown_models_is_not_guessed():
    outcome = find_method(FAMILY, "pwr").run(small(0))
    assert outcome.status is Status.UNSUPPORTED
    assert "GPU models of whose power nothing is known" in outcome.details["reason"]


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
