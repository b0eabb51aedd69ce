"""The dearest content of one node: bounded by prices on its resources, and searched for.

The items of a node are in order: those of whole GPUs, of most GPUs first; shares of one GPU, the largest first; those without
a GPU. `Items` holds what does not depend on prices, `worth` (n,) int64 is positive. Its GPUs, `bins` (B,), are in units, the
fullest first; `units` of them are a whole GPU, of which there are F. A content is (B + 1, n) int64: how many of each item are
on each GPU, pods of whole GPUs on the first of theirs, and those without in the last row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import kernel


class Items(NamedTuple):
    """What may be on a node, n items.

    whole, shares : how many items take whole GPUs, and how many any. gpus : (n,). size : (n,), units of a share, or of a whole
    GPU. demand : (n, R). most : (n,), so many there are. free : (R,). bins : (B,). units : of a GPU.
    """

    whole: int
    shares: int
    gpus: IntArray
    size: IntArray
    demand: IntArray
    most: IntArray
    free: IntArray
    bins: IntArray
    units: int


@kernel
def _fill(items: Items, adjusted: IntArray) -> tuple[IntArray, IntArray]:
    """Return (units + 1,) each: what shares are worth in so much of a GPU, and the last of them, -1 for a unit left."""
    units = items.units
    # Of shares of one size, the best.
    best = np.full(units + 1, -1)
    for i in range(items.whole, items.shares):
        if adjusted[i] > 0 and (best[items.size[i]] < 0 or adjusted[i] > adjusted[best[items.size[i]]]):
            best[items.size[i]] = i
    sizes = np.flatnonzero(best >= 0)
    fill, pick = np.zeros(units + 1, np.int64), np.full(units + 1, -1)
    for room in range(1, units + 1):
        fill[room] = fill[room - 1]
        for size in sizes:
            if size > room:
                break
            value = fill[room - size] + adjusted[best[size]]
            if value > fill[room]:
                fill[room], pick[room] = value, best[size]
    return fill, pick


@kernel
def relax(items: Items, worth: IntArray, price: IntArray, content: IntArray, use: IntArray) -> int:
    """Return a bound on the worth of any content: resources cost a `price` (R,), and may be overdrawn.

    content : out, one that attains the bound. use : (R,), out, what it takes of each resource. It may hold more of an item than
    there are. O(n R + units times sizes).
    """
    n, units = worth.shape[0], items.units
    content[:] = 0
    use[:] = 0
    bound = 0
    for r in range(price.shape[0]):
        bound += price[r] * items.free[r]
    adjusted = worth - (items.demand * price).sum(axis=1)
    fill, pick = _fill(items, adjusted)
    bins = items.bins.shape[0]
    full = (items.bins == units).sum()
    whole, wide = np.zeros(full + 1, np.int64), np.full(full + 1, -1)
    for gpus in range(1, full + 1):
        whole[gpus] = whole[gpus - 1] + fill[units]
        for i in range(items.whole):
            k = items.gpus[i]
            if k <= gpus and whole[gpus - k] + adjusted[i] > whole[gpus]:
                whole[gpus], wide[gpus] = whole[gpus - k] + adjusted[i], i
    bound += whole[full]
    rest, b = full, 0
    while b < bins:
        if rest > 0 and wide[rest] >= 0:
            content[b, wide[rest]] += 1
            k = items.gpus[wide[rest]]
            b, rest = b + k, rest - k
            continue
        room = items.bins[b]
        if b >= full:
            bound += fill[room]
        while room > 0:
            if pick[room] < 0:
                room -= 1
            else:
                content[b, pick[room]] += 1
                room -= items.size[pick[room]]
        b, rest = b + 1, rest - 1
    for i in range(items.shares, n):
        if adjusted[i] > 0:
            most = _fitting(items, i)
            content[bins, i] = most
            bound += most * adjusted[i]
    for i in range(n):
        number = content[:, i].sum()
        for r in range(price.shape[0]):
            use[r] += number * items.demand[i, r]
    return int(bound)


@kernel
def _fitting(items: Items, i: int) -> int:
    """Return how many of an item an empty node holds, by resources alone, of those that there are."""
    most = items.most[i]
    for r in range(items.free.shape[0]):
        if items.demand[i, r] > 0:
            most = min(most, items.free[r] // items.demand[i, r])
    return int(most)


@kernel
def repair(items: Items, worth: IntArray, content: IntArray, use: IntArray) -> int:
    """Make a content feasible, in place, and return its worth: drop what is worth least for what it takes, then fill up.

    use : (R,), in and out. O((drops + 1) n B).
    """
    n, bins = worth.shape[0], items.bins.shape[0]
    resources = use.shape[0]
    number = content.sum(axis=0)
    while True:
        over = -1
        for r in range(resources):
            if use[r] > items.free[r] and (over < 0 or use[r] * items.free[over] > use[over] * items.free[r]):
                over = r
        drop, least = -1, np.inf
        for i in range(n):
            if number[i] > 0:
                if number[i] > items.most[i]:
                    drop = i
                    break
                if over >= 0 and items.demand[i, over] > 0 and worth[i] / items.demand[i, over] < least:
                    drop, least = i, worth[i] / items.demand[i, over]
        if drop < 0:
            break
        for b in range(bins, -1, -1):
            if content[b, drop] > 0:
                content[b, drop] -= 1
                break
        number[drop] -= 1
        for r in range(resources):
            use[r] -= items.demand[drop, r]
    left = items.bins.copy()
    for b in range(bins):
        for i in range(items.shares):
            if content[b, i] > 0 and i < items.whole:
                left[b : b + items.gpus[i]] = 0
            elif content[b, i] > 0:
                left[b] -= content[b, i] * items.size[i]
    for i in np.argsort(-worth):
        room = min(items.most[i] - number[i], _fitting(items, i))
        for r in range(resources):
            if items.demand[i, r] > 0:
                room = min(room, (items.free[r] - use[r]) // items.demand[i, r])
        while room > 0:
            b = bins
            if i < items.shares:
                b = -1
                k = items.gpus[i]
                for start in range(bins - k + 1):
                    if left[start : start + k].min() >= items.size[i] and (b < 0 or left[start] < left[b]):
                        b = start
                if b < 0:
                    break
                left[b : b + k] -= items.size[i]
            content[b, i] += 1
            number[i] += 1
            room -= 1
            for r in range(resources):
                use[r] += items.demand[i, r]
    return int((worth * number).sum())


@kernel
def _take(items: Items, worth: IntArray, content: IntArray, use: IntArray, found: int, best: IntArray) -> int:
    """Repair a content, and keep it in `best` if it is worth more than `found`; return the greater worth."""
    value = repair(items, worth, content, use)
    if value > found:
        best[:] = content
    return max(found, value)


@kernel
def mix(items: Items, worth: IntArray, over: IntArray, under: IntArray, found: int, best: IntArray) -> int:
    """Put GPUs of a content that overdraws into one that does not, one more at a time; see `_take`."""
    bins, resources = items.bins.shape[0], items.free.shape[0]
    content, use = under.copy(), np.zeros(resources, np.int64)
    fixed = np.zeros(bins + 1, np.bool_)
    for i in range(items.whole):
        for b in range(bins):
            if items.gpus[i] > 1 and over[b, i] + under[b, i] > 0:
                fixed[b : b + items.gpus[i]] = True
    for b in range(bins + 1):
        if fixed[b]:
            continue
        content[b] = over[b]
        trial = content.copy()
        number = trial.sum(axis=0)
        for r in range(resources):
            use[r] = (number * items.demand[:, r]).sum()
        found = _take(items, worth, trial, use, found, best)
    return found


@kernel
def tune(items: Items, worth: IntArray, price: IntArray, best: IntArray) -> tuple[int, int]:
    """Return the least bound found and the worth of the best content found.

    price : (R,), in: where to begin; out: of the bound. best : (B + 1, n), out. The bound is convex in each price, and least
    where the content no longer overdraws.
    """
    content, use = np.zeros_like(best), np.zeros(price.shape[0], np.int64)
    over, under = content.copy(), content.copy()
    start, trial = price.copy(), np.zeros_like(price)
    price[:] = 0
    bound = relax(items, worth, trial, content, use)
    is_over = (use > items.free).any()
    over[:] = content
    found = _take(items, worth, content, use, -1, best)
    if not is_over:
        return bound, found
    trial[:] = start
    for r in range(2 * price.shape[0]):
        r %= price.shape[0]
        low, high, now = np.int64(0), np.int64(-1), trial[r]
        while items.free[r] > 0 and (high < 0 or high - low > 1 + (high >> 7)):
            trial[r] = now
            value = relax(items, worth, trial, content, use)
            if value < bound:
                bound = value
                price[:] = trial
            if use[r] > items.free[r]:
                low = now
                over[:] = content
            else:
                high = now
                under[:] = content
            now = 2 * now + 1 + bound // (64 * items.free[r]) if high < 0 else (low + high) // 2
            found = _take(items, worth, content, use, found, best)
        trial[r] = price[r]
        found = mix(items, worth, over, under, found, best)
    return bound, found


class Tables(NamedTuple):
    """What items are worth at most, less what their resources cost.

    tail : (shares + 1, units + 1), those from one on in so much of a GPU. many : (shares + 1, F + 1), on so many whole GPUs.
    parts : (B + 1,), all items in the parts of GPUs from one on, and without a GPU. after : (n + 1,), those without a GPU from
    one on.
    """

    tail: IntArray
    many: IntArray
    parts: IntArray
    after: IntArray


@kernel
def _tables(items: Items, adjusted: IntArray) -> Tables:
    n, units, bins = adjusted.shape[0], items.units, items.bins.shape[0]
    full = (items.bins == units).sum()
    tail = np.zeros((items.shares + 1, units + 1), np.int64)
    many = np.zeros((items.shares + 1, full + 1), np.int64)
    for i in range(items.shares - 1, -1, -1):
        tail[i], many[i] = tail[i + 1], many[i + 1]
        if i >= items.whole:
            for room in range(items.size[i], units + 1):
                tail[i, room] = max(tail[i, room], tail[i, room - items.size[i]] + adjusted[i])
            many[i] = np.arange(full + 1) * tail[i, units]
        else:
            for gpus in range(items.gpus[i], full + 1):
                many[i, gpus] = max(many[i, gpus], many[i, gpus - items.gpus[i]] + adjusted[i])
    after = np.zeros(n + 1, np.int64)
    for i in range(n - 1, items.shares - 1, -1):
        after[i] = after[i + 1] + max(0, adjusted[i]) * _fitting(items, i)
    parts = np.full(bins + 1, after[items.shares])
    for b in range(bins - 1, full - 1, -1):
        parts[b] = parts[b + 1] + tail[0, items.bins[b]]
    return Tables(tail, many, parts, after)


class States(NamedTuple):
    """The way to a content, one step each.

    gpu : that is filled, B for none. item : the next to try. room : units left. first : the GPU's first item, `shares` for none.
    adjusted : the worth less what resources cost. worth : the worth. added : the item that led here or -1. row : it is in.
    """

    gpu: IntArray
    item: IntArray
    room: IntArray
    first: IntArray
    adjusted: IntArray
    worth: IntArray
    added: IntArray
    row: IntArray


@kernel
def _states(items: Items) -> States:
    """Return room for the longest way, at its start."""
    shares, bins = items.shares, items.bins.shape[0]
    most = 2 + 2 * bins
    if shares > items.whole:
        most += bins * (items.units // items.size[items.whole : shares].min())
    for i in range(shares, items.most.shape[0]):
        most += _fitting(items, i)
    states = States(
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
    )
    states.item[0], states.first[0], states.added[0] = 0 if bins else shares, shares, -1
    states.room[0] = items.bins[0] if bins else 0
    return states


@kernel
def _step(items: Items, states: States, now: int, free: IntArray, number: IntArray) -> bool:
    """Make the state after `now` by its next item, or by closing its GPU; whether there is one."""
    b, i, bins, shares = states.gpu[now], states.item[now], items.bins.shape[0], items.shares
    new = now + 1
    states.gpu[new], states.item[new], states.room[new], states.first[new] = b, i, states.room[now], states.first[now]
    states.adjusted[new], states.worth[new] = states.adjusted[now], states.worth[now]
    states.added[new], states.row[new] = -1, b
    if b < bins and i == shares:
        # An equal GPU begins with no earlier item.
        is_equal = b + 1 < bins and items.bins[b + 1] == items.bins[b]
        states.item[new] = states.first[now] if is_equal else 0
        _enter(items, states, new, b + 1)
        return True
    if number[i] >= items.most[i]:
        return False
    for r in range(free.shape[0]):
        if items.demand[i, r] > free[r]:
            return False
    states.added[new] = i
    if i >= shares:
        return True
    if i >= items.whole:
        states.room[new] -= items.size[i]
        states.first[new] = min(states.first[now], i)
        return bool(states.room[new] >= 0)
    after = b + items.gpus[i]
    if states.first[now] < shares or after > bins or items.bins[after - 1] < items.units:
        return False
    if after < bins and items.bins[after] < items.units:
        states.item[new] = 0
    _enter(items, states, new, after)
    return True


@kernel
def _enter(items: Items, states: States, new: int, gpu: int) -> None:
    states.gpu[new], states.first[new], states.room[new] = gpu, items.shares, 0
    if gpu == items.bins.shape[0]:
        states.item[new] = items.shares
    else:
        states.room[new] = items.bins[gpu]


@kernel
def _upper(items: Items, tables: Tables, states: States, now: int) -> int:
    """Return what a state can still gain, less what resources cost."""
    b, item, full = states.gpu[now], states.item[now], tables.many.shape[1] - 1
    if b == items.bins.shape[0]:
        return int(tables.after[item])
    if b >= full:
        return int(tables.tail[item, states.room[now]] + tables.parts[b + 1])
    if states.first[now] == items.shares:
        return int(tables.many[item, full - b] + tables.parts[full])
    rest = tables.many[states.first[now], full - b - 1] + tables.parts[full]
    return int(tables.tail[item, states.room[now]] + rest)


@kernel
def search(
    items: Items, worth: IntArray, price: IntArray, bound: int, node_limit: int, best: IntArray
) -> tuple[int, int]:
    """Look for a content worth more than `best` (B + 1, n), which it replaces: return the best's worth, and a bound on all.

    price : (R,), and `bound`, of `tune`; it is returned where more than `node_limit` states were looked at. Depth first, GPU by
    GPU, items in order.
    """
    n, bins = worth.shape[0], items.bins.shape[0]
    adjusted = worth - (items.demand * price).sum(axis=1)
    tables, states = _tables(items, adjusted), _states(items)
    found = (best.sum(axis=0) * worth).sum()
    paid = (price * items.free).sum()
    content, number, free = np.zeros_like(best), np.zeros(n, np.int64), items.free.copy()
    depth, nodes = 0, 0
    while depth >= 0:
        added = states.added[depth]
        if states.item[depth] > (items.shares if states.gpu[depth] < bins else n - 1):
            if added >= 0:
                content[states.row[depth], added] -= 1
                number[added] -= 1
                free += items.demand[added]
            depth -= 1
            continue
        is_child = _step(items, states, depth, free, number)
        states.item[depth] += 1
        if not is_child:
            continue
        added = states.added[depth + 1]
        if added >= 0:
            states.adjusted[depth + 1] += adjusted[added]
            states.worth[depth + 1] += worth[added]
        nodes += 1
        if nodes > node_limit:
            return found, bound
        if paid + states.adjusted[depth + 1] + _upper(items, tables, states, depth + 1) <= found:
            continue
        depth += 1
        if added >= 0:
            content[states.row[depth], added] += 1
            number[added] += 1
            free -= items.demand[added]
            if states.worth[depth] > found:
                found = states.worth[depth]
                best[:] = content
    return found, found
