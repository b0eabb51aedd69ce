"""What a price list says of machines, whatever format it has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.amounts import listed
from schedgap.instances.provisioning.readers.catalogues.labels import ARCH_LABEL, OS_LABEL, or_absent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from schedgap.instances.provisioning.readers.catalogues.labels import Labels

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
