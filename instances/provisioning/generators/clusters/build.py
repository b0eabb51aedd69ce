"""A generated cluster: nodes, what runs on them, what is pending, what has ended, and what somebody did by hand.

What is left on the nodes of a generated cluster, and on which of them a pod is placed.

The nodes of a generated cluster: how many of each group, their labels, and what is allocatable on each.

Generated clusters as files that a user would have, and as instances.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.provisioning.generators.clusters import machines as objects
from schedgap.instances.provisioning.generators.clusters.kinds import KINDS, Kind
from schedgap.instances.provisioning.generators.clusters.machines import (
    DAEMON_STAYS,
    HOST,
    KIB_GIB,
    NOW,
    ZONE,
    Daemon,
    Json,
    MachineType,
    NodeGroup,
    Provider,
    container,
    metadata,
    node,
    node_taints,
    nodepool,
    write_list,
)
from schedgap.instances.provisioning.generators.clusters.workloads import GPU, ODD, Dice, Workload, draw, made
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.readers.kubernetes import kubernetes
from schedgap.instances.provisioning.readers.quantities import fine_amounts
from schedgap.instances.provisioning.running import ONE_TASK

RESOURCES = ("cpu", "ram_bytes", GPU, "pods", "ephemeral_bytes")
# Nodes have had different pasts: the last in favour gets half of what the first does.
LEAST_FAVOUR = 0.5
# What workloads of a weighted cluster say that it costs to delete their pods.
COSTS = {1: "2147483647", 2: "-200000000"}


class Room:
    """Nodes by what is left of their allocatable amounts. capacity, free : (R, N) int64, fine units."""

    def __init__(self, dice: Dice, allocatable: Sequence[Mapping[str, int]]) -> None:
        self.capacity = np.array([vector(each) for each in allocatable]).T.copy()
        self.free = self.capacity.copy()
        self._dice = dice
        self._favour = LEAST_FAVOUR + (1 - LEAST_FAVOUR) * dice.shares(len(allocatable))

    def take(self, node: int, asked: IntArray) -> None:
        """Take a pod's request off a node."""
        self.free[:, node] -= asked

    def place(self, asked: IntArray, allowed: BoolArray) -> int:
        """Take a node with room, one with much left, as the scheduler does, and return it; -1 for none. O(N R)."""
        fits = allowed & (self.free >= asked[:, None]).all(axis=0)
        if not fits.any():
            return -1
        left = (self.free[:2] / self.capacity[:2]).min(axis=0) * self._favour
        node = int(np.where(fits, left * (1 + self._dice.shares(fits.size)), -1.0).argmax())
        self.take(node, asked)
        return node

    def load(self, nodes: BoolArray) -> float:
        """Return the share of what is allocatable on nodes that is asked for: of CPU, memory or GPUs, whichever is most."""
        whole, left = (each[:3, nodes].sum(axis=1) for each in (self.capacity, self.free))
        return float((1 - left / np.maximum(whole, 1))[whole > 0].max())


def vector(amounts: Mapping[str, int]) -> IntArray:
    """Return amounts by the order of `RESOURCES`."""
    return np.array([amounts.get(name, 0) for name in RESOURCES], np.int64)


TYPE = "node.kubernetes.io/instance-type"
# Of machines of one type some KiB are missing here and there.
KIB_APART = (0, 4, 8, 12, 20)
DISK = "76224326324"


@dataclass(slots=True)
class Made:
    """A node: its object, its group, type and zone."""

    document: Json
    group: NodeGroup
    kind: MachineType
    zone: str

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.document["metadata"]["name"])


def numbers(groups: Sequence[NodeGroup], total: int) -> list[int]:
    """Return how many nodes each group has: at least one, by shares, `total` in all where that is as many as groups."""
    found = [max(1, int(group.share * total)) for group in groups]
    for place in range(total - sum(found)):
        found[1 + place % (len(found) - 1)] += 1
    return found


def made_nodes(
    provider: Provider, groups: Sequence[NodeGroup], total: int, labelled: bool, dice: Dice
) -> Iterator[Made]:
    """Yield the nodes. labelled : with the label of the machine type, also where the provider sets none."""
    types = {kind.name: kind for kind in provider.types}
    number = 0
    for group, many in zip(groups, numbers(groups, total), strict=True):
        for _ in range(many):
            kind, zone = types[dice.pick(group.types)], provider.zones[number % len(provider.zones)]
            yield Made(_node(provider, group, kind, zone, number, labelled, dice), group, kind, zone)
            number += 1


def _node(
    provider: Provider, group: NodeGroup, kind: MachineType, zone: str, number: int, labelled: bool, dice: Dice
) -> Json:
    digits = dice.digits()
    name = provider.node_name(number, digits, group.name)
    labels = {HOST: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **group.labels}
    labels |= provider.labels(group, kind)
    if zone:
        labels |= {ZONE: zone, "topology.kubernetes.io/region": provider.region, provider.disk_zone: zone}
    if labelled or provider.has_type_label:
        labels |= {TYPE: kind.name, "beta.kubernetes.io/instance-type": kind.name}
    cpu, kib = provider.reserved(kind)
    whole = kind.gib * KIB_GIB - kind.gib * KIB_GIB // 50 - dice.pick(KIB_APART)
    gpus = {GPU: str(kind.gpus)} if kind.gpus else {}
    both = gpus | {"pods": str(kind.most_pods), "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    capacity = both | {"cpu": str(kind.vcpu), "memory": f"{whole}Ki", "ephemeral-storage": "83873772Ki"}
    milli = 1000 * kind.vcpu - cpu
    left = f"{milli}m" if milli % 1000 else str(milli // 1000)
    allocatable = both | {"cpu": left, "memory": f"{whole - kib}Ki", "ephemeral-storage": DISK}
    spec: Json = {"podCIDR": f"10.{100 + number // 250}.{number % 250}.0/24"}
    if provider.provider_id:
        spec["providerID"] = provider.provider_id.format(zone=zone, digits=digits)
    if taints := node_taints(group):
        spec["taints"] = taints
    return node(metadata(name, "", digits, labels), spec, capacity, allocatable)


def daemon_request(daemon: Daemon) -> IntArray:
    """Return what a pod of a DaemonSet asks for, by the order of `RESOURCES`."""
    return vector(Workload("", "", {"containers": [container(daemon.name, daemon.requests)]}, 1).request())


def daemon_pod(daemon: Daemon, host: str, revision: str, dice: Dice) -> Json:
    """Return the pod of a DaemonSet, or the static pod, on a node."""
    ports = [{"containerPort": daemon.port, "hostPort": daemon.port, "protocol": "TCP"}] if daemon.port else []
    spec: Json = {"containers": [container(daemon.name, daemon.requests, ports=ports)], "hostNetwork": bool(ports)}
    labels = {"app": daemon.name} | ({} if daemon.static else {"controller-revision-hash": revision})
    end = host if daemon.static else dice.suffix()
    meta = metadata(f"{daemon.name}-{end}", daemon.namespace, dice.digits(), labels)
    if daemon.static:
        meta["annotations"] = {"kubernetes.io/config.mirror": revision, "kubernetes.io/config.source": "file"}
        meta = objects.owned(meta, "Node", host)
        spec["tolerations"] = [{"effect": "NoExecute", "operator": "Exists"}]
    else:
        meta = objects.owned(meta, "DaemonSet", daemon.name)
        spec["tolerations"] = [{"operator": "Exists"}, *DAEMON_STAYS]
        field = [{"key": "metadata.name", "operator": "In", "values": [host]}]
        terms = {"nodeSelectorTerms": [{"matchFields": field}]}
        spec |= {"nodeSelector": dict(daemon.selector)} if daemon.selector else {}
        spec["affinity"] = {"nodeAffinity": {objects.REQUIRED: terms}}
    return objects.pod(meta, spec, host, "Running")


GPU_RULES = ("training", "training", "job", "plain")
SYSTEM_RULES = ("plain", "soft")
# Workloads one after another of which no pod finds room: the group is full.
FULL = 20
ENDED, EVICTED = 12, 3


class Cluster:
    """A cluster as it is filled. pods, nodes, volumes, budgets : objects."""

    def __init__(self, name: str, kind: Kind, nodes: int, seed: int, *, labelled: bool, weighted: bool = False) -> None:
        self.kind, self.dice, self.weighted = kind, Dice(name, nodes, seed), weighted
        self.made = list(made_nodes(kind.provider, kind.groups, nodes, labelled, self.dice))
        self.pods: list[Json] = []
        self.volumes: list[Json] = []
        self.budgets: list[Json] = []
        self.room = Room(self.dice, [fine_amounts(each.document["status"]["allocatable"]) for each in self.made])
        self.zone_names = sorted({each.zone for each in self.made})
        self.zones = np.array([self.zone_names.index(each.zone) for each in self.made])
        self.group_of = np.array([kind.groups.index(each.group) for each in self.made])
        # Nodes that take new pods.
        self.open = np.ones(len(self.made), np.bool_)
        self.number = 0
        for daemon in kind.provider.daemons:
            self._run_everywhere(daemon)
        self._fill()
        self._by_hand()
        self._pending()
        self._ended()

    @property
    def nodes(self) -> list[Json]:
        """Objects of the nodes."""
        return [each.document for each in self.made]

    def _run_everywhere(self, daemon: Daemon) -> None:
        revision, asked = self.dice.suffix(9), daemon_request(daemon)
        for number, host in enumerate(self.made):
            if daemon.selector.items() <= host.document["metadata"]["labels"].items():
                self.room.take(number, asked)
                self.pods.append(daemon_pod(daemon, host.name, revision, self.dice))

    def _fill(self) -> None:
        """Run workloads until each group is as loaded as it should be, or as many pods run as should."""
        kind, groups = self.kind, self.kind.groups
        drawn = [rule for rule, share in kind.rules.items() for _ in range(share)]
        rule, times = kind.first
        general = next(group for group in groups if group.audience == "general")
        for each in (*kind.rules, *[rule] * times):
            self._run(draw(self.dice, general, each, self._next()))
        for cpu, memory in ODD:
            requests = {"cpu": cpu, "memory": memory}
            self._run(made(self.dice, general, "plain", f"legacy-{self._next()}", "web", requests, 2))
        wanted = {number for number, group in enumerate(groups) if group.load}
        failed = dict.fromkeys(wanted, 0)
        most = kind.pods_per_node * len(self.made) if kind.pods_per_node else 10**9
        while wanted and len(self.pods) < most:
            # First who tolerates a taint: such pods may also run where there is none.
            tainted = [each for each in wanted if groups[each].taint is not None]
            number = self.dice.pick(sorted(tainted or wanted))
            group = groups[number]
            own = {"gpu": GPU_RULES, "system": SYSTEM_RULES}.get(group.audience, drawn)
            workload = draw(self.dice, group, self.dice.pick(own), self._next())
            workload.replicas = min(workload.replicas, most - len(self.pods))
            failed[number] = 0 if self._run(workload) else failed[number] + 1
            if failed[number] == FULL or self.room.load(self.group_of == number) >= group.load:
                wanted.discard(number)

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _admits(self, workload: Workload) -> BoolArray:
        """Return the nodes that take pods of a workload: by its selector, and by the taint of the group."""
        tolerated = {each.get("key") for each in workload.spec["tolerations"]}
        wanted = workload.spec.get("nodeSelector", {}).items()
        of_group = [
            (group.taint is None or group.taint[0] in tolerated) and wanted <= group.labels.items()
            for group in self.kind.groups
        ]
        admitted: BoolArray = np.array(of_group)[self.group_of] & self.open
        return admitted

    def _run(self, workload: Workload) -> int:
        """Place the pods of a workload, those that find room, and return how many."""
        asked, allowed = vector(workload.request()), self._admits(workload)
        on, in_zone = np.zeros(len(self.made), np.int64), np.zeros(len(self.zone_names), np.int64)
        near = np.unique(self.zones[allowed])
        placed = 0
        revision = self.dice.suffix(9)
        for number in range(workload.replicas):
            may = allowed & (on < workload.most)
            if workload.zoned:
                may &= self.zones == near[in_zone[near].argmin()]
            host = self.room.place(asked, may)
            if host < 0:
                break
            on[host] += 1
            in_zone[self.zones[host]] += 1
            placed += 1
            self._add(workload, revision, number, self.made[host].name, "Running", zone=self.made[host].zone)
        if placed > 1 and workload.owner in ("ReplicaSet", "StatefulSet") and self.dice.below(3) == 0:
            meta = metadata(workload.name, workload.namespace, self.dice.digits())
            self.budgets.append(objects.budget(meta, workload.name))
        return placed

    def _add(
        self, workload: Workload, revision: str, number: int, host: str, phase: str, *, zone: str = "", why: str = ""
    ) -> None:
        """Add a pod of a workload."""
        owner, labels, spec = workload.name, {"app": workload.name}, dict(workload.spec)
        if workload.owner == "ReplicaSet":
            owner = f"{owner}-{revision}"
            labels["pod-template-hash"] = revision
        spec["volumes"] = [objects.token_volume(self.dice.suffix())]
        name = f"{owner}-{number}" if workload.volume else f"{owner}-{self.dice.suffix()}"
        if workload.volume:
            labels["statefulset.kubernetes.io/pod-name"] = name
            spec["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}})
            provider, digits = self.kind.provider, self.dice.digits()
            reach = (HOST, host) if provider.driver == "local" else (provider.disk_zone, zone)
            claim = metadata(f"data-{name}", workload.namespace, digits)
            volume = metadata(f"pvc-{digits}", "", self.dice.digits())
            self.volumes += objects.claim_and_volume(claim, volume, provider.driver, reach)
        meta = objects.owned(metadata(name, workload.namespace, self.dice.digits(), labels), workload.owner, owner)
        notes = dict(workload.annotations)
        if self.weighted:
            # One in six of each: 4.0 pods, 10 at most, and none.
            which = sum(map(ord, workload.name)) % 6
            spec |= {"priority": 100_000_000} if which == 0 else {}
            notes |= {"controller.kubernetes.io/pod-deletion-cost": COSTS[which]} if which in COSTS else {}
        if notes:
            meta["annotations"] = notes
        self.pods.append(objects.pod(meta, spec, host, phase, why))

    def _by_hand(self) -> None:
        """Cordon nodes, and taint others, as people do; what runs there stays."""
        general = [
            n for n, each in enumerate(self.made) if each.group.taint is None and each.group.audience == "general"
        ]
        cordoned, tainted = 1 + len(self.made) // 50, 2
        for place, number in enumerate(general[:: max(1, len(general) // (cordoned + tainted))][: cordoned + tainted]):
            spec = self.made[number].document["spec"]
            self.open[number] = False
            if place < cordoned:
                spec["unschedulable"] = True
                hand = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
            else:
                key, value = (("maintenance", "disk"), ("dedicated", "team-a"))[place % 2]
                hand = {"key": key, "value": value, "effect": "NoSchedule"}
            spec.setdefault("taints", []).append(hand)

    def _pending(self) -> None:
        """Add pods that are larger than what is free on any node that would take them, and smaller than such a node."""
        for group, replicas, rule in self._asking():
            workload = made(self.dice, group, rule, f"pending-{self._next()}", "ml", {"cpu": "1"}, replicas)
            allowed = self._admits(workload)
            while (
                group.audience == "gpu" and (self.room.free == self.room.capacity)[RESOURCES.index(GPU), allowed].any()
            ):
                # Somebody has a GPU of each node.
                notebook = {"cpu": "4", "memory": "16Gi", GPU: "1"}
                self._run(made(self.dice, group, "stays", f"notebook-{self._next()}", "ml", notebook, 1))
            left, fresh = (each[:, allowed].max(axis=1) for each in (self.room.free, self.room.capacity))
            free = dict(zip(RESOURCES, left.tolist(), strict=True))
            whole = dict(zip(RESOURCES, fresh.tolist(), strict=True))
            sizes = {"cpu": free["cpu"] // 250 * 250 + 250, "memory": free["ram_bytes"] // 2**28 + 1}
            if free[GPU] < whole[GPU]:
                requests, lacking = {"cpu": "8", "memory": "64Gi", GPU: str(free[GPU] // 1000 + 1)}, GPU
            elif sizes["cpu"] <= whole["cpu"] * 9 // 10:
                requests, lacking = {"cpu": f"{sizes['cpu']}m", "memory": "2Gi"}, "cpu"
            else:
                requests, lacking = {"cpu": "500m", "memory": f"{sizes['memory'] * 256}Mi"}, "memory"
            workload.spec["containers"][0] = container("main", requests)
            why = f"0/{len(self.made)} nodes are available: {int(allowed.sum())} Insufficient {lacking}."
            for number in range(replicas):
                self._add(workload, "76d9f8c5b", number, "", "Pending", why=why)

    def _asking(self) -> Sequence[tuple[NodeGroup, int, str]]:
        """Return groups for which pods are pending, how many, and their rule."""
        groups = {group.audience: group for group in self.kind.groups}
        asking = [(groups["general"], 2, "plain"), (groups["general"], 1, "job")]
        return [*asking, *((groups[name], 2, "training") for name in ("gpu",) if name in groups)]

    def _ended(self) -> None:
        """Add Jobs that have completed, some on a node that has gone, and pods that were evicted."""
        general = next(group for group in self.kind.groups if group.audience == "general")
        for number in range(ENDED):
            workload = made(
                self.dice, general, "job", f"report-{29_000_000 + number}", "web", {"cpu": "1", "memory": "1Gi"}
            )
            self._add(workload, "", 0, "gone" if number % 4 == 0 else self.dice.pick(self.made).name, "Succeeded")
        for number in range(EVICTED):
            workload = made(self.dice, general, "plain", f"cache-{number}", "web", {"cpu": "0.5", "memory": "2e9"})
            self._add(workload, "5d8c7b9f4", number, self.dice.pick(self.made).name, "Failed")


PARTS = ("cluster.json", "nodepools.json", "volumes.json")
PRICES, NODE_TYPES = "prices.csv", "node_types.csv"


def cluster_of_kind(
    kind: str = "eks", nodes: int = 0, *, weighted: bool = False, max_disruption: int = -1, seed: int = 0
) -> ProvisioningInstance:
    """Make a cluster of a kind, and read what kubectl would print of it and its price list.

    nodes : 0 for as many as the kind has. Nodes whose provider does not label them with their type are labelled. weighted :
    whether some workloads have priorities and deletion costs. max_disruption : in tasks, -1 for any.

    Raises
    ------
    InstanceError
        for a kind that is none, fewer nodes than it has groups, and a limit that is none.
    """
    if max_disruption < -1:
        raise InstanceError(f"generator cluster: max_disruption is {max_disruption}; give -1 for any, or 0 or more.")
    with TemporaryDirectory() as folder:
        _write(kind, Path(folder), nodes, seed, labelled=True, weighted=weighted)
        paths = [Path(folder) / part for part in PARTS]
        instance = kubernetes(*paths, catalogue=str(Path(folder) / PRICES), now=NOW)
    most, more = None, "-weighted" if weighted else ""
    if max_disruption >= 0:
        most, more = max_disruption * ONE_TASK, f"{more}-d{max_disruption}"
    return instance.replace(name=f"cluster-{kind}-{nodes or KINDS[kind].nodes}{more}-s{seed}", max_disruption=most)


def write_cluster(kind: str, folder: Path | str, nodes: int = 0, *, seed: int = 0) -> None:
    """Write what a user of a cluster has into a folder.

    `cluster.json` has pods and nodes, `nodepools.json` Karpenter's NodePools, `volumes.json` claims and volumes, `budgets.json`
    PodDisruptionBudgets, `prices.csv` the price list and `node_types.csv` the type of each node. nodes : as of `cluster_of_kind`.

    Raises
    ------
    InstanceError
        as `cluster_of_kind`.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    _write(kind, Path(folder), nodes, seed, labelled=False)


def _write(name: str, folder: Path, nodes: int, seed: int, *, labelled: bool, weighted: bool = False) -> None:
    one_of("kind", name, KINDS, InstanceError)
    kind = KINDS[name]
    total = nodes or kind.nodes
    if total < 2 * len(kind.groups):
        raise InstanceError(
            f"kind {name} has {len(kind.groups)} groups of nodes; give at least {2 * len(kind.groups)} nodes, not {total}."
        )
    made = Cluster(name, kind, total, seed, labelled=labelled, weighted=weighted)
    pools = [
        nodepool(metadata(pool, "", f"{number + 1:012x}"), *content)
        for number, (pool, content) in enumerate(kind.pools.items())
    ]
    write_list((*made.pods, *made.nodes), folder / "cluster.json")
    write_list(pools, folder / "nodepools.json")
    write_list(made.volumes, folder / "volumes.json")
    write_list(made.budgets, folder / "budgets.json")
    rows = [f"{each.name},{each.kind.name}" for each in made.made]
    (folder / NODE_TYPES).write_text("\n".join(["node,type", *rows]) + "\n", encoding="utf-8")
    (folder / PRICES).write_text(price_list(kind.provider, made.made), encoding="utf-8")


def price_list(provider: Provider, nodes: Sequence[Made] = ()) -> str:
    """Return the price list of a provider, a CSV; own machines are as many as there are nodes."""
    own = not provider.has_type_label
    named = any(each.product for each in provider.types)
    lines = ["name,price,spot_price,cpu,memory_gib,gpu,pods" + ",gpu_name" * named + ",count" * own]
    for each in provider.types:
        spot = f"{each.spot / 1e6:.4f}" if each.spot else ""
        line = f"{each.name},{each.micro / 1e6:.4f},{spot},{each.vcpu},{each.gib},{each.gpus},{each.most_pods}"
        line += f",{each.product}" * named
        lines.append(line + f",{sum(node.kind == each for node in nodes)}" * own)
    return "\n".join(lines) + "\n"
