"""How far a solver's floating-point bound on a whole cost is believed, and its solution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from schedgap.instances.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Callable

Instance = TypeVar("Instance")
Solution = TypeVar("Solution")

# A solver's bound on an integer program is trusted to this share of its size and this many units.
TRUSTED_SHARE, TRUSTED_UNITS = 1e-9, 1e-3
# Duals are whole multiples of 2^-20 cost units; larger costs would overflow them.
DUAL_SCALE = 2**20
INFEASIBLE_SOLUTION = "the back end's solution is infeasible, so it cannot tell the sizes of this instance apart"


def is_feasible(verify: Callable[[Instance, Solution], int], instance: Instance, solution: Solution) -> bool:
    """Whether what a back end calls a solution is one: exactly, whatever its tolerances."""
    try:
        verify(instance, solution)
    except VerifyError:
        return False
    return True


def trusted(bound: float, shift: int = 0) -> int:
    """Return the whole bound on a whole cost that a solver's finite bound proves.

    shift : added to the bound, times DUAL_SCALE.
    """
    safe = math.floor((bound - TRUSTED_SHARE * abs(bound) - TRUSTED_UNITS) * DUAL_SCALE)
    return -(-(safe + shift) // DUAL_SCALE)


def proven_cost(bound: float | None, shift: int = 0) -> int:
    """Return the whole bound on a cost that a solver's bound proves; costs are never below 0, which stands for none.

    shift : added to the bound, times DUAL_SCALE.
    """
    return 0 if bound is None or not math.isfinite(bound) else max(0, trusted(bound, shift))
