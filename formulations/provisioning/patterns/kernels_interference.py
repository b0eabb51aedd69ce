"""Enumeration of machine contents whose cost depends on who shares the machine.

Letters: C classes, R resources, K machine types, F families, W workloads, P contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedgap.formulations.provisioning.kernels_types import Catalogue, cheapest_type, content_load
from schedgap.formulations.provisioning.patterns.kernels_patterns import most_copies
from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray

OVER_CONTENTS = -1
OVER_NODES = -2
# A product of n factors is off by less than n 2^-53 of its size: enough for a hundred thousand tasks on a machine, and four
# times that much a task where there are more.
ROUNDING, TASK_ROUNDING = 1e-10, 2.0**-51


class Jobs(NamedTuple):
    """What tasks beside each other cost: workload (-1 for none) and value, (C,) int64, throughput (W, W) in [0, 1]."""

    workload: Any
    value: Any
    throughput: Any


@kernel
def loss_bounds(content: IntArray, jobs: Jobs) -> tuple[int, int]:
    """Return whole numbers below and above the rounded-up loss of one machine; equal only where nothing is lost.

    content : (C,). O(C^2) plus the tasks.
    """
    workload, value, throughput = jobs
    total, at_stake, tasks = 0.0, 0.0, 0
    for c in range(content.shape[0]):
        if content[c] == 0 or workload[c] < 0:
            continue
        product = 1.0
        for d in range(content.shape[0]):
            if content[d] > 0 and workload[d] >= 0:
                for _ in range(content[d] - (1 if c == d else 0)):
                    product *= throughput[workload[c], workload[d]]
        total += float(content[c]) * value[c] * (1.0 - product)
        at_stake += float(content[c]) * value[c]
        tasks += content[c]
    if total == 0.0:
        return 0, 0
    margin = max(ROUNDING, tasks * TASK_ROUNDING) * at_stake
    return int(np.ceil(total - margin)), int(np.ceil(total + margin))


@kernel
def all_contents(types: Catalogue, counts: IntArray, k: int, max_nodes: int, out: IntArray, filled: int) -> int:
    """Write every content whose cheapest type is k, from row `filled` on; returns the next row.

    counts : (C,), no content holds more. out : (max_contents, C). Returns OVER_CONTENTS when `out` is full, OVER_NODES
    after `max_nodes` contents that the type holds.
    """
    num_classes, num_resources = types.demand.shape[1], types.demand.shape[2]
    mine = types.demand[types.type2family[k]]
    residual = np.empty((num_classes + 1, num_resources), np.int64)
    residual[0] = types.capacity[k]
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
        content_load(chosen, types.demand, load)
        if chosen.sum() > 0 and cheapest_type(load, types) == k:
            if filled == out.shape[0]:
                return OVER_CONTENTS
            out[filled] = chosen
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
def keep_contents(
    contents: IntArray,
    content_type: IntArray,
    types: Catalogue,
    counts: IntArray,
    jobs: Jobs,
    alone: IntArray,
    keep: BoolArray,
) -> int:
    """Mark the contents that may be needed; returns how many.

    A content goes if it costs at least as much as its tasks alone, as itself without one task and that task alone, or
    as itself with one task more. alone : (C,), the price of one task alone. keep : (P,), out. A content's cost is taken
    from below and what replaces it from above, so that rounding never drops one that is needed.
    """
    num_classes = contents.shape[1]
    cand = np.empty(num_classes, np.int64)
    load = np.zeros((types.demand.shape[0], types.demand.shape[2]), np.int64)
    kept = 0
    for p in range(contents.shape[0]):
        content = contents[p]
        low = types.price[content_type[p]] + loss_bounds(content, jobs)[0]
        number = content.sum()
        keep[p] = number == 1 or low < (content * alone).sum()
        for c in range(num_classes):
            if not keep[p]:
                break
            for change in (-1, 1):
                if not 0 <= content[c] + change <= counts[c] or number + change == 0:
                    continue
                cand[:] = content
                cand[c] += change
                content_load(cand, types.demand, load)
                k = cheapest_type(load, types)
                if k < 0:
                    continue
                high = types.price[k] + loss_bounds(cand, jobs)[1]
                if low >= high + (alone[c] if change == -1 else 0):
                    keep[p] = False
                    break
        kept += keep[p]
    return kept
