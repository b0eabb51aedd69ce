"""Numbers that are equal although they were computed in two ways."""

from __future__ import annotations

from schedgap.instances.jit import inlined_kernel

# Times this and back again, a number of 53 bits keeps 40 of them (Veltkamp's splitting).
KEEP_40_BITS = 2.0**13 + 1.0


@inlined_kernel
def rounded(number: float) -> float:
    """Return a number to 40 significant bits: quotients that are equal, but for the rounding of their parts, become equal."""
    large = KEEP_40_BITS * number
    return large - (large - number)
