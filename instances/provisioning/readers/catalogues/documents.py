"""Catalogues in JSON: `aws ec2 describe-instance-types`, and what Karpenter's KWOK provider offers.

Any of the price lists that are known, by what is in the file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import InstanceError, about_file
from schedgap.instances.provisioning.readers.catalogues.catalogue import (
    AMD_GPU,
    GAUDI,
    NVIDIA_GPU,
    ON_DEMAND,
    Catalogue,
    MachineType,
    Offering,
    merged,
    size_labels,
    type_labels,
)
from schedgap.instances.provisioning.readers.catalogues.plain import OTHERS, plain, plain_types, skypilot
from schedgap.instances.provisioning.readers.quantities import CPU, PODS, RAM, THOUSAND, decimal, fine_amounts, listed

MIB = 2**20
# What is read of a CSV of prices, beside which EC2 describes the machines.
PRICED = (*OTHERS, PODS)
CAPACITY_LABEL, ZONE_LABEL = "karpenter.sh/capacity-type", "topology.kubernetes.io/zone"
# What Karpenter's KWOK provider takes of every machine (kwok/cloudprovider/helpers.go), and how many pods it lets on one.
KWOK_OVERHEAD, KWOK_PODS = {"cpu": "100m", "memory": "10Mi"}, "110"
KWOK = "karpenter.kwok.sh/instance-"


class _Sized(msgspec.Struct):
    size: int = msgspec.field(name="SizeInMiB")


class _Cpus(msgspec.Struct):
    number: int = msgspec.field(name="DefaultVCpus")


class _Processor(msgspec.Struct):
    architectures: tuple[str, ...] = msgspec.field(name="SupportedArchitectures", default=())


GPU_MAKES = {"AMD": AMD_GPU, "Habana": GAUDI}


class _Gpu(msgspec.Struct):
    """GPUs of one make; of partitioned ones only `logical`, which the device's plugin offers to pods."""

    count: int = msgspec.field(name="Count", default=0)
    logical: int = msgspec.field(name="LogicalGpuCount", default=0)
    name: str = msgspec.field(name="Name", default="")
    manufacturer: str = msgspec.field(name="Manufacturer", default="NVIDIA")

    @property
    def offered(self) -> int:
        return max(self.count, self.logical)


class _Gpus(msgspec.Struct):
    gpus: tuple[_Gpu, ...] = msgspec.field(name="Gpus", default=())


class _Card(msgspec.Struct):
    interfaces: int = msgspec.field(name="MaximumNetworkInterfaces", default=0)


class _Network(msgspec.Struct):
    interfaces: int = msgspec.field(name="MaximumNetworkInterfaces", default=0)
    addresses: int = msgspec.field(name="Ipv4AddressesPerInterface", default=0)
    cards: tuple[_Card, ...] = msgspec.field(name="NetworkCards", default=())
    card: int = msgspec.field(name="DefaultNetworkCardIndex", default=0)

    def usual_pods(self) -> int:
        """Return how many pods have an address each of the default network card, and two the node's; -1 if not known.

        Amazon's network plugin without prefix delegation (amazon-eks-ami, eni-max-pods.txt).
        """
        own = self.cards[self.card].interfaces if 0 <= self.card < len(self.cards) else 0
        interfaces = own or self.interfaces
        return interfaces * (self.addresses - 1) + 2 if interfaces > 0 and self.addresses > 1 else -1


class _Ec2Type(msgspec.Struct):
    name: str = msgspec.field(name="InstanceType")
    cpus: _Cpus = msgspec.field(name="VCpuInfo")
    memory: _Sized = msgspec.field(name="MemoryInfo")
    processor: _Processor = msgspec.field(name="ProcessorInfo", default_factory=_Processor)
    gpus: _Gpus = msgspec.field(name="GpuInfo", default_factory=_Gpus)
    network: _Network = msgspec.field(name="NetworkInfo", default_factory=_Network)


class Ec2Document(msgspec.Struct):
    """`aws ec2 describe-instance-types`."""

    types: tuple[_Ec2Type, ...] = msgspec.field(name="InstanceTypes")


class _Requirement(msgspec.Struct):
    key: str
    values: tuple[str, ...] = ()


class _KwokOffering(msgspec.Struct):
    """Old lists name capacity type and zone, new ones require them; names are read in lower case.

    The provider makes every offering available, whatever the list says.
    """

    price: msgspec.Raw
    capacitytype: str = ""
    zone: str = ""
    requirements: tuple[_Requirement, ...] = ()


class _KwokType(msgspec.Struct, rename="camel"):
    name: str
    resources: dict[str, str | int]
    offerings: tuple[dict[str, msgspec.Raw], ...]
    architecture: str = ""
    operating_systems: tuple[str, ...] | dict[str, Any] = ()


def decoded(path: Path, content: bytes, kind: Any) -> Any:
    """Return a JSON document as an object of the class.

    Raises
    ------
    InstanceError
        naming the field that is wrong.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InstanceError(f"{path.name}: no price list ({' '.join(str(error).split()):.200}); give one.") from None


def ec2(path: Path, content: bytes, prices: Path | None) -> Catalogue:
    """Read `aws ec2 describe-instance-types` and a CSV of prices (`name,price[,spot_price,zone]`); without one, no type.

    Raises
    ------
    InstanceError
        where there are no prices, or none of a type that is described.
    """
    if prices is None:
        raise InstanceError(
            f"{path.name}: describe-instance-types has no prices; give a CSV of name,price as `prices`."
        )
    priced, said = plain_types(prices, PRICED)
    offered = {kind.name: kind for kind in priced}
    types, without = [], []
    for kind in decoded(path, content, Ec2Document).types:
        if kind.name not in offered:
            without.append(kind.name)
            continue
        types.append(_ec2_type(path, kind, offered[kind.name]))
    if not types:
        raise InstanceError(f"{path.name}: none of its {len(without)} machine types has a price in {prices.name}.")
    # Of what EC2 does not describe here, nodes may say how large it is.
    described = {kind.name for kind in types}
    types += [kind for kind in priced if kind.name not in described]
    notes = (f"{path.name}: left out, as {prices.name} has no price of them: {listed(without)}.",) if without else ()
    return Catalogue(merged(path.name, types), (*said, *notes), makes=frozenset((NVIDIA_GPU, *GPU_MAKES.values())))


def _ec2_type(path: Path, kind: _Ec2Type, priced: MachineType) -> MachineType:
    """Return a type as EC2 describes it, with what the prices say beside: a limit on pods, the operating system, a fee."""
    # An architecture of 32 bits is only there beside one of 64.
    arch = next((name for name in kind.processor.architectures if name != "i386"), "")
    gpus = kind.gpus.gpus
    sizes = (kind.cpus.number, kind.memory.size, *(number for gpu in gpus for number in (gpu.count, gpu.logical)))
    if min(sizes) < 0 or max(sizes) > 2**31:
        raise InstanceError(f"{path.name}: machine type {kind.name:.60} has a size below 0 or above 2^31; correct it.")
    makes = Counter[str]()
    for gpu in gpus:
        makes[GPU_MAKES.get(gpu.manufacturer, NVIDIA_GPU)] += gpu.offered
    make, number = next(iter(makes.items()), (NVIDIA_GPU, 0))
    capacity = {CPU: kind.cpus.number * THOUSAND, RAM: kind.memory.size * MIB, "gpu": number * THOUSAND}
    capacity |= {other: count * THOUSAND for other, count in makes.items() if other != make} | dict(priced.capacity)
    # Whether the label counts parts of GPUs or whole ones is not known, and it is missing where there are several kinds.
    is_plain = all(gpu.count == gpu.offered for gpu in gpus) and len(gpus) < 2
    labels = size_labels(Fraction(kind.cpus.number), Fraction(kind.memory.size), number if is_plain else None)
    return replace(
        priced,
        capacity=capacity,
        labels=type_labels(kind.name, arch) | labels | priced.labels,
        gpu_name=make,
        gpu_model=gpus[0].name if len(gpus) == 1 else priced.gpu_model,
        usual_pods=-1 if PODS in capacity else kind.network.usual_pods(),
    )


def kwok(path: Path, content: bytes) -> Catalogue:
    """Read the instance types of Karpenter's KWOK provider (kwok/cloudprovider/instance_types.json, or one's own).

    Raises
    ------
    InstanceError
        naming what is malformed.
    """
    types = []
    for kind in decoded(path, content, tuple[_KwokType, ...]):
        systems = tuple(kind.operating_systems)
        sizes = {key: kind.resources.get(key, "") for key in ("cpu", "memory")}
        size = kind.name.split(".")[1] if "." in kind.name else str(sizes["cpu"])
        own = {"family": kind.name.replace(".", "-").split("-")[0], "size": size}
        labels = type_labels(kind.name, kind.architecture, systems[0] if len(systems) == 1 else "")
        labels |= {f"{KWOK}{key}": frozenset((str(value),)) for key, value in (*sizes.items(), *own.items())}
        offerings = tuple(offer for given in kind.offerings for offer in _kwok_offerings(path, kind.name, given))
        capacity = fine_amounts({"pods": KWOK_PODS} | kind.resources)
        types.append(MachineType(kind.name, capacity, offerings, overhead=fine_amounts(KWOK_OVERHEAD), labels=labels))
    if not types:
        raise InstanceError(f"{path.name}: no machine types; the price list is empty.")
    return Catalogue(merged(path.name, types), complete=True)


def _kwok_offerings(path: Path, name: str, given: dict[str, msgspec.Raw]) -> list[Offering]:
    # Go takes a field's name in any case, and both lists of Karpenter's own differ in it.
    fields = b",".join(msgspec.json.encode(key.lower()) + b":" + bytes(raw) for key, raw in given.items())
    offer = decoded(path, b"{" + fields + b"}", _KwokOffering)
    price = decimal(bytes(offer.price).decode())
    if price is None or not Fraction(1, 10**6) <= price < 2**40:
        raise InstanceError(
            f"{path.name}: machine type {name:.60} has price {bytes(offer.price).decode():.60}; give at least a "
            "micro-dollar and below 2^40 dollars."
        )
    asked = {requirement.key: requirement.values for requirement in offer.requirements}
    kinds = (offer.capacitytype,) if offer.capacitytype else asked.get(CAPACITY_LABEL, (ON_DEMAND,))
    zones = (offer.zone,) if offer.zone else asked.get(ZONE_LABEL, ("",))
    return [Offering(kind, zone, price) for kind in kinds for zone in zones]


KNOWN = (
    "known are Karpenter's KWOK instance types (a JSON array), `aws ec2 describe-instance-types` with a CSV of prices, "
    "SkyPilot's vms.csv (columns InstanceType, Region, Price) and CSV with the columns name and price"
)


def read_catalogue(path: Path | str, *, prices: Path | str = "", region: str = "") -> Catalogue:
    """Read a price list, whose format its content shows.

    prices : a CSV of prices, for machine types that have none of their own (EC2's descriptions).
    region : of a list that has several (SkyPilot's).

    Raises
    ------
    InstanceError
        for a file that is none of the known formats, or malformed, and for a parameter that its format does not take.
    """
    path = Path(path)
    with about_file(path, "read", InstanceError, "give the path of a price list"):
        content = read_given(path)
    content = content.removeprefix(b"\xef\xbb\xbf")
    start = content.lstrip()[:1]
    header = content.partition(b"\n")[0].decode(errors="replace").replace('"', "").strip().split(",")
    is_ec2, is_skypilot = start == b"{", start not in (b"[", b"{") and "InstanceType" in header
    for parameter, value, is_taken in (("prices", prices, is_ec2), ("region", region, is_skypilot)):
        if value and not is_taken:
            raise InstanceError(
                f"{path.name}: '{parameter}' is for another kind of price list; leave it out here ({KNOWN})."
            )
    if is_ec2:
        return ec2(path, content, Path(prices) if prices else None)
    if start == b"[":
        return kwok(path, content)
    if is_skypilot:
        return skypilot(path, region)
    if not {"name", "price"} <= {column.strip() for column in header}:
        raise InstanceError(f"{path.name}: no price list, it begins with {content[:40]!r}; {KNOWN}.")
    return plain(path)
