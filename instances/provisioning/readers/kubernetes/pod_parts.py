"""The parts of pods that many have in common: node selector, affinities, tolerations, spread. Decoded once each.

What a pod asks for, as the scheduler counts it (component-helpers/resource/helpers.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.constraints import (
    HOSTNAME,
    OLD_TYPE,
    OLD_ZONE,
    TYPE,
    ZONE,
    Constraint,
    Toleration,
    limit,
)
from schedgap.instances.provisioning.readers.kubernetes.objects import (
    Container,
    ContainerStatus,
    Expression,
    LabelSelector,
    NodeTerms,
    Pod,
    PodSpec,
    Quantities,
    SelectorTerm,
    decode,
)
from schedgap.instances.provisioning.readers.quantities import PODS, THOUSAND, fine_units, nano

ALWAYS = "Always"


def pod_request(pod: Pod) -> dict[str, int]:
    """Return a pod's request in fine units, without zeros, and one of `pods`.

    Containers and sidecars together, or the largest initial container with the sidecars that are listed before it,
    whichever is more; in its place, for the resources that they name, the pod's own requests; and the overhead.

    Raises
    ------
    InstanceError
        for a quantity that is none.
    """
    spec, status = pod.spec, pod.status
    total: dict[str, int] = {}
    # Up to Kubernetes 1.32 a field says so, since then a condition.
    infeasible = status.resize == "Infeasible" or any(
        c.type == "PodResizePending" and c.reason == "Infeasible" for c in status.conditions
    )
    for container in spec.containers:
        _add(total, _container(container, status.container_statuses, infeasible))
    if spec.init_containers:
        sidecars: dict[str, int] = {}
        largest: dict[str, int] = {}
        for container in spec.init_containers:
            asked = _container(container, status.init_container_statuses, infeasible)
            if container.restart_policy == ALWAYS:
                _add(sidecars, asked)
                continue
            _add(asked, sidecars)
            _raise(largest, asked)
        _add(total, sidecars)
        _raise(total, largest)
    if spec.resources is not None:
        total |= _exact(spec.resources.requests)
    if spec.overhead:
        _add(total, _exact(spec.overhead))
    request = {name: value for name, value in fine_units(total).items() if value}
    return request | {PODS: THOUSAND}


def _container(container: Container, statuses: Iterable[ContainerStatus], infeasible: bool) -> dict[str, int]:
    """Return a container's request; while it is resized, the larger of what it shall and what it does have."""
    asked = _exact(container.resources.requests) if container.resources is not None else {}
    for status in statuses:
        if status.name == container.name:
            has = status.resources.requests if status.resources is not None else status.allocated_resources
            if has:
                if infeasible:
                    return _exact(has)
                _raise(asked, _exact(has))
    return asked


def _exact(quantities: Quantities) -> dict[str, int]:
    return {resource: nano(quantity) for resource, quantity in quantities.items()}


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for resource, value in more.items():
        total[resource] = total.get(resource, 0) + value


def _raise(total: dict[str, int], least: Mapping[str, int]) -> None:
    for resource, value in least.items():
        if value > total.get(resource, 0):
            total[resource] = value


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
DO_NOT_SCHEDULE: Final = "DoNotSchedule"
# Kinds of constraints that a vector of resources for each machine cannot state.
SPREAD, AFFINITY, ANTI_ZONE = "topology spread by {}", "required pod affinity", "pod anti-affinity by {}"
NOT_MERGED = "pod anti-affinity by hostname with matchLabelKeys or a namespaceSelector"
# Labels with two names.
SAME_LABELS = {
    OLD_TYPE: TYPE,
    OLD_ZONE: ZONE,
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "topology.ebs.csi.aws.com/zone": ZONE,
    "topology.gke.io/zone": ZONE,
    "topology.disk.csi.azure.com/zone": ZONE,
}


def label_name(key: str, values: Iterable[str] = ()) -> str:
    """Return the newer name of a label; a driver's zone that is empty, as on AKS without zones, is none, and keeps its own."""
    return key if "" in values else SAME_LABELS.get(key, key)


class _PodTerm(Struct, rename="camel"):
    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class _NodeAffinity(Struct):
    required: NodeTerms | None = msgspec.field(name=REQUIRED, default=None)


class _PodAffinity(Struct):
    required: tuple[_PodTerm, ...] = msgspec.field(name=REQUIRED, default=())


class _Affinity(Struct, rename="camel"):
    node_affinity: _NodeAffinity | None = None
    pod_affinity: _PodAffinity | None = None
    pod_anti_affinity: _PodAffinity | None = None


class _Spread(Struct, rename="camel"):
    topology_key: str
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] = DO_NOT_SCHEDULE


class Apart(NamedTuple):
    """Pods that a pod shares no machine with.

    selector : expressions that their labels must fulfil; None selects none. namespaces : theirs, empty for the pod's own.
    everywhere : in all namespaces.
    """

    selector: tuple[Expression, ...] | None
    namespaces: tuple[str, ...]
    everywhere: bool


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What pods of one text have in common. apart : their anti-affinity terms by hostname. relaxed : kinds."""

    constraint: Constraint
    apart: tuple[Apart, ...]
    relaxed: tuple[str, ...]


class PartsCache:
    """Decodes the raw parts of pods, each distinct text once."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, ...], Parts] = {}

    def parts(self, spec: PodSpec) -> Parts:
        """Return the parts of a pod.

        Raises
        ------
        InstanceError
            naming the field that is wrong.
        """
        raws = (spec.node_selector, spec.affinity, spec.tolerations, spec.topology_spread_constraints)
        key = tuple(map(bytes, raws))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _parts(*raws)
        return found


def _parts(selector: Raw, affinity: Raw, tolerations: Raw, spread: Raw) -> Parts:
    labels: dict[str, str] = decode(selector, dict[str, str] | None) or {}
    wanted: _Affinity = decode(affinity, _Affinity | None) or _Affinity()
    tolerated = decode(tolerations, tuple[Toleration, ...] | None) or ()
    spreads = decode(spread, tuple[_Spread, ...] | None) or ()
    expressions = tuple(Expression(label_name(key, (value,)), "In", (value,)) for key, value in labels.items())
    required = wanted.node_affinity.required if wanted.node_affinity is not None else None
    relaxed = [SPREAD.format(_short(s.topology_key)) for s in spreads if s.when_unsatisfiable == DO_NOT_SCHEDULE]
    if wanted.pod_affinity is not None and wanted.pod_affinity.required:
        relaxed.append(AFFINITY)
    apart = []
    for term in wanted.pod_anti_affinity.required if wanted.pod_anti_affinity is not None else ():
        # An empty selector of namespaces is all of them.
        picks = term.namespace_selector is not None and term.namespace_selector != LabelSelector()
        if term.topology_key != HOSTNAME:
            relaxed.append(ANTI_ZONE.format(_short(term.topology_key)))
        elif picks or term.match_label_keys or term.mismatch_label_keys:
            relaxed.append(NOT_MERGED)
        elif any(each.operator[0] in "GL" for each in (term.label_selector or LabelSelector()).match_expressions):
            raise InstanceError("a selector of pods has an operator that is for nodes")
        else:
            apart.append(_apart(term))
    affinities = () if required is None else (named_alike(required),)
    return Parts(Constraint(expressions, affinities, tolerated), tuple(apart), tuple(dict.fromkeys(relaxed)))


def _apart(term: _PodTerm) -> Apart:
    selector = term.label_selector
    everywhere = term.namespace_selector is not None
    if selector is None:
        return Apart(None, term.namespaces, everywhere)
    return Apart(selector.expressions(), term.namespaces, everywhere)


def named_alike(terms: NodeTerms) -> NodeTerms:
    """Return terms in which labels with two names have the newer one.

    Raises
    ------
    InstanceError
        for a limit that is no whole number.
    """
    for each in (each for term in terms.node_selector_terms for each in term.match_expressions):
        if each.operator[0] in "GL":
            limit(each)
    return NodeTerms(
        tuple(
            SelectorTerm(
                tuple(
                    Expression(label_name(each.key, each.values), each.operator, each.values)
                    for each in term.match_expressions
                ),
                term.match_fields,
            )
            for term in terms.node_selector_terms
        )
    )


def labelled_place(given: Raw) -> NodeTerms | None:
    """Return where a volume is by its labels alone, as older drivers say it: nodes without a zone may reach all."""
    labels: dict[str, str] = decode(given, dict[str, str] | None) or {}
    zones = labels.get(ZONE) or labels.get(OLD_ZONE)
    terms = zones and (Expression(ZONE, "In", tuple(zones.split("__"))), Expression(ZONE, "DoesNotExist"))
    return NodeTerms(tuple(SelectorTerm((each,)) for each in terms)) if terms else None


def _short(label: str) -> str:
    """Return a topology's label as people say it: `hostname`, `zone`."""
    return (label.rpartition("/")[2] or label)[:60] if label.isprintable() else "a label"
