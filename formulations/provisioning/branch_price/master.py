"""The restricted master of a node: known contents, the linear program over them, and its cuts.

    minimise    sum_p price[type p] x[p]
    subject to  sum_p content[p, i] x[p] >= counts[i]                                  for each item i
                sum_p floor(numerators[q] @ content[p] / divisor[q]) x[p] <= most[q]   for each cut q
                x >= 0

Money is in dollars here, for the solver.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.formulations.provisioning.branch_price.kernels_goods import FREE
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.formulations.provisioning.branch_price.pricing import Cut
    from schedgap.formulations.provisioning.branch_price.program import Program
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

# Contents that there is room for at first.
FIRST = 256


class Master:
    """Contents found so far, their types, and the linear program over them.

    left : (n,) int64, what is asked for. spare : what a machine may leave free (see `Program.spare`). contents : (P, n)
    int64. types : (P,) int64.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cuts: list[Cut] = []
        self.left, self.spare = program.counts, FREE
        self.num_contents = 0
        self._contents, self._types = np.zeros((FIRST, program.num_items), np.int64), np.zeros(FIRST, np.int64)
        self._known: set[bytes] = set()
        self._build()

    def _build(self) -> None:
        """Make the linear program anew; its first columns cover an item each, at more than any machine's price."""
        num, price = self.program.num_items, self.program.instance.price
        most = np.array([cut.most for cut in self.cuts], np.float64)
        self._lp = GrowingLp(
            np.concatenate((self.left.astype(np.float64), np.full(most.shape[0], -np.inf))),
            np.concatenate((np.full(num, np.inf), most)),
        )
        slack = np.hstack((np.eye(num), np.zeros((num, most.shape[0]))))
        self._lp.add_columns(np.full(num, 10 * float(price.max()) / DOLLAR), slack)
        self._add_columns(0)

    def _add_columns(self, first: int) -> None:
        types, contents = self.types[first:], self.contents[first:]
        upper = np.where(self.allows(contents), np.inf, 0.0)
        self._lp.add_columns(self.program.instance.price[types] / DOLLAR, self.rows(contents), upper)

    @property
    def contents(self) -> IntArray:
        """(P, n) int64: how many of each item."""
        return self._contents[: self.num_contents]

    @property
    def types(self) -> IntArray:
        """(P,) int64: the machine type of each content."""
        return self._types[: self.num_contents]

    def machine(self, p: int) -> tuple[int, IntArray]:
        """Return the type of a known content, and the content."""
        return int(self._types[p]), self._contents[p].copy()

    def rows(self, contents: IntArray) -> FloatArray:
        """(m, n + Q): what contents (m, n) have in each row of the program."""
        parts = [contents @ cut.numerators // cut.divisor for cut in self.cuts]
        return np.column_stack((contents, *parts)).astype(np.float64)

    def reduced_costs(self, types: IntArray, contents: IntArray, duals: FloatArray) -> FloatArray:
        """(m,) dollars: the prices of machines with these types and contents, less what they are worth at the rows' duals."""
        return self.program.instance.price[types] / DOLLAR - self.rows(contents) @ duals

    def allows(self, contents: IntArray) -> BoolArray:
        """(m,): whether a machine may have a content: no more than is left to ask for, and nearly full where it must be."""
        program = self.program
        free = program.capacity[0, 0] - contents @ program.demand[program.instance.type2family[0], :, 0]
        fits: BoolArray = (contents <= self.left).all(axis=1) & ((free <= self.spare) | (self.spare == FREE))
        return fits

    def add(self, machines: Iterable[tuple[int, IntArray]]) -> int:
        """Add contents that are not known yet; returns how many were new."""
        before = self.num_contents
        for k, content in machines:
            key = k.to_bytes(4, "little") + content.tobytes()
            if key in self._known or not content.any():
                continue
            self._known.add(key)
            if self.num_contents == self._types.shape[0]:
                self._contents = np.concatenate((self._contents, np.zeros_like(self._contents)))
                self._types = np.concatenate((self._types, np.zeros_like(self._types)))
            self._contents[self.num_contents], self._types[self.num_contents] = content, k
            self.num_contents += 1
        self._add_columns(before)
        return self.num_contents - before

    def cut(self, cuts: Sequence[Cut]) -> None:
        """Add cuts."""
        self.cuts += cuts
        self._build()

    def restrict(self, left: IntArray, spare: int = FREE) -> None:
        """Ask only for `left` (n,) of each item, by contents that have at most so many and leave at most `spare` free."""
        for i in np.flatnonzero(left != self.left):
            self._lp.set_row_bounds(int(i), float(left[i]), np.inf)
        self.left, self.spare = left.copy(), spare
        upper = np.where(self.allows(self.contents), np.inf, 0.0)
        self._lp.set_column_upper(np.arange(self.num_contents) + self.program.num_items, upper)

    def relax_cuts(self, used: FloatArray | None) -> None:
        """Leave the cuts (Q,) so much less than their most, or their most again for None."""
        for q, cut in enumerate(self.cuts):
            most = cut.most - (0.0 if used is None else float(used[q]))
            self._lp.set_row_bounds(self.program.num_items + q, -np.inf, most)

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Solve the linear program; `x` holds the contents only. None if the limit was hit."""
        found = self._lp.solve(time_limit_s)
        if found is None:
            return None
        return type(found)(found.objective, found.x[self.program.num_items :], found.row_duals)


def rounded_up(dollars: float, step: int) -> int:
    """Return micro-dollars: an amount near `dollars` rounded up to whole steps, with a solver's tolerance taken off."""
    return math.ceil(dollars * DOLLAR / step - 1e-6) * step
