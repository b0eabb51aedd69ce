"""The least price at which the pods of a tiny cluster could be had, by Kubernetes' own rules: a judge of what is called proven.

It reads what kubectl prints, and rows of a price list, and knows nothing of the product: no instance, no classes, no families.
All sets of pods are tried on every machine that runs or can be rented, so it serves for some 7 pods.

Machines: those that run, at their price, each once; and new ones. Without NodePools a node group of any type of the list, with
any labels and no taints, can be made; so can machines of the groups that exist. With NodePools, what these admit, and any type
with the labels and taints of a group that exists. What is not known makes machines larger and admission wider: a type that
no node is of has its whole size; a label that follows neither from the type nor from the group may have any value, though but one
on one machine; a DaemonSet comes if it is on every node that admits it, and asks the least of its pods.

What pods ask for is in `kubernetes_rules.py`; that they fit, as in kube-scheduler's plugin noderesources/fit.go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf

from kubernetes_rules import (
    ARCH,
    CPU,
    HOSTNAME,
    MEMORY,
    PODS,
    SYSTEM,
    TYPE,
    ZONE,
    Asked,
    amounts,
    asked,
    excludes,
    holds,
    label,
    largest,
    total,
    whole,
)

CAPACITY_TYPE, POOL = "karpenter.sh/capacity-type", "karpenter.sh/nodepool"
SPOT = {
    CAPACITY_TYPE: ("spot",),
    "eks.amazonaws.com/capacityType": ("SPOT",),
    "cloud.google.com/gke-spot": ("true",),
    "kubernetes.azure.com/scalesetpriority": ("spot",),
}
GROUPS = ("eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool")
# Of a machine's hardware: nodes of a type tell them, where the list does not.
HARDWARE = (ARCH, "nvidia.com/", "amd.com/", "karpenter.k8s.aws/instance-", "karpenter.kwok.sh/instance-")
PROVIDERS = ("amazonaws.com", "azure.com", "google.com", "karpenter.sh", "k8s.aws", "kubernetes.io", "k8s.io")
PASSING = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler",
)
CONTROLLING = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}
COLUMNS = ("name", "price", "spot_price", "zone", "family", "count", "fee", "arch", "os")
FRESH = "a-value-that-nobody-names"


@dataclass(eq=False)
class Kind:
    """A type of the list. size : what it has, by resource, as far as that is known; what is not there it has any amount of."""

    name: str
    offers: list
    size: dict
    labels: dict
    count: float = inf


@dataclass(eq=False)
class Group:
    """What new machines have beside their type. labels : by key the values that they may have, None for none.

    closed : labels that are not there are none; else they may have any value. pool : its requirements, None of a node group.
    """

    labels: dict
    taints: list
    closed: bool = True
    pool: list | None = None


@dataclass(eq=False)
class Node:
    """A machine that runs, with what comes with it."""

    name: str
    price: Fraction
    labels: dict
    taints: list
    allocatable: dict
    fixed: list


class Cluster:
    """What was read."""

    def __init__(self, documents, prices):
        items = [item for document in documents for item in _items(document)]
        by_kind = {kind: [i for i in items if i["kind"] == kind] for kind in ("Node", "Pod", "NodePool")}
        self.prices = [{key: str(value).strip() for key, value in row.items()} for row in prices]
        self.pods, self.fixed = _pods(by_kind["Pod"], _volumes(items))
        self.pools = {pool["metadata"]["name"]: pool["spec"]["template"] for pool in by_kind["NodePool"]}
        self.nodes = [self._node(node) for node in by_kind["Node"]]
        self.devices = {n["metadata"]["name"]: whole(amounts(n["status"].get("capacity"))) for n in by_kind["Node"]}
        self.kinds = self._kinds()
        self.groups = self._groups()
        self.daemons = self._daemons()
        self.static = self._static()

    def _node(self, node):
        name, status = node["metadata"]["name"], node["status"]
        labels = {label(key): value for key, value in node["metadata"].get("labels", {}).items()}
        spot = any(labels.get(key) in values for key, values in SPOT.items())
        rows = [
            row for row in self.prices if row["name"] == labels[TYPE] and row.get("spot_price" if spot else "price")
        ]
        own = [r for r in rows if r.get("zone") == labels.get(ZONE)] or [r for r in rows if not r.get("zone")] or rows
        price = min(_price(row, spot) for row in own)
        # Without `allocatable` the API server fills in the capacity.
        size = whole(amounts(status.get("allocatable") or status.get("capacity")))
        fixed = [pod for pod in self.fixed if pod.node == name]
        return Node(name, price, labels, node.get("spec", {}).get("taints") or [], size, fixed)

    def _kinds(self):
        kinds = {}
        for row in self.prices:
            nodes = [node for node in self.nodes if node.labels[TYPE] == row["name"]]
            size = largest(*(node.allocatable for node in nodes)) if nodes else _size(row)
            for node in nodes:
                # A device that is broken today is not on a new machine.
                size |= {k: max(v, size.get(k, 0)) for k, v in self.devices[node.name].items() if "/" in k}
            if nodes:
                size = {PODS: 0} | {name: 0 for pod in self.pods for name in pod.request} | size
            elif not {CPU, MEMORY} & size.keys():
                continue
            named = {key: {node.labels.get(key) for node in nodes} for node in nodes for key in node.labels}
            seen = {key: values.pop() for key, values in named.items() if key.startswith(HARDWARE) and len(values) == 1}
            kind = kinds.setdefault(row["name"], Kind(row["name"], [], size, seen | _type_labels(row)))
            kind.offers.append(row)
        return list(kinds.values())

    def _groups(self):
        groups = [] if self.pools else [Group({}, [], closed=False)]
        for name, template in self.pools.items():
            spec = template["spec"]
            labels = {key: {value} for key, value in template.get("metadata", {}).get("labels", {}).items()}
            groups.append(Group({POOL: {name}} | labels, spec.get("taints") or [], pool=spec["requirements"]))
        alike = {}
        for node in self.nodes:
            if node.labels.get(POOL) in self.pools:
                continue
            named = next(((key, node.labels[key]) for key in GROUPS if key in node.labels), None)
            free = {k: v for k, v in node.labels.items() if not _is_of_the_type(k)}
            taints = sorted(str(sorted(taint.items())) for taint in node.taints)
            alike.setdefault(str(named or (sorted(free.items()), taints)), []).append(node)
        for members in alike.values():
            keys = {key for node in members for key in node.labels if not _is_of_the_type(key)}
            labels = {key: {node.labels.get(key) for node in members} for key in keys}
            by_hand = {key: {None} for key in keys if key.startswith("node-role.kubernetes.io/")}
            labels = {key: values | by_hand.get(key, set()) for key, values in labels.items()}
            taints = [t for t in members[0].taints if all(t in node.taints for node in members)]
            lasting = [t for t in taints if not t["key"].startswith(PASSING)]
            groups.append(Group(labels, lasting))
        return groups

    def _daemons(self):
        """Return the DaemonSets that come with new machines, each with the least that its pods ask for."""
        by_owner, found = {}, []
        for pod in self.fixed:
            if pod.owner.startswith("DaemonSet"):
                by_owner.setdefault(pod.owner, []).append(pod)
        for pods in by_owner.values():
            one = pods[0]
            # Its controller adds the name of the node to each of its pods.
            one.alternatives = [
                [{"matchExpressions": term.get("matchExpressions")} for term in terms]
                for terms in one.alternatives
                if all(term.get("matchExpressions") for term in terms)
            ]
            on = {pod.node for pod in pods}
            if all(n.name in on for n in self.nodes if one.admitted(n.labels, n.taints, n.name)):
                asks = {name: min(pod.request.get(name, 0) for pod in pods) for name in one.request}
                found.append(Asked(**{**vars(one), "request": asks}))
        return found

    def _static(self):
        """Return what static pods take that are on every node, which are none of a control plane's."""
        on = [
            {pod.name.removesuffix(f"-{node.name}"): pod for pod in node.fixed if pod.is_static} for node in self.nodes
        ]
        names = set.intersection(*map(set, on)) - CONTROLLING
        everywhere = [[pods[name].request for pods in on] for name in names]
        return total(*({key: min(one.get(key, 0) for one in each) for key in each[0]} for each in everywhere))


def _items(document):
    if document.get("kind") == "List" or "items" in document:
        return [item for each in document["items"] for item in _items(each)]
    return [document]


def _volumes(items):
    places = {}
    for item in items:
        if item["kind"] != "PersistentVolume":
            continue
        required = ((item.get("spec") or {}).get("nodeAffinity") or {}).get("required")
        zone = (item["metadata"].get("labels") or {}).get(ZONE)
        if required:
            places[item["metadata"]["name"]] = required["nodeSelectorTerms"]
        elif zone:
            there = {"key": ZONE, "operator": "In", "values": zone.split("__")}
            anywhere = {"key": ZONE, "operator": "DoesNotExist"}
            places[item["metadata"]["name"]] = [{"matchExpressions": [there]}, {"matchExpressions": [anywhere]}]
    claims = [item for item in items if item["kind"] == "PersistentVolumeClaim"]
    return {
        (c["metadata"].get("namespace", ""), c["metadata"]["name"]): places.get(c.get("spec", {}).get("volumeName"))
        for c in claims
    }


def _pods(pods, volumes):
    """Return the pods that need a place, and those that come with their node."""
    wanted, fixed = [], []
    for pod in pods:
        meta, spec = pod["metadata"], pod["spec"]
        if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            continue
        one = asked(pod, volumes)
        mirror = "kubernetes.io/config.mirror" in (meta.get("annotations") or {})
        one.is_static = mirror or one.owner.startswith("Node ")
        if one.is_static or one.owner.startswith("DaemonSet "):
            fixed.append(one)
        elif meta.get("deletionTimestamp") or (spec.get("schedulingGates") and not one.node):
            continue
        else:
            wanted.append(one)
    return wanted, fixed


def _price(row, spot):
    dollars = Fraction(row["spot_price" if spot else "price"]) + Fraction(row.get("fee") or 0)
    return Fraction(int(dollars * 10**6), 10**6)


def _size(row):
    """Return the size of a type that no node is of: what the list says, and any amount of what it says nothing about."""
    scale = {"cpu": (CPU, 1), "memory_gib": (MEMORY, 2**30), "ram_mib": (MEMORY, 2**20), "gpu": ("nvidia.com/gpu", 1)}
    scale |= {"ephemeral_gib": ("ephemeral-storage", 2**30)}
    size = {}
    for column, text in row.items():
        if column not in COLUMNS and not (column == "pods" and not text):
            name, unit = scale.get(column, (column, 1))
            value = Fraction(text or 0) * unit
            size[name] = int(value * 1000) if name == CPU else int(value)
    return size


def _type_labels(row):
    """Return the labels that follow from a type: as the list says them, and as Karpenter's AWS provider derives them."""
    arch = {"x86_64": "amd64", "aarch64": "arm64"}.get(row.get("arch", ""), row.get("arch", ""))
    found = {TYPE: row["name"], ARCH: arch, SYSTEM: row.get("os", "")}
    ec2 = {"cpu": row["cpu"]} if row.get("cpu") else {}
    if "gpu" in row:
        ec2["gpu-count"] = None if row["gpu"] in ("", "0") else row["gpu"]
    if match := re.fullmatch(r"(([a-z]+)(\d+)[a-z0-9-]*)\.([a-z0-9-]+)", row["name"]):
        ec2 |= dict(zip(("family", "category", "generation", "size"), match.groups(), strict=True))
        if row.get("memory_gib"):
            ec2["memory"] = str(int(Fraction(row["memory_gib"]) * 1024))
        if re.match(r"[a-z]+\d+g", match[1]) and not arch:
            found[ARCH] = "arm64"
    found |= {f"karpenter.k8s.aws/instance-{key}": value for key, value in ec2.items()}
    return {key: value for key, value in found.items() if value != ""}


def _is_of_the_type(key):
    return key in (TYPE, ARCH, CAPACITY_TYPE) or key.startswith((*HARDWARE, "topology.", HOSTNAME)) or key in SPOT


class Judge:
    """Tries sets of pods on machines."""

    def __init__(self, cluster):
        self.cluster, self.pods = cluster, cluster.pods
        n = len(self.pods)
        self.bad = [sum(1 << j for j in range(n) if j != i and excludes(self.pods[i], self.pods[j])) for i in range(n)]
        self.looked = {key for pod in (*self.pods, *cluster.daemons) for key in pod.keys}
        self.mentioned = {key: {None, FRESH} for key in self.looked}
        expressions = [
            e
            for p in (*self.pods, *cluster.daemons)
            for ts in p.alternatives
            for t in ts
            for e in t.get("matchExpressions") or ()
        ]
        expressions += [e for group in cluster.groups for e in group.pool or ()]
        for each in expressions:
            values = self.mentioned.setdefault(label(each["key"]), {None, FRESH})
            values.update(each.get("values") or ())
            if each["operator"] in ("Gt", "Lt", "Gte", "Lte"):
                values.update(str(int(each["values"][0]) + step) for step in (-1, 1))
        # What admits nothing but spot is on spot machines, which then hold others, too.
        self.needs_spot = any(self._is_bound_to_spot(pod) for pod in self.pods)
        self.machines = [m for group in cluster.groups for kind in cluster.kinds for m in self._machines(group, kind)]

    def _is_bound_to_spot(self, pod):
        def may(labels):
            known = {key: set(values) for key, values in self.mentioned.items() if key not in labels}
            chosen = product(*(known[key] for key in sorted(known)))
            return any(pod.admitted(labels | dict(zip(sorted(known), each, strict=True)), []) for each in chosen)

        on_demand = {CAPACITY_TYPE: "on-demand"} | dict.fromkeys(SPOT.keys() - {CAPACITY_TYPE})
        return any(may({key: values[0]}) for key, values in SPOT.items()) and not may(on_demand)

    def _machines(self, group, kind):
        """Yield (price, count, labels, size) of the new machines of a type in a group, for all labels that they may have."""
        requirements = group.pool or []
        paid = [each for each in requirements if each["key"] == CAPACITY_TYPE]
        only_spot = not all(holds(each, {CAPACITY_TYPE: "on-demand"}) for each in paid)
        admits_spot = all(holds(each, {CAPACITY_TYPE: "spot"}) for each in paid)
        for row, is_more in product(kind.offers, (False, True)):
            # A type that has no other price than its spot price is had at that one, and is spot.
            priced = bool(row.get("price")) and not is_more
            spot = only_spot or not priced
            if not row.get("spot_price" if spot else "price") or is_more > (self.needs_spot and admits_spot):
                continue
            others = {each["zone"] for each in kind.offers if each.get("zone")}
            fixed = dict(kind.labels)
            if not priced:
                fixed[CAPACITY_TYPE] = "spot"
            if row.get("zone"):
                fixed[ZONE] = row["zone"]
            keys = sorted(self.looked | {label(r["key"]) for r in requirements})
            values = [self._values(key, group, fixed, others) for key in keys]
            for chosen in product(*values):
                labels = {key: value for key, value in zip(keys, chosen, strict=True) if value is not None}
                if not all(holds(each, labels) or (priced and each["key"] == CAPACITY_TYPE) for each in requirements):
                    continue
                come = [d for d in self.cluster.daemons if d.admitted(labels, group.taints)]
                taken = total(self.cluster.static, *(daemon.request for daemon in come))
                size = {name: has - taken.get(name, 0) for name, has in kind.size.items()}
                alone = [p.admitted(labels, group.taints) and not any(excludes(p, d) for d in come) for p in self.pods]
                count = int(row["count"]) if row.get("count") else inf
                yield _price(row, spot), count, (row["name"], row.get("zone", "")), tuple(alone), size

    def _values(self, key, group, fixed, elsewhere):
        if key in fixed:
            # What Karpenter and GPUs' agents put on nodes, node groups may lack.
            certain = group.pool is not None or key in (TYPE, ARCH, SYSTEM, ZONE) or fixed[key] is None
            return [fixed[key]] if certain else [fixed[key], None]
        if key in group.labels:
            return sorted(group.labels[key], key=str)
        required = {label(each["key"]) for each in group.pool or ()}
        # Of a provider's own labels nothing is known; others only have what their group has.
        provider = key.partition("/")[0].endswith(PROVIDERS) or _is_of_the_type(key)
        if group.closed and key not in required and not provider:
            return [None]
        never = elsewhere if key == ZONE else {None} if key in (ARCH, SYSTEM, HOSTNAME) else set()
        return sorted(self.mentioned[key] - never, key=str)

    def fits_new(self, mask, alone, size):
        """Return whether pods fit an empty machine."""
        chosen = [i for i in range(len(self.pods)) if mask >> i & 1]
        if not all(alone[i] and not self.bad[i] & mask for i in chosen):
            return False
        asks = total(*(self.pods[i].request for i in chosen))
        return all(amount <= size.get(name, inf) for name, amount in asks.items())

    def fits_node(self, mask, node):
        """Return whether pods fit a node that runs: those that are there may stay, whatever is said today."""
        chosen = [pod for i, pod in enumerate(self.pods) if mask >> i & 1]
        new = [pod for pod in chosen if pod.node != node.name]
        for pod in new:
            others = [other for other in (*chosen, *node.fixed) if other is not pod]
            lasting = [t for t in node.taints if not t["key"].startswith(PASSING)]
            if not pod.admitted(node.labels, lasting, node.name) or any(excludes(pod, other) for other in others):
                return False
        asks = total(*(pod.request for pod in (*chosen, *node.fixed)))
        wanted = {name for pod in new for name, amount in pod.request.items() if amount}
        return all(asks[name] <= node.allocatable.get(name, 0) for name in wanted)

    def least(self):
        """Return the least price of machines that hold all pods, or None if there are none."""
        whole_set = (1 << len(self.pods)) - 1
        every = range(1, whole_set + 1)
        price = [inf] * (whole_set + 1)
        limited = {}
        merged = {}
        for cost, count, line, alone, size in self.machines:
            key = (cost, count, line, alone, tuple(sorted(size.items())))
            merged[key] = size
        for (cost, count, line, alone, _), size in sorted(merged.items(), key=lambda item: item[0][0]):
            held = [mask for mask in every if (count < inf or price[mask] > cost) and self.fits_new(mask, alone, size)]
            if count < inf:
                limited.setdefault((line, cost, count), set()).update(held)
            else:
                for mask in held:
                    price[mask] = cost
        best = [0] + [inf] * whole_set
        for mask in every:
            low = mask & -mask
            best[mask] = min(price[part] + best[mask ^ part] for part in _parts(mask) if part & low)
        singles = [({m for m in every if self.fits_node(m, node)}, node.price) for node in self.cluster.nodes]
        for (_, cost, count), held in limited.items():
            singles += [(held, cost)] * min(count, len(self.pods))
        for held, cost in singles:
            best = [
                min([best[m], *(cost + best[m ^ part] for part in _parts(m) if part in held)])
                for m in range(whole_set + 1)
            ]
        return None if best[whole_set] == inf else best[whole_set]


def _parts(mask):
    """Yield the non-empty subsets."""
    part = mask
    while part:
        yield part
        part = (part - 1) & mask


def least_price(documents, prices):
    """Return the least price an hour, in dollars, of machines that hold all active pods; None if there are none.

    documents : what kubectl prints. prices : rows of a price list, as text by column.
    """
    return Judge(Cluster(documents, prices)).least()
