"""All maximal patterns of an instance, and those of them that an optimal solution needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.kernels_patterns import (
    OVER_NODES,
    OVER_PATTERNS,
    keep_patterns,
    maximal_patterns,
)

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# Beyond this many search nodes, of one search and of all, patterns are kept unsplit; they stay exact, only more.
SPLIT_NODES, ALL_SPLIT_NODES = 20_000, 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class PatternSet:
    """Patterns of an instance. machine_type : (P,) int64. patterns : (P, C) int64."""

    machine_type: IntArray
    patterns: IntArray

    @property
    def size(self) -> int:
        """Number of patterns."""
        return int(self.machine_type.shape[0])

    def chosen(self, keep: IntArray) -> PatternSet:
        """Return a part of the patterns."""
        return PatternSet(self.machine_type[keep], self.patterns[keep])


def enumerate_patterns(
    instance: ProvisioningInstance, max_patterns: int, max_nodes: int | None = None
) -> PatternSet | str:
    """Return all maximal patterns, or the reason why there are too many of them.

    A pattern holds at most `counts` of each class. max_nodes : of the search, 50 for every pattern by default.
    """
    nodes = 50 * max_patterns if max_nodes is None else max_nodes
    out = np.empty((max_patterns, instance.num_classes), np.int64)
    filled, types = 0, []
    for k, name in enumerate(instance.type_names):
        demand = instance.demand[instance.type2family[k]]
        before = filled
        filled = maximal_patterns(demand, instance.counts, instance.capacity[k], nodes, out, filled)
        if filled == OVER_PATTERNS:
            return f"more than {max_patterns} patterns for {instance.num_classes} task classes (at type {name})"
        if filled == OVER_NODES:
            return f"more than {nodes} search nodes for the patterns of type {name} ({before} patterns before it)"
        types.append(np.full(filled - before, k, np.int64))
    return PatternSet(np.concatenate(types), out[:filled].copy())


def needed_patterns(instance: ProvisioningInstance, every: PatternSet) -> PatternSet:
    """Drop every pattern that fits a cheaper type, or splits into two parts whose machines cost no more together.

    Exact: put the cheaper machines in the place of the dropped one, extend their contents to maximal ones, and repeat;
    the coverage never falls, the cost never rises, and the replaced machines' prices (on ties: places in the file) only
    fall, so it ends with a solution of the same or a lower cost that uses kept patterns alone.
    """
    pairs, pair_indptr = _type_pairs(instance)
    keep = np.zeros(every.size, np.bool_)
    keep_patterns(
        every.patterns,
        every.machine_type,
        instance.demand,
        instance.type2family,
        instance.capacity,
        instance.price,
        pairs,
        pair_indptr,
        SPLIT_NODES,
        ALL_SPLIT_NODES,
        keep,
    )
    return every.chosen(np.flatnonzero(keep))


def _type_pairs(instance: ProvisioningInstance) -> tuple[IntArray, IntArray]:
    """Return the pairs of types that cost at most as much as each type, without pairs inside larger ones."""
    price, capacity, family = instance.price, instance.capacity, instance.type2family
    inside = (family[:, None] == family) & (capacity[:, None] <= capacity).all(axis=2)
    first, second = np.triu_indices(instance.num_types)
    pairs: list[IntArray] = []
    for k in range(instance.num_types):
        fitting = np.flatnonzero(price[first] + price[second] <= price[k])
        a, b = first[fitting], second[fitting]
        within = (inside[a[:, None], a] & inside[b[:, None], b]) | (inside[a[:, None], b] & inside[b[:, None], a])
        # Of pairs inside each other, which hold the same, the first stays.
        earlier = np.arange(a.size) < np.arange(a.size)[:, None]
        dropped = (within & (~within.T | earlier)).any(axis=1)
        pairs.append(np.stack((a[~dropped], b[~dropped]), axis=1))
    indptr = np.concatenate(([0], np.cumsum([len(part) for part in pairs])))
    return np.concatenate(pairs).astype(np.int64), indptr.astype(np.int64)
