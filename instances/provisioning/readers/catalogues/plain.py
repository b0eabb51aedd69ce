"""Price lists in CSV.

A price list of one's own: CSV with `name`, `price` and a column for each resource; see docs/kubernetes.md.

SkyPilot's catalogues: `catalogs/v*/<cloud>/vms.csv` of github.com/skypilot-org/skypilot-catalog.

One row a zone (or a region, where a cloud has no zones in it). Google's accelerators are rows of their own with no
instance type, and machines that have them have rows without them, whose price is that of the host alone. Which belong to
which is SkyPilot's `gcp_catalog.py`; a machine whose name says that it has some, and not which, is left out by name.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues.catalogue import (
    AMD_GPU,
    ARCHITECTURES,
    NVIDIA_GPU,
    ON_DEMAND,
    SPOT,
    SYSTEMS,
    Catalogue,
    Labels,
    MachineType,
    Offering,
    merged,
    size_labels,
    type_labels,
)
from schedgap.instances.provisioning.readers.quantities import (
    CPU,
    PODS,
    RAM,
    THOUSAND,
    column_resource,
    decimal,
    listed,
)

MIB = 2**20
WHAT = "price list"
COLUMNS = ("name", "price")
# Columns that are no resource.
OTHERS = (*COLUMNS, "spot_price", "zone", "family", "count", "fee", "arch", "os", "gpu_name")


def plain(path: Path) -> Catalogue:
    """Read a price list; every column beside `OTHERS` is a resource, empty where a type has none.

    Raises
    ------
    InstanceError
        naming line and column of what is malformed.
    """
    types, notes = plain_types(path)
    if not types:
        raise InstanceError(f"{path.name}: no machine types after the header; the price list is empty.")
    return Catalogue(types, notes)


def plain_types(path: Path, columns: Collection[str] = ()) -> tuple[tuple[MachineType, ...], tuple[str, ...]]:
    """Return the machine types of a price list, and what is to be said of them. columns : those that are read; all if empty."""
    types, rounded = [], 0
    strange: dict[str, None] = {}
    for line, given in read_rows(path, COLUMNS, WHAT):
        row = {key: text for key, text in given.items() if not columns or key in columns}
        name, fee, arch, system = (row.get(key, "").strip() for key in ("name", "fee", "arch", "os"))
        capacity, inexact = row_amounts(path, line, row, OTHERS, math.floor)
        rounded += inexact
        empty = {column_resource(column)[0] for column, text in row.items() if not text.strip()}
        # Of GPUs and the like an empty field is none.
        capacity = {key: size for key, size in capacity.items() if key not in empty & {CPU, RAM, PODS}}
        strange |= {
            f"{column} '{text:.60}'": None
            for column, text, known in (("arch", arch, ARCHITECTURES), ("os", system, SYSTEMS))
            if text and text.lower() not in known
        }
        types.append(
            MachineType(
                row_name(path, line, row),
                capacity,
                row_offerings(path, line, row),
                labels=type_labels(name, arch, system) | _size_labels(row, capacity),
                family=row.get("family", "").strip(),
                gpu_model=row.get("gpu_name", "").strip(),
                fee=amount(path, line, "fee", fee) if fee else None,
            )
        )
    notes = [f"{path.name}: {rounded} capacities are no whole bytes or thousandths and were rounded down."]
    notes = notes if rounded else []
    if strange:
        notes.append(
            f"{path.name}: not known to Kubernetes, so that these machines count as any: {listed([*strange])}."
        )
    return merged(path.name, types), tuple(notes)


def _size_labels(row: Mapping[str, str], capacity: Mapping[str, int]) -> Labels:
    """Return the labels that follow from a row's amounts, which are those of the whole machine."""
    cpu, ram, gpus = (capacity.get(name) for name in (CPU, RAM, "gpu"))
    column = next((name for name in row if column_resource(name)[0] == RAM), "")
    return size_labels(
        None if cpu is None else Fraction(cpu, THOUSAND),
        None if ram is None else Fraction(ram, MIB),
        None if gpus is None or gpus % THOUSAND else gpus // THOUSAND,
        rounded=column.endswith("_gib"),
    )


def row_name(path: Path, line: int, row: Mapping[str, str]) -> str:
    """Return the field `name`, which must not be empty."""
    name = row["name"].strip()
    if not name or not name.isprintable():
        raise InstanceError(f"{path.name} line {line}: name is {name!r:.60}; give one in printable characters.")
    return name


def row_offerings(path: Path, line: int, row: Mapping[str, str]) -> tuple[Offering, ...]:
    """Return the prices of a row with `price` and, if it has them, `spot_price`, `zone` and `count`; an empty price is none."""
    zone, count = row.get("zone", "").strip(), row.get("count", "").strip()
    number = whole_number(path, line, "count", count) if count else -1
    columns = (("price", ON_DEMAND), ("spot_price", SPOT))
    given = [(column, kind, text) for column, kind in columns if (text := row.get(column, "").strip())]
    if not given:
        raise InstanceError(f"{path.name} line {line}: no price; give dollars an hour, or remove the line.")
    return tuple(Offering(kind, zone, positive(path, line, column, text), number) for column, kind, text in given)


def row_amounts(
    path: Path, line: int, row: Mapping[str, str], others: Sequence[str], rounding: object
) -> tuple[dict[str, int], int]:
    """Return the resources of a row in fine units, and how many had to be rounded. rounding : `math.floor` or `ceil`."""
    amounts: dict[str, int] = {}
    rounded = 0
    for column, text in row.items():
        if column in others:
            continue
        resource, scale = column_resource(column)
        if resource in amounts:
            raise InstanceError(f"{path.name} line 1: two columns are {resource}, one of them '{column}'; remove one.")
        value = amount(path, line, column, text) * scale if text.strip() else 0
        amounts[resource] = rounding(value)  # type: ignore[operator]
        rounded += amounts[resource] != value
    return amounts, rounded


def amount(path: Path, line: int, column: str, text: str) -> Fraction:
    """Return a field as an exact number that is not negative.

    Raises
    ------
    InstanceError
        naming the line and the column of anything else.
    """
    value = decimal(text)
    if value is None or value > 2**50:
        raise InstanceError(
            f"{path.name} line {line}: {column:.60} is {text.strip()!r:.60}, not a number from 0 to 2^50; mend or remove "
            "the line."
        )
    return value


def positive(path: Path, line: int, column: str, text: str) -> Fraction:
    """Return a price: an exact number above 0 that is at least a micro-dollar and below 2^40 dollars."""
    value = amount(path, line, column, text)
    if not 1 <= value * 10**6 < 2**60:
        raise InstanceError(
            f"{path.name} line {line}: {column} is {text.strip()!r:.60}; it must be at least a micro-dollar and "
            "below 2^40 dollars."
        )
    return value


SKYPILOT_COLUMNS = ("InstanceType", "vCPUs", "MemoryGiB", "AcceleratorName", "AcceleratorCount", "Region", "Price")
GIB, GIB_MIB = 2**30, 1024
# Names of Google's machines that come with accelerators.
ACCELERATED = re.compile(r"(?:a[2-9][a-z]*|g[2-9][a-z]*|ct\d[a-z]*)-.*|.*gpu-\d+g(?:-.*)?")
# The accelerator of each kind of them. How many there are is in the name (a3-highgpu-8g-nolssd), save for G2 and G4.
GOOGLE = {
    **{"a2-highgpu": "A100", "a2-megagpu": "A100", "a2-ultragpu": "A100-80GB", "g2-standard": "L4"},
    **{"a3-highgpu": "H100", "a3-edgegpu": "H100", "a3-megagpu": "H100-MEGA", "a3-ultragpu": "H200"},
    **{"a4-highgpu": "B200", "a4x-highgpu": "GB200"},
}
_PARTS = re.compile(r"([a-z]+\d[a-z]*-[a-z]+)-(\d+)(g?)(?:-.*)?")
# Accelerators by CPUs of a machine whose name counts these.
G2_GPUS = {**dict.fromkeys((4, 8, 12, 16, 32), 1), 24: 2, 48: 4, 96: 8}
# GPUs of AMD.
AMD = ("radeon", "mi", "v520", "v620", "v710")
# What counts as a GPU nowhere.
NO_GPU = ("tpu", "inferentia", "trainium", "gaudi")
UNKNOWN = "it is not known which accelerators they have"
UNPRICED = "the price of their accelerators is not there"
NO_PRICE = "they have no price"
# Prices of accelerators in dollars an hour, by name, zone and number, then by capacity type.
Accelerators: TypeAlias = "dict[tuple[str, str, Fraction], dict[str, Fraction]]"


def skypilot(path: Path, region: str = "") -> Catalogue:
    """Read the types of one region, with a price for each zone.

    region : may be left out where the file has only one.

    Raises
    ------
    InstanceError
        for a malformed line, a region that is not there, and none given where there are several.
    """
    rows = list(read_rows(path, SKYPILOT_COLUMNS, "SkyPilot catalogue"))
    regions = sorted({row["Region"] for _, row in rows})
    if region not in regions and (region or len(regions) != 1):
        found = f"region is '{region:.60}'" if region else "no region is given"
        raise InstanceError(f"{path.name}: {found}; choose one of {listed(regions, 40)}.")
    chosen = [(line, row) for line, row in rows if row["Region"] == (region or regions[0])]
    accelerators = _accelerators(path, chosen)
    types: dict[str, MachineType] = {}
    offers: defaultdict[str, dict[tuple[str, str], Fraction]] = defaultdict(dict)
    reasons: dict[str, str] = {}
    for line, row in chosen:
        if not row["InstanceType"]:
            continue
        kind = _machine(path, line, row)
        known = types.setdefault(kind.name, kind)
        # Of one name with several sizes, the most of each.
        more = {key: max(size, known.capacity.get(key, 0)) for key, size in kind.capacity.items()}
        types[kind.name] = replace(known, capacity={**known.capacity, **more})
        prices = offers[kind.name]
        for offer in _prices(path, line, row, accelerators, reasons):
            place = (offer.capacity_type, offer.zone)
            prices[place] = min(offer.price, prices.get(place, offer.price))
    made = [
        replace(kind, offerings=tuple(Offering(*place, price) for place, price in sorted(offers[name].items())))
        for name, kind in types.items()
        if offers[name]
    ]
    if not made:
        raise InstanceError(
            f"{path.name}: no machine type of {region or regions[0]} has a price; choose another region."
        )
    return Catalogue(tuple(made), tuple(_notes(path, types, offers, reasons, accelerators)))


def _accelerators(path: Path, rows: Iterable[tuple[int, dict[str, str]]]) -> Accelerators:
    """Return the prices of accelerators that have rows of their own."""
    accelerators: Accelerators = {}
    for line, row in rows:
        if not row["InstanceType"] and row["AcceleratorName"]:
            number = amount(path, line, "AcceleratorCount", row["AcceleratorCount"])
            known = accelerators.setdefault((row["AcceleratorName"], row.get("AvailabilityZone", ""), number), {})
            for offer in _offers(path, line, row):
                known[offer.capacity_type] = min(offer.price, known.get(offer.capacity_type, offer.price))
    return accelerators


def _notes(
    path: Path,
    types: Iterable[str],
    offers: Mapping[str, Mapping[tuple[str, str], Fraction]],
    reasons: Mapping[str, str],
    accelerators: Accelerators,
) -> Iterator[str]:
    """Yield what was left out, by name."""
    without = [name for name in types if not offers[name]]
    for reason in (UNPRICED, UNKNOWN, NO_PRICE):
        if names := [name for name in without if reasons.get(name, NO_PRICE) == reason]:
            yield f"{path.name}: left out, as {reason}: {listed(names)}."
    attached = {name for name, _, _ in accelerators if not name.lower().startswith(NO_GPU)} - set(GOOGLE.values())
    if attached:
        yield (
            f"{path.name}: accelerators that are in no machine's price: {listed(sorted(attached))}; give machines that have "
            "them in a list of your own."
        )


def _machine(path: Path, line: int, row: dict[str, str]) -> MachineType:
    """Return a row's machine without prices; it has no size where the row has none."""
    name, accelerator = row["InstanceType"], row["AcceleratorName"].lower()
    cpu, gib = (amount(path, line, key, row[key]) if row[key].strip() else None for key in ("vCPUs", "MemoryGiB"))
    number = amount(path, line, "AcceleratorCount", row["AcceleratorCount"] or "0")
    if not accelerator:
        number = Fraction((_hosted(name) or ("", 0))[1])
    capacity = {} if cpu is None else {CPU: math.floor(cpu * THOUSAND)}
    capacity |= {} if gib is None else {RAM: math.floor(gib * GIB)}
    is_gpu, is_part = not accelerator.startswith(NO_GPU), number.denominator > 1
    if is_gpu:
        # Of a part of a GPU, Kubernetes sees a whole one.
        capacity["gpu"] = math.ceil(number) * THOUSAND
    make = AMD_GPU if accelerator.startswith(AMD) or "AMD" in row.get("GpuInfo", "") else NVIDIA_GPU
    labels = type_labels(name, row.get("Arch", "").strip())
    mib, gpus = None if gib is None else gib * GIB_MIB, int(number) if is_gpu and not is_part else None
    labels |= size_labels(cpu, mib, gpus, nvidia=make == NVIDIA_GPU)
    return MachineType(name, capacity, (), labels=labels, gpu_name=make, gpu_model=accelerator if is_gpu else "")


def _hosted(name: str) -> tuple[str, int] | None:
    """Return the accelerators, and how many, of a machine of Google's; None where it has none, or which is not known."""
    match = _PARTS.fullmatch(name)
    if match is None or match[1] not in GOOGLE:
        return None
    number = int(match[2]) if match[3] else G2_GPUS.get(int(match[2]), 0) if match[1] == "g2-standard" else 0
    return (GOOGLE[match[1]], number) if number else None


def _prices(
    path: Path, line: int, row: dict[str, str], accelerators: Accelerators, reasons: dict[str, str]
) -> Iterator[Offering]:
    """Yield the prices of a row's machine with all that comes with it. reasons : gets why there is none."""
    name = row["InstanceType"]
    if row["AcceleratorName"] or ACCELERATED.fullmatch(name) is None:
        yield from _offers(path, line, row)
        return
    if (hosted := _hosted(name)) is None:
        reasons[name] = UNKNOWN
        return
    # Where the whole price is that of the accelerators, the host's is 0.
    for offer in _offers(path, line, row, least=0):
        more = _accelerator_price(accelerators, hosted, offer)
        if more is None:
            reasons[name] = UNPRICED
        else:
            yield offer._replace(price=offer.price + more)


def _offers(path: Path, line: int, row: dict[str, str], least: int = 1) -> Iterator[Offering]:
    """Yield the prices of a row; a price of 0 is none, unless `least` is 0."""
    for column, kind in (("Price", ON_DEMAND), ("SpotPrice", SPOT)):
        if text := row.get(column, "").strip():
            price = amount(path, line, column, text)
            if price or not least:
                yield Offering(kind, row.get("AvailabilityZone", ""), price and positive(path, line, column, text))


def _accelerator_price(known: Accelerators, accelerator: tuple[str, int], offer: Offering) -> Fraction | None:
    """Return the price of so many devices in the offering's zone: a row for that number, else that number of times one."""
    device, number = accelerator
    for count, times in ((number, 1), (1, number)):
        price = known.get((device, offer.zone, Fraction(count)), {}).get(offer.capacity_type)
        if price is not None:
            return price * times
    return None
