"""SkyPilot's catalogues: `catalogs/v*/<cloud>/vms.csv` of github.com/skypilot-org/skypilot-catalog.

One row a zone (or a region, where a cloud has no zones in it). Google's accelerators are rows of their own with no
instance type, and machines that have them have rows without them: which belong to which is SkyPilot's `gcp_catalog.py`.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

from schedgap.instances.csv_table import read_rows
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.amounts import THOUSAND, listed
from schedgap.instances.provisioning.readers.catalogues.catalogue import (
    AMD_GPU,
    NVIDIA_GPU,
    ON_DEMAND,
    SPOT,
    Catalogue,
    MachineType,
    Offering,
    type_labels,
)
from schedgap.instances.provisioning.readers.catalogues.plain import amount, positive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COLUMNS = ("InstanceType", "vCPUs", "MemoryGiB", "AcceleratorName", "AcceleratorCount", "Region", "Price")
GIB = 2**30
# The accelerator of Google's machines, by their names; how many is in the name, save for G2.
GOOGLE = {
    r"a2-(?:high|mega)gpu-(\d+)g": "A100",
    r"a2-ultragpu-(\d+)g": "A100-80GB",
    r"a3-highgpu-(\d+)g": "H100",
    r"a3-megagpu-(\d+)g": "H100-MEGA",
    r"a3-ultragpu-(\d+)g": "H200",
    r"a4-highgpu-(\d+)g": "B200",
    r"g2-standard-(\d+)": "L4",
}
G2_GPUS = {24: 2, 48: 4, 96: 8}
# GPUs of AMD.
AMD = ("radeon", "mi")
# What counts as a GPU nowhere.
NO_GPU = ("tpu", "inferentia", "trainium", "gaudi")


def skypilot(path: Path, region: str = "") -> Catalogue:
    """Read the types of one region, with a price for each zone.

    region : may be left out where the file has only one.

    Raises
    ------
    InstanceError
        for a malformed line, a region that is not there, and none given where there are several.
    """
    rows = list(read_rows(path, COLUMNS, "SkyPilot catalogue"))
    regions = sorted({row["Region"] for _, row in rows})
    if region not in regions and (region or len(regions) != 1):
        found = f"region is '{region:.60}'" if region else "no region is given"
        raise InstanceError(f"{path.name}: {found}; choose one of {listed(regions, 40)}.")
    chosen = [(line, row) for line, row in rows if row["Region"] == (region or regions[0])]
    accelerators: dict[tuple[str, str, Fraction], dict[str, Fraction]] = {}
    for line, row in chosen:
        if not row["InstanceType"] and row["AcceleratorName"]:
            number = amount(path, line, "AcceleratorCount", row["AcceleratorCount"])
            place = (row["AcceleratorName"], row.get("AvailabilityZone", ""), number)
            for offer in _offers(path, line, row):
                known = accelerators.setdefault(place, {})
                known[offer.capacity_type] = min(offer.price, known.get(offer.capacity_type, offer.price))
    types: dict[str, MachineType] = {}
    offers: dict[str, dict[tuple[str, str], Fraction]] = {}
    unpriced: dict[str, None] = {}
    for line, row in chosen:
        if not row["InstanceType"]:
            continue
        kind, accelerator = _machine(path, line, row)
        types.setdefault(kind.name, kind)
        prices = offers.setdefault(kind.name, {})
        for offer in kind.offerings:
            price = offer.price
            if accelerator is not None:
                more = _accelerator_price(accelerators, accelerator, offer)
                if more is None:
                    unpriced[kind.name] = None
                    continue
                price += more
            kept = (offer.capacity_type, offer.zone)
            prices[kept] = min(price, prices.get(kept, price))
    made = []
    for name, kind in types.items():
        if offers[name]:
            offerings = tuple(Offering(*place, price) for place, price in sorted(offers[name].items()))
            made.append(MachineType(name, kind.capacity, offerings, labels=kind.labels))
    if not made:
        raise InstanceError(
            f"{path.name}: no machine type of {region or regions[0]} has a price; choose another region."
        )
    without = [name for name in unpriced if not offers[name]]
    notes = (f"{path.name}: left out, as the price of their accelerators is not there: {listed(without)}.",)
    return Catalogue(tuple(made), notes if without else ())


def _machine(path: Path, line: int, row: dict[str, str]) -> tuple[MachineType, tuple[str, int] | None]:
    """Return a row's machine, and the accelerators that its price leaves out."""
    name, accelerator = row["InstanceType"], None
    numbers = [amount(path, line, column, row[column] or "0") for column in ("vCPUs", "MemoryGiB", "AcceleratorCount")]
    if not row["AcceleratorName"]:
        for pattern, device in GOOGLE.items():
            if (match := re.fullmatch(pattern, name)) is not None:
                number = int(match[1])
                accelerator = (device, G2_GPUS.get(number, 1) if device == "L4" else number)
                numbers[2] = Fraction(accelerator[1])
    capacity = {"cpu": math.floor(numbers[0] * THOUSAND), "ram_bytes": math.floor(numbers[1] * GIB)}
    if not row["AcceleratorName"].lower().startswith(NO_GPU):
        # Of a part of a GPU, Kubernetes sees a whole one.
        capacity["gpu"] = math.ceil(numbers[2]) * THOUSAND
    labels = type_labels(name, row.get("Arch", ""))
    make = AMD_GPU if row["AcceleratorName"].lower().startswith(AMD) else NVIDIA_GPU
    return MachineType(name, capacity, tuple(_offers(path, line, row)), labels=labels, gpu_name=make), accelerator


def _offers(path: Path, line: int, row: dict[str, str]) -> Iterator[Offering]:
    for column, kind in (("Price", ON_DEMAND), ("SpotPrice", SPOT)):
        if (text := row.get(column, "").strip()) and amount(path, line, column, text):
            yield Offering(kind, row.get("AvailabilityZone", ""), positive(path, line, column, text))


def _accelerator_price(
    known: dict[tuple[str, str, Fraction], dict[str, Fraction]], accelerator: tuple[str, int], offer: Offering
) -> Fraction | None:
    """Return the price of so many devices in the offering's zone: a row for that number, else that number of times one."""
    device, number = accelerator
    for count, times in ((number, 1), (1, number)):
        price = known.get((device, offer.zone, Fraction(count)), {}).get(offer.capacity_type)
        if price is not None:
            return price * times
    return None
