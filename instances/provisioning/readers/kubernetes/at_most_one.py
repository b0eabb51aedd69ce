"""Pods that exclude each other on a machine: anti-affinity by hostname, and host ports.

A term of pods A that selects S means that an A shares no machine with any other of S, whoever came first. Where A lies in S,
has no others and is one class, at most one of that class shares a machine: `per_machine` of the instance. So it is where A is
several classes of which no machine may hold two, as by their zones. Else it is a resource: M for A of which a machine has M,
1 for the others of S, with M at least the number of S's pods that a machine can hold. With no others M is 1. What A selects
outside of itself cannot be stated so.

Resources are few, however many Deployments there are: of more than `MOST` those of the most pods stay, and of the others
only that at most one of each class shares a machine. A floor may be lower for that, never too high.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from schedgap.instances.arrays import BoolArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.constraints import Constraint, Machine, allowed_values, holds
from schedgap.instances.provisioning.readers.kubernetes.objects import decode
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import Apart
from schedgap.instances.provisioning.readers.kubernetes.state import DaemonSet, PodGroup, Report, State
from schedgap.instances.provisioning.readers.quantities import THOUSAND, listed

NOT_ITSELF = "pod anti-affinity by hostname that does not select the pods themselves"
ADDRESSES = "host ports of a single address"
# So many resources for what excludes pods of several classes.
MOST = 8
# Classes of a rule that are looked at in pairs.
MOST_KINDS = 200
BEYOND = f"exclude pods of other classes on a machine, beyond the {MOST} that exclude the most"


class _Profile(NamedTuple):
    """What terms look at in a pod."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    apart: tuple[Apart, ...]


@dataclass(frozen=True, slots=True)
class _Rule:
    """Groups of pods of which no two share a machine, nor one of the groups `others` with one of them.

    port : where it is a port of the host. is_taken : whether a DaemonSet has that port.
    """

    alone: tuple[int, ...]
    others: tuple[int, ...] = ()
    port: tuple[str, int] | None = None
    is_taken: bool = False


@dataclass(slots=True)
class Exclusions:
    """What keeps pods apart.

    capacity : fine units by resource. demand : of each group of pods. alone : of each group, what tells it from others of
    which at most one shares a machine; empty where any number does. ports : the resource of each port of the host.
    kept, kept_alone : sentences on what is stated exactly, by resources and as `per_machine`.
    """

    capacity: dict[str, int] = field(default_factory=dict)
    demand: list[dict[str, int]] = field(default_factory=list)
    alone: list[tuple[int, ...]] = field(default_factory=list)
    ports: dict[tuple[str, int], str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    kept_alone: list[str] = field(default_factory=list)

    def taken_by(self, daemon_set: DaemonSet) -> dict[str, int]:
        """Return what a DaemonSet's pod takes of these resources."""
        places = {(port.protocol, port.number) for port in daemon_set.ports}
        return {self.ports[place]: THOUSAND for place in places if place in self.ports}


def exclusions(state: State, groups: Sequence[PodGroup], constraints: Sequence[Constraint]) -> Exclusions:
    """Return what keeps pods apart; what cannot be stated goes to the report. constraints : of each group.

    Raises
    ------
    InstanceError
        for a selector that Kubernetes does not have.
    """
    rules = [*_anti_affinity(state, groups), *_host_ports(state, groups)]
    shared = _of_several_classes(rules, groups, constraints)
    own = [rule for n, rule in enumerate(rules) if n not in shared]
    several = sorted((rules[n] for n in shared), key=lambda rule: (not rule.is_taken, -_pods(rule, groups)))
    most = MOST + sum(rule.is_taken for rule in several)
    found = Exclusions(demand=[{} for _ in groups])
    for rule in several[:most]:
        _as_resource(rule, groups, found)
    marks: list[list[int]] = [[] for _ in groups]
    for n, rule in enumerate(own):
        for g in rule.alone:
            marks[g].append(n)
    known = [bool(mark) for mark in marks]
    for n, rule in enumerate(several[most:]):
        for g in rule.alone:
            # What is kept exactly says it already.
            if not known[g]:
                marks[g].append(len(own) + n)
        for g in dict.fromkeys((*rule.alone, *rule.others)):
            state.report.relaxed[BEYOND][groups[g].name] += groups[g].count
    found.alone = [tuple(mark) for mark in marks]
    _say(own, groups, found)
    return found


def _pods(rule: _Rule, groups: Sequence[PodGroup]) -> int:
    return sum(groups[g].count for g in (*rule.alone, *rule.others))


def _of_several_classes(
    rules: Sequence[_Rule], groups: Sequence[PodGroup], constraints: Sequence[Constraint]
) -> set[int]:
    """Return those rules that `per_machine` cannot state: of several classes of which a machine may hold two.

    A rule that needs a resource tells classes apart by it, which may make others rules of several classes.
    """
    known = list(dict.fromkeys(constraints))
    place = {constraint: q for q, constraint in enumerate(known)}
    values = [allowed_values(constraint) for constraint in known]
    several = {n for n, rule in enumerate(rules) if rule.others or rule.is_taken}
    before = -1
    while before != (before := len(several)):
        marks: list[list[tuple[bool, int]]] = [[] for _ in groups]
        for n, rule in enumerate(rules):
            for g in rule.alone:
                marks[g].append((False, n))
            for g in rule.others:
                marks[g].append((True, n))
        for n, rule in enumerate(rules):
            if n in several:
                continue
            kinds = {
                (groups[g].key.request, groups[g].key.weight, tuple(marks[g]), place[constraints[g]])
                for g in rule.alone
            }
            if len(kinds) > MOST_KINDS or any(
                _may_meet(values[q], values[p]) for (*_, q), (*_, p) in combinations(kinds, 2)
            ):
                several.add(n)
    return several


def _may_meet(one: dict[str, frozenset[str]], two: dict[str, frozenset[str]]) -> bool:
    """Whether a machine may be for both, by the values that labels may have."""
    return all(not values.isdisjoint(two[key]) for key, values in one.items() if key in two)


def _as_resource(rule: _Rule, groups: Sequence[PodGroup], found: Exclusions) -> None:
    pods, beside = (sum(groups[g].count for g in some) for some in (rule.alone, rule.others))
    if rule.port is not None:
        protocol, number = rule.port
        name, said = f"port-{number}-{protocol.lower()}", f"with host port {number}/{protocol}"
    else:
        first = groups[rule.alone[0]]
        name, said = f"apart-{first.key.owner}", f"of {first.name}"
    most, resource = max(1, beside), _unused(name, found.capacity)
    found.capacity[resource] = most * THOUSAND
    if rule.port is not None:
        found.ports[rule.port] = resource
    for g in rule.alone:
        found.demand[g][resource] = most * THOUSAND
    for g in rule.others:
        found.demand[g][resource] = THOUSAND
    others = f", nor beside {beside} others" if beside else ""
    found.kept.append(f"Kept exactly: at most one a machine of {pods} pods {said}{others}.")


def _say(own: Sequence[_Rule], groups: Sequence[PodGroup], found: Exclusions) -> None:
    """Say in one sentence each what is stated of anti-affinity and of ports as `per_machine`."""
    terms, ports = ([rule for rule in own if (rule.port is not None) == is_port] for is_port in (False, True))
    names = [groups[rule.alone[0]].name for rule in terms]
    of_ports = [f"{rule.port[1]}/{rule.port[0]}" for rule in ports if rule.port is not None]
    for rules, said, many in (
        (terms, f"of {listed(names)}", "owners"),
        (ports, f"with host port {listed(of_ports)}", "ports"),
    ):
        pods = sum(_pods(rule, groups) for rule in rules)
        if len(rules) == 1:
            found.kept_alone.append(f"Kept exactly: at most one a machine of {pods} pods {said}.")
        elif rules:
            found.kept_alone.append(
                f"Kept exactly: at most one a machine of each of {len(rules)} {many}, {pods} pods {said}."
            )


def _anti_affinity(state: State, groups: Sequence[PodGroup]) -> list[_Rule]:
    terms = list(dict.fromkeys(term for group in groups for term in group.key.parts.apart))
    if not terms:
        return []
    expressions = [expression for term in terms for expression in term.selector or ()]
    keys = {expression.key for expression in expressions}
    for expression in expressions:
        if expression.operator[0] in "GL":
            raise InstanceError(
                f"a selector of pods has operator '{expression.operator}', which is for nodes; correct the object."
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
    near = _places(profiles)
    for p, profile in enumerate(profiles):
        for term in profile.apart:
            place = (term, profile.namespace)
            if place not in chosen:
                possible = _possible(term, profile.namespace, near, len(profiles))
                chosen[place] = tuple(q for q in possible if _selects(term, profile.namespace, profiles[q]))
            holders[chosen[place]][p] = None
    outside = {p for selected, holding in holders.items() for p in holding if p not in selected}
    for g in (g for p in outside for g in members[profiles[p]]):
        state.report.relaxed[NOT_ITSELF][groups[g].name] += groups[g].count
    rules = []
    for selected, holding in holders.items():
        alone = tuple(g for p in selected if p in holding for g in members[profiles[p]])
        others = tuple(g for p in selected if p not in holding for g in members[profiles[p]])
        if alone and sum(number[p] for p in selected) > 1:
            rules.append(_Rule(alone, others))
    return rules


def _places(profiles: Sequence[_Profile]) -> defaultdict[object, list[int]]:
    """Return the profiles of each namespace, and of each label with its value, in their order."""
    near: defaultdict[object, list[int]] = defaultdict(list)
    for q, profile in enumerate(profiles):
        for place in (profile.namespace, *profile.labels):
            near[place].append(q)
    return near


def _possible(term: Apart, namespace: str, near: Mapping[object, list[int]], number: int) -> Sequence[int]:
    """Return profiles of which a term selects no others: those with the value of a label, or in a namespace."""
    places: list[list[object]] = [] if term.everywhere else [[*(term.namespaces or (namespace,))]]
    places += [[(each.key, value) for value in each.values] for each in term.selector or () if each.operator == "In"]
    found: list[list[int]] = [[q for place in dict.fromkeys(some) for q in near.get(place, ())] for some in places]
    fewest: list[int] = min(found, key=len, default=[])
    return sorted(fewest) if found else range(number)


def _host_ports(state: State, groups: Sequence[PodGroup]) -> list[_Rule]:
    takers: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    by_address: set[tuple[str, int]] = set()
    for g, group in enumerate(groups):
        for port in group.key.ports:
            takers[port.protocol, port.number].append(g)
            if port.address:
                by_address.add((port.protocol, port.number))
    taken = {(port.protocol, port.number) for daemons in state.daemon_sets.values() for port in daemons.ports}
    rules = []
    for place, members in takers.items():
        # A pod at one address does not exclude one at another.
        free = [g for g in members if any(port[:2] == place and not port.address for port in groups[g].key.ports)]
        for g in members:
            if place in by_address and g not in free:
                state.report.relaxed[ADDRESSES][groups[g].name] += groups[g].count
        if place in taken or sum(groups[g].count for g in free) > 1:
            rules.append(_Rule(tuple(dict.fromkeys(free)), port=place, is_taken=place in taken))
    return rules


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


CROWDED = "run on a node with others of their own that may not share one, and may stay or go anywhere"
BETWEEN = "exclude pods of their own, but not those of them that may run on other machines"


def kept_apart(
    group: PodGroup, marks: tuple[int, ...], used: set[tuple[int, str]], report: Report
) -> Iterator[tuple[PodGroup, tuple[int, ...]]]:
    """Yield the parts of a group with their marks: of a node one pod, and what it has beyond without any.

    Nobody is evicted, so what stands beside its like today may do so; then no machine forbids it. marks : as in
    `Exclusions.alone`. used : marks and nodes that have a pod of them already; changed.
    """
    if not marks:
        yield group, ()
        return
    kept, beyond = {}, {}
    for node, number in group.on.items():
        is_first = all((mark, node) not in used for mark in marks)
        used.update((mark, node) for mark in marks)
        if is_first:
            kept[node] = 1
        if number > is_first:
            beyond[node] = number - is_first
    if beyond:
        report.relaxed[CROWDED][group.name] += sum(beyond.values())
        yield PodGroup(group.key, beyond), ()
    if kept or group.pending:
        yield PodGroup(group.key, kept, group.pending), marks


def say_between(
    alone: Sequence[tuple[int, ...]], allowed: BoolArray, members: Sequence[Sequence[PodGroup]], report: Report
) -> None:
    """List the pods of classes that share a mark and a machine family: each excludes its own, but not the other's.

    alone : of each class its marks. allowed : (C, F).
    """
    first: dict[int, list[int]] = {}
    for c, marks in enumerate(alone):
        others = {other for mark in marks for other in first.setdefault(mark, [])}
        if any((allowed[c] & allowed[other]).any() for other in others):
            for group in members[c]:
                report.relaxed[BETWEEN][group.name] += group.count
        for mark in marks:
            first[mark].append(c)
