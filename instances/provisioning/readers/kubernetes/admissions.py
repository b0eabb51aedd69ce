"""Which machines admit which pods, and for lack of what knowledge; and machines that no other covers.

A machine covers another if it admits the same pods or more, and is no smaller and no dearer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.readers.amounts import micro_dollars
from schedgap.instances.provisioning.readers.kubernetes.constraints import CAPACITY_TYPE, HOSTNAME, ZONE, may_run
from schedgap.instances.provisioning.readers.kubernetes.nodes import SPOT_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.provisioning.readers.kubernetes.constraints import Constraint
    from schedgap.instances.provisioning.readers.kubernetes.offers import Offer


def admissions(
    distinct: Sequence[Constraint], offers: Sequence[Offer], unknown: Sequence[set[str]]
) -> list[tuple[bool, ...]]:
    """Return for each offer whether it admits the pods of each constraint; machines that are alike are asked once.

    unknown : gets, for each constraint, the kinds of labels for whose lack of knowledge alone a machine admits its pods.
    """
    known: dict[object, tuple[bool, ...]] = {}
    looked = [{expression.key for expression in constraint.expressions()} for constraint in distinct]
    keys = set().union(*looked)
    columns = []
    for offer in offers:
        machine = offer.machine
        seen = frozenset((key, machine.labels[key]) for key in keys & machine.labels.keys())
        place = (seen, machine.taints, machine.unknown & keys)
        if place not in known:
            found = [may_run(constraint, machine) for constraint in distinct]
            known[place] = tuple(admits is not False for admits in found)
            for q in (q for q, admits in enumerate(found) if admits is None):
                unsure = machine.unknown.union(key for key, values in machine.labels.items() if len(values) > 1)
                unknown[q].update(map(_unknown, looked[q] & unsure or {HOSTNAME}))
        columns.append(known[place])
    return columns


def _unknown(key: str) -> str:
    if key == HOSTNAME:
        return "bound to a node by name"
    if key == ZONE:
        return "bound to a zone"
    if key == CAPACITY_TYPE or key in SPOT_LABELS:
        return "bound to spot or on-demand machines"
    return f"bound to label {key:.80}, which is not known of every machine"


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
