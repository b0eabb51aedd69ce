"""Random numbers in kernels: one function for each stream that a family draws from, the same everywhere.

splitmix64 : Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014. xorshift64 : Marsaglia, Xorshift
RNGs, 2003; xorshift64*, with a multiplication: Vigna, 2016. The state of all is an array of one number, which moves on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.instances.jit import inner_kernel, lean_kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# What a number of 53 bits is multiplied with to lie in [0, 1).
UNIT = 2.0**-53


@inner_kernel
def mixed(x: Any) -> Any:
    """Return a hash of 64 bits, uint64 as what is given: what splitmix64 draws in state x."""
    x = x + GOLDEN
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inner_kernel
def below(random: Any, bound: int) -> int:
    """Draw a number below a bound by splitmix64; what the remainder prefers is below 2**-40 for a bound of a million.

    random : (1,) uint64.
    """
    drawn = mixed(random[0])
    random[0] += GOLDEN
    return int(drawn % np.uint64(bound))


@lean_kernel
def uniform(random: Any) -> float:
    """Draw a number in [0, 1) by splitmix64. random : (1,) uint64."""
    drawn = mixed(random[0])
    random[0] += GOLDEN
    return float(drawn >> np.uint64(11)) * UNIT


@lean_kernel
def xorshift_below(random: Any, bound: int) -> int:
    """Draw a number below a bound by xorshift64. random : (1,) uint64, not 0."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    # Signed, as the difference of two draws may be below 0.
    return int(np.int64((x >> np.uint64(11)) % np.uint64(bound)))


@lean_kernel
def xorshift_uniform(random: Any) -> float:
    """Draw a number in [0, 1) by xorshift64*. random : (1,) uint64, not 0."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) * UNIT


@lean_kernel
def congruential_below(random: Any, bound: int) -> int:
    """Draw a number below a bound by a linear congruential generator of 47 bits. random : (1,) int64."""
    random[0] = (random[0] * 1103515245 + 12345) & 0x7FFFFFFFFFFF
    return int((random[0] >> 16) % bound)
