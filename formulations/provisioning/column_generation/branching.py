"""Branching on how much is rented of each machine family and type: the bound that whole machines give.

The amounts are linear in the patterns and their limits only shift the types' prices, so every branch is priced by the
same exact knapsacks. With prices proportional to size within a family, a branch in which all families' amounts are whole
has but one cost: what is left is whether a packing of that size exists.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
    from schedgap.instances.arrays import FloatArray

WHOLE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Limits of the groups (G,) and the bound under them, micro-dollars; amounts : (G,) rented by its relaxation."""

    bound: int
    low: FloatArray
    high: FloatArray
    amounts: FloatArray | None


class Branching:
    """Best-bound search over the limits; `bound` holds for the whole instance at any time."""

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.num_families = relaxation.num_groups - relaxation.instance.num_types
        self.nodes = 0
        self.is_stuck = False
        self._pushed = 0
        self._open: list[tuple[int, int, Node]] = []
        master = relaxation.master
        self._push(Node(relaxation.bound, master.low, master.high, self._amounts()))

    @property
    def bound(self) -> int | None:
        """Micro-dollars, proven for the instance without limits; None if no node is open."""
        return self._open[0][0] if self._open else None

    def step(self, deadline: float, cutoff: int) -> Node | None:
        """Branch at the open node of least bound, and drop the branches that cannot be cheaper than `cutoff`.

        Returns a node whose amounts are whole in all families, if one came out, for the caller to look for a solution
        there: the relaxation is left under its limits. After the deadline, a branch keeps the bound of its parent.
        """
        if not self._open:
            return None
        _, _, node = self._open[0]
        if node.amounts is None:
            # Cut off by an earlier deadline before its relaxation had a solution.
            node = self._solve(node, deadline, cutoff)
            heapq.heappop(self._open)
            if node.bound < cutoff:
                self._push(node)
            return None
        group = self._group(node)
        if group is None:
            self.is_stuck = True
            return None
        heapq.heappop(self._open)
        whole: Node | None = None
        for side in (0, 1):
            low, high = node.low.copy(), node.high.copy()
            if side == 0:
                high[group] = min(high[group], np.floor(node.amounts[group] + WHOLE))
            else:
                low[group] = max(low[group], np.ceil(node.amounts[group] - WHOLE))
            child = self._solve(Node(node.bound, low, high, None), deadline, cutoff)
            if child.bound < cutoff:
                self._push(child)
                if self._is_whole(child):
                    whole = child
        return whole

    def enter(self, node: Node) -> None:
        """Put the relaxation under a node's limits."""
        self.relaxation.limit(node.low, node.high)

    def _solve(self, node: Node, deadline: float, cutoff: int) -> Node:
        self.nodes += 1
        relaxation = self.relaxation
        relaxation.limit(node.low, node.high)
        relaxation.recentre(deadline)
        relaxation.solve(deadline, cutoff)
        return Node(max(node.bound, relaxation.bound), node.low, node.high, self._amounts())

    def _amounts(self) -> FloatArray | None:
        relaxation, x = self.relaxation, self.relaxation.x
        if x is None:
            return None
        types = relaxation.master.machine_type[: x.shape[0]]
        used = np.bincount(types, weights=x, minlength=relaxation.instance.num_types)
        return np.asarray(relaxation.master.weights @ used, np.float64)

    def _group(self, node: Node) -> int | None:
        """Return the group to branch on: the least whole family, or else the least whole type; None for none."""
        assert node.amounts is not None
        distance = np.abs(node.amounts - np.rint(node.amounts))
        for span in (slice(0, self.num_families), slice(self.num_families, None)):
            if distance[span].max() > WHOLE:
                return int(np.argmax(distance[span])) + (span.start or 0)
        return None

    def _is_whole(self, node: Node) -> bool:
        if node.amounts is None:
            return False
        families = node.amounts[: self.num_families]
        return bool((np.abs(families - np.rint(families)) <= WHOLE).all())

    def _push(self, node: Node) -> None:
        self._pushed += 1
        heapq.heappush(self._open, (node.bound, self._pushed, node))
