"""Groups of machines: what those that are rented anew have beside their type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.constraints import Constraint, Machine, holds
from schedgap.instances.provisioning.readers.kubernetes.objects import NodeTerms, SelectorTerm
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name

if TYPE_CHECKING:
    from schedgap.instances.provisioning.readers.kubernetes.nodes import RunningNode
    from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, Taint

POOL = "karpenter.sh/nodepool"
GROUP_LABELS = (POOL, "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool")
Labels: TypeAlias = "dict[str, frozenset[str | None]]"


@dataclass(frozen=True, slots=True)
class Template:
    """What machines that are rented anew have beside their type.

    types : those that it takes, None for all. unknown : labels that they may have.
    """

    name: str
    labels: Labels
    taints: tuple[Taint, ...] = ()
    requirements: tuple[Expression, ...] = ()
    types: frozenset[str] | None = None
    unknown: frozenset[str] = frozenset()


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
    named = next((node.labels[key] for key in GROUP_LABELS if node.labels.get(key, "").strip()), "")
    return named or next((taint.key.rpartition("/")[2] for taint in node.taints if taint.key), "") or "general"
