"""Random numbers in kernels: splitmix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.instances.jit import inner_kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inner_kernel
def mixed(x: Any) -> Any:
    """Return a hash of 64 bits, uint64 as what is given."""
    x = x + GOLDEN
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inner_kernel
def below(random: Any, bound: int) -> int:
    """Draw a number below a bound; what the remainder prefers is below 2**-40 for a bound of a million.

    random : (1,) uint64, the state, which moves on.
    """
    drawn = mixed(random[0])
    random[0] += GOLDEN
    return int(drawn % np.uint64(bound))
