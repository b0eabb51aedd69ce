"""Dives with limited discrepancies: fix what the relaxation holds most of, generate contents for the rest, step back a little.

After Sadykov, Vanderbeck, Pessoa, Tahiri and Uchoa, "Primal heuristics for branch and price: the assets of diving methods",
INFORMS Journal on Computing 31(2), 2019. Where a dive ends above the cutoff, it goes back to one of its first decisions and
leaves out the contents that it fixed there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.formulations.column_generation.diving import whole_parts
from schedgap.formulations.provisioning.branch_price.master import rounded_up
from schedgap.formulations.provisioning.branch_price.relaxation import ITEM_NODES, QUICK_NODES, Relaxation
from schedgap.instances.provisioning.dual_bound import NANO

if TYPE_CHECKING:
    from schedgap.formulations.backends.highs_lp import LpSolution
    from schedgap.instances.arrays import IntArray

    Machines = list[tuple[int, IntArray]]

# Rounds of pricing at a node: quick ones, and all of them where the value is above the cutoff.
ROUNDS, MOST_ROUNDS = 3, 30
NEARLY_WHOLE = 0.8


class _Stop(Exception):
    """The deadline of a dive has passed."""


class Depths(NamedTuple):
    """How far a dive may step back: decisions from the root on, and contents left out at one of them."""

    decisions: int
    discrepancies: int


class Dive:
    """Dives from one relaxation; after a dive its master asks for everything again."""

    def __init__(self, relaxation: Relaxation, deadline: float, cutoff: int) -> None:
        self.relaxation, self.deadline, self.cutoff = relaxation, deadline, cutoff
        self.instance, self.master = relaxation.program.instance, relaxation.master
        self.nodes = 0

    def run(self, depths: Depths) -> Machines:
        """Return the machines of a solution cheaper than the cutoff, or none."""
        try:
            return self._explore(self.relaxation.program.counts.copy(), [], frozenset(), 0, depths) or []
        except _Stop:
            return []
        finally:
            self.relaxation.restrict(self.relaxation.program.counts, self.cutoff)
            self.master.relax_cuts(None)

    def _explore(
        self, left: IntArray, fixed: Machines, tabu: frozenset[int], depth: int, depths: Depths
    ) -> Machines | None:
        while True:
            found = self._solve(left, fixed)
            if found is None:
                return None
            chosen = whole_parts(found.x, self.master.contents, left, NEARLY_WHOLE, tabu)
            if not chosen:
                return None
            rest, machines = left.copy(), list(fixed)
            for p, times in chosen:
                machine = self.master.machine(p)
                rest -= times * machine[1]
                machines += [machine] * times
            if not rest.any():
                return machines if self._cost(machines) < self.cutoff else None
            solution = self._explore(rest, machines, tabu, depth + 1, depths)
            if solution is not None or depth >= depths.decisions:
                return solution
            tabu |= {chosen[0][0]}
            if len(tabu) > depths.discrepancies:
                return None

    def _cost(self, machines: Machines) -> int:
        return sum(int(self.instance.price[k]) for k, _ in machines)

    def _solve(self, left: IntArray, fixed: Machines) -> LpSolution | None:
        """Solve the restricted master for what is left, with a few rounds of quick pricing; None above the cutoff."""
        self.nodes += 1
        master, num = self.master, left.shape[0]
        spent = self._cost(fixed)
        self.relaxation.restrict(left, self.cutoff - spent)
        contents = np.array([content for _, content in fixed], np.int64).reshape(-1, num)
        master.relax_cuts(master.rows(contents).sum(axis=0)[num:])
        for turn in range(MOST_ROUNDS):
            left_s = self.deadline - time.perf_counter()
            found = master.solve(left_s) if left_s > 0 else None
            if found is None:
                raise _Stop
            is_above = rounded_up(found.objective, self.relaxation.step) + spent >= self.cutoff
            if turn >= ROUNDS and not is_above:
                return found
            values = self.relaxation.values_near(found.row_duals[:num])
            penalties = self.relaxation.penalties_near(found.row_duals[num:])
            machines = self.relaxation.pricing.packing(values, penalties, left)
            if machines and spent + self._cost(machines) < self.cutoff:
                self.relaxation.take(fixed + machines)
            target = self.instance.price * NANO
            nodes = QUICK_NODES if turn >= ROUNDS else min(ITEM_NODES * int((left > 0).sum()), QUICK_NODES)
            priced = self.relaxation.pricing.best(values, penalties, target, nodes, left, master.spare)
            if not master.add(self.relaxation.improving(priced.contents + machines, found.row_duals)):
                if not is_above:
                    return found
                if turn >= ROUNDS:
                    return None
        return None
