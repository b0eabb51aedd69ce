"""A Kubernetes cluster as a placement instance: what runs stays where it is, and what cannot be stated is said."""

import json
import zipfile

import pytest

from schedgap.instances.errors import InstanceError, VerifyError
from schedgap.instances.placement import Placement, kai_snapshot, verify
from tests.instances.placement.kubectl import node, pod


def test_nodes_are_what_they_are(read):
    """A DaemonSet's pod takes of its node; alike nodes are one type, alike pods one class; what runs has its node."""
    found = read(
        node("a", gpus=2),
        node("b", gpus=2),
        node("c"),
        *(pod(f"agent-{n}", n, owner="DaemonSet", cpu="500m") for n in "abc"),
        pod("train-1", "a", gpus=1),
        pod("train-2", "b", gpus=1),
        pod("web", "c"),
    )
    assert found.resources == ("cpu", "ram_mib", "pods")
    assert found.type_names == ("2 x a100, 15.5 cpu", "15.5 cpu")
    assert found.capacity.tolist() == [[15_500, 63 * 1024, 109_000]] * 2
    assert found.node2type.tolist() == [0, 0, 1]
    assert found.class_names == ("train", "web")
    assert found.admits.tolist() == [[True, False], [True, True]]
    assert (found.running_node.tolist(), found.running_gpus.tolist()) == ([0, 1, 2], [1, 1, 0])
    assert found.unit == "GPUs"


def test_pending_pods_arrive_by_priority_and_age(read):
    def waits(name, priority, created):
        made = pod(name, spec={"priority": priority})
        made["metadata"]["creationTimestamp"] = created
        return made

    found = read(
        node("a"),
        pod("runs", "a"),
        waits("late", 0, "2026-02"),
        waits("early", 0, "2026-01"),
        waits("urgent", 9, "2026-03"),
    )
    assert found.pod_names == ("a/runs", "a/urgent", "a/early", "a/late")
    assert found.priority.tolist() == [0, 9, 0, 0]


def test_mig_devices_are_what_a_node_offers(read):
    """Two of one profile and one of another: one of each is left, and a second of the first profile finds none."""
    small, large = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
    waits = (pod("w1", **{small: "1"}), pod("w2", **{small: "1"}), pod("w3", **{large: "1"}))
    found = read(node("a", **{small: "2", large: "1"}), node("b"), pod("runs", "a", **{small: "1"}), *waits)
    assert {small, large} <= set(found.resources)
    assert found.gpu_capacity == 0
    placed = Placement([0, 0, -1, 0], [0] * 4)
    assert verify(found, placed) == 1000
    with pytest.raises(VerifyError, match=r"is over its nvidia\.com/mig-1g\.10gb: 3 .* used, it has 2"):
        verify(found, Placement([0, 0, 0, 0], [0] * 4))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"owner": None}, "without an owner"),
        ({"notes": {"karpenter.sh/do-not-disrupt": "true"}}, "marked as not to be moved"),
        ({"notes": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, "marked as not to be moved"),
        ({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}, "with data on the node"),
        ({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}}, "with data on the node"),
        ({"spec": {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}}, ""),
        ({"owner": None, "notes": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}}, ""),
        ({}, ""),
    ],
)
def test_which_pods_may_move(read, given, reason):
    found = read(node("a"), pod("p", "a", **given))
    assert found.movable.tolist() == [not reason]
    assert any("may not move" in note and reason in note for note in found.notes) == bool(reason)


def test_a_budget_that_admits_no_eviction_ties_its_pods(read):
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "a"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}},
        "status": {"disruptionsAllowed": 0},
    }
    found = read(node("a"), pod("p", "a", labels={"app": "x"}), pod("q", "a", labels={"app": "y"}), budget)
    assert found.movable.tolist() == [False, True]


def test_cordoned_nodes_take_nothing_and_keep_what_runs(read):
    found = read(node("a", unschedulable=True), node("b"), pod("p", "a"), pod("q"))
    assert found.node2type.tolist() == [0, 1]
    # p may stay or go to b; q may go to b only.
    assert found.admits[found.pod2class].tolist() == [[True, True], [False, True]]
    assert any("cordoned" in note for note in found.notes)


def test_taints_and_selectors_decide_which_types_admit(read):
    tainted = node("a", gpus=1)
    tainted["spec"]["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]
    tolerates = {"tolerations": [{"key": "gpu", "operator": "Exists"}]}
    found = read(
        tainted,
        node("b", labels={"disk": "ssd"}),
        pod("p", spec={"nodeSelector": {"disk": "ssd"}}),
        pod("q", spec=tolerates),
    )
    assert found.admits[found.pod2class].tolist() == [[False, True], [True, True]]


def test_a_node_has_room_for_what_runs_on_it(read):
    """An unhealthy GPU is no longer allocatable, and 17 of 16 cores are asked for."""
    found = read(node("a", gpus=1), pod("p", "a", gpus=2, cpu="17"), pod("q"))
    assert found.num_gpus.tolist() == [2]
    assert found.capacity[0, 0] == 17_000
    assert any("room for what runs on them" in note for note in found.notes)


def test_pods_that_may_not_share_a_node_take_a_resource_whole(read):
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
            ]
        }
    }
    dbs = [pod(f"db-{n}", on, labels={"app": "db"}, spec={"affinity": apart}) for n, on in enumerate(("a", None))]
    found = read(node("a"), node("b"), *dbs, pod("web", "b"))
    r = found.resources.index("alone-0")
    assert found.capacity[:, r].tolist() == [1000]
    assert found.demand[found.pod2class, r].tolist() == [1000, 0, 1000]
    assert any(note.startswith("Kept exactly: at most one a machine of 2 pods") for note in found.notes)


@pytest.mark.parametrize(
    ("how", "value"),
    [
        ("annotations", {"scheduling.k8s.io/group-name": "g"}),
        ("annotations", {"scheduling.k8s.io/pod-group": "g"}),
        ("annotations", {"pod-group-name": "g"}),
        ("labels", {"scheduling.x-k8s.io/pod-group": "g"}),
        ("labels", {"kueue.x-k8s.io/pod-group-name": "g"}),
    ],
)
def test_gangs(read, how, value):
    """Without a PodGroup all pods are needed, which is said."""
    given = {"notes" if how == "annotations" else "labels": value}
    found = read(node("a"), pod("p", **given), pod("q"), pod("r", **given))
    assert found.pod_names == ("a/p", "a/r", "a/q")
    assert found.gang.tolist() == [0, 0, -1]
    assert any(note.startswith("Assumed: all pending pods of a gang") for note in found.notes)


@pytest.mark.parametrize(("least", "runs", "gang"), [(2, 0, [0, 0, -1]), (3, 1, [-1, 0, 0, -1]), (2, 1, [-1] * 4)])
def test_a_pod_group_says_how_many_are_needed(read, least, runs, gang):
    group = {"kind": "PodGroup", "metadata": {"name": "g", "namespace": "a"}, "spec": {"minMember": least}}
    notes = {"scheduling.k8s.io/group-name": "g"}
    running = [pod(f"runs-{n}", "a", notes=notes) for n in range(runs)]
    found = read(node("a"), group, *running, *(pod(f"p-{n}", notes=notes) for n in range(3)))
    assert found.gang.tolist() == gang


def test_bytes_that_are_no_whole_kib_count_as_less(read):
    found = read(node("a"), pod("p", "a", memory="1025"))
    assert found.resources[1] == "ram_kib"
    assert found.demand[0, 1] == 1
    assert any("rounded down to KiB" in note for note in found.notes)


def test_a_snapshot_of_kai(tmp_path):
    """Objects have no kind there; a pod of KAI's own holds GPU 1 for those that share it."""
    held = pod("holds", "a", gpus=1, labels={"runai-gpu-group": "x"}, notes={"run.ai/reserve_for_gpu_index": "1"})
    held["metadata"]["namespace"] = "kai-resource-reservation"
    half = [
        pod(f"half-{n}", "a", labels={"runai-gpu-group": "x"}, notes={"gpu-fraction": "0.5", "pod-group-name": "g"})
        for n in range(2)
    ]
    groups = [{"metadata": {"name": "g", "namespace": "a"}, "spec": {"minMember": 2}}]
    items = {"pods": [held, *half, pod("p", gpus=2)], "nodes": [node("a", gpus=2)], "podGroups": groups, "queues": None}
    for each in (*items["pods"], *items["nodes"]):
        del each["kind"]
    path = tmp_path / "snapshot.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("snapshot.json", json.dumps({"config": {}, "rawObjects": items}))
    found = kai_snapshot(path)
    assert found.pod_names == ("a/half-0", "a/half-1", "a/p")
    assert found.running_gpus.tolist() == [2, 2, 0]
    assert found.gpu_milli[found.pod2class].tolist() == [500, 500, 1000]


def test_an_archive_that_is_no_snapshot(tmp_path):
    path = tmp_path / "snapshot.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("snapshot.json", "[]")
    with pytest.raises(InstanceError, match=r"snapshot\.zip: snapshot\.json is no snapshot of KAI-Scheduler"):
        kai_snapshot(path)


def test_a_cluster_without_pods(read):
    with pytest.raises(InstanceError, match="none is to be packed"):
        read(node("a"))


def test_an_unknown_unit(read):
    with pytest.raises(InstanceError, match="unit"):
        read(node("a"), pod("p", "a"), unit="euros")
