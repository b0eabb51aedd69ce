"""Kubernetes' quantities, exactly: `100m`, `1.5Gi`, `2e3` (apimachinery/pkg/api/resource/quantity.go).

Exact amounts of foreign formats in the integer units of an instance.

While a file is read, an amount is a whole number of fine units: bytes where the resource's name ends in `_bytes`,
thousandths of every other resource. Which unit memory has in the instance is decided when all demands are known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DOLLAR

THOUSAND = 1000
BYTES = "_bytes"
# Bytes in what a name's ending says.
MEMORY_UNITS = {"_gib": 2**30, "_mib": 2**20, "_kib": 2**10, BYTES: 1}
# Unlimited: more than any demand, and sums of them still fit 62 bits.
UNLIMITED = 2**50
# In units of an instance: what its file still holds exactly.
LARGEST = 2**53 - 1
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII)


def decimal(text: str) -> Fraction | None:
    """Return a decimal number as people write it, exactly, or None if the text is none that is not negative."""
    text = text.strip()
    if len(text) > 60 or _DECIMAL.fullmatch(text) is None:
        return None
    value = Fraction(text)
    return value if value >= 0 else None


def column_resource(column: str) -> tuple[str, int]:
    """Return the resource that a column named `ram_gib`, `memory_gib` or `gpu` holds, and the fine units in one of it."""
    for ending, size in MEMORY_UNITS.items():
        if column.endswith(ending):
            stem = column.removesuffix(ending)
            return ("ram" if stem in ("memory", "mem") else stem) + BYTES, size
    return column, THOUSAND


def micro_dollars(price: Fraction) -> int:
    """Return a price in whole micro-dollars, rounded down: a bound on the total price stays one."""
    return math.floor(price * DOLLAR)


def rounding_note(prices: Iterable[Fraction]) -> tuple[str, ...]:
    """Return a sentence on prices, all that were given, which are finer than a micro-dollar; nothing if none is."""
    lost = [part for price in prices if (part := price * DOLLAR % 1)]
    if not lost:
        return ()
    return (
        f"{len(lost)} prices are finer than a micro-dollar and were rounded down, by at most "
        f"{float(max(lost)):.2g} micro-dollars an hour for a machine.",
    )


def in_units(
    resources: Sequence[str],
    demands: Sequence[Mapping[str, int]],
    capacities: Sequence[Mapping[str, int]],
    shown: Mapping[str, str] | None = None,
    *,
    alike: bool = False,
) -> tuple[tuple[str, ...], list[list[int]], list[list[int]]]:
    """Return names, demands and capacities of resources in the units of an instance, from fine units.

    Memory gets the coarsest of MiB, KiB and bytes of which every demand is a whole number; capacities are rounded down
    to it, which no sum of demands can tell. O((C + K) R).

    alike : rounds capacities down to a multiple of the greatest common divisor of all demands for the resource, which none
        can tell either: machines that differ by less become equal.

    shown : names to give to resources that count in MiB, such as `ram_gib`.

    Raises
    ------
    InstanceError
        for a demand above `UNLIMITED`, and a capacity above `LARGEST` units.
    """
    names, demand_columns, capacity_columns = [], [], []
    for resource in resources:
        demand = [row.get(resource, 0) for row in demands]
        if max(demand, default=0) > UNLIMITED:
            raise InstanceError(
                f"a demand for {resource} is {max(demand)} of its finest units; it must be at most 2^50."
            )
        step = math.gcd(*demand) or (2**20 if resource.endswith(BYTES) else 1)
        name, unit = resource, 1
        if resource.endswith(BYTES):
            ending = next(end for end in ("_mib", "_kib", BYTES) if step % MEMORY_UNITS[end] == 0)
            name, unit = resource.removesuffix(BYTES) + ending, MEMORY_UNITS[ending]
            if ending == "_mib":
                name = (shown or {}).get(resource, name)
        names.append(name)
        demand_columns.append([value // unit for value in demand])
        least = step if alike else unit
        capacity_columns.append([row.get(resource, 0) // least * (least // unit) for row in capacities])
        if (most := max(capacity_columns[-1], default=0)) > LARGEST:
            raise InstanceError(
                f"a capacity for {resource} is {most} of the units that its demands need; it must be below 2^53: give the "
                "machine less, or all amounts in a larger unit."
            )
    return (
        tuple(names),
        [list(row) for row in zip(*demand_columns, strict=True)],
        [list(row) for row in zip(*capacity_columns, strict=True)],
    )


def unique_names(names: Iterable[str]) -> list[str]:
    """Return the names with `-2`, `-3`, ... at those that are there already."""
    used: set[str] = set()
    next_number: dict[str, int] = {}
    made = []
    for name in names:
        chosen = name
        while chosen in used:
            next_number[name] = next_number.get(name, 1) + 1
            chosen = f"{name}-{next_number[name]}"
        used.add(chosen)
        made.append(chosen)
    return made


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names in a row, and how many more there are beyond `most`."""
    shown = ", ".join(f"{name:.60}" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


# 10^-9 is the finest that Kubernetes keeps; amounts are counted in it.
BILLION = 10**9
_MOST = (2**63 - 1) * BILLION
_FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)
_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_LONGEST = 100
# What an instance calls Kubernetes' resources.
MEMORY, STORAGE, HUGE_PAGES = "memory", "ephemeral-storage", "hugepages-"
CPU, RAM, PODS = "cpu", "ram" + BYTES, "pods"


@lru_cache(maxsize=100_000)
def nano(text: str | int) -> int:
    """Return a quantity in 10^-9 of its unit, rounded up where it is finer, at most 2^63 - 1 units.

    Raises
    ------
    InstanceError
        for text that is none, and for one below 0.
    """
    given = str(text) if isinstance(text, str) or abs(text) < 10**_LONGEST else ""
    match = _FORM.fullmatch(given) if len(given) <= _LONGEST else None
    if match is None or not (match[2] or match[3]):
        raise InstanceError(f"'{text!s:.60}' is no quantity; Kubernetes writes 100m, 1.5 or 2Gi")
    sign, whole, part, exponent, suffix = match.groups(default="")
    power = 9 - len(part) + (int(exponent) if exponent else _DECIMAL_SUFFIXES.get(suffix, 0))
    value = int(whole + part) << _BINARY.get(suffix, 0)
    value = value * int(10**power) if power >= 0 else -(-value // int(10**-power))
    if sign == "-" and value:
        raise InstanceError(f"quantity '{text}' is below 0")
    return min(value, _MOST)


def resource_name(resource: str) -> str:
    """Return what an instance calls one of Kubernetes' resources: in bytes what is memory."""
    if resource == MEMORY:
        return RAM
    if resource == STORAGE:
        return "ephemeral" + BYTES
    return resource + BYTES if resource.startswith(HUGE_PAGES) else resource


def fine_units(amounts: Mapping[str, int]) -> dict[str, int]:
    """Return amounts, in 10^-9, in fine units, each rounded up as the scheduler does: CPU to thousandths, others to ones."""
    made = {}
    for resource, value in amounts.items():
        name = resource_name(resource)
        if name == CPU:
            made[name] = -(-value * THOUSAND // BILLION)
        else:
            whole = -(-value // BILLION)
            made[name] = whole if name.endswith(BYTES) else whole * THOUSAND
    return made


def fine_amounts(quantities: Mapping[str, str | int]) -> dict[str, int]:
    """Return quantities by resource in fine units."""
    return fine_units({resource: nano(quantity) for resource, quantity in quantities.items()})
