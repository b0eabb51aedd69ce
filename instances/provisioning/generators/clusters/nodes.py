"""The nodes of a generated cluster: how many of each group, their labels, and what is allocatable on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.instances.provisioning.generators.clusters.machines import KIB_GIB, MachineType, NodeGroup, node_taints
from schedgap.instances.provisioning.generators.clusters.objects import HOST, ZONE, Json, metadata, node
from schedgap.instances.provisioning.generators.clusters.workloads import GPU

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedgap.instances.provisioning.generators.clusters.dice import Dice
    from schedgap.instances.provisioning.generators.clusters.machines import Provider

TYPE = "node.kubernetes.io/instance-type"
# Of machines of one type some KiB are missing here and there.
KIB_APART = (0, 4, 8, 12, 20)
DISK = "76224326324"


@dataclass(slots=True)
class Made:
    """A node: its object, its group, type and zone."""

    document: Json
    group: NodeGroup
    kind: MachineType
    zone: str

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.document["metadata"]["name"])


def numbers(groups: Sequence[NodeGroup], total: int) -> list[int]:
    """Return how many nodes each group has: at least one, by shares, `total` in all where that is as many as groups."""
    found = [max(1, int(group.share * total)) for group in groups]
    for place in range(total - sum(found)):
        found[1 + place % (len(found) - 1)] += 1
    return found


def made_nodes(
    provider: Provider, groups: Sequence[NodeGroup], total: int, labelled: bool, dice: Dice
) -> Iterator[Made]:
    """Yield the nodes. labelled : with the label of the machine type, also where the provider sets none."""
    types = {kind.name: kind for kind in provider.types}
    number = 0
    for group, many in zip(groups, numbers(groups, total), strict=True):
        for _ in range(many):
            kind, zone = types[dice.pick(group.types)], provider.zones[number % len(provider.zones)]
            yield Made(_node(provider, group, kind, zone, number, labelled, dice), group, kind, zone)
            number += 1


def _node(
    provider: Provider, group: NodeGroup, kind: MachineType, zone: str, number: int, labelled: bool, dice: Dice
) -> Json:
    digits = dice.digits()
    name = provider.node_name(number, digits, group.name)
    labels = {HOST: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **group.labels}
    labels |= provider.labels(group, kind)
    if zone:
        labels |= {ZONE: zone, "topology.kubernetes.io/region": provider.region, provider.disk_zone: zone}
    if labelled or provider.has_type_label:
        labels |= {TYPE: kind.name, "beta.kubernetes.io/instance-type": kind.name}
    cpu, kib = provider.reserved(kind)
    whole = kind.gib * KIB_GIB - kind.gib * KIB_GIB // 50 - dice.pick(KIB_APART)
    gpus = {GPU: str(kind.gpus)} if kind.gpus else {}
    both = gpus | {"pods": str(kind.most_pods), "hugepages-1Gi": "0", "hugepages-2Mi": "0"}
    capacity = both | {"cpu": str(kind.vcpu), "memory": f"{whole}Ki", "ephemeral-storage": "83873772Ki"}
    milli = 1000 * kind.vcpu - cpu
    left = f"{milli}m" if milli % 1000 else str(milli // 1000)
    allocatable = both | {"cpu": left, "memory": f"{whole - kib}Ki", "ephemeral-storage": DISK}
    spec: Json = {"podCIDR": f"10.{100 + number // 250}.{number % 250}.0/24"}
    if provider.provider_id:
        spec["providerID"] = provider.provider_id.format(zone=zone, digits=digits)
    if taints := node_taints(group):
        spec["taints"] = taints
    return node(metadata(name, "", digits, labels), spec, capacity, allocatable)
