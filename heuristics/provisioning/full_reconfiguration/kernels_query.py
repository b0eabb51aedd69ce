"""Queries of the trees of `kernels_tree.py`: which live class fits and comes first in the order of the packing rule.

Branch and bound, best child first. A box is bounded by the score of min(largest demand, what is left), which is exact
mathematics on approximate numbers: bounds are float32 and cut to 19 significant bits, to carry the child's number in
the low bits of the same integer; a margin covers both, and candidates are compared by their exact float64 score.

A box is also bounded by the largest sum of d * direction in it: with w = left / C**2, a = min w / direction,
w d <= a (sum of d * direction) + (w - a direction) d. Where the weights keep to the direction, as they nearly do
while a machine fills evenly, a search goes straight down; the corners of boxes alone let all boxes in that the
line of equal scores crosses, the square root of their number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.heuristics.provisioning.full_reconfiguration.kernels_tree import FANOUT, Tree
from schedgap.instances.jit import inlined_kernel


class Query(NamedTuple):
    """Work arrays of a query and what is left of the machine being filled.

    left : (R,) like the points. scale : (2, R) float64, the capacity C, and left / C, 0 without capacity.
    weight : (2, R) float32, left / C**2; the second row is work. keys : (H, 16) int32, values : (H, 16) float32 on the same
    memory, path : (H,) int64: work.
    """

    left: Any
    scale: Any
    weight: Any
    keys: Any
    values: Any
    path: Any


class Types(NamedTuple):
    """Machine types. group : (K,) their families; equal ones are one. capacity : (K, R) like the points.

    price : (K,) int64, what a machine's tasks have to be worth. falling : (K,) types by hourly price, rising : by `price`,
    both in list order on ties.
    """

    group: Any
    capacity: Any
    price: Any
    falling: Any
    rising: Any


class Classes(NamedTuple):
    """Task classes. demand : (G, C, R) like the points, -1 where a class can run on no type of the group.

    kind : (C,) int32; value : (L,) int64, reservation price of each kind, falling. kind_start : (L + 1,) int64, kind_classes :
    (C,) int32, the classes by kind. counts : (C,) int64, tasks left. members : (T,) int32, tasks by class. cursor : (C,) int64,
    next task of each class in `members`. head : (C,) int64, that task. place : (G, C) int32, place among the leaves of its
    kind. rank : (G, C) int32, see `Tree.ranks`. most : (C,) int64, so many tasks may share a machine.
    """

    demand: Any
    kind: Any
    value: Any
    kind_start: Any
    kind_classes: Any
    counts: Any
    members: Any
    cursor: Any
    head: Any
    place: Any
    rank: Any
    most: Any


class Plan(NamedTuple):
    """What was decided, in groups of equal machines, as in `Provisioning`; room for one group and entry a task.

    size : (3,) int64, groups, entries and machines so far. entry : (C,) int64, where a class was last entered.
    """

    machine_type: Any
    repeat: Any
    indptr: Any
    task_class: Any
    count: Any
    task2machine: Any
    size: Any
    entry: Any


# Cutting 4 bits loses 2e-6 of a key, float32 sums of a few products 1e-6 at most (up to some ten resources).
MARGIN = 1e-5
LANES = FANOUT - 1


@inlined_kernel
def fits_kind(least: Any, kind: int, left: Any) -> bool:
    """Whether the least demands of a kind fit, so that a search may pay. O(R)."""
    fits = True
    for r in range(left.shape[0]):
        fits &= least[kind, r] <= left[r]
    return fits


@inlined_kernel
def best_aligned(tree: Tree, sums: Any, kind: int, query: Query, head: Any) -> tuple[int, bool]:
    """Return the live class that fits with the largest alignment, -1 for none, and whether another class tied with it.

    Alignment of demand d: sum over resources with capacity C of (d / C) * (left / C), added up in resource order, as
    Eva's code does. Exact ties go to the class whose next task comes first in the list.

    sums : the tree's `box_ranks` as float32. head : (C,) int64, next task of each class.
    """
    points, _, slots, _, _, direction, layout, _, _ = tree
    left, scale, weight, keys, values, path = query
    along = np.float32(np.inf)
    for r in range(left.shape[0]):
        if direction[kind, r] > 0:
            along = min(along, weight[0, r] / direction[kind, r])
    most = np.float32(0)
    for r in range(left.shape[0]):
        u = direction[kind, r]
        weight[1, r] = weight[0, r] - along * u if u > 0 else weight[0, r]
        most += u * left[r]
    if most == 0:
        along = np.float32(0)
    best, tied, best_score, cut = -1, False, -1.0, np.int32(0)
    height = layout[kind, 0]
    h, last = height, keys.shape[0] - 1
    path[h] = 0
    _bound(tree, sums, layout[kind, h + 1], h, along, most, query)
    while True:
        key = np.int32(-1)
        for j in range(keys.shape[1]):
            key = max(key, keys[h, j])
        if key < cut:
            h += 1
            if h > height:
                return best, tied
            continue
        j = key & LANES
        keys[h, j] = -1
        if h > 0:
            i = path[h] * FANOUT + j
            h -= 1
            path[h] = i
            _bound(tree, sums, layout[kind, h + 1] + i, h, along, most, query)
            continue
        row = layout[kind, 1] + path[0]
        score = 0.0
        for r in range(left.shape[0]):
            if scale[0, r] > 0:
                score += points[row, r, j] / scale[0, r] * scale[1, r]
        c = slots[row, j]
        if score > best_score:
            best, tied, best_score = c, False, score
            values[last, 0] = score * (1 - MARGIN)
            cut = max(np.int32(0), keys[last, 0] & np.int32(~LANES))
        elif score == best_score:
            tied = True
            if head[c] < head[best]:
                best = c


@inlined_kernel
def _bound(tree: Tree, sums: Any, row: int, h: int, along: Any, most: Any, query: Query) -> None:
    """Set keys[h] to upper bounds for the 16 children of a node, negative where nothing can fit. O(16 R)."""
    points, boxes = tree.points, tree.boxes
    left, weight, keys, values = query.left, query.weight, query.keys, query.values
    # The number of lanes is read from the array: Numba unrolls a loop of known length before it could be vectorised.
    lanes = keys.shape[1]
    none, last = np.float32(-np.inf), keys.shape[0] - 1
    for j in range(lanes):
        values[h, j] = np.float32(0)
    if h == 0:
        for r in range(left.shape[0]):
            w, room = weight[0, r], left[r]
            for j in range(lanes):
                x = points[row, r, j]
                v = values[0, j] + np.float32(x) * w
                values[0, j] = v if x <= room else none
    else:
        for j in range(lanes):
            values[last, j] = min(sums[row, j], most) * along
        for r in range(left.shape[0]):
            w, v, room = weight[0, r], weight[1, r], left[r]
            for j in range(lanes):
                x = np.float32(min(boxes[row, 1, r, j], room))
                corner = values[h, j] + x * w
                values[h, j] = corner if boxes[row, 0, r, j] <= room else none
                values[last, j] += x * v
        for j in range(lanes):
            values[h, j] = min(values[h, j], values[last, j])
    for j in range(lanes):
        keys[h, j] = (keys[h, j] & ~LANES) | j


@inlined_kernel
def first_listed(tree: Tree, kind: int, query: Query) -> int:
    """Return the live class that fits and has the largest rank, -1 for none."""
    layout, keys, path = tree.layout, query.keys, query.path
    best, best_rank = -1, np.int32(-1)
    height = layout[kind, 0]
    h = height
    path[h] = 0
    _list_ranks(tree, layout[kind, h + 1], h, query)
    while True:
        first = np.int32(-1)
        for j in range(keys.shape[1]):
            first = max(first, keys[h, j])
        if first <= best_rank:
            h += 1
            if h > height:
                return best
            continue
        j = 0
        while keys[h, j] != first:
            j += 1
        keys[h, j] = -1
        if h > 0:
            i = path[h] * FANOUT + j
            h -= 1
            path[h] = i
            _list_ranks(tree, layout[kind, h + 1] + i, h, query)
        else:
            best, best_rank = tree.slots[layout[kind, 1] + path[0], j], first


@inlined_kernel
def _list_ranks(tree: Tree, row: int, h: int, query: Query) -> None:
    """Set keys[h] to the largest rank below each child of a node, -1 where nothing can fit. O(16 R)."""
    left, keys = query.left, query.keys
    points, boxes, ranks, box_ranks = tree.points, tree.boxes, tree.ranks, tree.box_ranks
    lanes = keys.shape[1]
    none = np.int32(-1)
    if h == 0:
        for j in range(lanes):
            keys[h, j] = ranks[row, j]
        for r in range(left.shape[0]):
            for j in range(lanes):
                keys[h, j] = keys[h, j] if points[row, r, j] <= left[r] else none
    else:
        for j in range(lanes):
            keys[h, j] = box_ranks[row, j]
        for r in range(left.shape[0]):
            for j in range(lanes):
                keys[h, j] = keys[h, j] if boxes[row, 0, r, j] <= left[r] else none
