"""Which resources of an instance are what the rules know by name: CPU, memory, GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MIB = 2**20


def role(resources: Sequence[str], what: str) -> int:
    """Return the index of the `cpu`, of the `memory` (the first name that begins so, or with `ram`), or of the `gpu`; or -1."""
    tests = {
        "cpu": lambda name: name == "cpu",
        "memory": lambda name: name.startswith(("ram", "memory")),
        "gpu": lambda name: name == "gpu" or name.endswith("/gpu"),
    }
    return next((r for r, name in enumerate(resources) if tests[what](name)), -1)


def mebibytes(resource: str, number: int) -> int:
    """Return so many MiB in the unit of a resource of memory, 0 where its name does not say the unit."""
    units = {"_gib": _MIB, "_mib": _MIB, "_kib": 1024, "_bytes": 1}
    return next((number * _MIB // unit for ending, unit in units.items() if resource.endswith(ending)), 0)
