"""The most valuable pattern of one machine, with cuts and with pairs of items that may not meet; exactly. Violated cuts.

A depth-first search over patterns. Every node has its own list of candidates: what still fits and meets no rival. Its bound is
the fractional knapsack over that list, at whole prices of the resources that are tuned for what is left of the machine (weak
Lagrangian duality: any prices are valid), and the number of items that can still come times the dearest of them, which is
what stops the search where machines hold few items. Penalties of cuts only lower values, so bounds leave them out. All
that decides is int64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import inlined_kernel, kernel
from schedgap.instances.kernels.sort import argsort
from schedgap.instances.provisioning.kernels import improve_multipliers

# No machine leaves so much free; more than any pattern is worth; and below the value of any pattern by more than one is worth.
FREE, HUGE, NEVER = 2**62, 2**62, -(2**61)


class Goods(NamedTuple):
    """What may be chosen: n items, E rivalries, Q cuts with W entries; all int64.

    value : (n,). size : (n, R). order : (n,) in which items are listed at the root, rank : (n,) its inverse. table : (n + 1,
    C + 1), of one resource: the most value of the items from a rank on that a rest of a machine holds; (0, 0) for none.
    spare : what a machine may leave free of its one resource, `FREE` for no limit. rival_start : (n + 1,), rival : (E,) items
    that may not meet. cut_start : (n + 1,), cut, part : (W,) the cuts of an item and its numerators in them. divisor, penalty :
    (Q,): a pattern whose numerators of a cut sum to s is worth floor(s / divisor) penalties less.
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
    """Return the work arrays for patterns of fewer than `depths` items."""
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
    """Leave out the depth's candidates with which no pattern is worth more than `top`, by reduced cost.

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


# Lists of at least so many candidates get prices of their own, in so many rounds.
TUNED, ROUNDS, SHRINK = 30, 10, 0.85
MANY = 2**40


class Chosen(NamedTuple):
    """(n,) left : copies that may still come, used, blocked : rivals chosen. parts : (Q,) numerators chosen. second : (R,)."""

    left: Any
    used: Any
    blocked: Any
    parts: Any
    second: Any


class Effort(NamedTuple):
    """Nodes of a search: `most` of all, `each` of those below one candidate of the root. rounds : of tuning prices there."""

    most: int
    each: int
    rounds: int


class Leaf(NamedTuple):
    """What a list of candidates can still give: so many items at most, and the dearest value."""

    copies: Any
    value: Any


@kernel
def search_pattern(
    goods: Goods,
    capacity: IntArray,
    allowed: IntArray,
    target: int,
    effort: Effort,
    price: FloatArray,
    stack: Stack,
    found: IntArray,
) -> tuple[int, int, int, int]:
    """Find patterns worth more than `target`. allowed : (n,) copies at most. found : (M, n), out.

    With M = 1 it is the pattern worth most; else for each candidate of the root the best pattern that has it and otherwise
    only candidates behind it: many patterns for hardly more nodes, and different ones. The last row is used again once full.

    price : (R,), in and out, where the tuning of prices starts. stack : of more depths than a pattern has items.

    Returns the number of patterns found, the most that one of them is worth or `target`, a proven upper bound on the value of
    any pattern (equal to it if the search went to its end), and the nodes.
    """
    num, num_resources = goods.size.shape
    chosen = Chosen(
        allowed.copy(),
        np.zeros(num, np.int64),
        np.zeros(num, np.int64),
        np.zeros(goods.divisor.shape[0], np.int64),
        np.zeros(num_resources, np.int64),
    )
    bits = min(30, 61 - _bits(goods.value))
    number, most, top, upper, nodes, before, depth = 0, target, target, target, 0, 0, 0
    stack.rest[0], stack.price[0], stack.gained[0], stack.number[0], stack.position[0] = capacity, price, 0, 0, 0
    stack.least[0] = 0
    _list_root(goods, stack, chosen)
    _tune(goods, stack, 0, chosen.left, effort.rounds)
    price[:] = stack.price[0]
    arrange(goods, stack, 0, bits)
    while True:
        if depth == 0:
            most = max(most, top)
            if found.shape[0] > 1:
                number = min(number + int(top > target), found.shape[0])
                top = target
            row = min(number, found.shape[0] - 1)
            before, above = nodes, _bound(goods, stack, 0, chosen.left, HUGE)
            if above <= top:
                break
        elif _bound(goods, stack, depth, chosen.left, top) <= top:
            depth -= 1
            _put_back(goods, stack, chosen, depth)
            continue
        if nodes >= effort.most or nodes - before >= effort.each:
            upper = max(upper, above)
            if nodes >= effort.most:
                break
            while depth > 0:
                depth -= 1
                _put_back(goods, stack, chosen, depth)
            continue
        nodes += 1
        _take(goods, stack, chosen, depth)
        if stack.gained[depth + 1] > top and stack.rest[depth + 1, 0] <= goods.spare:
            top = stack.gained[depth + 1]
            found[row] = chosen.used
        leaf = _list_next(goods, stack, chosen, depth)
        if leaf.copies <= 1:
            top = _last(goods, stack, chosen, depth + 1, top, found[row])
        if leaf.copies <= 1 or leaf.copies * leaf.value <= top - stack.gained[depth + 1]:
            _put_back(goods, stack, chosen, depth)
            continue
        depth += 1
        if num_resources == 1 or stack.number[depth] < TUNED:
            continue
        leave_out(goods, stack, depth, chosen.left, top)
        if stack.number[depth] >= TUNED:
            _tune(goods, stack, depth, chosen.left, ROUNDS)
            arrange(goods, stack, depth, bits)
            leave_out(goods, stack, depth, chosen.left, top)
    return min(number + int(top > target), found.shape[0]), max(most, top), max(most, top, upper), nodes


@inlined_kernel
def _bits(values: IntArray) -> int:
    """Return the bits of the largest of values (n,), not negative."""
    largest, bits = np.int64(0), 0
    for i in range(values.shape[0]):
        largest = max(largest, values[i])
    while largest > 0:
        largest >>= 1
        bits += 1
    return bits


@kernel
def _tune(goods: Goods, stack: Stack, depth: int, left: IntArray, rounds: int) -> None:
    """Tune the depth's prices of resources for its candidates and what is left of the machine."""
    items = stack.cand[depth, : stack.number[depth]]
    improve_multipliers(goods.value, goods.size, left, items, stack.rest[depth], rounds, stack.price[depth], SHRINK)


@inlined_kernel
def _list_root(goods: Goods, stack: Stack, chosen: Chosen) -> None:
    for q in range(goods.value.shape[0]):
        i = goods.order[q]
        fits = chosen.left[i] > 0 and goods.value[i] > 0
        for r in range(goods.size.shape[1]):
            fits = fits and goods.size[i, r] <= stack.rest[0, r]
        if fits:
            stack.cand[0, stack.number[0]] = i
            stack.number[0] += 1


@inlined_kernel
def _bound(goods: Goods, stack: Stack, depth: int, left: IntArray, enough: int) -> int:
    """Return the fractional knapsack over the candidates from the position on, or a value above `enough` if it is that.

    `NEVER` where none is left: what is chosen so far has been looked at.
    """
    if stack.position[depth] >= stack.number[depth]:
        return NEVER
    if goods.table.shape[0] > 0:
        first = goods.rank[stack.cand[depth, stack.position[depth]]]
        within: int = stack.gained[depth] + goods.table[first, stack.rest[depth, 0]]
        if within <= enough:
            return within
    return fractional(goods, stack, depth, left, enough)[0]


@inlined_kernel
def _take(goods: Goods, stack: Stack, chosen: Chosen, depth: int) -> None:
    """Choose the candidate at the position: what is left of the machine, and what the pattern is worth with it."""
    i = stack.cand[depth, stack.position[depth]]
    stack.item[depth] = i
    chosen.left[i] -= 1
    chosen.used[i] += 1
    worth = stack.gained[depth] + goods.value[i]
    for e in range(goods.rival_start[i], goods.rival_start[i + 1]):
        chosen.blocked[goods.rival[e]] += 1
    for e in range(goods.cut_start[i], goods.cut_start[i + 1]):
        c = goods.cut[e]
        before = chosen.parts[c] // goods.divisor[c]
        chosen.parts[c] += goods.part[e]
        worth -= (chosen.parts[c] // goods.divisor[c] - before) * goods.penalty[c]
    stack.gained[depth + 1] = worth
    for r in range(goods.size.shape[1]):
        stack.rest[depth + 1, r] = stack.rest[depth, r] - goods.size[i, r]
        stack.price[depth + 1, r] = stack.price[depth, r]
    stack.room[depth + 1] = stack.room[depth] - stack.weight[depth, stack.position[depth]]
    stack.position[depth + 1] = 0


@inlined_kernel
def _put_back(goods: Goods, stack: Stack, chosen: Chosen, depth: int) -> None:
    """Undo the choice of a depth and go to its next candidate."""
    i = stack.item[depth]
    chosen.left[i] += 1
    chosen.used[i] -= 1
    for e in range(goods.rival_start[i], goods.rival_start[i + 1]):
        chosen.blocked[goods.rival[e]] -= 1
    for e in range(goods.cut_start[i], goods.cut_start[i + 1]):
        chosen.parts[goods.cut[e]] -= goods.part[e]
    stack.position[depth] += 1


@inlined_kernel
def _list_next(goods: Goods, stack: Stack, chosen: Chosen, depth: int) -> Leaf:
    """List the candidates of the next depth: those from the position on that still fit, in the same order."""
    num_resources = goods.size.shape[1]
    for r in range(num_resources):
        if stack.least[depth, r] > stack.rest[depth + 1, r]:
            stack.number[depth + 1] = 0
            return Leaf(np.int64(0), np.int64(0))
    number, value = 0, np.int64(0)
    least, second = stack.least[depth + 1], chosen.second
    for r in range(num_resources):
        least[r] = second[r] = MANY
    for q in range(stack.position[depth], stack.number[depth]):
        i = stack.cand[depth, q]
        fits = chosen.left[i] > 0 and chosen.blocked[i] == 0
        for r in range(num_resources):
            if goods.size[i, r] > stack.rest[depth + 1, r]:
                fits = False
                break
        if not fits:
            continue
        stack.cand[depth + 1, number], stack.weight[depth + 1, number] = i, stack.weight[depth, q]
        number += 1
        value = max(value, goods.value[i])
        for r in range(num_resources):
            size = goods.size[i, r]
            if size < least[r]:
                second[r] = least[r] if chosen.left[i] == 1 else size
                least[r] = size
            elif size < second[r]:
                second[r] = size
    stack.number[depth + 1] = number
    copies = MANY if number > 0 else 0
    for r in range(num_resources):
        if number > 0 and second[r] > 0:
            copies = min(copies, 1 + max(0, stack.rest[depth + 1, r] - least[r]) // second[r])
    # `MANY` copies times a value would leave 64 bits; no pattern has more items than the stack has depths.
    return Leaf(min(copies, stack.number.shape[0]), value)


@inlined_kernel
def _last(goods: Goods, stack: Stack, chosen: Chosen, depth: int, top: int, best: IntArray) -> int:
    """Try each candidate as the last item of the pattern; return the best value."""
    for q in range(stack.number[depth]):
        i = stack.cand[depth, q]
        worth = stack.gained[depth] + goods.value[i]
        if worth <= top or stack.rest[depth, 0] - goods.size[i, 0] > goods.spare:
            continue
        for e in range(goods.cut_start[i], goods.cut_start[i + 1]):
            c = goods.cut[e]
            after = (chosen.parts[c] + goods.part[e]) // goods.divisor[c]
            worth -= (after - chosen.parts[c] // goods.divisor[c]) * goods.penalty[c]
        if worth > top:
            top = worth
            for j in range(best.shape[0]):
                best[j] = chosen.used[j]
            best[i] += 1
    return top


@kernel
def violated_triples(
    pair: FloatArray, start: IntArray, column: IntArray, holds: FloatArray, x: FloatArray, least: float, most: int
) -> tuple[IntArray, FloatArray]:
    """Return at most `most` triples (m, 3) of items that machines hold two of too often, and by how much, from `least` on.

    pair : (n, n), the machines that hold both items of a pair. start : (n + 1,) and column : the columns that hold an item.
    holds : (P, n), 1 where a column holds an item. x : (P,). A triple is violated by the machines that hold two or three of
    its items, less 1. O(n^3 / 6) sums, and columns for those that are large enough.
    """
    num = pair.shape[0]
    found = np.empty((most, 3), np.int64)
    by = np.zeros(most)
    number, worst = 0, 0
    for i in range(num):
        for j in range(i + 1, num):
            for k in range(j + 1, num):
                total = pair[i, j] + pair[i, k] + pair[j, k]
                if total < 1.0 + least:
                    continue
                for e in range(start[i], start[i + 1]):
                    p = column[e]
                    if holds[p, j] > 0 and holds[p, k] > 0:
                        total -= 2.0 * x[p]
                if total < 1.0 + least or (number == most and total - 1.0 <= by[worst]):
                    continue
                place = number if number < most else worst
                number = min(number + 1, most)
                found[place, 0], found[place, 1], found[place, 2] = i, j, k
                by[place] = total - 1.0
                if number == most:
                    worst = int(np.argmin(by))
    return found[:number], by[:number]
