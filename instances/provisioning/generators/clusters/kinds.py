"""The kinds of clusters that are generated: who runs them, their groups of nodes, what runs there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedgap.instances.provisioning.generators.clusters.machines import NodeGroup
from schedgap.instances.provisioning.generators.clusters.providers import AKS, EKS, GKE, GPU_FARM, KARPENTER, KUBEADM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.instances.provisioning.generators.clusters.machines import Json, Provider

# How often each rule is drawn.
RULES = {
    **{"plain": 30, "zones": 14, "hosts": 4, "soft": 10, "apart": 6, "sidecar": 8, "initial": 5, "stateful": 4},
    **{"job": 7, "bare": 3, "stays": 3, "storage": 3},
}
SYSTEM = ("CriticalAddonsOnly", "true", "NoSchedule")
SPOT_VM = ("kubernetes.azure.com/scalesetpriority", "spot", "NoSchedule")
BATCH = ("batch", "true", "NoSchedule")
GPU_TAINT = ("nvidia.com/gpu", "", "NoSchedule")
SYSTEM_LABEL = {"role": "system"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of cluster.

    nodes : how many it has by default. rules : how often each rule is drawn. first : a rule that so many workloads have before
    all others. pools : requirements and more of Karpenter's NodePools. pods_per_node : where filling ends, 0 for by load alone.
    """

    provider: Provider
    groups: tuple[NodeGroup, ...]
    nodes: int = 40
    rules: Mapping[str, int] = field(default_factory=lambda: RULES)
    first: tuple[str, int] = ("plain", 0)
    pools: Mapping[str, tuple[Mapping[str, tuple[str, ...]], Json]] = field(default_factory=dict)
    pods_per_node: int = 0


def _gpus(name: str, product: str, share: float, load: float) -> NodeGroup:
    labels = {"nvidia.com/gpu.product": product}
    return NodeGroup(name, (name,), share, "gpu", labels=labels, taint=GPU_TAINT, load=load)


EKS_GROUPS = (
    NodeGroup("system", ("m5.xlarge",), 0.06, "system", labels=SYSTEM_LABEL, taint=SYSTEM, load=0.4),
    NodeGroup("general", ("m5.2xlarge",), 0.5, load=0.5),
    NodeGroup("general-small", ("m5.xlarge",), 0.16, load=0.45),
    NodeGroup("spot", ("c6i.2xlarge", "c6i.4xlarge"), 0.16, "batch", spot=True, taint=BATCH, load=0.5),
    NodeGroup("memory", ("r6i.2xlarge",), 0.12, "memory", labels={"workload": "memory"}, load=0.55),
)
CAPACITY, CATEGORY = "karpenter.sh/capacity-type", "karpenter.k8s.aws/instance-category"
GENERATION, ARCH = "karpenter.k8s.aws/instance-generation", "kubernetes.io/arch"
COMMON = {GENERATION: ("Gt", "4"), ARCH: ("In", "amd64"), "kubernetes.io/os": ("In", "linux")}
POOLS: dict[str, tuple[Mapping[str, tuple[str, ...]], Json]] = {
    "default": ({CAPACITY: ("In", "on-demand", "spot"), CATEGORY: ("In", "c", "m", "r"), **COMMON}, {}),
    "batch": (
        {CAPACITY: ("In", "spot"), CATEGORY: ("In", "c", "m"), **COMMON},
        {"taints": [{"key": BATCH[0], "value": BATCH[1], "effect": BATCH[2]}]},
    ),
}
KINDS = {
    "eks": Kind(EKS, EKS_GROUPS),
    "karpenter": Kind(
        KARPENTER,
        (
            NodeGroup("system", ("m5.large",), 0.05, "system", labels=SYSTEM_LABEL, taint=SYSTEM, load=0.4),
            NodeGroup(
                "default", ("m6i.xlarge", "m6i.2xlarge", "c6i.2xlarge", "r6i.xlarge", "m5.4xlarge"), 0.45, load=0.55
            ),
            NodeGroup("default-spot", ("m5.2xlarge", "c6i.2xlarge", "r6i.xlarge"), 0.3, spot=True, load=0.5),
            NodeGroup("batch-spot", ("c6i.4xlarge", "m6i.4xlarge"), 0.2, "batch", spot=True, taint=BATCH, load=0.45),
        ),
        pools=POOLS,
    ),
    "gke": Kind(
        GKE,
        (
            NodeGroup("default-pool", ("e2-standard-4",), 0.4, load=0.42),
            NodeGroup("n2-pool", ("n2-standard-8",), 0.3, load=0.45),
            NodeGroup("spot-pool", ("n2-standard-8",), 0.15, "batch", spot=True, taint=BATCH, load=0.35),
            NodeGroup("highmem", ("n2-highmem-4",), 0.15, "memory", labels={"workload": "memory"}, load=0.55),
        ),
    ),
    "aks": Kind(
        AKS,
        (
            NodeGroup("system", ("Standard_D4s_v5",), 0.08, "system", taint=SYSTEM, labels=SYSTEM_LABEL, load=0.4),
            NodeGroup("userpool", ("Standard_D8s_v5",), 0.5, load=0.42),
            NodeGroup("mempool", ("Standard_E8s_v5",), 0.17, "memory", labels={"workload": "memory"}, load=0.45),
            NodeGroup(
                "spotpool", ("Standard_D8s_v5", "Standard_F8s_v2"), 0.25, "batch", spot=True, taint=SPOT_VM, load=0.35
            ),
        ),
    ),
    "kubeadm": Kind(
        KUBEADM,
        (
            NodeGroup(
                "cp",
                ("vm-4",),
                0.1,
                "control",
                taint=("node-role.kubernetes.io/control-plane", "", "NoSchedule"),
                load=0,
            ),
            NodeGroup("worker-a", ("r640",), 0.45, load=0.5),
            NodeGroup("worker-b", ("r650",), 0.35, load=0.5),
            NodeGroup("bigmem", ("r750-1t",), 0.1, "memory", labels={"workload": "memory"}, load=0.4),
        ),
        nodes=30,
        rules={rule: share for rule, share in RULES.items() if rule != "zones"},
    ),
    "gpu": Kind(
        GPU_FARM,
        (
            NodeGroup("cpu-64", ("cpu-64",), 0.25, load=0.45),
            _gpus("l40s-4", "NVIDIA-L40S", 0.25, 0.45),
            _gpus("a100-8", "NVIDIA-A100-SXM4-80GB", 0.35, 0.45),
            _gpus("h100-8", "NVIDIA-H100-80GB-HBM3", 0.15, 0.45),
        ),
    ),
    "anti-affine": Kind(EKS, EKS_GROUPS, nodes=120, first=("apart", 150)),
    "zonal": Kind(EKS, EKS_GROUPS, nodes=60, rules={**RULES, "stateful": 60}),
    "large": Kind(
        EKS,
        (
            NodeGroup("system", ("m5.xlarge",), 0.01, "system", labels=SYSTEM_LABEL, taint=SYSTEM, load=0.4),
            NodeGroup("general", ("m5.4xlarge", "m5.8xlarge"), 0.45, load=0.62),
            NodeGroup("general-new", ("m6i.4xlarge", "m6i.8xlarge"), 0.3, load=0.63),
            NodeGroup("compute", ("c6i.8xlarge",), 0.1, "batch", spot=True, taint=BATCH, load=0.5),
            NodeGroup("memory", ("r6i.4xlarge",), 0.14, "memory", labels={"workload": "memory"}, load=0.55),
        ),
        nodes=1000,
        pods_per_node=30,
    ),
}
