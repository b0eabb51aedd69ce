"""Groups of machines: what those that are rented anew have beside their type."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.constraints import (
    CAPACITY_TYPE,
    HOSTNAME,
    ZONE,
    Constraint,
    Machine,
    holds,
    is_by_hand,
    is_of_a_provider,
    is_of_the_type,
    lasting,
)
from schedgap.instances.provisioning.readers.kubernetes.nodes import POOL, SPOT_LABELS
from schedgap.instances.provisioning.readers.kubernetes.objects import NodeTerms, SelectorTerm
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.instances.provisioning.readers.catalogues.catalogue import Catalogue, MachineType
    from schedgap.instances.provisioning.readers.kubernetes.nodes import RunningNode
    from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, NodePool, Taint
    from schedgap.instances.provisioning.readers.kubernetes.state import State

GROUP_LABELS = (POOL, "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool")
REGION = "topology.kubernetes.io/region"
Labels: TypeAlias = "dict[str, frozenset[str | None]]"


@dataclass(frozen=True, slots=True)
class Template:
    """What machines that are rented anew have beside their type.

    nodes : names of those that are of it. types : those that it takes, None for all. unknown : labels that they may have.
    """

    name: str
    labels: Labels
    taints: tuple[Taint, ...] = ()
    requirements: tuple[Expression, ...] = ()
    nodes: frozenset[str] = frozenset()
    types: frozenset[str] | None = None
    unknown: frozenset[str] = frozenset()

    @property
    def absent(self) -> frozenset[str]:
        """Labels that new machines must not have."""
        return frozenset(label_name(each.key) for each in self.requirements if each.operator == "DoesNotExist")

    def kind_in_zones(self, kind: MachineType, catalogue: Catalogue) -> MachineType:
        """Return a type with its prices in the zones of a NodePool alone; with all where the list has other names for zones."""
        offerings = kind.offerings
        for each in self.requirements:
            values = set(each.values)
            if label_name(each.key, each.values) != ZONE or values.isdisjoint(catalogue.zones):
                continue
            if each.operator == "In":
                near = {
                    offer for ct in {o.capacity_type for o in offerings} for z in values for offer in kind.offers(ct, z)
                }
                offerings = tuple(offer for offer in offerings if offer in near)
            elif each.operator == "NotIn":
                offerings = tuple(offer for offer in offerings if offer.zone not in values)
        return replace(kind, offerings=offerings)


def templates(
    state: State, nodes: Sequence[RunningNode], looked: frozenset[str], names: Iterable[str]
) -> list[Template]:
    """Return the NodePools, and groups of running nodes that are of none; these have their nodes' types only.

    looked : labels that some constraint looks at. names : of the types of the price list; without any NodePool one that no
    node has may be of any group.
    """
    pools = [_pool(state, name, pool, nodes, looked) for name, pool in state.pools.items()]
    unused = frozenset() if pools else frozenset(names) - {node.type_name for node in nodes}
    groups: defaultdict[object, list[RunningNode]] = defaultdict(list)
    for node in nodes:
        if node.labels.get(POOL) not in state.pools:
            labels = frozenset((k, v) for k, v in node.labels.items() if k in looked and not is_of_the_type(k))
            groups[_labelled(node) or (labels, node.taints)].append(node)
    # Groups of which new machines would be alike are one, with the nodes of all.
    alike: dict[object, Template] = {}
    for members in groups.values():
        observed = observed_labels(members, looked, of_type=False)
        values = {key: found | {None} if is_by_hand(key) else found for key, found in observed.items()}
        # What not all nodes of a group have was put on some of them.
        taints = tuple(taint for taint in members[0].taints if all(taint in node.taints for node in members))
        made = Template(group_of(members[0]), values, taints, types=unused)
        first = alike.setdefault((frozenset(values.items()), taints), made)
        alike[frozenset(values.items()), taints] = replace(
            first,
            nodes=first.nodes | {node.name for node in members},
            types=(first.types or frozenset()) | {node.type_name for node in members},
        )
    return [*pools, *alike.values()]


def _pool(state: State, name: str, pool: NodePool, nodes: Iterable[RunningNode], looked: frozenset[str]) -> Template:
    """Return a NodePool's template: its labels, those that its nodes have, and those that it requires."""
    spec = pool.spec.template
    nodes = [node for node in nodes if node.labels.get(POOL) == name]
    # What somebody put on today's nodes by hand, new ones need not have; what a provider does, those of an empty pool may.
    labels = {
        key: values if is_of_a_provider(key) and not is_by_hand(key) else values | {None}
        for key, values in observed_labels(nodes, looked, of_type=False).items()
    }
    unknown = frozenset() if nodes else frozenset(filter(is_of_a_provider, looked))
    for each in spec.spec.requirements:
        key = label_name(each.key)
        # Any value that a pod asks for, whatever nodes have today; or none.
        labels.pop(key, None)
        if each.operator == "In" and not is_of_the_type(key):
            labels[key] = frozenset(each.values)
    labels |= {key: frozenset((value,)) for key, value in spec.metadata.labels.items()} | {POOL: frozenset((name,))}
    if pool.spec.limits:
        state.report.sentences.append(f"Relaxed: the limits of NodePool {name}.")
    of_it = frozenset(node.name for node in nodes)
    return Template(name, labels, lasting(spec.spec.taints), spec.spec.requirements, of_it, unknown=unknown)


def observed_labels(nodes: Iterable[RunningNode], looked: frozenset[str], *, of_type: bool) -> Labels:
    """Return the labels of nodes that follow from their type, or those that do not, with all their values."""
    others = {ZONE, HOSTNAME, CAPACITY_TYPE, *SPOT_LABELS}
    keys = {key for key in looked - others if is_of_the_type(key) == of_type}
    # Where a node is says nothing of where others of its type can be.
    keys = {key for key in keys if not key.startswith("topology.") or key == REGION}
    alike = [node.labels for node in nodes]
    return {key: frozenset(labels.get(key) for labels in alike) for key in keys.intersection(*[set().union(*alike)])}


def without_names(constraint: Constraint) -> Constraint:
    """Return a DaemonSet's constraint without the names of nodes that its controller put into each pod."""
    cut = tuple(
        NodeTerms(tuple(SelectorTerm(term.match_expressions) for term in affinity.node_selector_terms))
        for affinity in constraint.affinities
        if all(term.match_expressions for term in affinity.node_selector_terms)
    )
    return Constraint(constraint.selector, cut, constraint.tolerations)


def required(template: Template, each: Expression, machine: Machine) -> bool | None:
    """Return whether a requirement of a NodePool holds for a machine; None where that is not known."""
    try:
        return holds(type(each)(label_name(each.key), each.operator, each.values), machine)
    except InstanceError as error:
        raise InstanceError(f"NodePool {template.name}: {error}; correct the object.") from None


def group_of(node: RunningNode) -> str:
    """Return a name for the group that a node is of."""
    tainted = next((taint.key.rpartition("/")[2] for taint in node.taints if taint.key), "")
    return next((value for _, value in _labelled(node)), "") or tainted or "general"


def _labelled(node: RunningNode) -> tuple[tuple[str, str], ...]:
    """Return the first label that names a node's group, with its value, or nothing."""
    named = [(key, node.labels[key]) for key in GROUP_LABELS if node.labels.get(key, "").strip()]
    return tuple(named[:1])
