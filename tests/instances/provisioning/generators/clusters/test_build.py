"""Generated clusters keep Kubernetes' rules: read from the JSON alone, by arithmetic of its own."""

import json
import re
from collections import Counter, defaultdict
from fractions import Fraction

import pytest

from schedgap.instances.provisioning import write_cluster
from schedgap.instances.provisioning.generators.clusters import KINDS

UNITS = {"": 1, "m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
HOST, ZONE, TYPE = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# The large kind with fewer nodes has the same rules.
SIZES = {kind: 0 for kind in KINDS} | {"large": 60}
# What somebody did by hand after pods were there.
BY_HAND = ("node.kubernetes.io/unschedulable", "maintenance", "dedicated")
PROVIDER_LABELS = {
    "eks": ("eks.amazonaws.com/nodegroup", "eks.amazonaws.com/capacityType"),
    "karpenter": ("karpenter.sh/nodepool", "karpenter.sh/capacity-type", "karpenter.k8s.aws/instance-family"),
    "gke": ("cloud.google.com/gke-nodepool", "cloud.google.com/gke-spot"),
    "aks": ("kubernetes.azure.com/agentpool", "kubernetes.azure.com/scalesetpriority"),
    "kubeadm": ("node-role.kubernetes.io/control-plane",),
    "gpu": ("nvidia.com/gpu.product",),
}


def amount(text):
    """`1.5Gi`, `1e9`, `100m` as a fraction."""
    number, exponent, unit = re.fullmatch(r"([\d.]+)(?:e(\d+))?([a-zA-Z]*)", text).groups()
    return Fraction(number) * 10 ** int(exponent or 0) * UNITS[unit]


def asked(container):
    return Counter({key: amount(text) for key, text in container["resources"].get("requests", {}).items()})


def request(pod):
    """Containers and sidecars together, or an initial container with the sidecars before it; and a slot."""
    total, sidecars, most = Counter(pods=1), Counter(), Counter()
    for container in pod["spec"]["containers"]:
        total += asked(container)
    for container in pod["spec"].get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            sidecars += asked(container)
        else:
            most |= asked(container) + sidecars
    return (total + sidecars) | most


class State:
    """What a cluster's files hold. running, pending : pods. left : of each node, by resource. volumes : reach by name."""

    def __init__(self, folder):
        items = json.loads((folder / "cluster.json").read_text())["items"]
        self.nodes = {each["metadata"]["name"]: each for each in items if each["kind"] == "Node"}
        self.pods = [each for each in items if each["kind"] == "Pod"]
        self.running, self.pending = (
            [pod for pod in self.pods if pod["status"]["phase"] == phase] for phase in ("Running", "Pending")
        )
        self.whole = {
            name: Counter({key: amount(text) for key, text in node["status"]["allocatable"].items()})
            for name, node in self.nodes.items()
        }
        self.used = defaultdict(Counter)
        for pod in self.running:
            self.used[pod["spec"]["nodeName"]] += request(pod)
        volumes = json.loads((folder / "volumes.json").read_text())["items"]
        self.claims = {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each["spec"]["volumeName"]
            for each in volumes
            if each["kind"] == "PersistentVolumeClaim"
        }
        self.reach = {
            each["metadata"]["name"]: each["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
            for each in volumes
            if each["kind"] == "PersistentVolume"
        }
        self.pools = {each["metadata"]["name"] for each in json.loads((folder / "nodepools.json").read_text())["items"]}
        self.budgets = json.loads((folder / "budgets.json").read_text())["items"]

    def labels(self, name):
        return self.nodes[name]["metadata"]["labels"]

    def taints(self, name):
        return [each for each in self.nodes[name]["spec"].get("taints", []) if each["key"] not in BY_HAND]

    def admits(self, name, pod):
        """By selector, and by all taints but those put there by hand."""
        tolerated = {each.get("key") for each in pod["spec"]["tolerations"]}
        return pod["spec"].get("nodeSelector", {}).items() <= self.labels(name).items() and (
            None in tolerated or all(taint["key"] in tolerated for taint in self.taints(name))
        )


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def state(kind, tmp_path_factory):
    folder = tmp_path_factory.mktemp(kind)
    write_cluster(kind, folder, SIZES[kind], seed=1)
    return State(folder)


def owner(pod):
    return pod["metadata"]["ownerReferences"][0]["kind"]


def workloads(pods):
    found = defaultdict(list)
    for pod in pods:
        if owner(pod) not in ("DaemonSet", "Node"):
            found[pod["metadata"]["namespace"], pod["metadata"]["labels"]["app"]].append(pod)
    return found


def test_every_running_pod_fits_where_it_is(state):
    for name, used in state.used.items():
        assert all(used[key] <= state.whole[name][key] for key in used), name
    assert all(state.admits(pod["spec"]["nodeName"], pod) for pod in state.running)


def test_as_loaded_as_clusters_are(state):
    """40 to 60% of what is allocatable is asked for, of the resource that is asked for most; no two nodes are loaded alike."""
    shares = []
    for key in ("cpu", "memory", "nvidia.com/gpu"):
        if whole := sum(each[key] for each in state.whole.values()):
            shares.append(sum(used[key] for used in state.used.values()) / whole)
    assert Fraction(4, 10) < max(shares) < Fraction(6, 10)
    by_node = sorted(state.used[name]["cpu"] / whole["cpu"] for name, whole in state.whole.items())
    assert by_node[len(by_node) // 10] < Fraction(1, 2) < by_node[-len(by_node) // 10]


def test_what_is_pending_fits_an_empty_node_alone(state):
    daemons = defaultdict(Counter)
    for pod in state.running:
        if owner(pod) in ("DaemonSet", "Node"):
            daemons[pod["spec"]["nodeName"]] += request(pod)
    assert len(state.pending) >= 3
    for pod in state.pending:
        wanted = request(pod)
        admitting = [name for name in state.nodes if state.admits(name, pod)]
        open_ones = [n for n in admitting if len(state.taints(n)) == len(state.nodes[n]["spec"].get("taints", []))]
        assert not any(wanted <= state.whole[name] - state.used[name] for name in open_ones)
        assert any(wanted <= state.whole[name] - daemons[name] for name in admitting)


def test_rules_of_workloads(state):
    """Anti-affinity, spread by zone and host, volumes where their zone is."""
    seen = Counter()
    for pods in workloads(state.running).values():
        spec = pods[0]["spec"]
        nodes = Counter(pod["spec"]["nodeName"] for pod in pods)
        if REQUIRED in spec.get("affinity", {}).get("podAntiAffinity", {}):
            assert max(nodes.values()) == 1
            seen["apart"] += 1
        for spread in spec.get("topologySpreadConstraints", []):
            if spread["whenUnsatisfiable"] == "DoNotSchedule":
                key = spread["topologyKey"]
                places = {state.labels(name)[key] for name in state.nodes if state.admits(name, pods[0])}
                counts = Counter(state.labels(name)[key] for name in nodes.elements())
                assert max(counts.values()) - min(counts[place] for place in places) <= spread["maxSkew"]
                seen[key] += 1
        for pod in pods:
            for volume in pod["spec"].get("volumes", []):
                if claim := volume.get("persistentVolumeClaim"):
                    (term,) = state.reach[state.claims[pod["metadata"]["namespace"], claim["claimName"]]]
                    (expression,) = term["matchExpressions"]
                    assert state.labels(pod["spec"]["nodeName"])[expression["key"]] in expression["values"]
                    seen["volumes"] += 1
    assert seen["apart"] and seen[HOST] and seen["volumes"]


def test_what_every_kind_has(state):
    texts = Counter(
        text
        for pod in state.pods
        for container in pod["spec"]["containers"]
        for text in container["resources"].get("requests", {}).values()
    )
    assert all(texts[odd] for odd in ("1e9", "100m", "1.5Gi", "128974848", "0.5"))
    first = [pod["spec"]["containers"][0]["resources"].get("requests", {}) for pod in state.pods]
    assert any(requests.get("memory") == "100m" for requests in first)
    phases = Counter(pod["status"]["phase"] for pod in state.pods)
    assert (phases["Succeeded"], phases["Failed"]) == (12, 3)
    owners = Counter(map(owner, state.running))
    assert owners["Node"] and owners["Job"] and owners["StatefulSet"] and owners["DaemonSet"] >= 2 * len(state.nodes)
    inits = [each for pod in state.running for each in pod["spec"].get("initContainers", [])]
    assert {each.get("restartPolicy") for each in inits} == {None, "Always"}
    specs = [node["spec"] for node in state.nodes.values()]
    assert sum("unschedulable" in spec for spec in specs) == 1 + len(specs) // 50
    hand = {taint["key"] for spec in specs for taint in spec.get("taints", [])}
    assert set(BY_HAND) <= hand
    assert state.budgets
    by_type = defaultdict(set)
    for node in state.nodes.values():
        memory = amount(node["status"]["allocatable"]["memory"])
        by_type[round(amount(node["status"]["capacity"]["memory"]) / 2**30), round(memory / 2**28)].add(memory)
    assert any(0 < max(each) - min(each) < 64 * 2**10 for each in by_type.values())


def test_what_a_kind_promises(kind, state):
    have = {label for name in state.nodes for label in state.labels(name)}
    assert set(PROVIDER_LABELS.get(kind, ())) <= have
    assert (TYPE in have) == (kind != "kubeadm")
    pools = {
        labels["karpenter.sh/nodepool"]
        for labels in map(state.labels, state.nodes)
        if "karpenter.sh/nodepool" in labels
    }
    assert pools == state.pools and bool(pools) == (kind == "karpenter")
    if kind == "anti-affine":
        apart = [pods for pods in workloads(state.running).values() if "affinity" in pods[0]["spec"]]
        assert len(apart) >= 150
    if kind == "zonal":
        assert len(state.claims) == sum(owner(pod) == "StatefulSet" for pod in state.running) >= 60
    if kind == "gpu":
        assert sum("nvidia.com/gpu" in request(pod) for pod in state.pending) == 2


def test_a_thousand_nodes(tmp_path):
    write_cluster("large", tmp_path)
    with open(tmp_path / "cluster.json", encoding="utf-8") as file:
        kinds = Counter(line.strip() for line in file if line.startswith(" " * 12 + '"kind": '))
    assert kinds == {'"kind": "Pod",': 30_018, '"kind": "Node",': 1_000}
