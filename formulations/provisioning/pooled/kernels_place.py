"""Placing tasks one class after the other on given machines with room left.

The cheapest machines of each total size, one machine more at a time. A few machines with much room, drawn at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import xorshift_below
from schedgap.instances.units import NEVER


@kernel
def place_best(
    turn: IntArray,
    left: IntArray,
    fits: BoolArray,
    most: IntArray,
    family: IntArray,
    demand: IntArray,
    rest: IntArray,
    scale: FloatArray,
    content: IntArray,
) -> None:
    """Place the tasks that are left, class by class, each on the machine that it leaves with the least room.

    turn : (C,) classes in order. left : (C,), in and out. fits : (M, C). most : (C,), so
    many tasks of a class may share a machine. family : (M,). demand : (F, C, R). rest : (M, R),
    in and out. scale : (R,), what share of a machine a unit is. content : (M, C), in and out. Room is the sum of the
    squares of what is free of each resource. Of machines equally good the first, which then takes as many tasks of the
    class as fit. O(C M^2 R).
    """
    num_machines, num_resources = rest.shape
    for c in turn:
        while left[c] > 0:
            best, least = -1, np.inf
            for m in range(num_machines):
                if not fits[m, c] or content[m, c] >= most[c]:
                    continue
                room = 0.0
                for r in range(num_resources):
                    free = rest[m, r] - demand[family[m], c, r]
                    if free < 0:
                        room = np.inf
                        break
                    room += free * scale[r] * (free * scale[r])
                if room < least:
                    best, least = m, room
            if best < 0:
                break
            # The fullest machine stays the fullest as it fills.
            number = min(left[c], most[c] - content[best, c])
            for r in range(num_resources):
                need = demand[family[best], c, r]
                if need > 0:
                    number = min(number, rest[best, r] // need)
            for r in range(num_resources):
                rest[best, r] -= number * demand[family[best], c, r]
            content[best, c] += number
            left[c] -= number


@kernel
def add_machine(size: IntArray, price: IntArray, before: IntArray, after: IntArray) -> None:
    """Find the least price of n + 1 machines of each total size, from that of n.

    size : (K, 2), steps of two resources. price : (K,). before : (A, B), the least price of n machines whose sizes add up to
    (a, b), `NEVER` where none do; the last row and column stand for all that is larger. after : (A, B), out. O(A B K).
    """
    last_a, last_b = before.shape[0] - 1, before.shape[1] - 1
    after[:] = NEVER
    for a in range(last_a + 1):
        for b in range(last_b + 1):
            paid = before[a, b]
            if paid == NEVER:
                continue
            for k in range(price.shape[0]):
                more_a, more_b = min(last_a, a + size[k, 0]), min(last_b, b + size[k, 1])
                after[more_a, more_b] = min(after[more_a, more_b], paid + price[k])


@kernel
def draw_machines(
    need: IntArray,
    budget: int,
    price: IntArray,
    capacity: IntArray,
    stock: IntArray,
    fits: BoolArray,
    tries: int,
    random: Any,
    chosen: IntArray,
) -> float:
    """Draw the types `chosen` (N,) of N machines within a budget, and return what share of the need they have to spare.

    need : (R,), of all tasks together. price : (K,). capacity : (K, R). stock : (K,), how many of a type can be had. fits :
    (K, P), of the task classes, each of which fits one of the machines. random : (1,) uint64, not 0, in and out. Of each try
    all types but the last are drawn, that one leaves the most to spare; of all tries the best. Negative if all were in vain,
    `chosen` is as it was. O(tries K (R + N P)).
    """
    num_types, num_resources = capacity.shape
    last = chosen.shape[0] - 1
    cand, total = np.empty_like(chosen), np.empty(num_resources, np.int64)
    best = -1.0
    for _ in range(tries):
        total[:] = 0
        left = np.int64(budget)
        for j in range(last):
            k = xorshift_below(random, num_types)
            left = left - price[k] if (cand[:j] == k).sum() < stock[k] else np.int64(-1)
            if left < 0:
                break
            cand[j] = k
            total += capacity[k]
        for k in range(num_types if left >= 0 else 0):
            if price[k] > left or (cand[:last] == k).sum() >= stock[k]:
                continue
            spare = np.inf
            for r in range(num_resources):
                if need[r] > 0:
                    spare = min(spare, (total[r] + capacity[k, r] - need[r]) / need[r])
            if spare < 0 or spare <= best:
                continue
            cand[last] = k
            is_whole = True
            for c in range(fits.shape[1]):
                is_placed = False
                for m in cand:
                    is_placed |= fits[m, c]
                if not is_placed:
                    is_whole = False
                    break
            if is_whole:
                best = spare
                chosen[:] = cand
    return best
