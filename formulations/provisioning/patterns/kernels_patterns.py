"""Enumeration and filtering of patterns: how many tasks of each class one machine holds. All arithmetic is int64.

Letters: C classes, R resources, K machine types, F families, P patterns.

Enumeration of machine patterns whose cost depends on who shares the machine.

Letters: C classes, R resources, K machine types, F families, W workloads, P patterns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.formulations.provisioning.kernels_types import Catalogue, cheapest_type, pattern_load
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.jit import inlined_kernel, kernel

OVER_PATTERNS = -1
OVER_NODES = -2


@inlined_kernel
def copy(values: IntArray, into: IntArray) -> None:
    """Write values (n,) into another array. Loops: an assignment of arrays, or a sum of one, takes a second to compile."""
    for i in range(values.shape[0]):
        into[i] = values[i]


@kernel
def most_copies(demand: IntArray, residual: IntArray, limit: int) -> int:
    """Return how many tasks of one class fit the residual capacity, at most `limit`; 0 where not allowed (-1). O(R)."""
    if demand[0] < 0:
        return 0
    most = limit
    for r in range(residual.shape[0]):
        if demand[r] > 0:
            most = min(most, residual[r] // demand[r])
    return most


@kernel
def maximal_patterns(
    demand: IntArray, counts: IntArray, capacity: IntArray, max_nodes: int, out: IntArray, filled: int
) -> int:
    """Write every pattern of one type to which no task can be added, from row `filled` on; returns the next row.

    demand : (C, R), -1 where not allowed. counts : (C,), no pattern holds more. capacity : (R,).
    out : (max_patterns, C). Returns OVER_PATTERNS when `out` is full, OVER_NODES after `max_nodes` search nodes.
    Depth first over the classes, each from its most copies down to none; O(R C) a leaf.
    """
    num_classes, num_resources = demand.shape
    residual = np.empty((num_classes + 1, num_resources), np.int64)
    copy(capacity, residual[0])
    chosen = np.zeros(num_classes, np.int64)
    c = 0
    nodes = 0
    while c >= 0:
        if c < num_classes:
            # Enter class c with as many copies as fit.
            chosen[c] = most_copies(demand[c], residual[c], counts[c])
            for r in range(num_resources):
                residual[c + 1, r] = residual[c, r] - chosen[c] * max(demand[c, r], 0)
            c += 1
            nodes += 1
            if nodes > max_nodes:
                return OVER_NODES
            continue
        maximal, held = True, 0
        for d in range(num_classes):
            held += chosen[d]
            if chosen[d] < counts[d] and most_copies(demand[d], residual[num_classes], 1) > 0:
                maximal = False
                break
        if maximal and held > 0:
            if filled == out.shape[0]:
                return OVER_PATTERNS
            copy(chosen, out[filled])
            filled += 1
        # The last class keeps its most copies (fewer are never maximal); the deepest other class gives one up.
        c = num_classes - 2
        while c >= 0 and chosen[c] == 0:
            c -= 1
        if c >= 0:
            chosen[c] -= 1
            for r in range(num_resources):
                residual[c + 1, r] = residual[c, r] - chosen[c] * max(demand[c, r], 0)
            c += 1
    return filled


@kernel
def is_within(
    pattern: IntArray, demand_a: IntArray, demand_b: IntArray, capacity_a: IntArray, capacity_b: IntArray
) -> bool:
    """Whether the tasks of a pattern, each where it needs less, need no more than both machines have. O(C R)."""
    for r in range(capacity_a.shape[0]):
        room = capacity_a[r] + capacity_b[r]
        for c in range(pattern.shape[0]):
            if pattern[c] > 0:
                a, b = demand_a[c, r], demand_b[c, r]
                room -= pattern[c] * (max(a, b) if min(a, b) < 0 else min(a, b))
        if room < 0:
            return False
    return True


@kernel
def splits_in_two(
    pattern: IntArray,
    demand_a: IntArray,
    demand_b: IntArray,
    capacity_a: IntArray,
    capacity_b: IntArray,
    max_nodes: int,
) -> int:
    """Return the search nodes it took to fit the tasks of a pattern on two machines, or minus those it took in vain.

    pattern : (C,). demand_a, demand_b : (C, R). capacity_a, capacity_b : (R,). Depth first over the classes: x of a
    class go to machine a, the rest to machine b; gives up after `max_nodes`.
    """
    num_classes, num_resources = demand_a.shape
    used = np.zeros((num_classes + 1, 2, num_resources), np.int64)
    share = np.zeros(num_classes, np.int64)
    c = 0
    share[0] = most_copies(demand_a[0], capacity_a, pattern[0])
    nodes = 0
    while c >= 0:
        nodes += 1
        if nodes > max_nodes:
            return -nodes
        if share[c] < 0 or (pattern[c] - share[c] > 0 and demand_b[c, 0] < 0):
            # Ever fewer on a means ever more on b: nothing left to try for this class.
            c -= 1
            if c >= 0:
                share[c] -= 1
            continue
        fits_b = True
        for r in range(num_resources):
            used[c + 1, 0, r] = used[c, 0, r] + share[c] * max(demand_a[c, r], 0)
            used[c + 1, 1, r] = used[c, 1, r] + (pattern[c] - share[c]) * max(demand_b[c, r], 0)
            if used[c + 1, 1, r] > capacity_b[r]:
                fits_b = False
        if not fits_b:
            c -= 1
            if c >= 0:
                share[c] -= 1
            continue
        c += 1
        if c == num_classes:
            return nodes
        share[c] = most_copies(demand_a[c], capacity_a - used[c, 0], pattern[c])
    return -nodes


@kernel
def keep_patterns(
    patterns: IntArray,
    pattern_type: IntArray,
    types: Catalogue,
    pairs: IntArray,
    pair_indptr: IntArray,
    max_nodes: int,
    total_nodes: int,
    keep: BoolArray,
) -> int:
    """Mark the patterns that neither a cheaper machine nor two machines of at most its price replace; returns how many.

    patterns : (P, C). pattern_type : (P,). pairs : (Q, 2), those of type k from pair_indptr[k] to pair_indptr[k + 1]:
    pairs of types of at most its price together. max_nodes : of one search; total_nodes : of all, beyond which patterns
    stay unsplit. keep : (P,), out.
    """
    demand, family, capacity = types.demand, types.type2family, types.capacity
    load = np.zeros((demand.shape[0], demand.shape[2]), np.int64)
    kept = 0
    # The pair that split the type's last pattern is the likeliest to split its next.
    likely = pair_indptr[:-1].copy()
    for p in range(patterns.shape[0]):
        k = pattern_type[p]
        pattern_load(patterns[p], demand, load)
        keep[p] = cheapest_type(load, types) == k
        if not keep[p]:
            continue
        num_pairs = pair_indptr[k + 1] - pair_indptr[k]
        for j in range(-1, num_pairs):
            if total_nodes <= 0 or num_pairs == 0:
                break
            q = likely[k] if j < 0 else pair_indptr[k] + j
            if j >= 0 and q == likely[k]:
                continue
            a, b = pairs[q, 0], pairs[q, 1]
            demand_a, demand_b = demand[family[a]], demand[family[b]]
            if not is_within(patterns[p], demand_a, demand_b, capacity[a], capacity[b]):
                continue
            nodes = splits_in_two(patterns[p], demand_a, demand_b, capacity[a], capacity[b], max_nodes)
            total_nodes -= abs(nodes)
            if nodes > 0:
                keep[p] = False
                likely[k] = q
                break
        kept += keep[p]
    return kept


# A product of n factors is off by less than n 2^-53 of its size: enough for a hundred thousand tasks on a machine, and four
# times that much a task where there are more.
ROUNDING, TASK_ROUNDING = 1e-10, 2.0**-51


class Jobs(NamedTuple):
    """What tasks beside each other cost: workload (-1 for none) and value, (C,) int64, throughput (W, W) in [0, 1]."""

    workload: Any
    value: Any
    throughput: Any


@kernel
def loss_bounds(pattern: IntArray, jobs: Jobs) -> tuple[int, int]:
    """Return whole numbers below and above the rounded-up loss of one machine; equal only where nothing is lost.

    pattern : (C,). O(C^2) plus the tasks.
    """
    workload, value, throughput = jobs
    total, at_stake, tasks = 0.0, 0.0, 0
    for c in range(pattern.shape[0]):
        if pattern[c] == 0 or workload[c] < 0:
            continue
        product = 1.0
        for d in range(pattern.shape[0]):
            if pattern[d] > 0 and workload[d] >= 0:
                for _ in range(pattern[d] - (1 if c == d else 0)):
                    product *= throughput[workload[c], workload[d]]
        total += float(pattern[c]) * value[c] * (1.0 - product)
        at_stake += float(pattern[c]) * value[c]
        tasks += pattern[c]
    if total == 0.0:
        return 0, 0
    margin = max(ROUNDING, tasks * TASK_ROUNDING) * at_stake
    return int(np.ceil(total - margin)), int(np.ceil(total + margin))


@kernel
def all_patterns(types: Catalogue, counts: IntArray, k: int, max_nodes: int, out: IntArray, filled: int) -> int:
    """Write every pattern whose cheapest type is k, from row `filled` on; returns the next row.

    counts : (C,), no pattern holds more. out : (max_patterns, C). Returns OVER_PATTERNS when `out` is full, OVER_NODES
    after `max_nodes` patterns that the type holds.
    """
    num_classes, num_resources = types.demand.shape[1], types.demand.shape[2]
    mine = types.demand[types.type2family[k]]
    residual = np.empty((num_classes + 1, num_resources), np.int64)
    copy(types.capacity[k], residual[0])
    load = np.zeros((types.demand.shape[0], num_resources), np.int64)
    chosen = np.zeros(num_classes, np.int64)
    c = nodes = 0
    while c >= 0:
        if c < num_classes:
            chosen[c] = most_copies(mine[c], residual[c], counts[c])
            for r in range(num_resources):
                residual[c + 1, r] = residual[c, r] - chosen[c] * max(mine[c, r], 0)
            c += 1
            continue
        nodes += 1
        if nodes > max_nodes:
            return OVER_NODES
        pattern_load(chosen, types.demand, load)
        if chosen.sum() > 0 and cheapest_type(load, types) == k:
            if filled == out.shape[0]:
                return OVER_PATTERNS
            copy(chosen, out[filled])
            filled += 1
        c = num_classes - 1
        while c >= 0 and chosen[c] == 0:
            c -= 1
        if c >= 0:
            chosen[c] -= 1
            for r in range(num_resources):
                residual[c + 1, r] = residual[c, r] - chosen[c] * max(mine[c, r], 0)
            c += 1
    return filled


@kernel
def keep_disturbed(
    patterns: IntArray,
    pattern_type: IntArray,
    types: Catalogue,
    counts: IntArray,
    jobs: Jobs,
    alone: IntArray,
    keep: BoolArray,
) -> int:
    """Mark the patterns that may be needed; returns how many.

    A pattern goes if it costs at least as much as its tasks alone, as itself without one task and that task alone, or
    as itself with one task more. alone : (C,), the price of one task alone. keep : (P,), out. A pattern's cost is taken
    from below and what replaces it from above, so that rounding never drops one that is needed.
    """
    num_classes = patterns.shape[1]
    cand = np.empty(num_classes, np.int64)
    load = np.zeros((types.demand.shape[0], types.demand.shape[2]), np.int64)
    kept = 0
    for p in range(patterns.shape[0]):
        pattern = patterns[p]
        low = types.price[pattern_type[p]] + loss_bounds(pattern, jobs)[0]
        number = pattern.sum()
        keep[p] = number == 1 or low < (pattern * alone).sum()
        for c in range(num_classes):
            if not keep[p]:
                break
            for change in (-1, 1):
                if not 0 <= pattern[c] + change <= counts[c] or number + change == 0:
                    continue
                cand[:] = pattern
                cand[c] += change
                pattern_load(cand, types.demand, load)
                k = cheapest_type(load, types)
                if k < 0:
                    continue
                high = types.price[k] + loss_bounds(cand, jobs)[1]
                if low >= high + (alone[c] if change == -1 else 0):
                    keep[p] = False
                    break
        kept += keep[p]
    return kept
