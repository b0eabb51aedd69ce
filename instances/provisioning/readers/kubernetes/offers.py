"""Machines that can be rented anew: types of the price list with the labels and taints of NodePools or of running nodes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedgap.instances.provisioning.readers.amounts import BYTES, UNLIMITED, listed
from schedgap.instances.provisioning.readers.catalogues.catalogue import ON_DEMAND, SPOT, least
from schedgap.instances.provisioning.readers.kubernetes.constraints import (
    CAPACITY_TYPE,
    HOSTNAME,
    TYPE,
    ZONE,
    Constraint,
    Machine,
    is_of_a_provider,
    is_of_the_type,
    lasting,
    may_run,
)
from schedgap.instances.provisioning.readers.kubernetes.nodes import SPOT_LABELS, largest, less, smallest
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name
from schedgap.instances.provisioning.readers.kubernetes.templates import (
    POOL,
    Template,
    group_of,
    required,
    without_names,
)
from schedgap.instances.provisioning.readers.quantities import PODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from fractions import Fraction

    from schedgap.instances.provisioning.readers.catalogues.catalogue import Catalogue, MachineType
    from schedgap.instances.provisioning.readers.kubernetes.at_most_one import Exclusions
    from schedgap.instances.provisioning.readers.kubernetes.nodes import RunningNode
    from schedgap.instances.provisioning.readers.kubernetes.objects import NodePool
    from schedgap.instances.provisioning.readers.kubernetes.state import DaemonSet, State
    from schedgap.instances.provisioning.readers.kubernetes.templates import Labels

GPU, NVIDIA_GPU = "gpu", "nvidia.com/gpu"
# Static pods of the nodes that control a cluster, and labels of these.
CONTROLLING = frozenset(("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"))
CONTROL_PLANES = frozenset(("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"))
OS, REGION = "kubernetes.io/os", "topology.kubernetes.io/region"


@dataclass(frozen=True, slots=True)
class Offer:
    """A machine that can be rented, or (`node`) one that runs. capacity : fine units by resource."""

    type_name: str
    capacity_type: str
    zone: str
    group: str
    machine: Machine
    price: Fraction
    capacity: dict[str, int]
    count: int = -1
    fee: Fraction | None = None
    node: str = ""


@dataclass(slots=True)
class Market:
    """How offers are made of what was read.

    looked : labels that some constraint looks at. zones : those that machines are told apart by, or none.
    spot : whether spare capacity can be rented. unstated : what pods ask for and the price list says nothing about.
    """

    state: State
    catalogue: Catalogue
    nodes: Sequence[RunningNode]
    excluding: Exclusions
    looked: frozenset[str]
    zones: tuple[str, ...] = ()
    spot: bool = False
    nowhere: frozenset[str] = frozenset()
    variants: dict[object, Machine] = field(default_factory=dict)
    certain: list[tuple[DaemonSet, Constraint, dict[str, int]]] = field(default_factory=list)
    static: list[dict[str, int]] = field(default_factory=list)
    spare: dict[str, Labels] = field(default_factory=dict)
    unstated: frozenset[str] = frozenset()

    def offers(self) -> tuple[list[Offer], list[Offer]]:
        """Return what can be rented anew, and the nodes.

        Raises
        ------
        InstanceError
            for a NodePool with a requirement that is none.
        """
        templates = self._templates()
        known = {CAPACITY_TYPE, TYPE, *(key for node in self.nodes for key in node.labels)}
        known |= {key for template in templates for key in (*template.labels, *(r.key for r in template.requirements))}
        known |= {key for kind in self.catalogue.types for key in kind.labels}
        self.nowhere = self.looked - known | {HOSTNAME} | (frozenset() if self.zones else {ZONE})
        running = [self._running(node) for node in self.nodes]
        self.certain = list(self._certain_daemons(running))
        self.static = list(self._certain_static())
        self.spare = {kind: self._spare(kind) for kind in (ON_DEMAND, SPOT)} if self.spot else {}
        asked = {name for group in self.state.groups.values() for name, _ in group.key.request} - {PODS}
        stated = {name for name in asked if self.catalogue.states(name)}
        self.unstated = frozenset(asked - stated - ({NVIDIA_GPU} if self.catalogue.states(GPU) else set()))
        return list(self._rented(templates, running)), running

    def _running(self, node: RunningNode) -> Offer:
        labels = {key: value for key, value in node.labels.items() if key in self.looked}
        key = (tuple(sorted(labels.items())), node.taints)
        if key not in self.variants:
            values = {name: frozenset((value,)) for name, value in labels.items()}
            self.variants[key] = Machine(values, node.taints, self.nowhere)
        zone = node.zone if self.zones else ""
        group = group_of(node)
        return Offer(
            node.type_name, node.capacity_type, zone, group, self.variants[key], node.price, node.left, node=node.name
        )

    def _certain_daemons(self, running: Sequence[Offer]) -> Iterator[tuple[DaemonSet, Constraint, dict[str, int]]]:
        """Yield the DaemonSets that are on every node that surely admits them, with the least that they ask for."""
        for daemons in self.state.daemon_sets.values():
            constraint = without_names(daemons.parts.constraint)
            admits = {id(offer.machine): may_run(constraint, offer.machine) for offer in running}
            if all(offer.node in daemons.requests for offer in running if admits[id(offer.machine)]):
                yield daemons, constraint, smallest(daemons.requests.values())

    def _certain_static(self) -> Iterator[dict[str, int]]:
        """Yield the least that static pods ask for which are on every node, as kube-proxy is on some clouds."""
        if all(not CONTROL_PLANES.isdisjoint(node.labels) for node in self.nodes):
            return
        on_nodes = [self.state.mirrored.get(name, {}) for name in self.state.nodes]
        for name in set.intersection(*map(set, on_nodes)):
            if name.rpartition("/")[2] not in CONTROLLING:
                yield smallest(on[name] for on in on_nodes)

    def _templates(self) -> list[Template]:
        """Return the NodePools, and groups of running nodes that are of none; these have their nodes' types only.

        Without any NodePool a type that no node has may be of any group.
        """
        pools = [self._pool(name, pool) for name, pool in self.state.pools.items()]
        groups: dict[object, tuple[dict[str, str], RunningNode, set[str]]] = {}
        for node in self.nodes:
            if node.labels.get(POOL) not in self.state.pools:
                labels = {k: v for k, v in node.labels.items() if k in self.looked and not is_of_the_type(k)}
                key = (tuple(sorted(labels.items())), node.taints)
                groups.setdefault(key, (labels, node, set()))[2].add(node.type_name)
        unused = set() if pools else {kind.name for kind in self.catalogue.types} - {n.type_name for n in self.nodes}
        for labels, node, types in groups.values():
            values: Labels = {key: frozenset((value,)) for key, value in labels.items()}
            pools.append(Template(group_of(node), values, node.taints, types=frozenset(types | unused)))
        return pools

    def _pool(self, name: str, pool: NodePool) -> Template:
        """Return a NodePool's template: its labels, those that its nodes have, and those that it requires."""
        spec = pool.spec.template
        nodes = [node for node in self.nodes if node.labels.get(POOL) == name]
        # What somebody put on today's nodes by hand, new ones need not have; what a provider does, those of an empty pool may.
        labels = {
            key: values if is_of_a_provider(key) else values | {None}
            for key, values in self._observed(nodes, of_type=False).items()
        }
        unknown = frozenset() if nodes else frozenset(filter(is_of_a_provider, self.looked))
        for each in spec.spec.requirements:
            key = label_name(each.key)
            if each.operator == "In" and not is_of_the_type(key):
                labels[key] = frozenset(each.values)
            elif each.operator != "DoesNotExist":
                # Any value that a pod asks for, whatever nodes have today.
                labels.pop(key, None)
        labels |= {key: frozenset((value,)) for key, value in spec.metadata.labels.items()} | {POOL: frozenset((name,))}
        if pool.spec.limits:
            self.state.report.sentences.append(f"Relaxed: the limits of NodePool {name}.")
        return Template(name, labels, lasting(spec.spec.taints), spec.spec.requirements, unknown=unknown)

    def _observed(self, nodes: Iterable[RunningNode], *, of_type: bool) -> Labels:
        """Return the labels of nodes that follow from their type, or those that do not, with all their values."""
        others = {ZONE, HOSTNAME, CAPACITY_TYPE, *SPOT_LABELS}
        keys = {key for key in self.looked - others if is_of_the_type(key) == of_type}
        # Where a node is says nothing of where others of its type can be.
        keys = {key for key in keys if not key.startswith("topology.") or key == REGION}
        alike = [node.labels for node in nodes]
        return {
            key: frozenset(labels.get(key) for labels in alike) for key in keys.intersection(*[set().union(*alike)])
        }

    def _rented(self, templates: Iterable[Template], running: Sequence[Offer]) -> Iterator[Offer]:
        by_type: defaultdict[str, list[tuple[RunningNode, Offer]]] = defaultdict(list)
        for node, offer in zip(self.nodes, running, strict=True):
            by_type[node.type_name].append((node, offer))
        unsized = []
        for kind in self.catalogue.types:
            alike = by_type[kind.name]
            # Labels as the price list has them, and as nodes of the type do.
            labels: Labels = {key: frozenset((value,)) for key, value in kind.labels.items()}
            labels |= self._observed((node for node, _ in alike), of_type=True)
            if not alike and not kind.capacity:
                unsized.append(kind.name)
                continue
            for template in templates:
                if template.types is None or kind.name in template.types:
                    yield from self._of_template(kind, template, labels, alike)
        new = [kind for kind in self.catalogue.types if not by_type[kind.name] and kind.capacity]
        if lacking := sorted(name for name in self.unstated if any(self._any_amount(kind).get(name) for kind in new)):
            columns = listed([name.replace(BYTES, "_gib") for name in lacking])
            self.state.report.sentences.append(
                f"Relaxed: the price list says nothing of {columns}; types that no node is of count as having any amount."
            )
        if unsized:
            self.state.report.sentences.append(
                f"Not offered, as the price list has no sizes of them and no node is one: {listed(unsized)}."
            )

    def _of_template(
        self,
        kind: MachineType,
        template: Template,
        labels: Labels,
        alike: Sequence[tuple[RunningNode, Offer]],
    ) -> Iterator[Offer]:
        for capacity_type in (ON_DEMAND, SPOT) if self.spot else (ON_DEMAND,):
            # At on-demand prices every machine is one, whatever a pool would rent.
            is_spot = self.spot and capacity_type == SPOT
            taints = tuple(taint for taint in template.taints if is_spot or taint.key not in SPOT_LABELS)
            for zone, offerings in kind.places(capacity_type, self.zones):
                has = labels | template.labels | self.spare.get(capacity_type, {}) | {TYPE: frozenset((kind.name,))}
                if self.zones:
                    has[ZONE] = frozenset((zone,))
                # Of the system a group may say nothing.
                named = {label_name(each.key) for each in template.requirements}
                open_keys = {key for key in self.looked if is_of_the_type(key)} | named | template.unknown | {OS}
                open_keys -= has.keys()
                machine = Machine(has, taints, self.nowhere | open_keys)
                if any(required(template, each, machine) is False for each in template.requirements):
                    continue
                capacity = self._capacity(kind, template, machine, alike)
                price, count = least(offerings)
                price += kind.fee or 0
                yield Offer(kind.name, capacity_type, zone, template.name, machine, price, capacity, count, kind.fee)

    def _spare(self, capacity_type: str) -> Labels:
        """Return the labels that tell spare capacity from other machines."""
        alike = [node.labels for node in self.nodes if node.capacity_type == capacity_type]
        spare: Labels = {CAPACITY_TYPE: frozenset((capacity_type,))}
        for key in self.looked & SPOT_LABELS.keys():
            values = SPOT_LABELS[key][0 if capacity_type == SPOT else 1]
            spare[key] = frozenset((*values, *(labels.get(key) for labels in alike or [{}])))
        return spare

    def _capacity(
        self, kind: MachineType, template: Template, machine: Machine, alike: Sequence[tuple[RunningNode, Offer]]
    ) -> dict[str, int]:
        """Return what a new machine has, as nodes of its kind do, less the DaemonSets and static pods that surely come."""
        same = [node for node, offer in alike if offer.group == template.name and node.taints == template.taints]
        nodes = same or [node for node, _ in alike]
        size = largest([node.allocatable for node in nodes]) if nodes else self._size(kind)
        # A device that is broken, or not there yet, is on a new machine.
        more = largest([size, *(node.devices for node, _ in alike)])
        if alike and not any(name.endswith("/gpu") for name in more.keys() - {NVIDIA_GPU}):
            more = largest([more, _with_gpus(kind.usable())])
        size |= {name: amount for name, amount in more.items() if "/" in name}
        # What a label may be one of several is not certain.
        open_keys = {key for key, values in machine.labels.items() if len(values) > 1}
        sure = Machine(machine.labels, machine.taints, machine.unknown | open_keys)
        daemons = [(d, asked) for d, constraint, asked in self.certain if may_run(constraint, sure)]
        taken = [amounts for d, asked in daemons for amounts in (asked, self.excluding.taken_by(d))]
        return less(size | self.excluding.capacity, *taken, *self.static)

    def _size(self, kind: MachineType) -> dict[str, int]:
        """Return the size of a type that no node is of."""
        return {PODS: UNLIMITED} | _with_gpus(kind.usable()) | self._any_amount(kind)

    def _any_amount(self, kind: MachineType) -> dict[str, int]:
        """Return what a type may have of what the price list says nothing about; others' GPUs only where it has some."""
        gpus = kind.capacity.get(GPU, 0) if self.catalogue.states(GPU) else UNLIMITED
        amounts = {name: gpus if name.endswith("/gpu") else UNLIMITED for name in self.unstated}
        return {name: amount for name, amount in amounts.items() if gpus or "gpu" not in name}


def _with_gpus(size: dict[str, int]) -> dict[str, int]:
    """Return a size in which GPUs are called as Kubernetes calls them."""
    if GPU in size:
        size = {NVIDIA_GPU: size[GPU]} | {name: amount for name, amount in size.items() if name != GPU}
    return size
