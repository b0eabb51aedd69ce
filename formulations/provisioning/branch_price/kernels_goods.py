"""What a search for contents works on, and the whole prices of resources that its bounds come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedgap.instances.jit import inlined_kernel, kernel
from schedgap.instances.kernels.sort import argsort

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


# No machine leaves so much free; more than any content is worth; and below the value of any content by more than one is worth.
FREE, HUGE, NEVER = 2**62, 2**62, -(2**61)


class Goods(NamedTuple):
    """What may be chosen: n items, E rivalries, Q cuts with W entries; all int64.

    value : (n,). size : (n, R). order : (n,) in which items are listed at the root, rank : (n,) its inverse. table : (n + 1,
    C + 1), of one resource: the most value of the items from a rank on that a rest of a machine holds; (0, 0) for none.
    spare : what a machine may leave free of its one resource, `FREE` for no limit. rival_start : (n + 1,), rival : (E,) items
    that may not meet. cut_start : (n + 1,), cut, part : (W,) the cuts of an item and its numerators in them. divisor, penalty :
    (Q,): a content whose numerators of a cut sum to s is worth floor(s / divisor) penalties less.
    """

    value: Any
    size: Any
    order: Any
    rank: Any
    table: Any
    spare: Any
    rival_start: Any
    rival: Any
    cut_start: Any
    cut: Any
    part: Any
    divisor: Any
    penalty: Any


class Stack(NamedTuple):
    """The path from the root, by depth D. rest, least : (D, R). gained, number, position, room, item : (D,).

    cand, weight : (D, n). price : (D, R) float64. least : no candidate takes less of a resource. room : what is left of the
    machine at the depth's whole prices, weight : what a candidate takes.
    """

    rest: Any
    least: Any
    gained: Any
    number: Any
    position: Any
    room: Any
    item: Any
    cand: Any
    weight: Any
    price: Any


def new_stack(depths: int, num: int, num_resources: int) -> Stack:
    """Return the work arrays for contents of fewer than `depths` items."""
    cand, weight = np.zeros((depths, num), np.int64), np.zeros((depths, num), np.int64)
    rest, least = np.zeros((2, depths, num_resources), np.int64)
    price = np.zeros((depths, num_resources))
    gained, number, position, room, item = (np.zeros(depths, np.int64) for _ in range(5))
    return Stack(rest, least, gained, number, position, room, item, cand, weight, price)


@kernel
def fill_values(goods: Goods, allowed: IntArray) -> None:
    """Fill the table of the goods, for one resource; `NEVER` and less where too much is left free. O(n C) for single items."""
    table = goods.table
    num, cells = table.shape[0] - 1, table.shape[1]
    for room in range(cells):
        table[num, room] = 0 if room <= goods.spare else NEVER
    for q in range(num - 1, -1, -1):
        i = goods.order[q]
        value, size = goods.value[i], goods.size[i, 0]
        if size == 0:
            table[q] = table[q + 1] + allowed[i] * value
            continue
        for room in range(cells):
            table[q, room] = table[q + 1, room]
            for copies in range(1, min(allowed[i], room // size) + 1):
                table[q, room] = max(table[q, room], table[q + 1, room - copies * size] + copies * value)


@kernel
def arrange(goods: Goods, stack: Stack, depth: int, bits: int) -> None:
    """Make the depth's prices whole, so that the rest of the machine is worth at most 2^bits, and sort its candidates by them."""
    num, num_resources = stack.number[depth], goods.size.shape[1]
    total = 0.0
    for r in range(num_resources):
        total += stack.price[depth, r] * stack.rest[depth, r]
    whole = np.zeros(num_resources, np.int64)
    room = np.int64(0)
    for r in range(num_resources):
        share = stack.price[depth, r] / total if total > 0 else 0.0
        if num_resources == 1:
            share = 1.0 / max(stack.rest[depth, r], 1)
        # A resource of which nothing is left has any price: no candidate takes of it.
        whole[r] = np.int64(share * 2.0**bits) if stack.rest[depth, r] > 0 else 0
        room += whole[r] * stack.rest[depth, r]
    key = np.empty(num, np.float64)
    weight = np.zeros(num, np.int64)
    for q in range(num):
        i = stack.cand[depth, q]
        for r in range(num_resources):
            weight[q] += whole[r] * goods.size[i, r]
        key[q] = -goods.value[i] / max(weight[q], 0.5)
    stack.room[depth] = room
    if num_resources == 1:
        # In the order of the table already.
        stack.weight[depth, :num] = weight
        return
    order = argsort(key)
    cand = stack.cand[depth, :num].copy()
    for q in range(num):
        stack.cand[depth, q], stack.weight[depth, q] = cand[order[q]], weight[order[q]]
    sort_by_worth(goods.value, stack.cand[depth, :num], stack.weight[depth, :num])


@inlined_kernel
def fractional(goods: Goods, stack: Stack, depth: int, left: IntArray, enough: int) -> tuple[int, int]:
    """Return the fractional knapsack over the depth's candidates from its position on, and where it ends, -1 for nowhere.

    It may end once it is above `enough`.
    """
    bound, room = stack.gained[depth], stack.room[depth]
    for q in range(stack.position[depth], stack.number[depth]):
        i, weight = stack.cand[depth, q], stack.weight[depth, q]
        if weight * left[i] > room:
            return bound + goods.value[i] * room // weight + 1, q
        room -= weight * left[i]
        bound += goods.value[i] * left[i]
        if bound > enough:
            break
    return bound, -1


@kernel
def leave_out(goods: Goods, stack: Stack, depth: int, left: IntArray, top: int) -> None:
    """Leave out the depth's candidates with which no content is worth more than `top`, by reduced cost.

    With one of candidate j forced in, the fractional knapsack loses weight[j] times the ratio at which it ends, less value[j].
    """
    bound, last = fractional(goods, stack, depth, left, HUGE)
    if bound <= top:
        stack.number[depth] = 0
    value, unit = goods.value[stack.cand[depth, last]], stack.weight[depth, last]
    # Beyond, the product may leave 63 bits, and next to nothing would be left out.
    if bound <= top or last < 0 or bound - top >= 2 * value:
        return
    number, most = last, (bound - top) * unit
    for q in range(last, stack.number[depth]):
        i, weight = stack.cand[depth, q], stack.weight[depth, q]
        if value * weight - goods.value[i] * unit < most:
            stack.cand[depth, number], stack.weight[depth, number] = i, weight
            number += 1
    stack.number[depth] = number


@kernel
def sort_by_worth(value: IntArray, item: IntArray, weight: IntArray) -> None:
    """Sort items and their weights by falling value for weight, exactly; nothing weighs least. In place, nearly sorted before.

    A bound by fractional knapsack holds in this order only, and floats do not tell close ratios apart. No product of a
    value and a weight may leave 63 bits. O(n) for what is sorted, O(n^2) at most.
    """
    for q in range(1, item.shape[0]):
        k = q
        while k > 0 and value[item[k]] * weight[k - 1] > value[item[k - 1]] * weight[k]:
            item[k - 1], item[k] = item[k], item[k - 1]
            weight[k - 1], weight[k] = weight[k], weight[k - 1]
            k -= 1
