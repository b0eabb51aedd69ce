"""Kubernetes' objects, by the fields that packing needs; all others are skipped unread.

Parts that many pods have in common stay raw: they are decoded once for each distinct text.
"""

# ruff: noqa: D101 - the names, and what the fields mean, are those of Kubernetes' reference.

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, Struct, field

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
    gpu_fraction: str | None = field(name="gpu-fraction", default=None)
    gpu_memory: str | None = field(name="gpu-memory", default=None)
    gpu_milli: str | None = field(name="alibabacloud.com/gpu-milli", default=None)


class Metadata(Struct, rename="camel"):
    name: Name
    namespace: str = ""
    labels: Raw = NOTHING
    annotations: Annotations | None = None
    owner_references: tuple[Owner, ...] = ()
    deletion_timestamp: str | None = None


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


class Ephemeral(Struct):  # that it is one is enough
    pass


class Volume(Struct, rename="camel"):
    name: str
    persistent_volume_claim: Claim | None = None
    ephemeral: Ephemeral | None = None


class PodSpec(Struct, rename="camel"):
    containers: Annotated[tuple[Container, ...], Meta(min_length=1)]
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
    type: str
    status: str = ""
    reason: str | None = None


class ContainerStatus(Struct, rename="camel"):
    name: str = ""
    resources: Resources | None = None
    allocated_resources: Quantities | None = None


class PodStatus(Struct, rename="camel"):
    phase: str = ""
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


class NodeClaimStatus(Struct, rename="camel"):
    node_name: str = ""
    conditions: tuple[Condition, ...] = ()


class NodeClaim(Struct):
    metadata: Metadata
    status: NodeClaimStatus = field(default_factory=NodeClaimStatus)


KINDS: dict[str, type[Struct]] = {
    kind.__name__: kind
    for kind in (Pod, Node, NodePool, NodeClaim, PersistentVolumeClaim, PersistentVolume, PodDisruptionBudget)
}
