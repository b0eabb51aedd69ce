"""Pods that exclude each other on a machine, stated exactly as resources: anti-affinity by hostname, and host ports.

A term of pods A that selects S means that an A shares no machine with any other of S, whoever came first. Where A lies
in S: M of a resource of which a machine has M, 1 for the others of S, with M at least the number of S's pods that a machine
can hold. With no others M is 1. What A selects outside of itself cannot be stated so.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.amounts import THOUSAND
from schedgap.instances.provisioning.readers.kubernetes.constraints import OPERATORS, Machine, holds
from schedgap.instances.provisioning.readers.kubernetes.documents import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.provisioning.readers.kubernetes.pod_parts import Apart
    from schedgap.instances.provisioning.readers.kubernetes.state import DaemonSet, PodGroup, State

NOT_ITSELF = "pod anti-affinity by hostname that does not select the pods themselves"
ADDRESSES = "host ports of a single address"


class _Profile(NamedTuple):
    """What terms look at in a pod."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    apart: tuple[Apart, ...]


@dataclass(slots=True)
class Exclusions:
    """Resources that keep pods apart.

    capacity : fine units by resource. demand : of each group of pods. ports : the resource of each port of the host.
    kept : sentences on what is stated exactly.
    """

    capacity: dict[str, int] = field(default_factory=dict)
    demand: list[dict[str, int]] = field(default_factory=list)
    ports: dict[tuple[str, int], str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)

    def taken_by(self, daemon_set: DaemonSet) -> dict[str, int]:
        """Return what a DaemonSet's pod takes of these resources."""
        places = {(port.protocol, port.number) for port in daemon_set.ports}
        return {self.ports[place]: THOUSAND for place in places if place in self.ports}


def exclusions(state: State, groups: Sequence[PodGroup]) -> Exclusions:
    """Return the resources that keep pods apart; what cannot be stated goes to the report.

    Raises
    ------
    InstanceError
        for a selector that Kubernetes does not have.
    """
    found = Exclusions(demand=[{} for _ in groups])
    _anti_affinity(state, groups, found)
    _host_ports(state, groups, found)
    return found


def _anti_affinity(state: State, groups: Sequence[PodGroup], found: Exclusions) -> None:
    terms = list(dict.fromkeys(term for group in groups for term in group.key.parts.apart))
    if not terms:
        return
    expressions = [expression for term in terms for expression in term.selector or ()]
    keys = {expression.key for expression in expressions}
    for expression in expressions:
        if expression.operator not in OPERATORS[:4]:
            raise InstanceError(
                f"a selector of pods has operator '{expression.operator:.60}'; Kubernetes has {', '.join(OPERATORS[:4])}."
            )
    members: defaultdict[_Profile, list[int]] = defaultdict(list)
    cache: dict[bytes, tuple[tuple[str, str], ...]] = {}
    for g, group in enumerate(groups):
        if group.key.labels not in cache:
            labels = _labels(group)
            cache[group.key.labels] = tuple(sorted(item for item in labels.items() if item[0] in keys))
        members[_Profile(group.key.namespace, cache[group.key.labels], group.key.parts.apart)].append(g)
    profiles = list(members)
    number = [sum(groups[g].count for g in members[profile]) for profile in profiles]
    # Terms that select the same pods are one constraint, of all pods that have one of them.
    holders: defaultdict[tuple[int, ...], dict[int, None]] = defaultdict(dict)
    chosen: dict[tuple[Apart, str], tuple[int, ...]] = {}
    for p, profile in enumerate(profiles):
        for term in profile.apart:
            place = (term, profile.namespace)
            if place not in chosen:
                chosen[place] = tuple(q for q, other in enumerate(profiles) if _selects(term, profile.namespace, other))
            holders[chosen[place]][p] = None
    outside = {p for selected, holding in holders.items() for p in holding if p not in selected}
    for g in (g for p in outside for g in members[profiles[p]]):
        state.report.relaxed[NOT_ITSELF][groups[g].name] += groups[g].count
    for selected, holding in holders.items():
        alone = [p for p in selected if p in holding]
        total = sum(number[p] for p in selected)
        if not alone or total < 2:
            continue
        others = [p for p in selected if p not in holding]
        most = max(1, sum(number[p] for p in others))
        first = groups[members[profiles[alone[0]]][0]]
        resource = _unused(f"apart-{first.key.owner}", found.capacity)
        found.capacity[resource] = most * THOUSAND
        for p in selected:
            for g in members[profiles[p]]:
                found.demand[g][resource] = (most if p in holding else 1) * THOUSAND
        beside = f", nor beside {sum(number[p] for p in others)} others" if others else ""
        pods = sum(number[p] for p in alone)
        found.kept.append(f"Kept exactly: at most one a machine of {pods} pods of {first.name}{beside}.")


def _host_ports(state: State, groups: Sequence[PodGroup], found: Exclusions) -> None:
    takers: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    by_address: set[tuple[str, int]] = set()
    for g, group in enumerate(groups):
        for port in group.key.ports:
            takers[port.protocol, port.number].append(g)
            if port.address:
                by_address.add((port.protocol, port.number))
    taken = {(port.protocol, port.number) for daemons in state.daemon_sets.values() for port in daemons.ports}
    for place, members in takers.items():
        # A pod at one address does not exclude one at another.
        free = [g for g in members if any(port[:2] == place and not port.address for port in groups[g].key.ports)]
        for g in members:
            if place in by_address and g not in free:
                state.report.relaxed[ADDRESSES][groups[g].name] += groups[g].count
        pods = sum(groups[g].count for g in free)
        if pods < 2 and place not in taken:
            continue
        protocol, number = place
        resource = _unused(f"port-{number}-{protocol.lower()}", found.capacity)
        found.capacity[resource] = THOUSAND
        found.ports[place] = resource
        for g in free:
            found.demand[g][resource] = THOUSAND
        found.kept.append(f"Kept exactly: at most one a machine of {pods} pods with host port {number}/{protocol}.")


def _unused(name: str, known: dict[str, int]) -> str:
    return next(chosen for n in range(1, len(known) + 3) if (chosen := f"{name}-{n}" if n > 1 else name) not in known)


def _labels(group: PodGroup) -> dict[str, str]:
    try:
        return decode(group.key.labels, dict[str, str] | None) or {}
    except InstanceError as error:
        raise InstanceError(f"a pod of {group.name}: labels: {error}; correct the object or take it out.") from None


def _selects(term: Apart, namespace: str, pod: _Profile) -> bool:
    if term.selector is None or not (term.everywhere or pod.namespace in (term.namespaces or (namespace,))):
        return False
    has = Machine({key: frozenset((value,)) for key, value in pod.labels})
    return all(holds(expression, has) for expression in term.selector)
