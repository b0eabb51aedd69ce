"""Exact integer knapsack kernels: the best content of one machine, given a price for each task class.

Two ways to the same answer. `fill_table` is a dynamic program over all capacities up to a largest one, so one table
serves every size of a machine family; it suits few classes on a coarse grid. `search_pattern` is a depth-first branch
and bound for one machine type, for many distinct demands on a fine grid. All arithmetic is int64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import inlined_kernel, kernel


@kernel
def fill_table(value: IntArray, demand: IntArray, bound: IntArray, table: IntArray, copies: NDArray[np.uint16]) -> int:
    """Fill the table of a bounded knapsack with three resources, in place; returns the number of passes over it.

    value, bound : (n,). demand : (n, 3), each row with a positive entry. table : (A, B, E), out: the most value that
    fits capacity (a, b, e). copies : (n, A, B, E) uint16, out: how many of item i the best content of items 0..i has.
    O(cells x sum of log2(bound)): the copies of an item are taken in powers of two.
    """
    size_a, size_b, size_e = table.shape
    row_value = np.empty(size_e, np.int64)
    row_copies = np.empty(size_e, copies.dtype)
    table[:] = 0
    passes = 0
    for i in range(value.shape[0]):
        copies[i] = 0
        fit = bound[i]
        for r in range(3):
            if demand[i, r] > 0:
                fit = min(fit, (table.shape[r] - 1) // demand[i, r])
        part = 1
        while fit > 0:
            part = min(part, fit)
            fit -= part
            da, db, de = part * demand[i, 0], part * demand[i, 1], part * demand[i, 2]
            gain = part * value[i]
            passes += 1
            for a in range(size_a - 1, da - 1, -1):
                for b in range(size_b - 1, db - 1, -1):
                    # The source row is copied: with da = db = 0 it is the target row itself.
                    row_value[: size_e - de] = table[a - da, b - db, : size_e - de]
                    row_copies[: size_e - de] = copies[i, a - da, b - db, : size_e - de]
                    target = table[a, b, de:]
                    target_copies = copies[i, a, b, de:]
                    for e in range(size_e - de):
                        cand = row_value[e] + gain
                        better = cand > target[e]
                        target_copies[e] = row_copies[e] + part if better else target_copies[e]
                        target[e] = cand if better else target[e]
            part *= 2
    return passes


@kernel
def read_table(demand: IntArray, copies: NDArray[np.uint16], capacity: IntArray, pattern: IntArray) -> None:
    """Read the best content of a machine from a filled table. capacity : (3,). pattern : (n,), out, tasks per item."""
    a, b, e = capacity[0], capacity[1], capacity[2]
    for i in range(demand.shape[0] - 1, -1, -1):
        number = np.int64(copies[i, a, b, e])
        pattern[i] = number
        a -= number * demand[i, 0]
        b -= number * demand[i, 1]
        e -= number * demand[i, 2]


@kernel
def suffix_bounds(value: IntArray, demand: IntArray, bound: IntArray, multiplier: IntArray, suffix: IntArray) -> None:
    """Sum what items i.. can add over their resources' price, for each row of prices. O(n M R).

    multiplier : (M, R), not negative. suffix : (n + 1, M), out: sum over j >= i of bound[j] max(0, value[j] -
    multiplier[m] @ demand[j]). Then items i.. add at most multiplier[m] @ rest + suffix[i, m] to a machine with `rest`
    of its capacity left, for every m (weak Lagrangian duality).
    """
    n = value.shape[0]
    for m in range(multiplier.shape[0]):
        suffix[n, m] = 0
        for i in range(n - 1, -1, -1):
            surplus = value[i]
            for r in range(demand.shape[1]):
                surplus -= multiplier[m, r] * demand[i, r]
            suffix[i, m] = suffix[i + 1, m] + bound[i] * max(0, surplus)


@kernel
def search_pattern(
    value: IntArray,
    demand: IntArray,
    bound: IntArray,
    capacity: IntArray,
    multiplier: IntArray,
    suffix: IntArray,
    target: int,
    node_limit: int,
    pattern: IntArray,
) -> tuple[int, int, int]:
    """Find the content of one machine with the most value above `target`, by depth-first branch and bound.

    value, bound : (n,), items best tried in order of falling efficiency. demand : (n, R). capacity : (R,).
    multiplier : (M, R) and suffix : (n + 1, M) as in `suffix_bounds`. pattern : (n,), out; all 0 if nothing beats
    the target.

    Returns (best, upper, nodes): the best value found or `target`, a proven upper bound on the value of every content
    (equal to best if the search ended within `node_limit` nodes), and the nodes used.
    """
    n, num_resources = demand.shape
    num_bounds = multiplier.shape[0]
    most = bound.sum() + 1
    chosen, gained, used = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(n, np.int64)
    rest, rent = np.zeros((most, num_resources), np.int64), np.zeros((most, num_bounds), np.int64)
    pattern[:] = 0
    rest[0] = capacity
    root = np.int64(2) ** 62
    for m in range(num_bounds):
        for r in range(num_resources):
            rent[0, m] += multiplier[m, r] * capacity[r]
        root = min(root, rent[0, m] + suffix[0, m])
    best, nodes, last, depth, i = target, 0, 0, 0, 0
    while True:
        i, last = _next_item(i, best - gained[depth], last, demand, bound, used, rest[depth], rent[depth], suffix)
        if i == n:
            if depth == 0:
                return best, best, nodes
            depth -= 1
            i = chosen[depth]
            used[i] -= 1
            i += 1
            continue
        nodes += 1
        if nodes > node_limit:
            return best, max(best, root), nodes
        used[i] += 1
        chosen[depth] = i
        for r in range(num_resources):
            rest[depth + 1, r] = rest[depth, r] - demand[i, r]
        for m in range(num_bounds):
            rent[depth + 1, m] = rent[depth, m]
            for r in range(num_resources):
                rent[depth + 1, m] -= multiplier[m, r] * demand[i, r]
        gained[depth + 1] = gained[depth] + value[i]
        depth += 1
        if gained[depth] > best:
            best = gained[depth]
            pattern[:] = used


@inlined_kernel
def _next_item(
    i: int,
    missing: int,
    last: int,
    demand: IntArray,
    bound: IntArray,
    used: IntArray,
    rest: IntArray,
    rent: IntArray,
    suffix: IntArray,
) -> tuple[int, int]:
    """Return the first item from i on that fits into the rest, n if those left cannot add more than what is missing.

    Returns with it the row of prices whose bound said so last: it is tried first.
    """
    n = demand.shape[0]
    while i < n:
        if rent[last] + suffix[i, last] <= missing:
            return n, last
        for m in range(rent.shape[0]):
            if rent[m] + suffix[i, m] <= missing:
                return n, m
        if used[i] < bound[i]:
            fits = True
            for r in range(demand.shape[1]):
                if demand[i, r] > rest[r]:
                    fits = False
                    break
            if fits:
                return i, last
        i += 1
    return n, last


@kernel
def improve_multipliers(
    value: IntArray,
    demand: IntArray,
    bound: IntArray,
    items: IntArray,
    rest: IntArray,
    rounds: int,
    price: FloatArray,
    shrink: float = 0.9,
) -> float:
    """Lower price @ rest + sum over `items` (m,) of bound max(0, value - price @ demand), a piecewise-linear function.

    rest : (R,). price : (R,) float64, in and out, not negative. Returns the value reached; any price gives a valid
    bound. Subgradient steps, each `shrink` times as long as the last, from the best point so far, with resources
    measured in shares of `rest`. O(rounds m R). Descent along the axes alone stalls in the kinks: it left a bound 34 %
    too high where this one is tight.
    """
    num_resources = demand.shape[1]
    best = np.inf
    curr = price.copy()
    slope = np.empty(num_resources)
    step = 0.0
    for t in range(rounds):
        total = 0.0
        for r in range(num_resources):
            total += curr[r] * rest[r]
            slope[r] = 1.0
        for i in items:
            surplus = float(value[i])
            for r in range(num_resources):
                surplus -= curr[r] * demand[i, r]
            if surplus > 0:
                total += bound[i] * surplus
                for r in range(num_resources):
                    slope[r] -= bound[i] * demand[i, r] / max(rest[r], 1)
        if t == 0:
            step = 0.3 * total
        if total < best:
            best = total
            price[:] = curr
        norm = 0.0
        for r in range(num_resources):
            if curr[r] <= 0 and slope[r] > 0:
                slope[r] = 0.0
            norm += slope[r] * slope[r]
        if norm <= 0:
            break
        step *= shrink
        for r in range(num_resources):
            curr[r] = max(0.0, curr[r] - step * slope[r] / np.sqrt(norm) / max(rest[r], 1))
    return best
