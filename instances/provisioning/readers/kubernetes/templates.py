"""Groups of machines: what those that are rented anew have beside their type.

Labels that a new node group may be given: every combination that some pods need and no other makes needless.

What pods ask of labels is a choice of terms, each a list of expressions that must all hold. Of two combinations the one under
which more terms of pods hold, and fewer of DaemonSets, admits all that the other does and has no less room.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from itertools import combinations as pairs
from math import prod
from typing import TypeAlias

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues.catalogue import OTHER, Catalogue, MachineType
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
    limit,
    may_run,
)
from schedgap.instances.provisioning.readers.kubernetes.nodes import POOL, SPOT_LABELS, RunningNode
from schedgap.instances.provisioning.readers.kubernetes.objects import (
    Expression,
    NodePool,
    NodeTerms,
    SelectorTerm,
    Taint,
)
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name
from schedgap.instances.provisioning.readers.kubernetes.state import State

# So many combinations are told apart, and terms of one constraint.
MOST, MOST_TERMS = 32, 64
_Term: TypeAlias = "frozenset[Expression]"


def combinations(
    asked: Sequence[Constraint], daemons: Sequence[Constraint], values: Mapping[str, Sequence[str | None]]
) -> list[dict[str, str | None]] | None:
    """Return the combinations of labels, None as a value where a label is not there; None where they are over `MOST`.

    asked : what pods ask for. daemons : what those ask for that come with a machine. values : by label, those it may have.
    """
    of_pods = list(dict.fromkeys(_terms(asked, values)))
    terms = [*of_pods, *dict.fromkeys(_terms(daemons, values))]
    pods, every = (1 << len(of_pods)) - 1, (1 << len(terms)) - 1
    found: dict[int, dict[str, str | None]] = {every: {}}
    for key, some in values.items():
        held = {value: sum(1 << t for t, term in enumerate(terms) if _holds(term, key, value)) for value in some}
        longer: dict[int, dict[str, str | None]] = {}
        for mask, labels in found.items():
            for value, more in held.items():
                longer.setdefault(mask & more, labels | {key: value})
        found = {mask ^ every ^ pods: longer[mask ^ every ^ pods] for mask in largest(m ^ every ^ pods for m in longer)}
        if len(found) > MOST:
            return None
    return list(found.values())


def values_of(key: str, constraints: Iterable[Constraint]) -> list[str | None]:
    """Return the values of a label that constraints tell apart, None first."""
    found: dict[str | None, None] = {None: None}
    for each in (each for one in constraints for each in one.expressions() if each.key == key):
        if each.operator[0] in "GL":
            found |= {str(limit(each) + step): None for step in (-1, 0, 1)}
        else:
            found |= dict.fromkeys(each.values)
    return [*found, OTHER]


def largest(masks: Iterable[int]) -> list[int]:
    """Return the sets of bits that no other contains."""
    found: list[int] = []
    for mask in sorted(set(masks), key=int.bit_count, reverse=True):
        if not any(mask & other == mask for other in found):
            found.append(mask)
    return found


def _terms(constraints: Iterable[Constraint], keys: Mapping[str, object]) -> Iterator[_Term]:
    """Yield what constraints ask of some labels: one of the terms of each must hold."""
    for one in dict.fromkeys(constraints):
        choices = [affinity.node_selector_terms for affinity in one.affinities]
        parts = [[term.match_expressions for term in terms] for terms in choices if terms]
        if prod(map(len, parts)) > MOST_TERMS:
            # More terms than there need be: none is made needless by another then.
            wholes: Iterable[tuple[tuple[Expression, ...], ...]] = ((each,) for terms in parts for each in terms)
        else:
            wholes = product(*parts)
        for whole in wholes:
            if term := frozenset(each for some in (one.selector, *whole) for each in some if each.key in keys):
                yield term


def _holds(term: _Term, key: str, value: str | None) -> bool:
    machine = Machine({key: frozenset((value,))})
    return all(holds(each, machine) for each in term if each.key == key)


GROUP_LABELS = (POOL, "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool")
REGION = "topology.kubernetes.io/region"
OS = "kubernetes.io/os"
# Of these the name of a machine, and its system, a group says nothing.
OPEN = frozenset((HOSTNAME, OS))
NEW_GROUP = "new group"
AKS_SPOT = "kubernetes.azure.com/scalesetpriority"
# So many of them are told apart by labels and taints together.
MOST_GROUPS = 256
# What may be rented of the node groups that are of no NodePool: anything, or nothing beside NodePools.
ANY, KEPT = "any", "kept"
Labels: TypeAlias = "dict[str, frozenset[str | None]]"


@dataclass(frozen=True, slots=True)
class Template:
    """What machines that are rented anew have beside their type.

    nodes : names of those that are of it. unknown : labels that they may have. is_group : whether it is of no NodePool.
    is_new : whether it is a node group that could be made, beside machines of which the very same run.
    """

    name: str
    labels: Labels
    taints: tuple[Taint, ...] = ()
    requirements: tuple[Expression, ...] = ()
    nodes: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    is_group: bool = False
    is_new: bool = False

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
    """Return the NodePools; where nodes are of none, machines like these, and node groups as they could be made.

    looked : labels that some constraint looks at. asked : the constraints of pods. node_groups : `kept` where no such machine
    is rented beside NodePools.
    """
    pools = [_pool(state, name, pool, nodes, looked) for name, pool in state.pools.items()]
    outside = [node for node in nodes if node.labels.get(POOL) not in state.pools]
    if not outside or (pools and node_groups == KEPT):
        return pools
    return [*pools, *_like(outside, looked), *_made_anew(state, outside, looked, asked)]


def _like(nodes: Sequence[RunningNode], looked: frozenset[str]) -> Iterator[Template]:
    """Yield what nodes show, for more of the very same."""
    alike: defaultdict[object, list[RunningNode]] = defaultdict(list)
    for node in nodes:
        shown = frozenset((k, v) for k, v in node.labels.items() if k in looked and not is_of_the_type(k))
        alike[shown, node.taints].append(node)
    for members in alike.values():
        labels = observed_labels(members, looked, of_type=False)
        of_it = frozenset(node.name for node in members)
        yield Template(group_of(members[0]), labels, members[0].taints, nodes=of_it, is_group=True)


def _made_anew(
    state: State, nodes: Sequence[RunningNode], looked: frozenset[str], asked: Sequence[Constraint]
) -> Iterator[Template]:
    """Yield node groups as they could be made: of any labels that pods look at, without taints or with those of nodes.

    Where their combinations are very many, of these labels nothing is known.
    """
    daemons = [without_names(each.parts.constraint) for each in state.daemon_sets.values() if not each.pinned]
    of_pods = {each.key for one in asked for each in one.expressions()}
    values: dict[str, Sequence[str | None]] = {}
    for key in sorted(looked - OPEN):
        if is_of_the_type(key):
            continue
        if key in of_pods or not is_of_a_provider(key):
            # What has a NodePool's label is of that NodePool.
            values[key] = [
                each for each in values_of(key, (*asked, *daemons)) if key != POOL or each not in state.pools
            ]
        else:
            # Of a provider's labels that no pod looks at new groups have what others have.
            values[key] = list(dict.fromkeys((None, *(node.labels.get(key) for node in nodes))))
    system = observed_labels(nodes, looked & {OS}, of_type=False)
    of_it = frozenset(node.name for node in nodes)
    number = 0
    for taints in _taints(nodes, asked, daemons):
        bare = Machine({}, taints)
        near, coming = ([one for one in some if _tolerates(one, bare)] for some in (asked, daemons))
        made = combinations(near, coming, values) if number < MOST_GROUPS else None
        number += len(made or ())
        if made is None:
            yield Template(NEW_GROUP, system, taints, (), of_it, frozenset(values), is_group=True, is_new=True)
            continue
        for labels in made:
            has: Labels = {key: frozenset((value,)) for key, value in labels.items()}
            said = [f"{key.rpartition('/')[2]}={value}" for key, value in labels.items() if value is not None]
            name = f"{NEW_GROUP} {', '.join(said)}".strip()[:60]
            yield Template(name, has | system, taints, nodes=of_it, is_group=True, is_new=True)


def _taints(
    nodes: Sequence[RunningNode], asked: Sequence[Constraint], daemons: Sequence[Constraint]
) -> list[tuple[Taint, ...]]:
    """Return no taints, and those of nodes, or that some of them share, which keep a DaemonSet off and admit some pod."""
    # On spare capacity AKS puts its taint by itself; elsewhere people do, or do not.
    bare = tuple({t: None for node in nodes for t in node.taints if t.key == AKS_SPOT})
    own = {
        frozenset(each): each for node in nodes if (each := tuple(t for t in node.taints if t.key not in SPOT_LABELS))
    }
    shared = {one & two: tuple(t for t in own[one] if t in two) for one, two in pairs(own, 2)}
    tolerating = list({each.tolerations: each for each in asked}.values())
    kept_off = list({each.tolerations: each for each in daemons}.values())
    found: dict[int, tuple[Taint, ...]] = {}
    for taints in ((), *(own | shared).values()):
        machine = Machine({}, taints)
        admits = [_tolerates(each, machine) for each in tolerating]
        admits += [not _tolerates(each, machine) for each in kept_off]
        if any(admits[: len(tolerating)]):
            found.setdefault(sum(1 << n for n, each in enumerate(admits) if each), taints)
    return [bare, *(bare + found[mask] for mask in largest(found) if found[mask])]


def _tolerates(constraint: Constraint, machine: Machine) -> bool:
    return may_run(Constraint(tolerations=constraint.tolerations), machine) is not False


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
    named = (node.labels[key] for key in GROUP_LABELS if node.labels.get(key, "").strip())
    by_taint = (taint.key.rpartition("/")[2] for taint in node.taints if taint.key)
    return next(chain(named, by_taint), "general")
