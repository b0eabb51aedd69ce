"""Branching on how much is rented of each machine family and type, then on how many tasks of a class a family holds.

All these amounts are linear in the patterns, and their limits only shift the types' prices and what a class is worth on a
family, so every branch is priced by the same exact knapsacks. With prices proportional to size within a family, a branch
in which all families' amounts are whole has but one cost: what is left is whether a packing of that size exists. Machines
that a larger one can stand for are as few as can be, so that whole numbers of the large ones are near.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from schedgap.formulations.provisioning.bounds import joined_pairs, type_multiples
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance

WHOLE = 1e-6
Relaxed = TypeVar("Relaxed", bound="Limited")


class Limited(Protocol):
    """A relaxation under limits `low`, `high` on groups and perhaps shares; `bound`, micro-dollars, holds under them."""

    instance: ProvisioningInstance
    num_groups: int
    bound: int
    # A branch takes milliseconds: solutions are looked for at the end of branches only.
    is_quick: bool

    @property
    def weights(self) -> IntArray:
        """(G, K): the weight of each type in each group."""

    @property
    def low(self) -> FloatArray:
        """(G + S,): the least of each group and share."""

    @property
    def high(self) -> FloatArray:
        """(G + S,): the most of each group and share."""

    @property
    def amounts(self) -> FloatArray | None:
        """(G + S,): what the last solution has of each group and share, or None."""

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits."""

    def solve(self, deadline: float | None, cutoff: int | None = None) -> None:
        """Raise the bound until it is the relaxation's or `cutoff`, or the deadline has passed."""

    def tighten(self, amounts: FloatArray, deadline: float | None) -> bool:
        """Cut off whole `amounts` (G + S,) if more can be said of them; whether it did. The limits may be others then."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Limits of groups and shares (G + S,) and the bound under them, micro-dollars; amounts : of its relaxation, or None."""

    bound: int
    low: FloatArray
    high: FloatArray
    amounts: FloatArray | None


class Branching(Generic[Relaxed]):
    """Best-bound search over the limits; `bound` holds for the whole instance at any time."""

    def __init__(self, relaxation: Relaxed) -> None:
        self.relaxation = relaxation
        instance = relaxation.instance
        self.num_groups, self.num_families = relaxation.num_groups, relaxation.num_groups - instance.num_types
        # Families first, then types, the dearest of each first: a unit of them leaves the least choice for the others.
        unit = np.array([instance.price[row > 0].min() for row in relaxation.weights])
        is_type = np.arange(self.num_groups) >= self.num_families
        self._order = np.lexsort((-unit, is_type))
        self.nodes = 0
        self._pushed = 0
        self._open: list[tuple[int, int, Node]] = []
        # The least bound of branches in which all amounts are whole, and yet no solution was found.
        self._left: int | None = None
        high = relaxation.high.copy()
        for small, _, number in type_multiples(instance):
            high[self.num_families + small] = min(high[self.num_families + small], number - 1)
        # Types that are not rented together: a larger machine can stand for the two.
        self._apart = [(self.num_families + a, self.num_families + b) for a, b, _ in joined_pairs(instance)]
        is_same = np.array_equal(high, relaxation.high)
        self._push(Node(relaxation.bound, relaxation.low, high, relaxation.amounts if is_same else None))

    @property
    def bound(self) -> int | None:
        """Micro-dollars, proven for the instance without limits; None if no node is open."""
        bounds = [bound for bound in (self._left, self._open[0][0] if self._open else None) if bound is not None]
        return min(bounds, default=None)

    @property
    def is_stuck(self) -> bool:
        """Whether no branching can raise the bound any more."""
        return self._left is not None and self._left == self.bound

    def step(self, deadline: float, cutoff: int) -> Node | None:
        """Branch at the open node of least bound, and drop the branches that cannot be cheaper than `cutoff`.

        Returns a node whose amounts are whole, those of the families at least, if one came out, for the caller to look
        for a solution there. After the deadline, a branch keeps the bound of its parent.
        """
        if not self._open:
            return None
        _, _, node = heapq.heappop(self._open)
        if node.bound >= cutoff:
            return None
        if node.amounts is None:
            # The first, or cut off by an earlier deadline before its relaxation had a solution.
            node = self._solve(node, deadline, cutoff)
            if node.bound < cutoff:
                self._push(node)
            return None
        limit = self._limit(node)
        if limit is None:
            self._left = node.bound if self._left is None else min(self._left, node.bound)
            return node
        whole: Node | None = None
        for side in (0, 1):
            low, high = node.low.copy(), node.high.copy()
            if side == 0:
                high[limit] = np.floor(node.amounts[limit] + WHOLE)
            else:
                low[limit] = np.ceil(node.amounts[limit] - WHOLE)
            for a, b in self._apart:
                if low[a] > 0 or low[b] > 0:
                    other = b if low[a] > 0 else a
                    high[other] = 0.0
            if (low > high).any():
                continue
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
        while True:
            relaxation.limit(node.low, node.high)
            relaxation.solve(deadline, cutoff)
            solved = Node(max(node.bound, relaxation.bound), node.low, node.high, relaxation.amounts)
            if not relaxation.is_quick or solved.bound >= cutoff or not self._is_whole(solved):
                return solved
            assert solved.amounts is not None
            if not relaxation.tighten(solved.amounts, deadline):
                return solved

    def _limit(self, node: Node) -> int | None:
        """Return what to branch on: a family that is not whole, else a type, else the least whole share; None for none.

        Amounts beyond their limits, in a branch that has no solution, are of no use.
        """
        assert node.amounts is not None
        distance = np.abs(node.amounts - np.rint(node.amounts))
        distance[(node.amounts < node.low) | (node.amounts > node.high)] = 0.0
        for group in self._order.tolist():
            if distance[group] > WHOLE:
                return int(group)
        shares = distance[self.num_groups :]
        return self.num_groups + int(np.argmax(shares)) if shares.max(initial=0.0) > WHOLE else None

    def _is_whole(self, node: Node) -> bool:
        if node.amounts is None:
            return False
        # Where branches are quick, solutions are looked for at the end of them only.
        amounts = node.amounts if self.relaxation.is_quick else node.amounts[: self.num_families]
        return bool((np.abs(amounts - np.rint(amounts)) <= WHOLE).all())

    def _push(self, node: Node) -> None:
        # Of equal bounds the latest: the deepest.
        self._pushed += 1
        heapq.heappush(self._open, (node.bound, -self._pushed, node))
