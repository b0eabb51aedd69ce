"""Machines that can be rented anew: types of the price list with the labels and taints of NodePools or of running nodes.

Which machines admit which pods, and for lack of what knowledge; and machines that no other covers.

A machine covers another if it admits the same pods or more, and is no smaller and no dearer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.provisioning.readers.catalogues.catalogue import (
    ABSENT,
    GPU_LABELS,
    NVIDIA_GPU,
    ON_DEMAND,
    OS_LABEL,
    SPOT,
    Catalogue,
    MachineType,
    gpu_values,
    least,
    spot_note,
)
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import Exclusions
from schedgap.instances.provisioning.readers.kubernetes.constraints import (
    CAPACITY_TYPE,
    HOSTNAME,
    TYPE,
    ZONE,
    Constraint,
    Machine,
    is_of_the_type,
    may_run,
)
from schedgap.instances.provisioning.readers.kubernetes.nodes import GPU, SPOT_LABELS, RunningNode
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name
from schedgap.instances.provisioning.readers.kubernetes.sizes import Sizes
from schedgap.instances.provisioning.readers.kubernetes.state import State
from schedgap.instances.provisioning.readers.kubernetes.templates import (
    ANY,
    Labels,
    Template,
    group_of,
    observed_labels,
    required,
    templates,
)
from schedgap.instances.provisioning.readers.quantities import CPU, RAM, listed, micro_dollars


def admissions(
    distinct: Sequence[Constraint], offers: Sequence[Offer], unknown: Sequence[set[str]]
) -> list[tuple[bool, ...]]:
    """Return for each offer whether it admits the pods of each constraint; machines that are alike are asked once.

    unknown : gets, for each constraint, the kinds of labels for whose lack of knowledge alone a machine admits its pods.
    """
    known: dict[object, tuple[bool, ...]] = {}
    looked = [{expression.key for expression in constraint.expressions()} for constraint in distinct]
    keys = set().union(*looked)
    columns = []
    for offer in offers:
        machine = offer.machine
        seen = frozenset((key, machine.labels[key]) for key in keys & machine.labels.keys())
        place = (seen, machine.taints, machine.unknown & keys)
        if place not in known:
            found = [may_run(constraint, machine) for constraint in distinct]
            known[place] = tuple(admits is not False for admits in found)
            for q in (q for q, admits in enumerate(found) if admits is None):
                unsure = machine.unknown.union(key for key, values in machine.labels.items() if len(values) > 1)
                unknown[q].update(map(_unknown, looked[q] & unsure or {HOSTNAME}))
        columns.append(known[place])
    return columns


def _unknown(key: str) -> str:
    if key == HOSTNAME:
        return "bound to a node by name"
    if key == ZONE:
        return "bound to a zone"
    if key == CAPACITY_TYPE or key in SPOT_LABELS:
        return "bound to spot or on-demand machines"
    return f"bound to label {key:.80}, which is not known of every machine"


def uncovered(
    chosen: Iterable[int],
    offers: Sequence[Offer],
    family: Sequence[int],
    admits: BoolArray,
    capacities: Sequence[Sequence[int]],
) -> Iterator[int]:
    """Yield those of the chosen offers that no other covers; of limited ones only others of their line of the price list do.

    family : of each offer. admits : (F, Q) whether a family admits the pods of a constraint. O(n k R), k those that remain.
    """
    lines: defaultdict[object, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for k in chosen:
        offer = offers[k]
        limited = (offer.type_name, offer.capacity_type, offer.zone, offer.price) if offer.count >= 0 else None
        lines[limited][family[k]].append(k)
    for families in lines.values():
        best = {f: _Best(members, offers, capacities) for f, members in families.items()}
        for f, own in best.items():
            larger = [best[g] for g in best if g != f and (admits[g] >= admits[f]).all()]
            for k, price, size in zip(own.members, own.prices, own.sizes, strict=True):
                if not any(other.covers(price, size) for other in larger):
                    yield k


class _Best:
    """Offers that admit the same pods, without those that others of them cover, the cheapest first."""

    def __init__(self, members: Iterable[int], offers: Sequence[Offer], capacities: Sequence[Sequence[int]]) -> None:
        price = {k: micro_dollars(offers[k].price) for k in members}
        # Of equal prices the largest first: what comes later covers nothing before it.
        ordered = sorted(price, key=lambda k: (price[k], -sum(capacities[k])))
        sizes = np.array([capacities[k] for k in ordered])
        kept: list[int] = []
        remaining = np.empty_like(sizes)
        for i, size in enumerate(sizes):
            if not (remaining[: len(kept)] >= size).all(axis=1).any():
                remaining[len(kept)] = size
                kept.append(i)
        self.members = [ordered[i] for i in kept]
        self.prices = [price[k] for k in self.members]
        self.sizes: IntArray = sizes[kept]

    def covers(self, price: int, size: IntArray) -> bool:
        """Return whether one is no dearer and no smaller."""
        cheaper = bisect_right(self.prices, price)
        return bool((self.sizes[:cheaper] >= size).all(axis=1).any())


@dataclass(frozen=True, slots=True)
class Offer:
    """A machine that can be rented, or (`node`) one that runs. capacity : fine units by resource.

    usual_pods : how many pods it takes unless its network is set up to take more, where its capacity does not say; else -1.
    """

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
    usual_pods: int = -1


@dataclass(slots=True)
class Market:
    """How offers are made of what was read.

    looked : labels that some constraint looks at. asked : the constraints of pods. zones : those that machines are told apart
    by, or none. spot : whether spare capacity can be rented wherever it is admitted. node_groups : `ANY` or `KEPT`.
    """

    state: State
    catalogue: Catalogue
    nodes: Sequence[RunningNode]
    excluding: Exclusions
    looked: frozenset[str]
    asked: Sequence[Constraint]
    zones: tuple[str, ...] = ()
    spot: bool = False
    node_groups: str = ANY
    placeless: frozenset[str] = frozenset()
    nowhere: frozenset[str] = frozenset()
    wanted: frozenset[str] = frozenset()
    variants: dict[object, Machine] = field(default_factory=dict)
    spare: dict[str, Labels] = field(default_factory=dict)
    open_labels: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    unanswered: defaultdict[tuple[str, str], dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def offers(self) -> tuple[list[Offer], list[Offer]]:
        """Return what can be rented anew, and the nodes.

        Raises
        ------
        InstanceError
            for a NodePool with a requirement that is none.
        """
        groups = templates(self.state, self.nodes, self.looked, self.asked, self.node_groups)
        known = {CAPACITY_TYPE, TYPE, *(key for node in self.nodes for key in node.labels)}
        pools = [template for template in groups if not template.is_group]
        known |= {key for template in pools for key in (*template.labels, *(r.key for r in template.requirements))}
        known |= {key for kind in self.catalogue.types for key in kind.labels}
        placeless = frozenset((HOSTNAME,) if self.zones else (HOSTNAME, ZONE))
        self.placeless, self.nowhere = placeless, self.looked - known | placeless
        self.wanted = frozenset(each.key for one in self.asked for each in one.expressions())
        running = [self._running(node, placeless) for node in self.nodes]
        self.spare = {kind: self._spare(kind) for kind in (ON_DEMAND, SPOT)}
        self._need_spot()
        machines = [offer.machine for offer in running]
        sizes = Sizes(self.state, self.catalogue, self.nodes, machines, self.excluding)
        rented = list(self._rented(groups, sizes))
        sizes.tell()
        self._tell_spot(groups)
        self._tell_unanswered()
        self._tell_unknown()
        return rented, running

    def _running(self, node: RunningNode, unknown: frozenset[str]) -> Offer:
        # It has its labels as they stand.
        labels = {key: value for key, value in node.labels.items() if key in self.looked}
        key = (tuple(sorted(labels.items())), node.taints)
        if key not in self.variants:
            values = {name: frozenset((value,)) for name, value in labels.items()}
            self.variants[key] = Machine(values, node.taints, unknown)
        zone = node.zone if self.zones else ""
        group = group_of(node)
        return Offer(
            node.type_name, node.capacity_type, zone, group, self.variants[key], node.price, node.left, node=node.name
        )

    def _rented(self, groups: Sequence[Template], sizes: Sizes) -> Iterator[Offer]:
        by_type: defaultdict[str, list[RunningNode]] = defaultdict(list)
        for node in self.nodes:
            by_type[node.type_name].append(node)
        # Of some types a list that has sizes may say none.
        stated = {name for name in (CPU, RAM) if self.catalogue.states(name)}
        unsized = []
        # What a NodePool requires of types, their nodes may tell.
        required_of = [each for template in groups for each in template.requirements]
        told = self.looked | {label_name(each.key) for each in required_of}
        asked = [each for one in self.asked for each in one.expressions()]
        named = {key: {v for e in (*asked, *required_of) if e.key == key for v in e.values} for key in GPU_LABELS}
        for kind in self.catalogue.types:
            alike = by_type[kind.name]
            labels = self._gpu_labels(kind, named) | observed_labels(alike, told, of_type=True)
            if not alike and not (kind.capacity and stated <= kind.capacity.keys()):
                unsized.append(kind.name)
                continue
            for template in groups:
                # Of what runs there is more where it runs; for all else there are new groups.
                if not template.is_group or template.is_new or any(node.name in template.nodes for node in alike):
                    yield from self._of_template(kind, template, labels, alike, sizes)
        if unsized:
            self.state.report.sentences.append(
                f"Not offered, as the price list has no sizes of them and no node is one: {listed(unsized)}."
            )

    def _gpu_labels(self, kind: MachineType, named: Mapping[str, set[str]]) -> Labels:
        """Return what labels that name a GPU may be, by what the price list calls it; of a machine without any, none."""
        if kind.gpu_name != NVIDIA_GPU or (not kind.gpu_model and kind.capacity.get(GPU, 0)):
            return {}
        if not kind.capacity.get(GPU, 0):
            return dict.fromkeys(GPU_LABELS, ABSENT) if self.catalogue.states(GPU) else {}
        return {key: gpu_values(kind.gpu_model, values) for key, values in named.items()}

    def _of_template(
        self, kind: MachineType, template: Template, labels: Labels, alike: Sequence[RunningNode], sizes: Sizes
    ) -> Iterator[Offer]:
        named = {label_name(each.key) for each in template.requirements}
        own = kind.labels_of(self.looked | named, is_of_pool=not template.is_group)
        near = kind if self.zones else template.kind_in_zones(kind, self.catalogue)
        # Of the system a group may say nothing.
        # A label that nothing has is one of a new group, where one can be made.
        of_type = frozenset(key for key in self.looked if is_of_the_type(key)).union(
            named, template.unknown, (OS_LABEL,)
        )
        open_keys = (of_type | (self.placeless if template.is_group else self.nowhere)) - template.absent
        for capacity_type, is_told in self._capacity_types(near, template):
            is_spot = is_told and capacity_type == SPOT
            taints = tuple(taint for taint in template.taints if is_spot or taint.key not in SPOT_LABELS)
            # Labels as the price list has them, as nodes of the type do, and as the group's.
            has = own | labels | template.labels | {TYPE: frozenset((kind.name,))}
            if OS_LABEL in kind.labels:
                # A group may be of several systems, the price of a type is for one.
                has[OS_LABEL] = kind.labels[OS_LABEL] | {node.labels.get(OS_LABEL) for node in alike} - {None}
            if is_told:
                has |= self.spare[capacity_type]
                if template.is_group:
                    # Groups of no NodePool need not have Karpenter's label.
                    has[CAPACITY_TYPE] |= {None}
            for zone, offerings in near.places(capacity_type, self.zones):
                if self.zones:
                    has = has | {ZONE: frozenset((zone,))}
                machine = Machine(has, taints, open_keys.difference(has))
                answers = [(label_name(each.key), required(template, each, machine)) for each in template.requirements]
                if any(held is False for _, held in answers):
                    continue
                price, count = least(offerings)
                there = [node for node in alike if node.capacity_type == capacity_type and zone in ("", node.zone)]
                if 0 <= count <= len(there):
                    # All that there are run.
                    continue
                for key in (key for key in machine.unknown if key in self.wanted and _is_of_machines(key)):
                    self.open_labels[key][kind.name] = None
                for key in (key for key, held in answers if held is None and _is_of_machines(key)):
                    self.unanswered[template.name, key][kind.name] = None
                capacity = sizes.of(kind, template, machine, alike)
                price += kind.fee or 0
                usual = sizes.usual_pods(kind, capacity, alike)
                names = kind.name, capacity_type, zone, template.name
                yield Offer(*names, machine, price, capacity, count, kind.fee, usual_pods=usual)

    def _capacity_types(self, kind: MachineType, template: Template) -> Iterator[tuple[str, bool]]:
        """Yield at which prices a type is rented, and whether its machines are known to be spot or not.

        At on-demand prices every machine is one, save in NodePools that admit spot alone, and of types that have no other
        price than spot. Of a type without a spot price spot machines cost as on demand.
        """
        is_spot_only = template.admits(SPOT) and not template.admits(ON_DEMAND)
        wanted = (SPOT,) if is_spot_only else (ON_DEMAND, SPOT) if self.spot else (ON_DEMAND,)
        has = {capacity_type for capacity_type in (ON_DEMAND, SPOT) if kind.offers(capacity_type)}
        if has.isdisjoint(wanted):
            wanted = (ON_DEMAND, SPOT)
        for capacity_type in (each for each in wanted if each in has):
            yield capacity_type, (not is_spot_only and self.spot and SPOT in has) or capacity_type == SPOT

    def _need_spot(self) -> None:
        """Rent spare capacity wherever it is admitted, if some pod may run on nothing else: then that is what it costs."""
        others = self.looked.difference(*self.spare.values())
        machines = [Machine(self.spare[kind], unknown=others) for kind in (ON_DEMAND, SPOT)]
        bound = [
            group.name
            for group, constraint in zip(self.state.groups.values(), self.asked, strict=True)
            if [may_run(constraint, machine) is not False for machine in machines] == [False, True]
        ]
        if bound and not self.spot and any(kind.offers(SPOT) for kind in self.catalogue.types):
            self.spot = True
            self.state.report.sentences.append(
                f"New machines may be spot, at spot prices, as some pods admit nothing else: {listed([*dict.fromkeys(bound)])}."
            )

    def _tell_spot(self, groups: Sequence[Template]) -> None:
        """Say where spot prices count, and where they could."""
        pools = [template for template in groups if not template.is_group and template.admits(SPOT)]
        only = [template.name for template in pools if not template.admits(ON_DEMAND)]
        too = [template.name for template in pools if template.of_capacity_types and template.name not in only]
        kinds = self.catalogue.types
        dear = [kind.name for kind in kinds if kind.offers(ON_DEMAND) and not kind.offers(SPOT)]
        told = self.state.report.sentences
        if only:
            told.append(f"New machines cost their spot price, as the NodePool admits no other: {listed(only)}.")
        if only and dear:
            told.append(f"They cost as on demand there, as the price list has no spot price of them: {listed(dear)}.")
        if too and not self.spot and len(dear) < len(kinds):
            told.append(f"Spot was not looked at, which NodePools admit (capacity_types=admitted does): {listed(too)}.")
        told += spot_note([kind.name for kind in kinds if not kind.offers(ON_DEMAND)])

    def _tell_unanswered(self) -> None:
        """Say what of NodePools could not be asked."""
        sentences = self.state.report.sentences
        for (pool, key), kinds in self.unanswered.items():
            sentences.append(
                f"Relaxed: NodePool {pool} requires something of {key:.80}, which neither the price list nor a node says of "
                f"{len(kinds)} type{'s' * (len(kinds) != 1)}, which count as admitted: {listed(list(kinds))}."
            )

    def _tell_unknown(self) -> None:
        """Say of which types it is not known whether they have what pods ask for."""
        for key, kinds in self.open_labels.items():
            more = "; a column gpu_name of the price list tells it" if key in GPU_LABELS else ""
            self.state.report.sentences.append(
                f"Relaxed: label {key:.80}, which pods ask for, is not known of {len(kinds)} "
                f"type{'s' * (len(kinds) != 1)}, which may have any value: {listed(list(kinds))}{more}."
            )

    def _spare(self, capacity_type: str) -> Labels:
        """Return the labels that tell spare capacity from other machines."""
        alike = [node.labels for node in self.nodes if node.capacity_type == capacity_type]
        spare: Labels = {CAPACITY_TYPE: frozenset((capacity_type,))}
        for key in self.looked & SPOT_LABELS.keys():
            values = SPOT_LABELS[key][0 if capacity_type == SPOT else 1]
            spare[key] = frozenset((*values, *(labels.get(key) for labels in alike or [{}])))
        return spare


def _is_of_machines(key: str) -> bool:
    """Return whether a label tells what a type is, rather than its name or place, or how it is paid."""
    return is_of_the_type(key) and key not in (TYPE, HOSTNAME, CAPACITY_TYPE) and not key.startswith("topology.")
