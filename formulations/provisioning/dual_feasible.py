"""Dual-feasible functions in integers: valid inequalities for the content of one machine, made from one resource.

A function phi with sum phi(d) <= phi(C) wherever sum d <= C turns a capacity row into another valid row, in which items
weigh what they really block. Sources: Fekete and Schepers, "New classes of fast lower bounds for bin packing problems",
Mathematical Programming 91 (2001), for `rounded_shares` and `large_or_nothing`; Carlier, Clautiaux and Moukrim, "New
reduction procedures and lower bounds for the two-dimensional bin packing problem with fixed orientation", Computers and
Operations Research 34 (2007), for `rounded_halves`; survey: Alves, Clautiaux, Valerio de Carvalho and Rietz,
"Dual-Feasible Functions for Integer Programming and Combinatorial Optimization", Springer (2016). For vector packing
each resource has its own rows; the linear program that prices them combines them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

Row: TypeAlias = "tuple[IntArray, int]"
SHARES = 8
THRESHOLDS = 8
MAX_SHARED = (2**63 - 1) // (SHARES + 1)


def rounded_shares(demand: IntArray, capacity: int, k: int) -> Row:
    """Return u^(k) times k (k + 1): x = demand / capacity where (k + 1) x is whole, else floor((k + 1) x) / k."""
    parts, rest = np.divmod((k + 1) * demand, capacity)
    return np.where(rest == 0, k * parts, (k + 1) * parts), k * (k + 1)


def large_or_nothing(demand: IntArray, capacity: int, threshold: int) -> Row:
    """Return U^(e): all of the capacity above capacity - threshold, nothing below the threshold, itself between."""
    size = np.where(demand > capacity - threshold, capacity, demand)
    return np.where(demand < threshold, 0, size), capacity


def rounded_halves(demand: IntArray, capacity: int, threshold: int) -> Row:
    """Return f^threshold: sizes in whole thresholds, large ones as what is left beside them."""
    whole = capacity // threshold
    large = 2 * (whole - (capacity - demand) // threshold)
    small = 2 * (demand // threshold)
    size = np.where(2 * demand > capacity, large, np.where(2 * demand == capacity, whole, small))
    return size, 2 * whole


def resource_rows(demand: IntArray, capacity: int) -> list[Row]:
    """Return the resource's own row and those that dual-feasible functions make of it, without duplicates.

    demand : (C,) int64, what one task of each class needs, at most `capacity`. Thresholds are demands up to half the
    capacity, evenly chosen where there are more than 8. Shares of capacities beyond `MAX_SHARED` are left out: 64 bits do not
    hold the ninefold.
    """
    if capacity == 0 or not demand.any():
        return []
    rows: list[Row] = [(demand, capacity)]
    rows += [rounded_shares(demand, capacity, k) for k in range(1, SHARES + 1) if capacity <= MAX_SHARED]
    sizes = np.unique(demand[(demand > 0) & (2 * demand <= capacity)])
    if sizes.size > THRESHOLDS:
        sizes = sizes[np.unique(np.linspace(0, sizes.size - 1, THRESHOLDS).astype(np.int64))]
    for threshold in sizes.tolist():
        rows += [large_or_nothing(demand, capacity, threshold), rounded_halves(demand, capacity, threshold)]
    distinct = {(row[0].tobytes(), row[1]): row for row in rows if row[0].any()}
    return list(distinct.values())
