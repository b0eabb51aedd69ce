"""Packing sizes into bins, exactly, in two ways that share nothing: a table over subsets, and a program in whole numbers.

Both take sizes, the room of a bin, how many bins there are, and seconds. Both return the bin of each item, or None, and
whether that is proven.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import Rows
from schedgap.instances.jit import kernel
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@kernel
def fewest_bins(size: IntArray, room: int, bins: IntArray, fill: IntArray, last: IntArray) -> None:
    """Fill the table, (2^n,): fewest bins for each subset of items, least fill of the last bin, the item put there last."""
    bins[0], fill[0] = 1, 0
    for subset in range(1, bins.size):
        bins[subset] = size.size + 1
        for item in range(size.size):
            if subset >> item & 1:
                number, level = bins[subset ^ (1 << item)], fill[subset ^ (1 << item)] + size[item]
                if level > room:
                    number, level = number + 1, size[item]
                if number < bins[subset] or (number == bins[subset] and level < fill[subset]):
                    bins[subset], fill[subset], last[subset] = number, level, item


def pack_by_table(size: IntArray, room: int, num_bins: int, _: float) -> tuple[IntArray | None, bool]:
    """Pack exactly, in O(2^n n)."""
    bins, fill, last = np.zeros((3, 1 << size.size), np.int64)
    item2bin, rest = np.zeros_like(size), bins.size - 1
    if size.max() <= room:
        fewest_bins(size, room, bins, fill, last)
    if not 0 < bins[rest] <= num_bins:
        return None, True
    while rest:
        item2bin[last[rest]] = bins[rest] - 1
        rest ^= 1 << int(last[rest])
    return item2bin, True


def pack_by_model(
    size: IntArray, room: int, num_bins: int, left_s: float, *, backend: str
) -> tuple[IntArray | None, bool]:
    """Pack by a program in whole numbers; bins are alike, so the j-th largest item is in one of the first j."""
    item, place = np.divmod(np.arange(size.size * num_bins), num_bins)
    order, rows = np.argsort(-size), Rows(item.size)
    rows.add("placed", (item, np.arange(item.size), 1), lower=np.ones(size.size), upper=1)
    rows.add("room", (place, np.arange(item.size), size[order][item]), upper=np.full(num_bins, room))
    program = rows.model("packing", np.zeros(item.size), place <= item, 1)
    result = solve(program, backend, time_limit_s=None if left_s == np.inf else left_s)
    if result.x is None:
        return None, result.status == Status.INFEASIBLE
    return result.x.reshape(-1, num_bins).argmax(axis=1)[np.argsort(order)], True
