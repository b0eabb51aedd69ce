"""A Kubernetes cluster as an instance: what `kubectl get pods,nodes -A -o json` prints, and a price list.

Groups of pods, and machines that there are or can be, as the arrays of an instance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray
from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.provisioning.model import NOT_ALLOWED, ProvisioningInstance
from schedgap.instances.provisioning.readers.catalogues import Catalogue, read_catalogue
from schedgap.instances.provisioning.readers.catalogues.catalogue import ON_DEMAND
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import (
    Exclusions,
    exclusions,
    kept_apart,
    say_between,
)
from schedgap.instances.provisioning.readers.kubernetes.constraints import ZONE, Constraint
from schedgap.instances.provisioning.readers.kubernetes.nodes import (
    Held,
    RunningNode,
    held_by_node,
    running_nodes,
    types_of_nodes,
)
from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, unix_s
from schedgap.instances.provisioning.readers.kubernetes.offers import Market, Offer, admissions, uncovered
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name
from schedgap.instances.provisioning.readers.kubernetes.state import (
    PodGroup,
    Report,
    State,
    leave_out,
    read_state,
)
from schedgap.instances.provisioning.readers.kubernetes.templates import ANY, KEPT
from schedgap.instances.provisioning.readers.kubernetes.upkeep import looked_at, restraints, tell_blocked
from schedgap.instances.provisioning.readers.quantities import (
    CPU,
    PODS,
    RAM,
    UNLIMITED,
    in_units,
    listed,
    micro_dollars,
    rounding_note,
    unique_names,
)
from schedgap.instances.provisioning.running import ANY_NUMBER, Running
from schedgap.instances.units import DOLLAR

# A zone that nobody names: no label has a space.
ANOTHER_ZONE = "another zone"
ADMITTED, AUTO, IGNORE = "admitted", "auto", "ignore"
UNPLACED = "volumes whose place is not given"
TOGETHER = "volumes that one node at a time can use (ReadWriteOnce), which several pods share"


def kubernetes(
    *paths: Path | str,
    catalogue: str = "",
    prices: str = "",
    region: str = "",
    capacity_types: str = ON_DEMAND,
    zones: str = AUTO,
    node_type: str = "",
    node_types: str = "",
    node_groups: str = ANY,
    now: str = "",
) -> ProvisioningInstance:
    """Read a cluster: JSON files of kubectl, or folders of them, with pods, nodes, and NodePools, PVCs and PVs if there.

    catalogue : the price list, in a format that `read_catalogue` knows; prices, region : as it takes them.
    capacity_types : `on-demand` rents new machines at on-demand prices, those of NodePools that admit spot alone at spot
        prices; `admitted` also as spot where the NodePool and the pods admit it. Spot nodes that run are there at their price.
    zones : `auto` tells machines of different zones apart where a pod or its volume is bound to one, and the price list or
        the nodes name zones; `ignore` drops such constraints.
    node_type : the type of nodes without a label that says it. node_types : a CSV with `node,type`, which goes before labels.
    node_groups : `any` rents machines as nodes of no NodePool could be; `kept` keeps these, and rents of NodePools alone.
    now : the time by which NodePools' schedules and waits are, such as `2026-11-28T09:00:00Z`; the newest in the files if empty.

    The notes of the instance say what was taken, left out, and relaxed; no relaxation raises a lower bound.

    Raises
    ------
    InstanceError
        for malformed files, nodes without a price, and parameters that are none.
    """
    terms = Terms(
        *(catalogue, prices, region, capacity_types, zones, node_type, node_types, node_groups),
    )
    listed_types = terms.price_list()
    state = read_state(paths)
    state.now_s = unix_s(now) if now else state.newest_s
    if now and state.now_s is None:
        raise InstanceError(f"now is '{now:.60}'; give a time such as 2026-11-28T09:00:00Z.")
    leave_out(state)
    made, nodes = assembled(state, terms, listed_types)
    name = "kubernetes-" + "-".join(dict.fromkeys(Path(path).stem for path in paths))
    tell_blocked(state)
    return made.instance(name[:100], state, nodes)


@dataclass(frozen=True, slots=True)
class Terms:
    """What can be rented, and at what price: as `kubernetes` takes it. Raises `InstanceError` for what is none."""

    catalogue: str = ""
    prices: str = ""
    region: str = ""
    capacity_types: str = ON_DEMAND
    zones: str = AUTO
    node_type: str = ""
    node_types: str = ""
    node_groups: str = ANY

    def __post_init__(self) -> None:
        one_of("capacity_types", self.capacity_types, (ON_DEMAND, ADMITTED), InstanceError)
        one_of("zones", self.zones, (AUTO, IGNORE), InstanceError)
        one_of("node_groups", self.node_groups, (ANY, KEPT), InstanceError)
        if not self.catalogue:
            raise InstanceError("no price list is given; name it in the parameter `catalogue`.")

    def price_list(self) -> Catalogue:
        """Return the price list."""
        return read_catalogue(self.catalogue, prices=self.prices, region=self.region)


def assembled(
    state: State, terms: Terms, listed_types: Catalogue, held: Callable[[State, Exclusions], Held] = held_by_node
) -> tuple[Assembly, tuple[RunningNode, ...]]:
    """Return the pods of a state with the machines that they may run on, and its nodes, less what comes with them.

    held : returns what the pods that are packed take of each node at most at a time.
    """
    groups = list(state.groups.values())
    constraints = [constraint_of(state, group) for group in groups]
    tell_shared_volumes(state, groups)
    excluding = exclusions(state, groups, constraints)
    type_of = types_of_nodes(state, terms.node_type, terms.node_types)
    nodes = running_nodes(state, listed_types, excluding, type_of, held(state, excluding))
    asked = [expression for constraint in constraints for expression in constraint.expressions()]
    keys = {expression.key for expression in asked}
    daemons = (daemon.parts.constraint for daemon in state.daemon_sets.values())
    looked = keys | {expression.key for constraint in daemons for expression in constraint.expressions()}
    told_apart = _zones(listed_types, nodes, state, asked) if terms.zones == AUTO and ZONE in keys else ()
    spot = terms.capacity_types == ADMITTED
    market = Market(
        *(state, listed_types, nodes, excluding, frozenset(looked), constraints, told_apart, spot, terms.node_groups)
    )
    rented, running = market.offers()
    priced = {offer.price for offer in (*rented, *running)}
    state.report.sentences += [*excluding.kept, *excluding.kept_alone, *listed_types.notes, *rounding_note(priced)]
    return Assembly(groups, constraints, excluding, [*rented, *running], state.report), nodes


def constraint_of(state: State, group: PodGroup) -> Constraint:
    """Return a group's constraint with the places of its volumes."""
    constraint = group.key.parts.constraint
    reached = []
    for claim in group.key.claims:
        volume = state.claims.get(claim, "")
        if volume not in state.volumes:
            state.report.relaxed[UNPLACED][group.name] += group.count
            return constraint
        if (terms := state.volumes[volume]) is not None:
            reached.append(terms)
    return constraint._replace(affinities=(*constraint.affinities, *dict.fromkeys(reached)))


def tell_shared_volumes(state: State, groups: Sequence[PodGroup]) -> None:
    """Say which pods share a volume that one node at a time can use."""
    users: Counter[str] = Counter()
    for group in groups:
        users.update(dict.fromkeys(group.key.claims, group.count))
    for group in groups:
        if any(users[claim] > 1 and claim in state.on_one_node for claim in group.key.claims):
            state.report.relaxed[TOGETHER][group.name] += group.count


def _zones(
    catalogue: Catalogue, nodes: Sequence[RunningNode], state: State, asked: Sequence[Expression]
) -> tuple[str, ...]:
    """Return the zones of nodes, NodePools and pods, and those of the price list, unless it has other names for all.

    Where pods avoid zones, and a line of the list holds for all, there is one more.
    """
    required = (each for pool in state.pools.values() for each in pool.spec.template.spec.requirements)
    own = {node.zone for node in nodes if node.zone} | _in_zones(required)
    named = own | _in_zones(asked)
    found = named.union(catalogue.zones if not own or not named.isdisjoint(catalogue.zones) else ())
    avoided = any(label_name(each.key, each.values) == ZONE and each.operator == "NotIn" for each in asked)
    everywhere = any(not offer.zone for kind in catalogue.types for offer in kind.offerings)
    return (*sorted(found), *((ANOTHER_ZONE,) if avoided and everywhere else ()))


def _in_zones(expressions: Iterable[Expression]) -> set[str]:
    found = (each for each in expressions if label_name(each.key, each.values) == ZONE and each.operator == "In")
    return {value for each in found for value in each.values}


UNFITTED = "fit no machine that can be had"
NO_LONGER = "run where their constraints would not let them go today, and may stay"
NEARBY = f"{NO_LONGER}, on any node that admits the same"
# So many nodes with pods that may only stay are told apart.
MOST_ALONE = 50


class Assembly:
    """Groups of pods and offers as the arrays of an instance."""

    def __init__(
        self,
        groups: Sequence[PodGroup],
        constraints: Sequence[Constraint],
        excluding: Exclusions,
        offers: Sequence[Offer],
        report: Report,
    ) -> None:
        self.report, self.offers, self.kept_alone = report, offers, excluding.kept_alone
        distinct = list(dict.fromkeys(constraints))
        unknown: list[set[str]] = [set() for _ in distinct]
        columns = admissions(distinct, offers, unknown)
        number = {constraint: q for q, constraint in enumerate(distinct)}
        for group, constraint in zip(groups, constraints, strict=True):
            for kind in unknown[number[constraint]]:
                report.relaxed[kind][group.name] += group.count
        # Pods that may only stay are tied to their very node, unless there are very many such nodes.
        place = {offer.node: k for k, offer in enumerate(offers)}
        astray = {
            node
            for group, constraint in zip(groups, constraints, strict=True)
            for node in group.on
            if not columns[place[node]][number[constraint]]
        }
        self.exact = len(astray) <= MOST_ALONE
        alone = [offer.node if self.exact and offer.node in astray else "" for offer in offers]
        # Machines that admit the same pods are a family.
        keys = list(zip(columns, alone, strict=True))
        families = {key: f for f, key in enumerate(dict.fromkeys(keys))}
        self.family = [families[key] for key in keys]
        names = {key: offer.group for key, offer in zip(reversed(keys), reversed(offers), strict=True)}
        self.family_names = [names[key] for key in families]
        self.admits: BoolArray = np.array([column for column, _ in families], np.bool_)
        self._classes(groups, constraints, excluding, number)

    def _classes(
        self,
        groups: Sequence[PodGroup],
        constraints: Sequence[Constraint],
        excluding: Exclusions,
        number: dict[Constraint, int],
    ) -> None:
        """Merge groups of equal demand and families to classes; leave out what fits no machine."""
        admitted = self.admits.T
        family_of = {offer.node: family for offer, family in zip(self.offers, self.family, strict=True) if offer.node}
        classes: dict[tuple[object, ...], int] = {}
        self.demand: list[dict[str, int]] = []
        self.members: list[list[PodGroup]] = []
        self.alone: list[tuple[int, ...]] = []
        allowed = []
        # Of which nodes that no two of may share a pod is known already.
        used: set[tuple[int, str]] = set()
        for whole, constraint, more, marks in zip(groups, constraints, excluding.demand, excluding.alone, strict=True):
            for part, on in self._may_stay(whole, admitted[number[constraint]], family_of):
                for group, alone in kept_apart(part, marks, used, self.report):
                    key = (group.key.request, tuple(sorted(more.items())), on.tobytes(), alone, group.key.weight)
                    if key not in classes:
                        classes[key] = len(classes)
                        self.demand.append(dict(group.key.request) | more)
                        self.members.append([])
                        self.alone.append(alone)
                        allowed.append(on)
                    self.members[classes[key]].append(group)
        self.allowed = np.array(allowed).reshape(len(allowed), -1)
        keys = {key for row in self.demand for key in row}
        last = excluding.capacity
        self.resources = sorted(keys, key=lambda name: (name in last, (CPU, RAM, PODS, name).index(name), name))
        self._leave_out()
        say_between(self.alone, self.allowed, self.members, self.report)

    def _may_stay(
        self, group: PodGroup, on: BoolArray, family_of: Mapping[str, int]
    ) -> Iterator[tuple[PodGroup, BoolArray]]:
        """Yield the parts of a group with the families that they may run on: no pod has to leave the node that it is on."""
        strays: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for node, number in group.on.items():
            if not on[family_of[node]]:
                strays[family_of[node]][node] = number
        for family, nodes in strays.items():
            kinds = self.report.informed[NO_LONGER] if self.exact else self.report.relaxed[NEARBY]
            kinds[group.name] += sum(nodes.values())
            too = on.copy()
            too[family] = True
            yield PodGroup(group.key, nodes, held=group.held), too
        left = {node: number for node, number in group.on.items() if on[family_of[node]]}
        if left or group.pending:
            yield PodGroup(group.key, left, group.pending, group.held), on

    def _leave_out(self) -> None:
        """Leave out the classes that no machine holds. O(C K R), K the distinct sizes of each family."""
        wanted = np.array([[min(row.get(name, 0), UNLIMITED + 1) for name in self.resources] for row in self.demand])
        sizes = [[min(offer.capacity.get(name, 0), UNLIMITED) for name in self.resources] for offer in self.offers]
        rows = np.unique(np.column_stack((self.family, sizes)), axis=0)
        family, sizes_of = rows[:, 0], rows[:, 1:]
        fits = [bool((self.allowed[c][family] & (sizes_of >= row).all(axis=1)).any()) for c, row in enumerate(wanted)]
        for group in (group for c, members in enumerate(self.members) if not fits[c] for group in members):
            self.report.left_out[UNFITTED][group.name] += group.count
        if not any(fits):
            raise InstanceError("no pod fits a machine that can be had; correct the sizes in the price list.")
        self.demand = list(compress(self.demand, fits))
        self.members = list(compress(self.members, fits))
        self.alone = list(compress(self.alone, fits))
        self.allowed = self.allowed[fits]

    def instance(self, name: str, state: State, nodes: Sequence[RunningNode]) -> ProvisioningInstance:
        """Return the instance, with the nodes as running machines."""
        used = {key for row in self.demand for key in row}
        resources = [name for name in self.resources if name in used]
        sizes = [{key: min(value, UNLIMITED) for key, value in offer.capacity.items()} for offer in self.offers]
        names, demands, capacities = in_units(resources, self.demand, sizes, alike=True)
        # A node that its DaemonSets fill: room for a thousandth of a pod, since an instance wants some.
        for row in (row for row in capacities if not any(row)):
            row[resources.index(PODS)] = 1
        types, node2type = self._types(capacities)
        chosen = [self.offers[k] for k in types]
        self.kinds = [offer.type_name for offer in chosen]
        # Families in the order of their first type.
        order = list(dict.fromkeys(self.family[k] for k in types))
        demand = np.where(self.allowed.T[order][:, :, None], np.array(demands)[None], NOT_ALLOWED)
        counts = [sum(group.count for group in members) for members in self.members]
        running = self._running(node2type, state, looked_at(state, nodes, resources, self.demand, chosen))
        placed = sum(running.count.tolist())
        price = [micro_dollars(offer.price) for offer in chosen]
        sentence = (
            f"Taken: {sum(counts)} pods in {len(counts)} classes ({placed} on {running.size} nodes, {sum(counts) - placed} "
            f"pending; {state.jobs} of Jobs); the nodes cost {sum(price[k] for k in node2type) / DOLLAR:g} $/h."
        )
        fees = [micro_dollars(offer.fee) if offer.fee is not None else 0 for offer in chosen]
        stock = self._stock(types, node2type)
        type_names = tuple(self._type_names(types, node2type))
        return ProvisioningInstance(
            name=name,
            resources=names,
            families=tuple(unique_names(self.family_names[f] for f in order)),
            type_names=type_names,
            type2family=np.array([order.index(self.family[k]) for k in types]),
            capacity=np.array([capacities[k] for k in types]),
            price=np.array(price),
            demand=demand,
            counts=np.array(counts),
            class_names=tuple(unique_names(members[0].key.owner for members in self.members)),
            stock=np.array(stock) if any(number != ANY_NUMBER for number in stock) else None,
            fee=np.array(fees) if any(fees) else None,
            per_machine=np.array([1 if alone else ANY_NUMBER for alone in self.alone]),
            disruption=np.array([members[0].key.weight for members in self.members]),
            running=running,
            usual_tasks=tuple((n, o.usual_pods) for n, o in zip(type_names, chosen, strict=True) if o.usual_pods > 0),
            notes=(sentence, *self.report.notes()),
        )

    def classes_on(self) -> defaultdict[tuple[int, str], list[tuple[int, int]]]:
        """Return the classes that the pods of a group on a node are of, and how many of each, those kept apart first.

        Groups go by the identity of their key, which parts of them share.
        """
        found: defaultdict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
        for c in sorted(range(len(self.members)), key=lambda c: not self.alone[c]):
            for group in self.members[c]:
                for node, number in group.on.items():
                    found[id(group.key), node].append((c, number))
        return found

    def _types(self, capacities: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
        """Return the offers that are machine types, and the type of each node.

        Of offers those are enough that no other covers, beside those that nodes are of.
        Nodes that differ from what can be rented are types of their own.
        """
        rented: dict[tuple[object, ...], int] = {}
        nodes: dict[tuple[object, ...], list[int]] = {}
        for k, offer in enumerate(self.offers):
            size = (self.family[k], tuple(capacities[k]))
            key = (*size, offer.type_name, offer.capacity_type, offer.zone, micro_dollars(offer.price))
            if offer.node:
                nodes.setdefault(key, []).append(k)
            else:
                rented.setdefault(key, k)
        best = uncovered(rented.values(), self.offers, self.family, self.admits, capacities)
        kept = {*best, *(rented[place] for place in nodes if place in rented)}
        if len(rented) > len(kept):
            self.report.sentences.append(
                f"{len(rented) - len(kept)} of {len(rented)} machines that can be rented are no larger and no cheaper "
                "than another that takes the same pods and perhaps more, and were left out."
            )
        types = sorted(kept)
        index = {k: number for number, k in enumerate(types)}
        of_node: dict[int, int] = {}
        for place, members in nodes.items():
            k = rented.get(place, members[0])
            if k not in index:
                index[k] = len(types)
                types.append(k)
            of_node |= dict.fromkeys(members, index[k])
        return types, [of_node[k] for k, offer in enumerate(self.offers) if offer.node]

    def _stock(self, types: Sequence[int], node2type: Sequence[int]) -> list[int]:
        running = Counter(node2type)
        limits = [0 if self.offers[k].node else self.offers[k].count for k in types]
        # Groups, spot and other machines have a type each, and nodes that are unlike; zones have counts of their own.
        lines = Counter(
            (offer.type_name, offer.zone)
            for offer, limit in zip([self.offers[k] for k in types], limits, strict=True)
            if limit > 0
        )
        unlike = Counter(self.offers[k].type_name for k in types if self.offers[k].node)
        if shared := sorted({name for (name, _), number in lines.items() if number + unlike[name] > 1}):
            self.report.sentences.append(
                f"Relaxed: the count of {listed(shared)}, which holds by itself for each group of machines, for spot and other "
                "machines, and beside nodes that are unlike new ones."
            )
        return [limit if limit < 0 else max(limit, running[number]) for number, limit in enumerate(limits)]

    def _type_names(self, types: Sequence[int], node2type: Sequence[int]) -> list[str]:
        """Return `m5.large`, with what tells it from others of that type in brackets."""
        running = Counter(node2type)
        names = []
        alike = Counter((o.type_name, o.capacity_type, o.zone) for o in (self.offers[k] for k in types) if not o.node)
        for number, k in enumerate(types):
            offer = self.offers[k]
            more = [offer.capacity_type] if offer.capacity_type != ON_DEMAND else []
            more += [offer.zone] if offer.zone else []
            if offer.node:
                others = f" and {running[number] - 1} alike" if running[number] > 1 else ""
                more = [*more, f"{offer.node}{others}"]
            elif alike[offer.type_name, offer.capacity_type, offer.zone] > 1:
                more.append(offer.group)
            names.append(f"{offer.type_name} ({', '.join(more)})" if more else offer.type_name)
        return unique_names(names)

    def _running(self, node2type: Sequence[int], state: State, more: dict[str, Any]) -> Running:
        nodes = [(k, offer) for k, offer in enumerate(self.offers) if offer.node]
        index = {offer.node: e for e, (_, offer) in enumerate(nodes)}
        content: list[Counter[int]] = [Counter() for _ in nodes]
        for c, members in enumerate(self.members):
            for group in members:
                for node, number in group.on.items():
                    content[index[node]][c] += number
        rows = [sorted(row.items()) for row in content]
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        classes = np.array([c for row in rows for c, _ in row], np.int64)
        counts = np.array([number for row in rows for _, number in row], np.int64)
        asked = restraints(state, self.members, index)
        names = tuple(offer.node for _, offer in nodes)
        return Running(names, np.array(node2type), indptr, classes, counts, restraints=asked, **more)
