"""The kinds of clusters that are generated: their providers, their groups of nodes, what runs there.

Of providers: their machine types and prices, labels, names of nodes, reservations, DaemonSets.

Sizes, labels and reservations are the providers'. Prices are invented, near list prices of 2024; own machines cost what three
years and power might. What runs on every node is what providers and their users put there; its requests are our own choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schedgap.instances.provisioning.generators.clusters.machines import (
    KIB_GIB,
    MOST_PODS,
    Daemon,
    Json,
    MachineType,
    NodeGroup,
    Provider,
    reserved_by_cores,
    reserved_by_memory,
    series,
)

# AKS' table of reserved milli-CPU by vCPU.
AKS_CPU = {2: 100, 4: 140, 8: 180, 16: 260, 32: 420}


def _eks(group: NodeGroup, kind: MachineType) -> dict[str, str]:
    capacity = "SPOT" if group.spot else "ON_DEMAND"
    return {"eks.amazonaws.com/nodegroup": group.name, "eks.amazonaws.com/capacityType": capacity}


def _karpenter(group: NodeGroup, kind: MachineType) -> dict[str, str]:
    if group.audience == "system":
        return _eks(group, kind)
    family, size = kind.name.split(".")
    instance = {"category": family[0], "family": family, "size": size, "generation": family[1], "cpu": str(kind.vcpu)}
    return {
        "karpenter.sh/nodepool": group.name.removesuffix("-spot"),
        "karpenter.sh/capacity-type": "spot" if group.spot else "on-demand",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        **{f"karpenter.k8s.aws/instance-{key}": value for key, value in instance.items()},
        "karpenter.k8s.aws/instance-memory": str(1024 * kind.gib),
    }


def _gke(group: NodeGroup, kind: MachineType) -> dict[str, str]:
    spot = {"cloud.google.com/gke-spot": "true"} if group.spot else {}
    return spot | {
        "cloud.google.com/gke-nodepool": group.name,
        "cloud.google.com/gke-provisioning": "spot" if group.spot else "standard",
        "cloud.google.com/machine-family": kind.name.split("-")[0],
        "cloud.google.com/gke-boot-disk": "pd-balanced",
    }


def _aks(group: NodeGroup, kind: MachineType) -> dict[str, str]:
    spot = {"kubernetes.azure.com/scalesetpriority": "spot"} if group.spot else {}
    return spot | {
        "kubernetes.azure.com/agentpool": group.name,
        "agentpool": group.name,
        "kubernetes.azure.com/mode": "system" if group.audience == "system" else "user",
        "kubernetes.azure.com/os-sku": "AzureLinux",
    }


def _own(group: NodeGroup, kind: MachineType) -> dict[str, str]:
    control = {
        "node-role.kubernetes.io/control-plane": "",
        "node.kubernetes.io/exclude-from-external-load-balancers": "",
    }
    return control if group.audience == "control" else {}


def _gpu(group: NodeGroup, kind: MachineType) -> dict[str, str]:
    if not kind.gpus:
        return {}
    return {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.count": str(kind.gpus),
        "nvidia.com/gpu.product": kind.product,
    }


EVERYWHERE = (
    Daemon("monitoring", "node-exporter", {"cpu": "0.1", "memory": "3e7"}, port=9100),
    Daemon("logging", "fluent-bit", {"cpu": "50m", "memory": "50M"}),
)
AUDIT = Daemon("kube-system", "host-audit", {"cpu": "25m", "memory": "33554432"}, static=True)
EC2 = (
    *(
        *series("m5.", 4, 48_000),
        *series("m6i.", 4, 50_400),
        *series("c6i.", 2, 42_500),
        *series("r6i.", 8, 63_000),
    ),
)
EKS = Provider(
    region="eu-west-1",
    zones=("eu-west-1a", "eu-west-1b", "eu-west-1c"),
    labels=_eks,
    node_name=lambda n, digits, group: f"ip-10-{n // 250}-{n % 250}-{int(digits[:2], 16)}.eu-west-1.compute.internal",
    reserved=lambda kind: (
        reserved_by_cores(kind.vcpu),
        (255 + 11 * kind.most_pods + 100) * 1024 + kind.gib * KIB_GIB * 38 // 1000,
    ),
    types=EC2,
    daemons=(
        Daemon("kube-system", "aws-node", {"cpu": "50m"}),
        Daemon("kube-system", "kube-proxy", {"cpu": "100m"}),
        Daemon("kube-system", "ebs-csi-node", {"cpu": "30m", "memory": "120Mi"}),
        *EVERYWHERE,
        AUDIT,
    ),
    disk_zone="topology.kubernetes.io/zone",
    driver="ebs.csi.aws.com",
    provider_id="aws:///{zone}/i-{digits}",
)
KARPENTER = Provider(**{name: getattr(EKS, name) for name in Provider.__slots__ if name != "labels"}, labels=_karpenter)
GKE = Provider(
    region="europe-west4",
    zones=("europe-west4-a", "europe-west4-b", "europe-west4-c"),
    labels=_gke,
    node_name=lambda n, digits, group: f"gke-prod-{group}-{digits[:8]}-{n:04x}",
    reserved=lambda kind: (reserved_by_cores(kind.vcpu), reserved_by_memory(kind.gib) + (100 + 20 * kind.gib) * 1024),
    types=(
        *series("e2-standard-{}", 4, 36_900),
        *series("n2-standard-{}", 4, 53_500),
        *series("n2-highmem-{}", 8, 72_100),
        *series("n2-highcpu-{}", 1, 39_500),
    ),
    daemons=(
        Daemon("kube-system", "fluentbit-gke", {"cpu": "100m", "memory": "200Mi"}),
        Daemon("kube-system", "gke-metrics-agent", {"cpu": "6m", "memory": "120Mi"}),
        Daemon("kube-system", "pdcsi-node", {"cpu": "10m", "memory": "20Mi"}),
        Daemon("kube-system", "kube-proxy-gke", {"cpu": "100m"}, static=True),
        *EVERYWHERE,
    ),
    disk_zone="topology.gke.io/zone",
    driver="pd.csi.storage.gke.io",
    provider_id="gce://prod/{zone}/{digits}",
)
AKS = Provider(
    region="westeurope",
    zones=("westeurope-1", "westeurope-2", "westeurope-3"),
    labels=_aks,
    node_name=lambda n, digits, group: f"aks-{group}-{int(digits[:6], 16) % 10**8:08}-vmss{n:06x}",
    reserved=lambda kind: (AKS_CPU[kind.vcpu], reserved_by_memory(kind.gib) + (750 + 25 * kind.gib) * 1024),
    types=(
        *series("Standard_D{}s_v5", 4, 57_500),
        *series("Standard_E{}s_v5", 8, 76_000),
        *series("Standard_F{}s_v2", 2, 48_500),
    ),
    daemons=(
        Daemon("kube-system", "azure-ip-masq-agent", {"cpu": "100m", "memory": "50Mi"}),
        Daemon("kube-system", "cloud-node-manager", {"cpu": "50m", "memory": "50Mi"}),
        Daemon("kube-system", "csi-azuredisk-node", {"cpu": "30m", "memory": "60Mi"}),
        Daemon("kube-system", "kube-proxy", {"cpu": "100m"}),
        *EVERYWHERE,
        AUDIT,
    ),
    disk_zone="topology.disk.csi.azure.com/zone",
    driver="disk.csi.azure.com",
    provider_id="azure:///subscriptions/0/resourceGroups/mc_prod/{zone}/{digits}",
)
CONTROL = {"node-role.kubernetes.io/control-plane": ""}
HAS_GPU = {"nvidia.com/gpu.present": "true"}
CALICO = (
    Daemon("kube-system", "calico-node", {"cpu": "250m"}),
    Daemon("kube-system", "kube-proxy", {}),
    *EVERYWHERE,
)
KUBEADM = Provider(
    zones=("",),
    labels=_own,
    node_name=lambda n, digits, group: f"{group}-{n:03}",
    reserved=lambda kind: (0, 100 * 1024 + kind.gib * KIB_GIB * 15 // 1000),
    types=(
        MachineType("vm-4", 4, 16, MOST_PODS, 45_000),
        MachineType("r640", 40, 192, MOST_PODS, 410_000),
        MachineType("r650", 64, 256, MOST_PODS, 620_000),
        MachineType("r750-1t", 64, 1024, MOST_PODS, 980_000),
    ),
    daemons=(
        *CALICO,
        Daemon("kube-system", "etcd", {"cpu": "100m", "memory": "100Mi"}, static=True, selector=CONTROL),
        Daemon("kube-system", "kube-apiserver", {"cpu": "250m"}, static=True, selector=CONTROL),
        Daemon("kube-system", "kube-controller-manager", {"cpu": "200m"}, static=True, selector=CONTROL),
        Daemon("kube-system", "kube-scheduler", {"cpu": "100m"}, static=True, selector=CONTROL),
    ),
    driver="local",
    has_type_label=False,
)
GPU_FARM = Provider(
    region="fra",
    zones=("fra-1", "fra-2"),
    labels=_gpu,
    node_name=lambda n, digits, group: f"{group}-{digits[:4]}-{n:03}",
    reserved=lambda kind: (2000, 4 * KIB_GIB + kind.gib * KIB_GIB * 20 // 1000),
    types=(
        MachineType("cpu-16", 16, 64, MOST_PODS, 640_000),
        MachineType("cpu-64", 64, 256, MOST_PODS, 2_400_000),
        MachineType("l40s-4", 64, 512, MOST_PODS, 5_200_000, gpus=4, product="NVIDIA-L40S"),
        MachineType("l40s-8", 128, 1024, MOST_PODS, 10_000_000, gpus=8, product="NVIDIA-L40S"),
        MachineType("a100-8", 96, 1152, MOST_PODS, 17_600_000, gpus=8, product="NVIDIA-A100-SXM4-80GB"),
        MachineType("h100-8", 192, 2048, MOST_PODS, 29_900_000, gpus=8, product="NVIDIA-H100-80GB-HBM3"),
    ),
    daemons=(
        *CALICO,
        AUDIT,
        Daemon("gpu-operator", "nvidia-device-plugin", {}, selector=HAS_GPU),
        Daemon("gpu-operator", "nvidia-dcgm-exporter", {"cpu": "100m", "memory": "256M"}, selector=HAS_GPU),
    ),
    disk_zone="topology.kubernetes.io/zone",
    driver="csi.vast.example",
    provider_id="metal://{zone}/{digits}",
)


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
