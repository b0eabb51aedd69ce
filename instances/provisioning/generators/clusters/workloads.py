"""Workloads of generated clusters: what their pods ask for, and the rules that they have; units as people write them.

Draws of one cluster, all from one seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from schedgap.instances.arrays import FloatArray
from schedgap.instances.draws import generator
from schedgap.instances.provisioning.generators.clusters.machines import (
    HOST,
    REQUIRED,
    STAYS,
    ZONE,
    Json,
    NodeGroup,
    container,
)
from schedgap.instances.provisioning.readers.kubernetes.objects import Pod
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import ALWAYS, pod_request

T = TypeVar("T")
# Of Kubernetes' own names: no vowels.
LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Dice:
    """Draws what names and choices need."""

    def __init__(self, kind: str, nodes: int, seed: int) -> None:
        self._rng = generator("provisioning", "cluster", kind, nodes, seed)
        self._given: set[int] = set()

    def below(self, number: int) -> int:
        """Return one of 0, ..., number - 1."""
        return int(self._rng.random() * number)

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[self.below(len(values))]

    def shares(self, number: int) -> FloatArray:
        """Return so many numbers from 0 to 1."""
        return self._rng.random(number)

    def digits(self) -> str:
        """Return twelve hexadecimal digits."""
        return f"{self.below(2**48):012x}"

    def suffix(self, length: int = 5) -> str:
        """Return the end of a generated name, another one each time."""
        while (drawn := self.below(len(LETTERS) ** length)) in self._given:
            pass
        self._given.add(drawn)
        return "".join(LETTERS[drawn // len(LETTERS) ** place % len(LETTERS)] for place in range(length))


# CPU and memory. 128974848 is in Kubernetes' documentation; 100m of memory is a tenth of a byte, a common mistake.
ODD = (("0.5", "1.5Gi"), ("1", "1e9"), ("100m", "128974848"), ("10m", "100m"))
SHAPES = (
    *ODD,
    *(("100m", "128Mi"), ("250m", "512Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("0.2", "300Mi"), ("750m", "6000Mi")),
    *(("600m", "1G"), ("50m", "64M"), ("200m", "700Mi"), ("300m", "900Mi"), ("1500m", "4Gi")),
    *(("25m", "48Mi"), ("50m", "64Mi"), ("100m", "256Mi"), ("150m", "384Mi"), ("200m", "256Mi"), ("0.1", "1e8")),
    *(("2", "8Gi"), ("0.25", "524288Ki")),
)
LARGE_MEMORY = (("1", "8Gi"), ("500m", "6e9"), ("1", "14Gi"), ("2", "20G"))
GPU_SHAPES = ((1, "8", "60Gi"), (1, "6500m", "64e9"), (2, "16", "128Gi"), (4, "32", "320G"), (8, "64", "700Gi"))
GPU = "nvidia.com/gpu"
REPLICAS = (1, 2, 2, 3, 3, 4, 6, 10, 20)
NOUNS = (
    "auth",
    "billing",
    "cart",
    "checkout",
    "feed",
    "images",
    "ledger",
    "mail",
    "orders",
    "quotes",
    "search",
    "users",
)
NAMESPACES = ("shop", "pay", "search", "ml", "platform", "web")
MOST = 10**6


@dataclass(slots=True)
class Workload:
    """Alike pods of one owner.

    most : pods on one node. zoned : whether zones have equally many. volume : whether each pod has a volume of its own.
    """

    namespace: str
    name: str
    spec: Json
    replicas: int
    owner: str = "ReplicaSet"
    most: int = MOST
    zoned: bool = False
    volume: bool = False
    annotations: dict[str, str] = field(default_factory=dict)

    def request(self) -> dict[str, int]:
        """Return what the scheduler counts for a pod, as the reader does."""
        document = {"metadata": {"name": "pod"}, "spec": self.spec}
        return pod_request(msgspec.json.decode(msgspec.json.encode(document), type=Pod))

    def selector(self) -> Json:
        """Return a selector of these pods."""
        return {"labelSelector": {"matchLabels": {"app": self.name}}}


def draw(dice: Dice, group: NodeGroup, rule: str, number: int) -> Workload:
    """Return the workload of a number for a group of nodes: it selects the group's labels and tolerates its taint."""
    cpu, memory = dice.pick(LARGE_MEMORY if group.audience == "memory" else SHAPES)
    requests = {"cpu": cpu, "memory": memory}
    if group.audience == "gpu":
        gpus, cpu, memory = dice.pick(GPU_SHAPES)
        requests = {"cpu": cpu, "memory": memory, GPU: str(gpus)}
    namespace = "kube-system" if group.audience == "system" else dice.pick(NAMESPACES)
    return made(dice, group, rule, f"{dice.pick(NOUNS)}-{number}", namespace, requests)


def made(
    dice: Dice, group: NodeGroup, rule: str, name: str, namespace: str, requests: dict[str, str], replicas: int = 0
) -> Workload:
    """Return a workload with a rule and so many pods, 0 for any number."""
    environment = [{"name": "LOG_LEVEL", "value": "info"}, {"name": "SERVICE", "value": name}]
    spec: Json = {"containers": [container("main", requests, env=environment)], "tolerations": list(STAYS)}
    if group.taint is not None:
        key, value, effect = group.taint
        matched = {"operator": "Equal", "value": value} if value else {"operator": "Exists"}
        spec["tolerations"].insert(0, {"key": key, "effect": effect, **matched})
    if group.labels:
        spec["nodeSelector"] = dict(group.labels)
    drawn = dice.pick(REPLICAS)
    workload = Workload(namespace, name, spec, replicas or (min(drawn, 3) if group.audience == "gpu" else drawn))
    RULES[rule](workload, dice)
    return workload


def _plain(workload: Workload, dice: Dice) -> None:
    """Leave a workload without any rule."""


def _zones(workload: Workload, dice: Dice) -> None:
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"} | workload.selector()
    workload.spec["topologySpreadConstraints"], workload.zoned = [spread], True


def _hosts(workload: Workload, dice: Dice) -> None:
    spread = {"maxSkew": 2, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule"} | workload.selector()
    workload.spec["topologySpreadConstraints"], workload.most = [spread], 2


def _soft(workload: Workload, dice: Dice) -> None:
    spread = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway"} | workload.selector()
    workload.spec["topologySpreadConstraints"] = [spread]


def _apart(workload: Workload, dice: Dice) -> None:
    term = workload.selector() | {"topologyKey": HOST}
    workload.spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
    workload.most, workload.replicas = 1, max(2, min(workload.replicas, 5))


def _sidecar(workload: Workload, dice: Dice) -> None:
    proxy = container("istio-proxy", {"cpu": "100m", "memory": "128Mi"}, restartPolicy=ALWAYS)
    workload.spec["initContainers"] = [container("istio-init", {"cpu": "10m", "memory": "40Mi"}), proxy]


def _initial(workload: Workload, dice: Dice) -> None:
    workload.spec["initContainers"] = [container("migrate", {"cpu": "1200m", "memory": "768Mi"})]


def _stateful(workload: Workload, dice: Dice) -> None:
    workload.owner, workload.volume, workload.zoned = "StatefulSet", True, True
    workload.replicas = min(workload.replicas, 6)


def _job(workload: Workload, dice: Dice) -> None:
    workload.owner, workload.spec["restartPolicy"] = "Job", "Never"
    workload.replicas = min(workload.replicas, 4)


def _training(workload: Workload, dice: Dice) -> None:
    _job(workload, dice)
    workload.owner, workload.annotations = "PyTorchJob", {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}


def _bare(workload: Workload, dice: Dice) -> None:
    workload.spec["containers"][0]["resources"] = {}
    workload.replicas = min(workload.replicas, 3)


def _stays(workload: Workload, dice: Dice) -> None:
    workload.annotations, workload.replicas = {"karpenter.sh/do-not-disrupt": "true"}, min(workload.replicas, 2)


def _storage(workload: Workload, dice: Dice) -> None:
    workload.spec["containers"][0]["resources"].setdefault("requests", {})["ephemeral-storage"] = dice.pick(
        ("2Gi", "5e9")
    )


RULES: dict[str, Callable[[Workload, Dice], None]] = {
    "plain": _plain,
    "zones": _zones,
    "hosts": _hosts,
    "soft": _soft,
    "apart": _apart,
    "sidecar": _sidecar,
    "initial": _initial,
    "stateful": _stateful,
    "job": _job,
    "training": _training,
    "bare": _bare,
    "stays": _stays,
    "storage": _storage,
}
