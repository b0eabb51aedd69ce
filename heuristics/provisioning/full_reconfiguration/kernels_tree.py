"""An index over task classes that finds the best task for what is left of a machine without looking at all of them.

Each kind of task (in the plain packing: each reservation price) has its own tree. Its classes are put in k-d order
(split at the median of the relatively widest resource), then packed 16 to a leaf and 16 children to a node, in
structures of arrays that the compiler turns into vector instructions. A node keeps, for each child, the least and the
largest demand of the live classes below. Building is O(C log C), a change O(log C); queries are in `kernels_query.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.jit import inlined_kernel, inner_kernel

FANOUT = 16
LAST = 2**31 - 2
MAX_HEIGHT = 9


class Tree(NamedTuple):
    """The trees of all kinds over one family. Letters: N nodes, L kinds, H heights, R resources.

    points : (N, R, 16) int32 or int64, the demands in the leaves, `limits[0]` at empty places.
    boxes : (N, 2, R, 16), least and largest demand below each child, `limits` where nothing lives.
    slots : (N, 16) int32, the class at each place of the leaves.
    ranks : (N, 16) int32, a number for each class of which the largest comes first, and box_ranks : (N, 16) int32, the
        largest below each child; -1 where nothing lives. In list order, `LAST` less the place of the class's next
        task; otherwise the bits of the float32 sum of demand * direction.
    direction : (L, R) float32, 1 / capacity of the type at the time of building, 0 where a kind's demands are all equal.
    layout : (L, H) int64, for each kind its height (0 where one leaf holds it, -1 where it is empty), its first leaf,
        and its first node at height 1, 2, ...
    least : (L, R), least demand of a kind in each resource. limits : (2,), a demand above every capacity, and -1.
    """

    points: Any
    boxes: Any
    slots: Any
    ranks: Any
    box_ranks: Any
    direction: Any
    layout: Any
    least: Any
    limits: Any


@inner_kernel
def build(
    tree: Tree, demand: Any, kind_start: Any, kind_classes: Any, counts: Any, rank: Any, capacity: Any, by_list: bool,
    place: Any, work: Any,
) -> int:  # fmt: skip
    """Build the trees of all kinds over the live classes of a family; return how many classes they hold.

    demand : (C, R), -1 where a class cannot run on the family. kind_start : (L + 1,), kind_classes : (C,) classes by
    kind. counts : (C,) tasks left. rank : (C,) int32, given if `by_list`, otherwise set here.
    capacity : (R,) float64 of the type to be filled, which makes the spreads of resources comparable.
    place : (C,) set to the place of each class among its kind's leaves, -1 for classes left out.
    work : (R, C) like `points`, (C,) int32, (64, 2) int64 and (1,) float32.
    """
    keys, ids, stack, number32 = work
    leaf, node, total = 0, 0, 0
    for kind in range(kind_start.shape[0] - 1):
        n = 0
        for i in range(kind_start[kind], kind_start[kind + 1]):
            c = kind_classes[i]
            place[c] = -1
            if counts[c] > 0 and demand[c, 0] >= 0:
                for r in range(demand.shape[1]):
                    keys[r, n] = demand[c, r]
                ids[n] = c
                n += 1
        for r in range(demand.shape[1]):
            varies = capacity[r] > 0 and _spread(keys, r, 0, n) > 0
            tree.direction[kind, r] = 1 / capacity[r] if varies else 0
        _kd_order(keys, ids, n, tree.direction[kind], stack)
        total += n
        tree.layout[kind, 0] = -1
        tree.layout[kind, 1] = leaf
        tree.least[kind, :] = tree.limits[0]
        if n > 0:
            _write_leaves(tree, kind, n, keys, ids, rank, by_list, place, number32)
            number = (n + FANOUT - 1) // FANOUT
            leaf += number
            node = _build_boxes(tree, kind, number, node)
    return total


@inner_kernel
def _write_leaves(
    tree: Tree, kind: int, n: int, keys: Any, ids: Any, rank: Any, by_list: bool, place: Any, number32: Any
) -> None:
    """Write the n classes of a kind into its leaves, which begin at its first; see `build`."""
    bits = number32.view(np.int32)
    num_resources = keys.shape[0]
    for i in range((n + FANOUT - 1) // FANOUT * FANOUT):
        row, j = tree.layout[kind, 1] + i // FANOUT, i % FANOUT
        for r in range(num_resources):
            tree.points[row, r, j] = keys[r, i] if i < n else tree.limits[0]
        if i < n:
            tree.slots[row, j] = ids[i]
            place[ids[i]] = i
            if not by_list:
                number32[0] = 0
                for r in range(num_resources):
                    number32[0] += keys[r, i] * tree.direction[kind, r]
                rank[ids[i]] = bits[0]
        tree.ranks[row, j] = rank[ids[i]] if i < n else -1


@inner_kernel
def _build_boxes(tree: Tree, kind: int, number: int, node: int) -> int:
    """Build the nodes above a kind's leaves, from `node` on; return the next one."""
    points, boxes, _, ranks, box_ranks, _, layout, least, limits = tree
    h = 0
    while number > 1:
        above = (number + FANOUT - 1) // FANOUT
        layout[kind, h + 2] = node
        boxes[node : node + above, 0] = limits[0]
        boxes[node : node + above, 1] = limits[1]
        box_ranks[node : node + above] = -1
        for i in range(number):
            _tighten(points, boxes, layout, limits, kind, h, i)
            _tighten_rank(ranks, box_ranks, layout, kind, h, i)
        node += above
        number = above
        h += 1
    layout[kind, 0] = h
    _tighten_root(points, boxes, layout, least, limits, kind)
    return node


@inner_kernel
def write_point(
    points: Any, boxes: Any, layout: Any, least: Any, limits: Any, kind: int, place: int, demand: Any
) -> None:
    """Set the demand at a place and adjust the boxes above as far as they change. O(16 R log C)."""
    i = place // FANOUT
    for r in range(demand.shape[0]):
        points[layout[kind, 1] + i, r, place % FANOUT] = demand[r]
    _tighten_path(points, boxes, layout, least, limits, kind, i)


@inlined_kernel
def write_rank(ranks: Any, box_ranks: Any, layout: Any, kind: int, place: int, rank: int) -> None:
    """Set the rank of the class at a place, -1 for none. O(16 log C)."""
    i = place // FANOUT
    ranks[layout[kind, 1] + i, place % FANOUT] = rank
    for h in range(layout[kind, 0]):
        if not _tighten_rank(ranks, box_ranks, layout, kind, h, i):
            return
        i //= FANOUT


@inlined_kernel
def remove_point(points: Any, boxes: Any, layout: Any, least: Any, limits: Any, kind: int, place: int) -> None:
    """Empty a place; the boxes above stay as they are where its demand was inside the leaf's box. O(16 R log C)."""
    i = place // FANOUT
    row, j = layout[kind, 1] + i, place % FANOUT
    inside = layout[kind, 0] > 0
    if inside:
        parent, k = layout[kind, 2] + i // FANOUT, i % FANOUT
        for r in range(points.shape[1]):
            x = points[row, r, j]
            inside &= boxes[parent, 0, r, k] < x and x < boxes[parent, 1, r, k]
    for r in range(points.shape[1]):
        points[row, r, j] = limits[0]
    if not inside:
        _tighten_path(points, boxes, layout, least, limits, kind, i)


@inlined_kernel
def _tighten_path(points: Any, boxes: Any, layout: Any, least: Any, limits: Any, kind: int, i: int) -> None:
    for h in range(layout[kind, 0]):
        if not _tighten(points, boxes, layout, limits, kind, h, i):
            return
        i //= FANOUT
    _tighten_root(points, boxes, layout, least, limits, kind)


@inlined_kernel
def _tighten(points: Any, boxes: Any, layout: Any, limits: Any, kind: int, h: int, i: int) -> bool:
    """Recompute the box of node i of height h, kept in its parent; return whether it changed. O(16 R)."""
    lanes, dead, none = points.shape[2], limits[0], limits[1]
    parent, k = layout[kind, h + 2] + i // FANOUT, i % FANOUT
    row = layout[kind, h + 1] + i
    changed = False
    for r in range(boxes.shape[2]):
        low, high = dead, none
        if h == 0:
            for j in range(lanes):
                x = points[row, r, j]
                low = min(low, x)
                high = max(high, x if x < dead else none)
        else:
            for j in range(lanes):
                low = min(low, boxes[row, 0, r, j])
                high = max(high, boxes[row, 1, r, j])
        if boxes[parent, 0, r, k] != low or boxes[parent, 1, r, k] != high:
            boxes[parent, 0, r, k] = low
            boxes[parent, 1, r, k] = high
            changed = True
    return changed


@inlined_kernel
def _tighten_rank(ranks: Any, box_ranks: Any, layout: Any, kind: int, h: int, i: int) -> bool:
    """Recompute the first rank below node i of height h, kept in its parent; return whether it changed. O(16)."""
    parent, k = layout[kind, h + 2] + i // FANOUT, i % FANOUT
    row, lanes = layout[kind, h + 1] + i, ranks.shape[1]
    high = np.int32(-1)
    if h == 0:
        for j in range(lanes):
            high = max(high, ranks[row, j])
    else:
        for j in range(lanes):
            high = max(high, box_ranks[row, j])
    if box_ranks[parent, k] == high:
        return False
    box_ranks[parent, k] = high
    return True


@inlined_kernel
def _tighten_root(points: Any, boxes: Any, layout: Any, least: Any, limits: Any, kind: int) -> None:
    h = layout[kind, 0]
    row = layout[kind, h + 1]
    for r in range(points.shape[1]):
        low = limits[0]
        for j in range(FANOUT):
            low = min(low, points[row, r, j] if h == 0 else boxes[row, 0, r, j])
        least[kind, r] = low


@inner_kernel
def _kd_order(keys: Any, ids: Any, n: int, scale: Any, stack: Any) -> None:
    """Put the points keys[:, 0:n] and their `ids` in k-d order, full leaves first. O(n log n).

    Measured on 1e6 points: ...
    """
    num_resources = keys.shape[0]
    stack[0, 0], stack[0, 1] = 0, n
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        leaves = (stop - start + FANOUT - 1) // FANOUT
        if leaves < 2:
            continue
        widest, spread = 0, -1.0
        for r in range(num_resources):
            length = _spread(keys, r, start, stop) * scale[r]
            if length > spread:
                widest, spread = r, length
        half = 1
        while 2 * half < leaves:
            half *= 2
        middle = start + half * FANOUT
        _select(keys, ids, widest, start, stop - 1, middle)
        stack[depth, 0], stack[depth, 1] = start, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, stop
        depth += 2


@inlined_kernel
def _spread(keys: Any, axis: int, start: int, stop: int) -> int:
    """Largest less smallest of the places start..stop - 1, 0 without any."""
    if start == stop:
        return 0
    low, high = keys[axis, start], keys[axis, start]
    for i in range(start, stop):
        low = min(low, keys[axis, i])
        high = max(high, keys[axis, i])
    return high - low


@inner_kernel
def _select(keys: Any, ids: Any, axis: int, start: int, stop: int, k: int) -> None:
    """Reorder places start..stop (inclusive) so that those before k are no larger on `axis` than those from k on."""
    while start < stop:
        a, b, c = keys[axis, start], keys[axis, (start + stop) // 2], keys[axis, stop]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = start, stop
        while i <= j:
            while keys[axis, i] < pivot:
                i += 1
            while keys[axis, j] > pivot:
                j -= 1
            if i <= j:
                for r in range(keys.shape[0]):
                    keys[r, i], keys[r, j] = keys[r, j], keys[r, i]
                ids[i], ids[j] = ids[j], ids[i]
                i += 1
                j -= 1
        if k <= j:
            stop = j
        elif k >= i:
            start = i
        else:
            return
