"""Integer units of resources, of time and of money, and amounts as people write them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedgap.instances.arrays import IntArray

# Micro-dollars in a dollar, MiB in a GiB.
DOLLAR = 1_000_000
GIB_MIB = 1024
# Times are whole seconds, milliseconds or microseconds, as the name says.
HOUR_S, DAY_S = 3600, 86_400
SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS = 1000, 60_000, 3_600_000, 86_400_000
SECOND_US, HOUR_US = 1_000_000, 3_600_000_000
# Later than any time, with room to add one to it.
NEVER = 1 << 62
# Nano-dollars in a micro-dollar: reduced costs are compared in them.
NANO = 1000


def shown_amount(value: int, resource: str) -> str:
    """Return an amount as people write it: `12 cpu`, `1.5 ram_gib`."""
    return f"{value / resource_scale(resource):g} {resource}"


def resource_scale(resource: str) -> int:
    """Return how many integer units one written unit has: 1024 for `*_gib` (in MiB), 1000 for what is no memory.

    One for `*_mib`, `*_kib` and `*_bytes`, which are whole in their own unit.
    """
    if resource.endswith("_gib"):
        return 1024
    return 1 if resource.endswith(("_mib", "_kib", "_bytes")) else 1000


def resource_scales(resources: Sequence[str]) -> IntArray:
    """Return how many integer units one written unit of each resource has, (R,) int64."""
    return np.array([resource_scale(resource) for resource in resources])
