"""Machines that no other covers: of those that admit the same pods, some are no smaller and no dearer than the rest."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.readers.amounts import micro_dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schedgap.instances.provisioning.readers.kubernetes.offers import Offer


def uncovered(
    chosen: Iterable[int], offers: Sequence[Offer], family: Sequence[int], capacities: Sequence[Sequence[int]]
) -> Iterator[int]:
    """Yield those of the chosen offers that no other of their family covers, and those of which there are only so many.

    O(n k R), k those of a family that remain.
    """
    families: defaultdict[int, list[int]] = defaultdict(list)
    for k in chosen:
        if offers[k].count >= 0:
            yield k
        else:
            families[family[k]].append(k)
    for members in families.values():
        price = [micro_dollars(offers[k].price) for k in members]
        sizes = np.array([capacities[k] for k in members])
        remaining = np.empty_like(sizes)
        number = 0
        # Of equal prices the largest first: what comes later covers nothing before it.
        for i in sorted(range(len(members)), key=lambda i: (price[i], -sum(capacities[members[i]]))):
            if not (remaining[:number] >= sizes[i]).all(axis=1).any():
                remaining[number] = sizes[i]
                number += 1
                yield members[i]
