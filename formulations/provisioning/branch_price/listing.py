"""All patterns that may be on a machine of a solution of so many machines, and a search among them; one type and resource.

Let no pattern be worth more than M at some prices of tasks. What m machines hold together is worth sum of prices, so each of
them holds something worth at least sum of prices - (m - 1) M. Where the relaxation is nearly m machines, those are few: they
are listed, and a tree over the list drops more of them at each node by that node's own prices. A node without patterns proves
that m machines do not do. Branches: two tasks share a machine or not; of several pairs the one is taken whose children are
left with the shortest lists.

After Baldacci, Christofides and Mingozzi (2008), where all routes within the gap are listed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp
from schedgap.formulations.provisioning.branch_price.relaxation import shared
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.units import DOLLAR

# Longest list, and pairs of tasks that are tried at a node.
MAX_LISTED, TRIED = 5_000, 30
# Deepest node: proofs are nested, and readers of JSON bear some 1,000 levels.
MAX_DEPTH = 100
# A list is narrowed again where it got shorter than this share by the last prices.
SHORTER = 0.9
# What a task that no pattern covers costs, in machines; how steeply the work at a child rises with its list.
UNCOVERED, STEEP = 10.0, 20.0
WHOLE = 1e-6
# Beyond, machines, sums of prices in nano-machines could leave 61 bits.
MAX_WORTH = 1e8


def listed(sizes: IntArray, values: IntArray, capacity: int, spare: int, machines: int) -> BoolArray | None:
    """(P, n): every pattern that one of so many machines may have in a solution; None for more than `MAX_LISTED`.

    sizes, values : (n,) int64, positive, of the tasks. spare : what a machine leaves free at most. O(n C).
    """
    num = sizes.shape[0]
    best = np.full((num + 1, capacity + 1), -(2**61))
    best[num, : max(0, spare + 1)] = 0
    for i in range(num - 1, -1, -1):
        best[i] = best[i + 1]
        np.maximum(best[i, sizes[i] :], best[i + 1, : capacity + 1 - sizes[i]] + values[i], out=best[i, sizes[i] :])
    least = int(values.sum()) - (machines - 1) * max(0, int(best[0, capacity]))
    # One task after the other: patterns so far that some rest makes worth enough.
    patterns, free, worth = np.zeros((1, num), np.bool_), np.array([capacity]), np.array([0])
    for i in range(num):
        without = np.flatnonzero(worth + best[i + 1, free] >= least)
        left = free - sizes[i]
        fitting = np.flatnonzero((left >= 0) & (worth + values[i] + best[i + 1, left.clip(0)] >= least))
        more = patterns[fitting]
        more[:, i] = True
        patterns = np.concatenate((patterns[without], more))
        free = np.concatenate((free[without], left[fitting]))
        worth = np.concatenate((worth[without], worth[fitting] + values[i]))
        if patterns.shape[0] > MAX_LISTED:
            return None
    return patterns


@dataclass(eq=False, slots=True)
class _Node:
    """patterns : indices of those on the list. proof : what is said of the node. x : (P,), of its relaxation."""

    patterns: IntArray
    proof: dict[str, Any]
    depth: int
    x: FloatArray


class Listing:
    """The search for a solution of so many machines by listed patterns (P, n).

    tasks : the number of each task in proofs. proof : that there is none, once `run` has returned False. packing : (M, n), of
    a solution, once it has returned True.
    """

    def __init__(self, sizes: IntArray, patterns: BoolArray, machines: int, tasks: Sequence[int]) -> None:
        self.sizes, self.patterns, self.machines, self.tasks = sizes, patterns.astype(np.int64), machines, tasks
        self.nodes, self.deadline, self._is_cut_short = 0, 0.0, False
        self.proof: dict[str, Any] = {}
        self.packing = self.patterns[:0]
        ones = np.ones(sizes.shape[0])
        self._lp = GrowingLp(ones, ones, is_dual=True)
        self._lp.add_columns(UNCOVERED * ones, np.eye(sizes.shape[0]))
        self._lp.add_columns(np.ones(patterns.shape[0]), patterns.astype(np.float64))

    def run(self, deadline: float) -> bool | None:
        """Return whether there is a solution, None if that is open at the deadline."""
        self.deadline = deadline
        to_do = self._open(np.arange(self.patterns.shape[0]), self.proof, 0)
        while to_do:
            node = to_do.pop()
            self.nodes += 1
            pair = shared(self.patterns.astype(np.float64)[node.x > WHOLE], node.x[node.x > WHOLE])
            part = np.minimum(pair, 1.0 - np.minimum(pair, 1.0))
            score = np.triu(np.where(part > WHOLE, part * (self.sizes[:, None] + self.sizes), 0.0), 1)
            if not score.any():
                self.packing = self.patterns[node.x > 0.5]
                return True if (self.packing.sum(axis=0) == 1).all() and len(self.packing) <= self.machines else None
            to_do += self._children(node, score)
            if self._is_cut_short or node.depth > MAX_DEPTH:
                return None
        return None if self._is_cut_short else False

    def _open(self, patterns: IntArray, proof: dict[str, Any], depth: int) -> list[_Node]:
        """Return the node of these patterns less what its own prices drop; nothing where none is left, or it is not known."""
        tasks = self.sizes.shape[0]
        proof["listed"] = rows = []
        while patterns.shape[0]:
            upper = np.zeros(self.patterns.shape[0])
            upper[patterns] = np.inf
            self._lp.set_column_upper(np.arange(upper.shape[0]) + tasks, upper)
            left_s = self.deadline - time.perf_counter()
            found = self._lp.solve(left_s) if left_s > 0 else None
            if found is None or float(np.abs(found.row_duals).sum()) > MAX_WORTH:
                self._is_cut_short = True
                return []
            values = np.rint(found.row_duals * DOLLAR * NANO).astype(np.int64)
            rows.append(by_task(values, self.tasks))
            worth = self.patterns[patterns] @ values
            before = patterns.shape[0]
            patterns = patterns[worth >= int(values.sum()) - (self.machines - 1) * max(0, int(worth.max()))]
            if patterns.shape[0] >= SHORTER * before:
                return [_Node(patterns, proof, depth, found.x[tasks:])]
        return []

    def _children(self, node: _Node, score: FloatArray) -> list[_Node]:
        """Branch on the best of several pairs; returns the children that are open."""
        best: tuple[float, dict[str, Any], list[_Node]] | None = None
        for place in np.argsort(-score, axis=None, kind="stable")[:TRIED]:
            i, j = divmod(int(place), self.sizes.shape[0])
            if score[i, j] <= 0 or (best is not None and len(best[2]) < 2):
                break
            has_i, has_j = self.patterns[node.patterns][:, [i, j]].T > 0
            proof: dict[str, Any] = {"pair": [self.tasks[i], self.tasks[j]], "apart": {}, "together": {}}
            children = self._open(node.patterns[~(has_i & has_j)], proof["apart"], node.depth + 1)
            children += self._open(node.patterns[has_i == has_j], proof["together"], node.depth + 1)
            price = float(sum(np.exp(STEEP * len(child.patterns) / len(node.patterns)) for child in children))
            if best is None or price < best[0]:
                best = price, proof, children
        assert best is not None
        node.proof.update(best[1])
        return best[2]


def by_task(values: IntArray, tasks: Sequence[int]) -> list[int]:
    """Return the values (n,) in order of the tasks' numbers."""
    return [int(value) for value in values[np.argsort(tasks)]]
