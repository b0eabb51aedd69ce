"""The worked examples, by hand, and the authors' own run."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from schedgap.heuristics.placement import kernels_scores as scores
from schedgap.heuristics.placement import policies  # noqa: F401
from schedgap.heuristics.placement.kernels_scores import Rule, evaluate, fragment
from schedgap.heuristics.placement.state import expected_of, state_of
from schedgap.instances.method import REGISTRY
from schedgap.instances.placement import FAMILY, PlacementInstance, openb, verify
from schedgap.instances.placement.measures import over_arrivals


def cluster(capacity, num_gpus, classes, nodes, pods, expected=None):
    """CPU only. classes : (cpu, k, milli) by name. nodes : type of each. pods : (class, node or -1, GPUs)."""
    names = list(classes)
    cpu, gpus, milli = (np.array(each) for each in zip(*classes.values(), strict=True))
    return PlacementInstance(
        name="by-hand",
        unit="GPUs",
        resources=("cpu",),
        type_names=tuple(f"type-{t}" for t in range(len(capacity))),
        capacity=np.array(capacity)[:, None],
        num_gpus=num_gpus,
        gpu_model=tuple("A" if g else "" for g in num_gpus),
        node2type=nodes,
        class_names=tuple(names),
        demand=cpu[:, None],
        gpus=gpus,
        gpu_milli=milli,
        value=gpus * milli,
        admits=np.ones((len(names), len(capacity)), bool),
        expected=[(expected or {}).get(name, 0) for name in names],
        pod2class=[names.index(name) for name, *_ in pods],
        gang=[-1] * len(pods),
        running_node=[node for _, node, _ in pods],
        running_gpus=[sum(1 << g for g in held) for *_, held in pods],
        movable=[False] * len(pods),
    )


KIND = {
    "best-fit": scores.BEST_FIT,
    "dot-product": scores.DOT_PRODUCT,
    "clustering": scores.CLUSTERING,
    "packing": scores.PACKING,
    "fgd": scores.FGD,
}


def begun(instance, **options):
    """The state before the first pod."""
    state = state_of(instance, **options)
    if options.get("mix"):
        state.nodes.fragment[:] = [
            fragment(state, n, int(state.free[n, 0]), -1, 0, 0) for n in range(instance.num_nodes)
        ]
    return state


def scored(instance, kind, n, c):
    return evaluate(begun(instance, mix=True), Rule(kind), n, c)


@pytest.fixture
def shared():
    """A node with 200, 600, 1000 and 0 left of its GPUs, and 8 cores."""
    classes = {
        "a": (2000, 1, 300),
        "b": (4000, 1, 1000),
        "e": (12000, 1, 1000),
        "f": (2000, 0, 0),
        "s800": (0, 1, 800),
        "s400": (0, 1, 400),
        "one": (0, 1, 1000),
    }
    runs = [("s800", 0, [0]), ("s400", 0, [1]), ("one", 0, [3]), ("a", -1, [])]
    return cluster([8000], [4], classes, [0], runs, {"a": 5, "b": 3, "e": 1, "f": 1})


@pytest.fixture
def two_nodes():
    """n1: two free GPUs, 104 cores. n2: three free ones of eight, and half a one, 40 cores."""
    classes = {
        "one": (4000, 1, 1000),
        "two": (16000, 2, 1000),
        "half": (2000, 1, 500),
        "none": (8000, 0, 0),
        "four": (0, 4, 1000),
        "share": (0, 1, 500),
    }
    runs = [("four", 1, [4, 5, 6, 7]), ("share", 1, [3]), ("two", -1, [])]
    expected = {"one": 5, "two": 2, "half": 2, "none": 1}
    return cluster([104_000, 40_000], [2, 8], classes, [0, 1], runs, expected)


def test_a_shared_gpu(shared):
    state = begun(shared, mix=True)
    assert state.mix.pods.tolist() == [5, 3, 1, 1]
    assert fragment(state, 0, 8000, -1, 0, 0) == 700.0
    assert fragment(state, 0, 6000, 1, 300, 0) == 550.0
    assert fragment(state, 0, 6000, 2, 300, 0) == 850.0
    assert {name: scored(shared, kind, 0, 0) for name, kind in KIND.items()} == {
        "fgd": (53, 1),
        "best-fit": (88, 1),
        "dot-product": (99, 1),
        "packing": (94, 1),
        "clustering": (69, 1),
    }
    assert scored(shared, scores.FGD_EXACT, 0, 0) == (150.0, 1)
    # Twelve cores are more than there are.
    assert scored(shared, scores.FGD, 0, 2) == (scores.NONE, -1)


def test_two_whole_gpus_on_two_nodes(two_nodes):
    state = begun(two_nodes, mix=True)
    found = [fragment(state, 0, 104_000, -1, 0, 0), fragment(state, 0, 88_000, -1, 0, 2)]
    found += [fragment(state, 1, 40_000, -1, 0, 0), fragment(state, 1, 24_000, -1, 0, 2)]
    assert found == [200.0, 0.0, 700.0, 700.0]
    assert {name: [scored(two_nodes, kind, n, 1)[0] for n in (0, 1)] for name, kind in KIND.items()} == {
        "fgd": [54, 50],
        "best-fit": [65, 81],
        "dot-product": [91, 92],
        "packing": [31, 48],
        "clustering": [43, 14],
    }


def test_the_mix_ends_at_a_share_of_all_pods():
    classes = {"p1": (1000, 1, 500), "p3": (2000, 1, 1000), "p4": (4000, 0, 0), "p6": (8000, 2, 1000)}
    pods = [(name, -1, []) for name in ("p1", "p1", "p3", "p4", "p1", "p6")]
    instance = cluster([10_000], [2], classes, [0], pods)
    classes = state_of(instance).classes
    found, _ = expected_of(instance, classes)
    assert found.pods.tolist() == [3, 1, 1, 1]
    assert found.cpu.tolist() == [1000, 8000, 4000, 2000]
    found, _ = expected_of(instance, classes, 60)
    assert (found.pods.tolist(), found.cpu.tolist()) == ([3, 1], [1000, 8000])


def test_six_pods_on_two_nodes_by_best_fit():
    """p3 ties at 90 and goes to y, of the least rank; p6 fits x alone, then all GPUs of x are gone; p5 fits nowhere."""
    classes = {"p1": (1000, 1, 500), "p3": (2000, 1, 1000), "p4": (4000, 0, 0), "p6": (8000, 2, 1000)}
    pods = [(name, -1, []) for name in ("p3", "p6", "p1", "p4", "p1", "p1")]
    instance = cluster([10_000], [2], classes, [0, 0], pods)
    assert [scored(instance, scores.BEST_FIT, n, 1)[0] for n in (0, 1)] == [90, 90]
    placement = REGISTRY[FAMILY, "best-fit"].run(instance).solution
    assert placement.node.tolist() == [0, 1, 0, 0, 0, -1]
    assert placement.gpus.tolist() == [1, 3, 2, 0, 2, 0]
    arrived, allocated = over_arrivals(instance, placement)
    # 112.5 rounds to even; what is read at 88 is 87.5.
    assert np.rint(arrived).tolist() == [25, 75, 88, 88, 100, 112]
    assert allocated.tolist() == [25, 75, 87.5, 87.5, 100, 100]


def authors_run():
    """Set SCHEDGAP_FACTS to a folder that holds placement/authors_run_default_fgd_seed42.csv."""
    root = Path(__file__).resolve().parents[3]
    folder = Path(os.environ.get("SCHEDGAP_FACTS", root.parent / "shared" / "facts"))
    path = folder / "placement" / "authors_run_default_fgd_seed42.csv"
    if not path.exists():
        pytest.skip(f"the authors' run is not there (SCHEDGAP_FACTS={folder})")
    with path.open() as file:
        return list(csv.DictReader(file))


def test_the_authors_own_run_step_by_step(alibaba_csv):
    """Each chosen node has the highest score, and of those the least rank that is known; F is the same to the cent."""
    rows = authors_run()
    instance = openb(alibaba_csv, nodes="gpu", seed=42)
    rule, state, empty = Rule(scores.FGD), begun(instance, mix=True), begun(instance, mix=True)
    class_of = {instance.pod_name(p): int(instance.pod2class[p]) for p in range(instance.num_pods)}
    nodes = {instance.node_name(n): n for n in range(instance.num_nodes)}
    rank = {nodes[row["node"]]: int(row["rank"]) for row in rows}
    _, first = np.unique(instance.node2type, return_index=True)

    known, seen, changed, used = {}, {}, [], 0
    for row in rows:
        n, c = nodes[row["node"]], class_of[row["pod"]]
        if c not in known:
            alike = np.array([evaluate(empty, rule, i, c) for i in first.tolist()])
            known[c], seen[c] = alike[instance.node2type], 0
        for i in set(changed[seen[c] :]):
            known[c][i] = evaluate(state, rule, i, c)
        seen[c] = len(changed)
        best = known[c][:, 0].max()
        assert known[c][n, 0] == best
        assert rank[n] == min(rank[i] for i in np.flatnonzero(known[c][:, 0] == best).tolist() if i in rank)
        k, g = int(instance.gpus[c]), int(instance.gpu_milli[c])
        taken = [int(known[c][n, 1])] if g < 1000 else np.flatnonzero(state.milli[n] == 1000)[:k]
        if k:
            state.milli[n, taken] -= g
        state.free[n] -= instance.demand[c]
        used += k * g
        state.nodes.fragment[n] = fragment(state, n, int(state.free[n, 0]), -1, 0, 0)
        assert round(float(state.nodes.fragment.sum()), 2) == pytest.approx(float(row["frag_amount_milli"]), abs=0.0051)
        assert used == int(row["used_milli"])
        changed.append(n)
    assert len(rows) == 2739


def placed(instance, name):
    """How many pods find room, by class."""
    placement = REGISTRY[FAMILY, name].run(instance).solution
    verify(instance, placement)
    return np.bincount(instance.pod2class[placement.node >= 0], minlength=len(instance.class_names)).tolist()


class TestReports:
    """Cases that users reported of clusters."""

    def test_single_gpus_before_the_pair(self):
        """kueue#4474: nodes with 2, 1 and 1 free GPUs, two pods of one and then one of two."""
        classes = {"one": (0, 1, 1000), "two": (0, 2, 1000)}
        pods = [("one", -1, []), ("one", -1, []), ("two", -1, [])]
        instance = cluster([8000, 8000], [2, 1], classes, [0, 1, 1], pods)
        for name in ("best-fit", "fgd", "kai-binpack", "volcano-binpack"):
            assert placed(instance, name) == [2, 1], name
        assert placed(instance, "first-fit") == [2, 0]

    def test_the_tighter_node(self):
        """volcano#1297: 53 and 31 cores are idle, tasks of 30 and 50 wait."""
        classes = {"small": (30_000, 0, 0), "large": (50_000, 0, 0)}
        instance = cluster([53_000, 31_000], [1, 1], classes, [0, 1], [("small", -1, []), ("large", -1, [])])
        assert placed(instance, "best-fit") == [1, 1]
        assert placed(instance, "kai-binpack") == [1, 1]
        assert placed(instance, "first-fit") == [1, 0]
        assert placed(instance, "kube-scheduler") == [1, 0]

    def test_a_gang_that_no_node_of_its_kind_holds(self):
        """marin#6950: hosts in groups of fewer than eight never hold a gang of eight, and refuse all of it."""
        instance = cluster([0], [1], {"host": (0, 1, 1000)}, [0] * 7, [("host", -1, [])] * 9)
        instance = instance.replace(gang=np.array([0] * 8 + [-1]))
        for name in ("best-fit", "fgd", "priced-fit", "random"):
            assert placed(instance, name) == [1], name


def test_kube_scheduler_by_hand():
    """The node of 8 cores has 2 free: a pod of 1 leaves 1 / 8, and of the empty one of 4 it leaves 3 / 4."""
    classes = {"runs": (6000, 0, 0), "pod": (1000, 0, 0)}
    instance = cluster([8000, 4000], [1, 0], classes, [0, 1], [("runs", 0, []), ("pod", -1, [])])
    for strategy, found in ((scores.LEAST, [12, 75]), (scores.MOST, [87, 25]), (scores.RATIO, [87, 25])):
        assert [evaluate(begun(instance), Rule(scores.KUBE, strategy), n, 1)[0] for n in (0, 1)] == found
    # One resource is as balanced as can be.
    assert evaluate(begun(instance), Rule(scores.KUBE, scores.LEAST, True), 1, 1)[0] == 175
    # With a GPU: half of the node's CPU and a quarter of its GPUs in use, an eighth from their mean each.
    both = cluster([8000], [4], {"gpu": (4000, 1, 1000)}, [0], [("gpu", -1, [])])
    assert evaluate(begun(both), Rule(scores.KUBE, scores.LEAST), 0, 0)[0] == 62
    assert evaluate(begun(both), Rule(scores.KUBE, scores.BALANCED), 0, 0)[0] == 87
    assert evaluate(begun(both), Rule(scores.VOLCANO), 0, 0)[0] == 37.5
