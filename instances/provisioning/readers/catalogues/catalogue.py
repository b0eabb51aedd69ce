"""What a price list says of machines, whatever format it has.

Labels that follow from what a price list says of a machine: its name, architecture, system and size.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.quantities import listed

# The values that each label may have, None among them where it may be missing.
Labels: TypeAlias = "dict[str, frozenset[str | None]]"

ARCH_LABEL, OS_LABEL = "kubernetes.io/arch", "kubernetes.io/os"
# How clouds call what Kubernetes does; of others nothing is known.
ARCHITECTURES = {"x86_64": "amd64", "x86-64": "amd64", "x64": "amd64", "aarch64": "arm64"} | {
    name: name for name in ("amd64", "arm64", "arm", "386", "ppc64le", "s390x", "riscv64")
}
SYSTEMS = {"windows": "windows"} | dict.fromkeys(("linux", "linux/unix", "ubuntu", "rhel", "suse"), "linux")
# Labels of Karpenter's AWS provider and of EKS' own Karpenter.
AWS = ("karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-")
AZURE = ("karpenter.azure.com/sku-", "kubernetes.azure.com/sku-")
CPU_LABELS = (*(f"{provider}cpu" for provider in (*AWS, *AZURE)), "karpenter.kwok.sh/instance-cpu")
MEMORY_LABELS = tuple(f"{provider}memory" for provider in (*AWS, *AZURE))
AWS_GPUS, AZURE_GPUS = tuple(f"{provider}gpu-count" for provider in AWS), f"{AZURE[0]}gpu-count"
# Labels that name a GPU, each in its own way: NVIDIA-A100-SXM4-80GB, nvidia-tesla-a100, a100.
GPU_LABELS = (
    *("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", f"{AZURE[0]}gpu-name"),
    *(f"{provider}gpu-name" for provider in AWS),
)
# A value that nobody names: no label has a space.
OTHER = "another value"
ABSENT: frozenset[str | None] = frozenset((None,))
# A type's name, such as c7gn.2xlarge (pkg/providers/instancetype/types.go of Karpenter's AWS provider).
_AWS_NAME = re.compile(r"(([a-z]+)(?:-\d+tb)?(\d+)[a-z0-9-]*)\.([a-z0-9-]+)")
_GRAVITON = re.compile(r"[a-z]+\d+g|a1$")
GIB_MIB = 1024
# Clouds sell memory in steps of so many MiB; what is between is what a system left of it.
STEP_MIB = 128


def type_labels(name: str, arch: str = "", system: str = "") -> Labels:
    """Return the labels that follow from a type's name, architecture and operating system."""
    found = {ARCH_LABEL: ARCHITECTURES.get(arch.lower()), OS_LABEL: SYSTEMS.get(system.lower())}
    if (match := _AWS_NAME.fullmatch(name)) is not None:
        family, category, generation, size = match.groups()
        parts = {"family": family, "category": category, "generation": generation, "size": size}
        found |= {f"{provider}{key}": value for provider in AWS for key, value in parts.items()}
        if not arch and _GRAVITON.match(family):
            found[ARCH_LABEL] = "arm64"
    return {key: frozenset((value,)) for key, value in found.items() if value}


def size_labels(
    cpu: Fraction | None, mib: Fraction | None, gpus: int | None, *, rounded: bool = False, nvidia: bool = True
) -> Labels:
    """Return the labels that follow from a machine's nominal size, None of which is not known.

    A part of a CPU, or memory that no cloud sells, is what a system leaves of a machine, and says nothing of its labels.

    rounded : a whole number of GiB may be any that is rounded to it. nvidia : whether the GPUs are of that make.
    """
    labels: Labels = {}
    if cpu is not None and cpu > 0 and cpu.denominator == 1:
        labels |= dict.fromkeys(CPU_LABELS, frozenset((str(cpu),)))
    if mib is not None and mib > 0 and mib % STEP_MIB == 0:
        values = _rounded_to(int(mib)) if rounded and mib % GIB_MIB == 0 else frozenset((str(mib),))
        labels |= dict.fromkeys(MEMORY_LABELS, values)
    if gpus is not None:
        values = frozenset((str(gpus),)) if gpus else ABSENT
        labels |= dict.fromkeys(AWS_GPUS, values) | {AZURE_GPUS: values if nvidia else values | ABSENT}
    return labels


def gpu_values(model: str, named: Iterable[str]) -> frozenset[str | None]:
    """Return those of some values of a GPU's label that a model may have, with one that nobody names, and none.

    A model is the first word with a number in it, without what tells its memory or make: A100 of A100-80GB.
    """
    words = (_plain(word) for word in re.split(r"[-_ ]", model))
    word = next((word for word in words if any(map(str.isdigit, word))), _plain(model))
    return frozenset((None, OTHER, *(value for value in named if word in _plain(value))))


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


@lru_cache(maxsize=10_000)
def or_absent(values: frozenset[str | None]) -> frozenset[str | None]:
    """Return the values of a label that may be missing: one object for equal ones, which many machines have."""
    return values | ABSENT


@lru_cache(maxsize=1_000)
def _rounded_to(mib: int) -> frozenset[str | None]:
    """Return what memory of less than a GiB more or less may be."""
    return frozenset(map(str, range(mib - GIB_MIB + STEP_MIB, mib + GIB_MIB, STEP_MIB)))


ON_DEMAND, SPOT, RESERVED = "on-demand", "spot", "reserved"
NVIDIA_GPU, AMD_GPU, GAUDI = "nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi"


class Offering(NamedTuple):
    """One price, in dollars an hour. zone : empty for all others. machines : how many there are for it, -1 for any number."""

    capacity_type: str
    zone: str
    price: Fraction
    machines: int = -1


@dataclass(frozen=True, slots=True)
class MachineType:
    """A machine that can be rented.

    capacity : fine units by resource; a resource that is not there is 0, save `pods`, without which there is no limit.
    overhead : what of it the system takes. labels : the values that Kubernetes' labels may have, as far as they are known.
    fee : dollars an hour beside the price. gpu_name : how Kubernetes calls what `gpu` counts.
    gpu_model : what they are, as the list calls them.
    usual_pods : how many pods one takes unless its network is set up to take more; -1 where that is not known.
    """

    name: str
    capacity: Mapping[str, int]
    offerings: tuple[Offering, ...]
    overhead: Mapping[str, int] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    family: str = ""
    fee: Fraction | None = None
    gpu_name: str = NVIDIA_GPU
    usual_pods: int = -1
    gpu_model: str = ""

    def usable(self) -> dict[str, int]:
        """Return the capacity without the overhead, in fine units."""
        return {name: max(0, size - self.overhead.get(name, 0)) for name, size in self.capacity.items()}

    def labels_of(self, keys: Collection[str], *, is_of_pool: bool) -> Labels:
        """Return some labels of machines, and their system: those of Karpenter's only its NodePools surely put on theirs."""
        system = (ARCH_LABEL, OS_LABEL)
        return {
            key: values if is_of_pool or key in system else or_absent(values)
            for key, values in self.labels.items()
            if key in keys or key in system
        }

    def price(self, capacity_type: str, zone: str = "") -> Fraction | None:
        """Return the price, with the fee; that of the zone, else the least of all zones; None where there is none."""
        near = self.offers(capacity_type, zone) or self.offers(capacity_type)
        return None if not near else min(offer.price for offer in near) + (self.fee or 0)

    def offers(self, capacity_type: str, zone: str = "") -> list[Offering]:
        """Return the offerings that hold in a zone: its own, else those of all others; of no zone, all there are."""
        found = [offer for offer in self.offerings if offer.capacity_type == capacity_type]
        own = [offer for offer in found if offer.zone == zone]
        return own or [offer for offer in found if not offer.zone] if zone else found

    def places(self, capacity_type: str, zones: Collection[str]) -> Iterator[tuple[str, list[Offering]]]:
        """Yield the zones where machines can be had, with the offerings for them, of which the least price counts.

        zones : those that are told apart, in which a type is that has none of them. Without any, the zone is empty, or that of a
        price for which there are only so many machines, where others cost something else.
        """
        found = self.offers(capacity_type)
        if zones:
            is_elsewhere = all(offer.zone and offer.zone not in zones for offer in found)
            for zone in zones:
                if near := found if is_elsewhere else self.offers(capacity_type, zone):
                    yield zone, near
            return
        prices = {offer.price: offer.zone for offer in found}
        if any(offer.machines >= 0 for offer in found) and len(prices) > 1:
            for price, zone in prices.items():
                yield zone, [offer for offer in found if offer.price == price]
        elif found:
            yield "", found


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Machine types of one price list, with unique names. notes : what was left out or rounded.

    complete : whether machines have nothing that the list does not name. makes : names of GPUs that machines surely have or
    have not as the list says, whatever other lines it has.
    """

    types: tuple[MachineType, ...]
    notes: tuple[str, ...] = ()
    complete: bool = False
    makes: frozenset[str] = frozenset((NVIDIA_GPU,))

    def states(self, resource: str) -> bool:
        """Whether the list says how much of a resource machines have: where it names any, others have none."""
        return self.complete or any(resource in kind.capacity for kind in self.types)

    @property
    def zones(self) -> tuple[str, ...]:
        """All zones that some offering names."""
        return tuple(sorted({offer.zone for kind in self.types for offer in kind.offerings if offer.zone}))


def least(offers: Sequence[Offering]) -> tuple[Fraction, int]:
    """Return the least price of offerings, and how many machines they have, -1 for any number."""
    machines = [offer.machines for offer in offers]
    return min(offer.price for offer in offers), -1 if min(machines) < 0 else sum(machines)


def spot_note(names: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on types that have no other price than that of spare capacity; nothing if none is."""
    return (f"At their spot price, as the price list has no other of them: {listed(names)}.",) if names else ()


def merged(what: str, types: Iterable[MachineType]) -> tuple[MachineType, ...]:
    """Return machine types of which each name is there once, with the offerings of all rows of that name.

    Raises
    ------
    InstanceError
        if two rows of a name differ in more than zone and price, or give two prices for one zone.
    """
    by_name: dict[str, MachineType] = {}
    for kind in types:
        known = by_name.setdefault(kind.name, kind)
        if known is kind:
            continue
        if replace(kind, offerings=()) != replace(known, offerings=()):
            raise InstanceError(f"{what}: machine type {kind.name:.60} is there twice and not the same; keep one.")
        twice = {(o.capacity_type, o.zone) for o in known.offerings} & {
            (o.capacity_type, o.zone) for o in kind.offerings
        }
        if twice:
            capacity_type, zone = sorted(twice)[0]
            place = f"zone {zone:.60}" if zone else "all zones"
            raise InstanceError(
                f"{what}: machine type {kind.name:.60} has two {capacity_type} prices for {place}; keep one."
            )
        by_name[kind.name] = replace(known, offerings=known.offerings + kind.offerings)
    return tuple(by_name.values())
