"""What an instance has no place for: nodes that are no machines, and pods on nodes that are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.amounts import listed
from schedgap.instances.provisioning.readers.kubernetes.documents import decode
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name

if TYPE_CHECKING:
    from schedgap.instances.provisioning.readers.kubernetes.objects import Node
    from schedgap.instances.provisioning.readers.kubernetes.state import State

# Labels and the taint of what stands for a service that takes single pods, such as EKS Fargate and AKS virtual nodes.
VIRTUAL = {"type": "virtual-kubelet", "eks.amazonaws.com/compute-type": "fargate"}
VIRTUAL_TAINT = "virtual-kubelet.io/provider"
ON_VIRTUAL = "on virtual nodes, which are no machines"
NOWHERE = "on a node that is not there, or could not be read"


def leave_out(state: State) -> None:
    """Take out virtual nodes, those whose labels cannot be read, and the pods on nodes that are not there, and say so. O(pods).

    Raises
    ------
    InstanceError
        if no node, or no pod that is to be packed, remains.
    """
    _without(state, _virtual(state))
    sentences = state.report.sentences
    if state.twice:
        sentences.append(
            f"Left out: {len(state.twice)} objects that are there twice; the first counts: {listed(state.twice)}."
        )
    if number := len(state.malformed):
        more = f" and {number - 3} more" if number > 3 else ""
        sentences.append(
            f"Left out, as Kubernetes has no such object: {number} objects: {'; '.join(state.malformed[:3])}{more}."
        )
    wrong = f" ({len(state.malformed)} objects are malformed: {state.malformed[0]:.300})" if state.malformed else ""
    if not state.nodes:
        raise InstanceError(f"no node is there{wrong}; give what `kubectl get pods,nodes -A -o json` prints.")
    if not state.groups:
        raise InstanceError(
            f"of {state.pods} pods none is to be packed{wrong}; give what `kubectl get pods,nodes -A -o json` prints."
        )


def _virtual(state: State) -> set[str]:
    """Take out the virtual nodes, and return their names."""
    virtual = set()
    for name, node in list(state.nodes.items()):
        try:
            labels = node_labels(node)
        except InstanceError as error:
            state.malformed.append(f"Node {name}: labels: {error}")
            del state.nodes[name]
            continue
        is_tainted = any(taint.key == VIRTUAL_TAINT for taint in node.spec.taints)
        if is_tainted or any(labels.get(key) == value for key, value in VIRTUAL.items()):
            virtual.add(name)
            del state.nodes[name]
    if virtual:
        state.report.sentences.append(
            f"Left out: {len(virtual)} virtual nodes, which are no machines, with their pods: {listed(sorted(virtual))}."
        )
    return virtual


def _without(state: State, virtual: set[str]) -> None:
    """Take out the pods on nodes that are not there."""
    for key, group in list(state.groups.items()):
        for node in [node for node in group.on if node not in state.nodes]:
            state.report.left_out[ON_VIRTUAL if node in virtual else NOWHERE][group.name] += group.on.pop(node)
        if not group.count:
            del state.groups[key]
    for name, daemons in list(state.daemon_sets.items()):
        daemons.requests = {node: asked for node, asked in daemons.requests.items() if node in state.nodes}
        if not daemons.requests:
            del state.daemon_sets[name]


def node_labels(node: Node) -> dict[str, str]:
    """Return a node's labels by old and new names.

    Raises
    ------
    InstanceError
        for labels that are none.
    """
    given: dict[str, str] = decode(node.metadata.labels, dict[str, str] | None) or {}
    return {label_name(key, (value,)): value for key, value in given.items()} | given
