"""Kubernetes' objects, by the fields that packing needs; all others are skipped unread.

Parts that many pods have in common stay raw: they are decoded once for each distinct text.

Files of Kubernetes' objects: as kubectl prints them, one by one.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct, field

from schedgap.instances.documents.openings import open_given
from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from typing_extensions import Buffer

# ruff: noqa: D101 - the names, and what the fields mean, are those of Kubernetes' reference.


# DNS names, and the colons and underscores of some kinds: nothing that could break a message.
Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$", max_length=253)]
Quantities = dict[str, str | int]
# A number of pods, or a share of them in percent.
Portion = Annotated[int, Meta(ge=0)] | Annotated[str, Meta(pattern=r"^[0-9]{1,9}%?$")]
NOTHING = Raw(b"null")


class Owner(Struct):
    kind: str
    name: str
    controller: bool = False


class Annotations(Struct):  # those that matter
    mirror: str | None = field(name="kubernetes.io/config.mirror", default=None)
    do_not_disrupt: str = field(name="karpenter.sh/do-not-disrupt", default="")
    safe_to_evict: str = field(name="cluster-autoscaler.kubernetes.io/safe-to-evict", default="")
    scale_down_disabled: str = field(name="cluster-autoscaler.kubernetes.io/scale-down-disabled", default="")
    deletion_cost: str = field(name="controller.kubernetes.io/pod-deletion-cost", default="")
    gpu_fraction: str | None = field(name="gpu-fraction", default=None)
    gpu_memory: str | None = field(name="gpu-memory", default=None)
    gpu_milli: str | None = field(name="alibabacloud.com/gpu-milli", default=None)
    # What only placement looks at: GPUs by device, their models, gangs, and GPUs that KAI and HAMi give.
    gpu_count: str | None = field(name="alibabacloud.com/gpu-count", default=None)
    gpu_index: str | None = field(name="alibabacloud.com/gpu-index", default=None)
    gpu_mem_index: str | None = field(name="ALIYUN_COM_GPU_MEM_IDX", default=None)
    gpu_model: str | None = field(name="alibabacloud.com/gpu-card-model", default=None)
    fraction_devices: str | None = field(name="gpu-fraction-num-devices", default=None)
    reserved_index: str | None = field(name="run.ai/reserve_for_gpu_index", default=None)
    hami_devices: str | None = field(name="hami.io/vgpu-devices-allocated", default=None)
    hami_register: str | None = field(name="hami.io/node-nvidia-register", default=None)
    group_name: str | None = field(name="scheduling.k8s.io/group-name", default=None)
    pod_group: str | None = field(name="scheduling.k8s.io/pod-group", default=None)
    kai_group: str | None = field(name="pod-group-name", default=None)


class Metadata(Struct, rename="camel"):
    name: Name
    namespace: str = ""
    labels: Raw = NOTHING
    annotations: Annotations | None = None
    owner_references: tuple[Owner, ...] = ()
    deletion_timestamp: str | None = None
    creation_timestamp: str | None = None


class Resources(Struct):
    requests: Quantities = {}


class Port(Struct, rename="camel"):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(name="hostIP", default="")
    protocol: str = "TCP"


class Container(Struct, rename="camel"):
    name: str = ""
    resources: Resources | None = None
    ports: tuple[Port, ...] = ()
    restart_policy: str = ""


class Claim(Struct, rename="camel"):
    claim_name: str


class Ephemeral(Struct):  # that it is one is enough, and so for a path of the host
    pass


class EmptyDir(Struct):
    medium: str = ""


class Volume(Struct, rename="camel"):
    name: str
    persistent_volume_claim: Claim | None = None
    ephemeral: Ephemeral | None = None
    empty_dir: EmptyDir | None = None
    host_path: Ephemeral | None = None


class PodSpec(Struct, rename="camel"):
    containers: Annotated[tuple[Container, ...], Meta(min_length=1)]
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities | None = None
    resources: Resources | None = None
    node_name: str = ""
    priority: int | None = None
    host_network: bool = False
    node_selector: Raw = NOTHING
    affinity: Raw = NOTHING
    tolerations: Raw = NOTHING
    topology_spread_constraints: Raw = NOTHING
    volumes: tuple[Volume, ...] = ()
    scheduling_gates: tuple[Raw, ...] = ()
    resource_claims: tuple[Raw, ...] = ()


class Condition(Struct, rename="camel"):
    type: str
    status: str = ""
    reason: str | None = None
    last_transition_time: str | None = None
    last_heartbeat_time: str | None = None


class ContainerStatus(Struct, rename="camel"):
    name: str = ""
    resources: Resources | None = None
    allocated_resources: Quantities | None = None


class PodStatus(Struct, rename="camel"):
    phase: str = ""
    start_time: str | None = None
    resize: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Struct):
    metadata: Metadata
    spec: PodSpec
    status: PodStatus = field(default_factory=PodStatus)


class Taint(Struct, frozen=True):
    key: str
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    value: str = ""


class NodeSpec(Struct):
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class NodeStatus(Struct):
    allocatable: Quantities | None = None
    capacity: Quantities | None = None
    conditions: tuple[Condition, ...] = ()


class Node(Struct):
    metadata: Metadata
    status: NodeStatus = field(default_factory=NodeStatus)
    spec: NodeSpec = field(default_factory=NodeSpec)


class Expression(Struct, frozen=True):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]
    values: tuple[str, ...] = ()


class Labels(Struct):
    labels: dict[str, str] = {}


class TemplateSpec(Struct, rename="camel"):
    requirements: tuple[Expression, ...]
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()


class Template(Struct):
    spec: TemplateSpec
    metadata: Labels = field(default_factory=Labels)


class DisruptionBudget(Struct):  # of a NodePool
    nodes: str | int = "10%"
    schedule: str | None = None
    duration: str | None = None
    reasons: tuple[str, ...] = ()


class DisruptionSpec(Struct, rename="camel"):
    consolidation_policy: str = ""
    consolidate_after: str | None = None
    # What the API server makes of none.
    budgets: tuple[DisruptionBudget, ...] = (DisruptionBudget(),)


class NodePoolSpec(Struct):
    template: Template
    limits: Quantities | None = None
    disruption: DisruptionSpec = field(default_factory=DisruptionSpec)


class NodePool(Struct):
    metadata: Metadata
    spec: NodePoolSpec


class ClaimSpec(Struct, rename="camel"):
    volume_name: str = ""
    access_modes: tuple[str, ...] = ()


class PersistentVolumeClaim(Struct):
    metadata: Metadata
    spec: ClaimSpec = field(default_factory=ClaimSpec)


class SelectorTerm(Struct, rename="camel", frozen=True):
    match_expressions: tuple[Expression, ...] = ()
    match_fields: tuple[Expression, ...] = ()


class NodeTerms(Struct, rename="camel", frozen=True):
    node_selector_terms: tuple[SelectorTerm, ...] = ()


class VolumeAffinity(Struct):
    required: NodeTerms | None = None


class VolumeSpec(Struct, rename="camel"):
    node_affinity: VolumeAffinity | None = None


class PersistentVolume(Struct):
    metadata: Metadata
    spec: VolumeSpec = field(default_factory=VolumeSpec)


class LabelSelector(Struct, rename="camel"):
    match_labels: dict[str, str] = {}
    match_expressions: tuple[Expression, ...] = ()

    def expressions(self) -> tuple[Expression, ...]:
        """Return all that labels must fulfil."""
        equal = (Expression(key, "In", (value,)) for key, value in sorted(self.match_labels.items()))
        return (*equal, *self.match_expressions)


class PodDisruptionSpec(Struct, rename="camel"):
    selector: LabelSelector | None = None
    min_available: Portion | None = None
    max_unavailable: Portion | None = None


class PodDisruptionStatus(Struct, rename="camel"):
    disruptions_allowed: int | None = None


class PodDisruptionBudget(Struct):
    metadata: Metadata
    spec: PodDisruptionSpec = field(default_factory=PodDisruptionSpec)
    status: PodDisruptionStatus = field(default_factory=PodDisruptionStatus)


class PodGroupSpec(Struct, rename="camel"):
    min_member: int | None = None


class PodGroup(Struct):  # of Volcano, KAI and the coscheduling plug-in
    metadata: Metadata
    spec: PodGroupSpec = field(default_factory=PodGroupSpec)


class NodeClaimStatus(Struct, rename="camel"):
    node_name: str = ""
    last_pod_event_time: str | None = None
    conditions: tuple[Condition, ...] = ()


class NodeClaim(Struct):
    metadata: Metadata
    status: NodeClaimStatus = field(default_factory=NodeClaimStatus)


KINDS: dict[str, type[Struct]] = {
    kind.__name__: kind
    for kind in (Pod, Node, NodePool, NodeClaim, PersistentVolumeClaim, PersistentVolume, PodDisruptionBudget)
}

# What placement reads beside them.
GROUPED: dict[str, type[Struct]] = {**KINDS, PodGroup.__name__: PodGroup}


def unix_s(text: str | None) -> int | None:
    """Return a time of Kubernetes in seconds since 1970, rounded down; None for none, and for what is no time."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return None if found.tzinfo is None else int(found.timestamp() // 1)


# As Go writes it.
DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?)(ns|us|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


def duration_s(text: str) -> int | None:
    """Return a duration in seconds, rounded up; None for what is none."""
    parts = DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text or len(text) > 40:
        return None
    return ceil(sum(float(number) * _UNITS[unit] for number, unit in parts))


class _Head(Struct):
    kind: str = ""
    items: list[Raw] | None = None


class _Named(Struct):
    name: str = ""


class _Titled(Struct):
    metadata: _Named | None = None


def read_objects(
    paths: Sequence[Path | str], kinds: Mapping[str, type[Struct]] = KINDS
) -> Iterator[tuple[str, str, Struct | InstanceError]]:
    """Yield place, kind and object, or what is wrong with it, of each of the kinds in JSON files, or in those of a folder.

    A file is a List, as `kubectl get -o json` prints it, or one object. Objects are decoded one by one from a file that is
    mapped into memory, so that no more than one of them is held.

    Raises
    ------
    InstanceError
        naming the file that is none of kubectl's.
    """
    for path in _files(paths):
        content = _mapped(path)
        try:
            head = decode(content, _Head)
        except InstanceError as error:
            raise InstanceError(
                f"{path.name}: not JSON of kubectl ({error}); give what `kubectl get ... -o json` prints, in UTF-8."
            ) from None
        kind_of_list = head.kind.removesuffix("List")
        if head.items is None and head.kind not in kinds and not head.kind.endswith("List"):
            raise InstanceError(
                f"{path.name}: its kind is '{head.kind:.60}', neither a List nor one of {', '.join(kinds)}; leave it out."
            )
        raws = [content] if head.items is None and head.kind in kinds else head.items or []
        for number, raw in enumerate(raws):
            place = f"{path.name} item {number}"
            yield from _objects(place, raw, kind_of_list, kinds)


def _objects(
    place: str, raw: Buffer, kind_of_list: str, kinds: Mapping[str, type[Struct]]
) -> Iterator[tuple[str, str, Struct | InstanceError]]:
    """Yield the object of an item, or those of a List that it is."""
    head: _Head | InstanceError = decoded(place, raw, _Head)
    if isinstance(head, InstanceError):
        raise InstanceError(f"{head}; correct the object or take it out.")
    # Lists of one kind may leave it to the list.
    kind = head.kind or kind_of_list
    if not kind:
        raise InstanceError(f"{place}: it has no kind; correct the object or take it out.")
    if kind in kinds:
        yield place, kind, decoded(f"{place}, {kind}", raw, kinds[kind])
    elif kind == "List" or (kind.endswith("List") and kind.removesuffix("List") in kinds):
        for number, item in enumerate(head.items or ()):
            yield from _objects(f"{place}, {number}", item, kind.removesuffix("List"), kinds)


def decode(raw: Buffer | Raw, kind: Any) -> Any:
    """Decode a document, or what was left raw in one.

    Raises
    ------
    InstanceError
        saying what is wrong with it, and where in it; the caller knows of what object.
    """
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InstanceError(" ".join(str(error).split())[:200]) from None


def _files(paths: Sequence[Path | str]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, paths):
        # What `kubectl cluster-info dump` writes has a folder for each namespace, beside nodes.json.
        parts = ("*.json", "*/*.json") if (path / "nodes.json").exists() else ("*.json",)
        inside = [file for part in parts for file in sorted(path.glob(part))] if path.is_dir() else [path]
        if not inside:
            raise InstanceError(f"{path}: no *.json in this folder; give what `kubectl get ... -o json` prints.")
        files += inside
    if not files:
        raise InstanceError("no file of the cluster is given; give what `kubectl get pods,nodes -A -o json` prints.")
    return files


def _mapped(path: Path) -> Buffer:
    try:
        with open_given(path) as file:
            if not (size := file.seek(0, 2)):
                return b""
            content = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InstanceError(f"{path}: cannot be read ({reason}); give the JSON that kubectl prints.") from None
    return memoryview(content)[3:] if content[:3] == b"\xef\xbb\xbf" else content


def decoded(place: str, raw: Buffer | Raw, kind: type[Struct]) -> Any:
    """Return an object, or what is wrong with it and where."""
    try:
        return decode(raw, kind)
    except InstanceError as error:
        problem = error
    try:
        titled = decode(raw, _Titled)
        name = f" ({titled.metadata.name!r:.60})" if titled.metadata else ""
    except InstanceError:
        name = ""
    return InstanceError(f"{place}{name}: {problem}")
