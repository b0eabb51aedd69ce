"""Machine types as compiled code takes them, and the cheapest type that has room for some tasks. All arithmetic is int64.

Letters: C classes, R resources, K machine types, F families.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel

# More than any machine has: the load of a class on a family on which it may not run.
FORBIDDEN = 2**62


class Catalogue(NamedTuple):
    """Machine types and what tasks demand of them, int64.

    type2family, price : (K,). capacity : (K, R). by_price : (K,), types by rising price, in file order on ties.
    demand : (F, C, R), negative where a class may not run. most : (C,), at most so many tasks of a class are on one machine.
    """

    type2family: Any
    capacity: Any
    price: Any
    by_price: Any
    demand: Any
    most: Any


@kernel
def add_load(load: IntArray, demand: IntArray, c: int, number: int) -> None:
    """Add tasks of a class to what a machine's tasks demand on each family, (F, R); FORBIDDEN where one may not run."""
    for f in range(demand.shape[0]):
        if demand[f, c, 0] < 0:
            load[f, 0] = FORBIDDEN
        elif load[f, 0] < FORBIDDEN:
            for r in range(demand.shape[2]):
                load[f, r] += number * demand[f, c, r]


@kernel
def pattern_load(pattern: IntArray, demand: IntArray, load: IntArray) -> None:
    """Set the load (F, R) of a pattern (C,). O(F C R)."""
    load[:] = 0
    for c in range(pattern.shape[0]):
        if pattern[c] > 0:
            add_load(load, demand, c, pattern[c])


@kernel
def cheapest_type(load: IntArray, types: Catalogue) -> int:
    """Return the first type by price that has room for a load (F, R), or -1. O(K R)."""
    for k in types.by_price:
        fits = True
        for r in range(load.shape[1]):
            if load[types.type2family[k], r] > types.capacity[k, r]:
                fits = False
                break
        if fits:
            return int(k)
    return -1
