"""Dives with limited discrepancies: fix what the relaxation holds most of, generate columns for the rest, step back a little.

Sadykov, Vanderbeck, Pessoa, Tahiri and Uchoa, "Primal heuristics for branch and price: the assets of diving methods",
INFORMS Journal on Computing 31(2), 2019. Where a dive ends above the cutoff, it goes back to one of its first decisions and
leaves out the column that it fixed there.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from schedgap.formulations.backends.highs_lp import LpSolution
from schedgap.formulations.column_generation.master import Master
from schedgap.instances.arrays import FloatArray, IntArray

# A cutoff above the cost of any solution.
NO_CUTOFF = 2**62


class Part(NamedTuple):
    """So many machines of a kind, each with a pattern (n,)."""

    kind: int
    pattern: IntArray
    times: int


class Depths(NamedTuple):
    """How far a dive may step back: decisions from the root on, and columns left out at one of them."""

    decisions: int
    discrepancies: int


class Divable(Protocol):
    """A relaxation in whose master dives look for solutions."""

    @property
    def master(self) -> Master:
        """The restricted master."""

    def restrict(self, left: IntArray, cutoff: int) -> None:
        """Ask the master only for `left` (n,) of each item, in solutions cheaper than `cutoff` micro-dollars."""

    def near(self, left: IntArray, fixed: list[Part], deadline: float, cutoff: int) -> LpSolution | None:
        """Solve the master for what is left, with a few rounds of quick pricing.

        Parameters
        ----------
        left : (n,) int64, of each item.
        fixed : the machines that were chosen so far.
        deadline : of `perf_counter`.
        cutoff : micro-dollars, for what is left.

        Returns
        -------
        A solution, or None if none below the cutoff was found in time.
        """


class Dive:
    """Dives in one relaxation; afterwards its master asks for everything again.

    nearly_whole : the part of a machine that counts as one. nodes : masters that were solved.
    """

    def __init__(self, relaxation: Divable, deadline: float, cutoff: int | None, nearly_whole: float) -> None:
        self.relaxation, self.deadline, self.nearly_whole = relaxation, deadline, nearly_whole
        self.cutoff = NO_CUTOFF if cutoff is None else cutoff
        self.nodes = 0

    def run(self, depths: Depths) -> list[Part]:
        """Return the machines of a solution cheaper than the cutoff, or none."""
        master = self.relaxation.master
        self._low, self._high = master.low, master.high
        try:
            return self._explore(master.asked, [], frozenset(), 0, depths) or []
        finally:
            self.relaxation.restrict(master.asked, self.cutoff)
            master.limit(self._low, self._high)

    def _explore(
        self, left: IntArray, fixed: list[Part], tabu: frozenset[int], depth: int, depths: Depths
    ) -> list[Part] | None:
        master = self.relaxation.master
        while True:
            found = self._solved(left, fixed)
            chosen = [] if found is None else whole_parts(found.x, master.patterns, left, self.nearly_whole, tabu)
            if not chosen:
                return None
            parts = [*fixed, *(Part(int(master.kind[p]), master.patterns[p].copy(), times) for p, times in chosen)]
            rest = left - sum(part.times * part.pattern for part in parts[len(fixed) :])
            if not rest.any():
                return parts if self._cost(parts) < self.cutoff else None
            if depth >= depths.decisions:
                left, fixed, depth = rest, parts, depth + 1
                continue
            solution = self._explore(rest, parts, tabu, depth + 1, depths)
            tabu |= {chosen[0][0]}
            if solution is not None or len(tabu) > depths.discrepancies:
                return solution

    def _cost(self, parts: list[Part]) -> int:
        return sum(part.times * int(self.relaxation.master.price[part.kind]) for part in parts)

    def _solved(self, left: IntArray, fixed: list[Part]) -> LpSolution | None:
        self.nodes += 1
        master, cutoff = self.relaxation.master, self.cutoff - self._cost(fixed)
        self.relaxation.restrict(left, cutoff)
        if fixed:
            kind, patterns, times = (np.array(some, np.int64) for some in zip(*fixed, strict=True))
            used = times @ master.others(kind, patterns)
            master.limit(self._low - used, self._high - used)
        else:
            master.limit(self._low, self._high)
        return self.relaxation.near(left, fixed, self.deadline, cutoff)


def whole_parts(
    x: FloatArray, patterns: IntArray, left: IntArray, nearly_whole: float, tabu: frozenset[int] = frozenset()
) -> list[tuple[int, int]]:
    """Choose columns and how many machines of each, all within what is left; at least one if any fits.

    Parameters
    ----------
    x : (P,) float64, machines in a relaxation.
    patterns : (P, n) int64.
    left : (n,) int64.
    nearly_whole : of the part of a machine that counts as one; where no column has so much, the one that has most comes once.
    tabu : columns to leave out.
    """
    left = left.copy()
    chosen: list[tuple[int, int]] = []
    order = np.argsort(-x, kind="stable")
    for p in order[x[order] > 1e-6].tolist():
        value = float(x[p])
        if p in tabu:
            continue
        if chosen and value < nearly_whole:
            break
        used = patterns[p] > 0
        room = int((left[used] // patterns[p, used]).min())
        times = min(room, int(value + 1 - nearly_whole) or (0 if chosen else 1))
        if times:
            chosen.append((p, times))
            left -= times * patterns[p]
    return chosen
