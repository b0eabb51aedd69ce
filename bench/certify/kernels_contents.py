"""Compiled search for a machine's content that is worth more than a limit, with exact upper bounds.

Items are in a fixed order. A relaxation replaces all capacities by one: `worth[i, r]` is the most that the items from i on
are worth where their weights add up to at most r. Tables of several relaxations are in one array, one after another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.jit import kernel

DEARER, NONE_DEARER = 1, 0
# Less than any content is worth.
NEVER = -(2**61)


class Items(NamedTuple):
    """What may be on a machine: n items, D resources, J cuts. All int64.

    value : (n,), positive. size : (n, D). capacity : (D,). spare : (D,), what a content leaves free at most. next_kind :
    (n,), the first item behind i that is not equal to it. cut_start : (n + 1,), into cut (of item i, those from cut_start[i]
    on) and numerator. conflict_start : (n + 1,), into conflict, items that are not beside item i. denominator, penalty : (J,).
    """

    value: Any
    size: Any
    capacity: Any
    spare: Any
    next_kind: Any
    cut_start: Any
    cut: Any
    numerator: Any
    conflict_start: Any
    conflict: Any
    denominator: Any
    penalty: Any


class Relaxations(NamedTuple):
    """B relaxations. weight : (n, B). width : (B,), of a row: the capacity and 1. start : (B,), of each in worth. All int64."""

    weight: Any
    width: Any
    start: Any
    worth: Any


@kernel
def fill(value: Any, weight: Any, width: int, spare: int, worth: Any) -> None:
    """Fill a relaxation's table, (n + 1, width) in one line: O(n width). What leaves more than `spare` is worth `NEVER`."""
    n = value.shape[0]
    for r in range(width):
        worth[n * width + r] = 0 if r <= spare else NEVER
    for i in range(n - 1, -1, -1):
        here, after, w, v = i * width, (i + 1) * width, weight[i], value[i]
        for r in range(min(w, width)):
            worth[here + r] = worth[after + r]
        for r in range(w, width):
            worth[here + r] = max(worth[after + r], worth[after + r - w] + v)


@kernel
def most(value: Any, weight: Any, width: int) -> int:
    """Return the worth of all items in a relaxation, without its table."""
    worth = np.zeros(width, np.int64)
    for i in range(value.shape[0]):
        w, v = weight[i], value[i]
        for r in range(width - 1, w - 1, -1):
            worth[r] = max(worth[r], worth[r - w] + v)
    return int(worth[width - 1])


@kernel
def place(items: Items, bounds: Relaxations, i: int, sign: int, free: Any, room: Any, barred: Any, held: Any) -> int:
    """Put item i on the machine (sign 1) or take it off (-1); returns by how much the penalties of cuts change."""
    for d in range(free.shape[0]):
        free[d] -= sign * items.size[i, d]
    for b in range(room.shape[0]):
        room[b] -= sign * bounds.weight[i, b]
    for e in range(items.conflict_start[i], items.conflict_start[i + 1]):
        barred[items.conflict[e]] += sign
    change = 0
    for e in range(items.cut_start[i], items.cut_start[i + 1]):
        j = items.cut[e]
        before = held[j] // items.denominator[j]
        held[j] += sign * items.numerator[e]
        change += items.penalty[j] * (held[j] // items.denominator[j] - before)
    return change


@kernel
def search(items: Items, bounds: Relaxations, limit: int, content: Any, count: Any) -> int:
    """Look for a content worth more than `limit`, penalties of cuts taken off, that is full enough; write it to content (n,).

    count : (2,), the items of the content, and the nodes that were looked at. Returns `DEARER` or `NONE_DEARER`.
    A node is a content; its children add one item behind its last. A child is left out with all below it where some
    relaxation makes it worth no more than the limit: further penalties only take off. So are all children from one on, where
    the first relaxation does.
    """
    n, resources, relaxed = items.value.shape[0], items.capacity.shape[0], bounds.width.shape[0]
    free = items.capacity.copy()
    room = bounds.width - 1
    held = np.zeros(items.penalty.shape[0], np.int64)
    barred = np.zeros(n, np.int64)
    before = np.zeros(n + 1, np.int64)
    depth, value, i = 0, 0, 0
    count[0] = count[1] = 0
    while True:
        found = False
        while i < n:
            if value + bounds.worth[bounds.start[0] + i * bounds.width[0] + room[0]] <= limit:
                break
            found = barred[i] == 0
            for d in range(resources):
                if items.size[i, d] > free[d]:
                    found = False
                    break
            if found:
                rest = limit - value - items.value[i]
                for b in range(relaxed):
                    row = bounds.start[b] + (i + 1) * bounds.width[b]
                    if bounds.worth[row + room[b] - bounds.weight[i, b]] <= rest:
                        found = False
                        break
            if found:
                break
            i = items.next_kind[i]
        if found:
            sign, content[depth], before[depth] = 1, i, value
            count[1] += 1
            value += items.value[i]
        else:
            if depth == 0:
                return NONE_DEARER
            depth -= 1
            sign, i, value = -1, content[depth], before[depth]
        penalty = place(items, bounds, i, sign, free, room, barred, held)
        if found:
            value -= penalty
            depth += 1
            if value > limit and (free <= items.spare).all():
                count[0] = depth
                return DEARER
            i += 1
        else:
            i = items.next_kind[i]
