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
    may_run,
)
from schedgap.instances.provisioning.readers.kubernetes.nodes import POOL, SPOT_LABELS
from schedgap.instances.provisioning.readers.kubernetes.objects import NodeTerms, SelectorTerm
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedgap.instances.provisioning.readers.catalogues.catalogue import Catalogue, MachineType
    from schedgap.instances.provisioning.readers.kubernetes.nodes import RunningNode
    from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, NodePool, Taint
    from schedgap.instances.provisioning.readers.kubernetes.state import State

GROUP_LABELS = (POOL, "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool")
REGION = "topology.kubernetes.io/region"
OS = "kubernetes.io/os"
# Of these the name of a machine, and its system, a group says nothing.
OPEN = frozenset((HOSTNAME, OS))
NEW_GROUP = "new group"
# What may be rented of the node groups that are of no NodePool: anything, or nothing beside NodePools.
ANY, KEPT = "any", "kept"
Labels: TypeAlias = "dict[str, frozenset[str | None]]"


@dataclass(frozen=True, slots=True)
class Template:
    """What machines that are rented anew have beside their type.

    nodes : names of those that are of it. unknown : labels that they may have. is_group : whether it is of no NodePool.
    """

    name: str
    labels: Labels
    taints: tuple[Taint, ...] = ()
    requirements: tuple[Expression, ...] = ()
    nodes: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    is_group: bool = False

    @property
    def absent(self) -> frozenset[str]:
        """Labels that new machines must not have."""
        return frozenset(label_name(each.key) for each in self.requirements if each.operator == "DoesNotExist")

    def admits(self, capacity_type: str) -> bool:
        """Return whether its requirements admit spare capacity, or machines on demand."""
        machine = Machine({CAPACITY_TYPE: frozenset((capacity_type,))})
        return all(required(self, each, machine) for each in self.of_capacity_types)

    @property
    def of_capacity_types(self) -> list[Expression]:
        """What it requires of capacity types."""
        return [each for each in self.requirements if label_name(each.key) == CAPACITY_TYPE]

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
    state: State, nodes: Sequence[RunningNode], looked: frozenset[str], asked: Sequence[Constraint], node_groups: str
) -> list[Template]:
    """Return the NodePools, and what the running nodes that are of none show of node groups.

    Of a node group no more is known than its nodes: new machines of it, or of another made like it, may be of any type, with
    the labels that pods look at there, and with its taints or none.

    looked : labels that some constraint looks at. asked : the constraints of pods. node_groups : `kept` where no such machine
    is rented beside NodePools.
    """
    pools = [_pool(state, name, pool, nodes, looked) for name, pool in state.pools.items()]
    if pools and node_groups == KEPT:
        return pools
    # A group that lacks a label is made as easily as one that has it.
    avoided = {each.key for one in asked for each in one.expressions() if each.operator in ("NotIn", "DoesNotExist")}
    groups: defaultdict[object, list[RunningNode]] = defaultdict(list)
    for node in nodes:
        if node.labels.get(POOL) not in state.pools:
            labels = frozenset((k, v) for k, v in node.labels.items() if k in looked and not is_of_the_type(k))
            groups[_labelled(node) or (labels, node.taints)].append(node)
    # Groups of which new machines would be alike are one, with the nodes of all.
    alike: dict[object, Template] = {}
    for members in groups.values():
        observed = observed_labels(members, looked, of_type=False)
        values = {
            key: found | {None} if is_by_hand(key) or key in avoided else found for key, found in observed.items()
        }
        # Those of spare capacity come with it.
        none = tuple(t for t in members[0].taints if t.key in SPOT_LABELS and all(t in node.taints for node in members))
        for taints in {frozenset(none): none, **{frozenset(node.taints): node.taints for node in members}}.values():
            of_it = frozenset(node.name for node in members if set(node.taints) == set(taints))
            made = Template(_title(members, taints), values, taints, nodes=of_it, is_group=True)
            first = alike.setdefault((frozenset(values.items()), frozenset(taints)), made)
            alike[frozenset(values.items()), frozenset(taints)] = replace(first, nodes=first.nodes | of_it)
    made_anew = _made_anew(asked, [*pools, *alike.values()], looked) if alike else ()
    return [*pools, *sorted(alike.values(), key=lambda template: bool(template.taints)), *made_anew]


def _made_anew(asked: Sequence[Constraint], known: Sequence[Template], looked: frozenset[str]) -> Iterator[Template]:
    """Yield a node group for pods that ask for labels which no template has together: it may be given any of them."""
    # Labels that nothing has forbid nothing.
    has = {key for each in known for key in each.labels}
    free = {key for key in looked if is_of_the_type(key) or key in OPEN or key not in has}
    machines = [Machine(each.labels, each.taints, (each.unknown | free) - each.labels.keys()) for each in known]
    homeless = [one for one in dict.fromkeys(asked) if all(may_run(one, machine) is False for machine in machines)]
    lacking = {each.key for one in homeless for each in one.expressions()}
    if keys := frozenset(lacking - free):
        yield Template(NEW_GROUP, {}, unknown=keys, is_group=True)


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
    return _title([node], node.taints)


def _title(members: Sequence[RunningNode], taints: Sequence[Taint]) -> str:
    """Return a name for machines of a group with some of its taints."""
    if not (labelled := _labelled(members[0])):
        return next((taint.key.rpartition("/")[2] for taint in taints if taint.key), "general")
    is_usual = bool(taints) == all(node.taints for node in members)
    return labelled[0][1] if is_usual else f"{labelled[0][1]}, {'tainted' if taints else 'untainted'}"


def _labelled(node: RunningNode) -> tuple[tuple[str, str], ...]:
    """Return the first label that names a node's group, with its value, or nothing."""
    named = [(key, node.labels[key]) for key in GROUP_LABELS if node.labels.get(key, "").strip()]
    return tuple(named[:1])
