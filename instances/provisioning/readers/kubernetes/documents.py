"""What is read of Kubernetes' objects: only the fields that packing needs; all others are skipped unread.

Parts that many pods have in common stay raw: they are decoded once for each distinct text.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct, field

from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Buffer

# DNS names, and the colons and underscores of some kinds: nothing that could break a message.
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$", max_length=253)]
Quantities = dict[str, str | int]
NOTHING = Raw(b"null")


class Owner(Struct):
    """An entry of `ownerReferences`."""

    kind: str
    name: str
    controller: bool = False


class Annotations(Struct):
    """Those that matter."""

    mirror: str | None = field(name="kubernetes.io/config.mirror", default=None)
    do_not_disrupt: str = field(name="karpenter.sh/do-not-disrupt", default="")
    safe_to_evict: str = field(name="cluster-autoscaler.kubernetes.io/safe-to-evict", default="")
    gpu_fraction: str | None = field(name="gpu-fraction", default=None)
    gpu_memory: str | None = field(name="gpu-memory", default=None)
    gpu_milli: str | None = field(name="alibabacloud.com/gpu-milli", default=None)


class Metadata(Struct, rename="camel"):
    """Of any object."""

    name: Name
    namespace: str = ""
    labels: Raw = NOTHING
    annotations: Annotations | None = None
    owner_references: tuple[Owner, ...] = ()
    deletion_timestamp: str | None = None


class Resources(Struct):
    """What is asked for; missing requests were made equal to the limits by the API server."""

    requests: Quantities = {}


class Port(Struct, rename="camel"):
    """A container's port; 0 where it has none on the host."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(name="hostIP", default="")
    protocol: str = "TCP"


class Container(Struct, rename="camel"):
    """A container, or one that runs before the others (and beside them, if `Always` restarted)."""

    name: str = ""
    resources: Resources | None = None
    ports: tuple[Port, ...] = ()
    restart_policy: str = ""


class Claim(Struct, rename="camel"):
    """A reference to a PersistentVolumeClaim."""

    claim_name: str


class Volume(Struct, rename="camel"):
    """A volume; `ephemeral` ones have a claim of the pod's and their own name."""

    name: str
    persistent_volume_claim: Claim | None = None
    ephemeral: Raw | None = None


class PodSpec(Struct, rename="camel"):
    """A pod's specification."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities | None = None
    resources: Resources | None = None
    node_name: str = ""
    host_network: bool = False
    node_selector: Raw = NOTHING
    affinity: Raw = NOTHING
    tolerations: Raw = NOTHING
    topology_spread_constraints: Raw = NOTHING
    volumes: tuple[Volume, ...] = ()
    scheduling_gates: tuple[Raw, ...] = ()
    resource_claims: tuple[Raw, ...] = ()


class Condition(Struct):
    """A condition of a pod or node."""

    type: str
    status: str = ""
    reason: str | None = None


class ContainerStatus(Struct, rename="camel"):
    """What a container has, which differs from its specification while it is resized."""

    name: str = ""
    resources: Resources | None = None
    allocated_resources: Quantities | None = None


class PodStatus(Struct, rename="camel"):
    """A pod's status."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Struct):
    """A pod."""

    metadata: Metadata
    spec: PodSpec
    status: PodStatus = field(default_factory=PodStatus)


class Taint(Struct, frozen=True):
    """A taint of a node or a NodePool."""

    key: str
    effect: str
    value: str = ""


class NodeSpec(Struct):
    """A node's specification."""

    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class NodeStatus(Struct):
    """A node's status."""

    allocatable: Quantities
    conditions: tuple[Condition, ...] = ()


class Node(Struct):
    """A node."""

    metadata: Metadata
    status: NodeStatus
    spec: NodeSpec = field(default_factory=NodeSpec)


class Expression(Struct, frozen=True):
    """A requirement on a label, of nodes or of pods."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class Labels(Struct):
    """The labels of a NodePool's nodes."""

    labels: dict[str, str] = {}


class TemplateSpec(Struct):
    """What a NodePool's nodes are."""

    requirements: tuple[Expression, ...] = ()
    taints: tuple[Taint, ...] = ()


class Template(Struct):
    """The template of a NodePool."""

    metadata: Labels = field(default_factory=Labels)
    spec: TemplateSpec = field(default_factory=TemplateSpec)


class NodePoolSpec(Struct):
    """A NodePool's specification."""

    template: Template = field(default_factory=Template)
    limits: Quantities | None = None


class NodePool(Struct):
    """Karpenter's NodePool."""

    metadata: Metadata
    spec: NodePoolSpec


class ClaimSpec(Struct, rename="camel"):
    """A PersistentVolumeClaim's specification."""

    volume_name: str = ""


class PersistentVolumeClaim(Struct):
    """A claim."""

    metadata: Metadata
    spec: ClaimSpec = field(default_factory=ClaimSpec)


class SelectorTerm(Struct, rename="camel", frozen=True):
    """A term of a node affinity: all of its expressions."""

    match_expressions: tuple[Expression, ...] = ()
    match_fields: tuple[Expression, ...] = ()


class NodeTerms(Struct, rename="camel", frozen=True):
    """Terms of which one must hold."""

    node_selector_terms: tuple[SelectorTerm, ...] = ()


class VolumeAffinity(Struct):
    """From where a volume can be reached."""

    required: NodeTerms | None = None


class VolumeSpec(Struct, rename="camel"):
    """A PersistentVolume's specification."""

    node_affinity: VolumeAffinity | None = None


class PersistentVolume(Struct):
    """A volume."""

    metadata: Metadata
    spec: VolumeSpec = field(default_factory=VolumeSpec)


class PodDisruptionBudget(Struct):
    """A budget; only that it is there."""

    metadata: Metadata


KINDS: dict[str, type[Struct]] = {
    kind.__name__: kind for kind in (Pod, Node, NodePool, PersistentVolumeClaim, PersistentVolume, PodDisruptionBudget)
}


class _Head(Struct):
    kind: str = ""
    items: list[Raw] | None = None


class _Named(Struct):
    name: str = ""


class _Titled(Struct):
    metadata: _Named | None = None


def read_objects(paths: Sequence[Path | str]) -> Iterator[tuple[str, Struct]]:
    """Yield the place and the object of each of `KINDS` in JSON files, or in the JSON files of a folder.

    A file is a List, as `kubectl get -o json` prints it, or one object. Objects are decoded one by one from a file that is
    mapped into memory, so that no more than one of them is held.

    Raises
    ------
    InstanceError
        naming file and object.
    """
    for path in _files(paths):
        content = _mapped(path)
        try:
            head = msgspec.json.decode(content, type=_Head)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise InstanceError(
                f"{path.name}: not JSON of kubectl ({_said(error)}); give what `kubectl get ... -o json` prints, in UTF-8."
            ) from None
        kind_of_list = head.kind.removesuffix("List")
        if head.items is None and head.kind not in KINDS and not head.kind.endswith("List"):
            raise InstanceError(
                f"{path.name}: its kind is '{head.kind:.60}', neither a List nor one of {', '.join(KINDS)}; leave it out."
            )
        raws = [content] if head.items is None and head.kind in KINDS else head.items or []
        for number, raw in enumerate(raws):
            place = f"{path.name} item {number}"
            # Lists of one kind may leave it to the list.
            kind: str = _decoded(place, raw, _Head).kind or kind_of_list
            if kind in KINDS:
                yield place, _decoded(place, raw, KINDS[kind])


def decode_part(raw: Raw | bytes, kind: Any) -> Any:
    """Decode what was left raw; None for null."""
    return msgspec.json.decode(raw, type=kind)


def _files(paths: Sequence[Path | str]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise InstanceError(f"{path}: no *.json in this folder; give what `kubectl get ... -o json` prints.")
        files += inside
    if not files:
        raise InstanceError("no file of the cluster is given; give what `kubectl get pods,nodes -A -o json` prints.")
    return files


def _mapped(path: Path) -> Buffer:
    try:
        with path.open("rb") as file:
            if not (size := file.seek(0, 2)):
                return b""
            content = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InstanceError(f"{path}: cannot be read ({reason}); give the JSON that kubectl prints.") from None
    return memoryview(content)[3:] if content[:3] == b"\xef\xbb\xbf" else content


def _decoded(place: str, raw: Buffer, kind: type[Struct]) -> Any:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        problem = _said(error)
    try:
        titled = msgspec.json.decode(raw, type=_Titled)
        name = f" ({titled.metadata.name!r:.60})" if titled.metadata else ""
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        name = ""
    raise InstanceError(f"{place}{name}: {problem}; correct the object or take it out.")


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
