"""The most valuable content of one machine, with cuts and with pairs of items that may not meet; exactly.

A depth-first search over contents. Every node has its own list of candidates: what still fits and meets no rival. Its bound is
the fractional knapsack over that list, at whole prices of the resources that are tuned for what is left of the machine (weak
Lagrangian duality: any prices are valid), and the number of items that can still come times the dearest of them, which is
what stops the search where machines hold few items. Penalties of cuts only lower values, so bounds leave them out. All
that decides is int64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedgap.formulations.provisioning.branch_price.kernels_goods import HUGE, NEVER, arrange, fractional, leave_out
from schedgap.instances.jit import inlined_kernel, kernel
from schedgap.instances.provisioning.kernels import improve_multipliers

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.branch_price.kernels_goods import Goods, Stack
    from schedgap.instances.arrays import FloatArray, IntArray

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
def search_content(
    goods: Goods,
    capacity: IntArray,
    allowed: IntArray,
    target: int,
    effort: Effort,
    price: FloatArray,
    stack: Stack,
    found: IntArray,
) -> tuple[int, int, int, int]:
    """Find contents worth more than `target`. allowed : (n,) copies at most. found : (M, n), out.

    With M = 1 it is the content worth most; else for each candidate of the root the best content that has it and otherwise
    only candidates behind it: many contents for hardly more nodes, and different ones. The last row is used again once full.

    price : (R,), in and out, where the tuning of prices starts. stack : of more depths than a content has items.

    Returns the number of contents found, the most that one of them is worth or `target`, a proven upper bound on the value of
    any content (equal to it if the search went to its end), and the nodes.
    """
    num, num_resources = goods.size.shape
    chosen = Chosen(
        allowed.copy(),
        np.zeros(num, np.int64),
        np.zeros(num, np.int64),
        np.zeros(goods.divisor.shape[0], np.int64),
        np.zeros(num_resources, np.int64),
    )
    dearest = np.int64(0)
    for i in range(num):
        dearest = max(dearest, goods.value[i])
    bits = min(30, 61 - _bits(dearest))
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
def _bits(value: int) -> int:
    bits = 0
    while value > 0:
        value >>= 1
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
    """Choose the candidate at the position: what is left of the machine, and what the content is worth with it."""
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
    # `MANY` copies times a value would leave 64 bits; no content has more items than the stack has depths.
    return Leaf(min(copies, stack.number.shape[0]), value)


@inlined_kernel
def _last(goods: Goods, stack: Stack, chosen: Chosen, depth: int, top: int, best: IntArray) -> int:
    """Try each candidate as the last item of the content; return the best value."""
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
