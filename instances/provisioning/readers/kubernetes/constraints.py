"""Where a pod may run: labels of machines, and taints. What cannot be known of a machine never forbids it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from msgspec import Struct

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, NodeTerms, SelectorTerm, Taint

HOSTNAME = "kubernetes.io/hostname"
TYPE, OLD_TYPE = "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"
ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
# Labels that follow from a machine's type, place or price, not from the group that it belongs to.
OF_THE_TYPE = (
    *("kubernetes.io/arch", "beta.kubernetes.io/arch", OLD_TYPE, "failure-domain.beta.kubernetes.io/", TYPE),
    *("topology.", HOSTNAME, CAPACITY_TYPE, "karpenter.k8s.aws/instance-", "karpenter.kwok.sh/instance-"),
    *(
        "karpenter.azure.com/sku-",
        "nvidia.com/",
        "amd.com/",
        "feature.node.kubernetes.io/",
        "eks.amazonaws.com/capacityType",
    ),
    *("cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible", "cloud.google.com/gke-provisioning"),
    *("cloud.google.com/gke-accelerator", "cloud.google.com/machine-family", "kubernetes.azure.com/scalesetpriority"),
    *("eks.amazonaws.com/instance-", "kubernetes.azure.com/sku-"),
)
# What people put on nodes.
BY_HAND = ("node-role.kubernetes.io/", "node-restriction.kubernetes.io/", "node.kubernetes.io/exclude")
# What clouds and Karpenter put on nodes, beside what a group says.
PROVIDERS = ("amazonaws.com", "azure.com", "google.com", "karpenter.sh", "k8s.aws", "kubernetes.io", "k8s.io")
# Set while a node starts, fails or is about to go: they say nothing of what can run on such a machine.
PASSING_TAINTS = (
    *("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable"),
    *("node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure"),
    *("node.kubernetes.io/network-unavailable", "node.kubernetes.io/out-of-service"),
    *("node.cloudprovider.kubernetes.io/", "karpenter.sh/disrupted", "karpenter.sh/disruption"),
    *("karpenter.sh/unregistered", "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"),
    *("startup-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/"),
    *("status-taint.cluster-autoscaler.kubernetes.io/", "cloud.google.com/impending-node-termination"),
    *("aws-node-termination-handler/", "node.cluster.x-k8s.io/uninitialized"),
)
# What a network's agent takes away when it has come.
NOT_READY = "/agent-not-ready"
FORBIDDING = ("NoSchedule", "NoExecute")


class Toleration(Struct, frozen=True):
    """A pod's toleration."""

    key: str = ""
    operator: Literal["", "Equal", "Exists", "Gt", "Lt"] = ""
    value: str = ""
    effect: str = ""


class Constraint(NamedTuple):
    """All that a pod asks of a machine's labels and taints.

    selector : expressions that must hold. affinities : of each, one term must hold. tolerations : of its taints.
    """

    selector: tuple[Expression, ...] = ()
    affinities: tuple[NodeTerms, ...] = ()
    tolerations: tuple[Toleration, ...] = ()

    def is_for_node(self, name: str) -> bool:
        """Return whether a pod is bound to one node by its name, as controllers bind an agent to each node."""
        only = [("metadata.name", "In", (name,))]
        terms = [affinity.node_selector_terms for affinity in self.affinities]
        found = [[[(f.key, f.operator, f.values) for f in t.match_fields] == only for t in each] for each in terms]
        return any(each and all(each) for each in found)

    def expressions(self) -> Iterator[Expression]:
        """Yield every expression on a label."""
        yield from self.selector
        for affinity in self.affinities:
            for term in affinity.node_selector_terms:
                yield from term.match_expressions


@dataclass(frozen=True, slots=True)
class Machine:
    """What is known of machines: the values that a label may have.

    labels : the values of each label that they have, None among them where some have none. unknown : labels of which nothing
    can be said.
    """

    labels: Mapping[str, frozenset[str | None]]
    taints: tuple[Taint, ...] = ()
    unknown: frozenset[str] = field(default_factory=frozenset)


def allowed_values(constraint: Constraint) -> dict[str, frozenset[str]]:
    """Return, for each label of which a constraint names values, those that a machine's may be: one of them it must have."""
    asked = [{each.key: frozenset(each.values)} for each in constraint.selector if each.operator == "In"]
    for affinity in constraint.affinities:
        terms = [
            {each.key: frozenset(each.values) for each in term.match_expressions if each.operator == "In"}
            for term in affinity.node_selector_terms
        ]
        common = set(terms[0]).intersection(*terms[1:]) if terms else set()
        asked.append({key: frozenset().union(*(term[key] for term in terms)) for key in common})
    found: dict[str, frozenset[str]] = {}
    for values in asked:
        for key, some in values.items():
            found[key] = found.get(key, some) & some
    return found


def may_run(constraint: Constraint, machine: Machine) -> bool | None:
    """Return whether a pod may run on a machine; None where that hangs on what is not known of it."""
    if any(not _tolerated(taint, constraint.tolerations) for taint in machine.taints):
        return False
    found = [holds(expression, machine) for expression in constraint.selector]
    for affinity in constraint.affinities:
        found.append(_any(_term(term, machine) for term in affinity.node_selector_terms))
    return _all(found)


def holds(expression: Expression, machine: Machine) -> bool | None:
    """Return whether a requirement holds; None where its label is unknown, or holds for some of its values only.

    Raises
    ------
    InstanceError
        for a limit that is no whole number.
    """
    key, operator, values = expression.key, expression.operator, expression.values
    if operator[0] in "GL":
        bound = limit(expression)
    if key in machine.unknown:
        return None
    has = machine.labels.get(key, frozenset((None,)))
    match operator:
        case "In":
            found = {value in values for value in has}
        case "NotIn":
            found = {value not in values for value in has}
        case "Exists":
            found = {value is not None for value in has}
        case "DoesNotExist":
            found = {value is None for value in has}
        case _:
            reach = {"Gt": bound + 1, "Gte": bound, "Lt": bound - 1, "Lte": bound}[operator]
            sign = 1 if operator[0] == "G" else -1
            found = {value is not None and _is_whole(value) and sign * (int(value) - reach) >= 0 for value in has}
    return found.pop() if len(found) == 1 else None


def _is_whole(text: str) -> bool:
    return len(text) <= 19 and text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()


def limit(expression: Expression) -> int:
    """Return the number that a label is to be above or below.

    Raises
    ------
    InstanceError
        for what is no whole number.
    """
    if len(expression.values) != 1 or not _is_whole(expression.values[0]):
        raise InstanceError(
            f"label '{expression.key:.60}' is to be {expression.operator} {list(expression.values)!s:.60}; give one whole number"
        )
    return int(expression.values[0])


def _term(term: SelectorTerm, machine: Machine) -> bool | None:
    if not term.match_expressions and not term.match_fields:
        return False
    # A pod that is pinned to a node by name: no machine can be known to be that node.
    pinned = [None] if term.match_fields else []
    return _all([*pinned, *(holds(expression, machine) for expression in term.match_expressions)])


def _all(found: Iterable[bool | None]) -> bool | None:
    values = set(found)
    return False if False in values else None if None in values else True


def _any(found: Iterable[bool | None]) -> bool | None:
    values = set(found)
    return True if True in values else None if None in values else False


def _tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    if taint.effect not in FORBIDDING:
        return True
    for toleration in tolerations:
        if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
            continue
        if toleration.operator == "Exists" or (toleration.key and _equal(toleration, taint)):
            return True
    return False


def _equal(toleration: Toleration, taint: Taint) -> bool:
    if toleration.operator in ("Gt", "Lt"):
        both = _is_whole(toleration.value) and _is_whole(taint.value)
        larger = both and int(taint.value) > int(toleration.value)
        return larger if toleration.operator == "Gt" else both and int(taint.value) < int(toleration.value)
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def lasting(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """Return the taints that forbid and are there for longer than a node's start or end."""
    return tuple(
        t
        for t in taints
        if t.effect in FORBIDDING and not t.key.startswith(PASSING_TAINTS) and not t.key.endswith(NOT_READY)
    )


def is_of_a_provider(label: str) -> bool:
    """Return whether a cloud or Karpenter puts a label on nodes by itself."""
    return label.partition("/")[0].endswith(PROVIDERS)


def is_by_hand(label: str) -> bool:
    """Return whether a label of Kubernetes' own is for people to set: what today's nodes have of it, others may lack."""
    return label.startswith(BY_HAND)


def is_of_the_type(label: str) -> bool:
    """Return whether a label follows from a machine's type, place or price."""
    return label.startswith(OF_THE_TYPE)
