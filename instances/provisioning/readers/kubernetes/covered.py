"""Machines that no other covers: one that admits the same pods or more, and is no smaller and no dearer."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.readers.amounts import micro_dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.provisioning.readers.kubernetes.offers import Offer


def uncovered(
    chosen: Iterable[int],
    offers: Sequence[Offer],
    family: Sequence[int],
    admits: BoolArray,
    capacities: Sequence[Sequence[int]],
) -> Iterator[int]:
    """Yield those of the chosen offers that no other covers; of limited ones only others of their line of the price list do.

    family : of each offer. admits : (F, Q) whether a family admits the pods of a constraint. O(n k R), k those that remain.
    """
    lines: defaultdict[object, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for k in chosen:
        offer = offers[k]
        limited = (offer.type_name, offer.capacity_type, offer.zone, offer.price) if offer.count >= 0 else None
        lines[limited][family[k]].append(k)
    for families in lines.values():
        best = {f: _Best(members, offers, capacities) for f, members in families.items()}
        for f, own in best.items():
            larger = [best[g] for g in best if g != f and (admits[g] >= admits[f]).all()]
            for k, price, size in zip(own.members, own.prices, own.sizes, strict=True):
                if not any(other.covers(price, size) for other in larger):
                    yield k


class _Best:
    """Offers that admit the same pods, without those that others of them cover, the cheapest first."""

    def __init__(self, members: Iterable[int], offers: Sequence[Offer], capacities: Sequence[Sequence[int]]) -> None:
        price = {k: micro_dollars(offers[k].price) for k in members}
        # Of equal prices the largest first: what comes later covers nothing before it.
        ordered = sorted(price, key=lambda k: (price[k], -sum(capacities[k])))
        sizes = np.array([capacities[k] for k in ordered])
        kept: list[int] = []
        remaining = np.empty_like(sizes)
        for i, size in enumerate(sizes):
            if not (remaining[: len(kept)] >= size).all(axis=1).any():
                remaining[len(kept)] = size
                kept.append(i)
        self.members = [ordered[i] for i in kept]
        self.prices = [price[k] for k in self.members]
        self.sizes: IntArray = sizes[kept]

    def covers(self, price: int, size: IntArray) -> bool:
        """Return whether one is no dearer and no smaller."""
        cheaper = bisect_right(self.prices, price)
        return bool((self.sizes[:cheaper] >= size).all(axis=1).any())
