"""Kubernetes' quantities, exactly: `100m`, `1.5Gi`, `2e3` (apimachinery/pkg/api/resource/quantity.go)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.amounts import BYTES, THOUSAND

if TYPE_CHECKING:
    from collections.abc import Mapping

# 10^-9 is the finest that Kubernetes keeps; amounts are counted in it.
BILLION = 10**9
_MOST = (2**63 - 1) * BILLION
_FORM = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
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
    power = 9 - len(part) + (int(exponent) if exponent else _DECIMAL.get(suffix, 0))
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
