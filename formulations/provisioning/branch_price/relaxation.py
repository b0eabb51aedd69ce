"""The linear relaxation of a node by column generation with cuts; its bound is proven in integers at every step.

The duals are smoothed towards those of the best bound so far. All prices in a solution are multiples of one step, so a bound
need only pass the last multiple below the program's value: contents are priced against a target above the machine's price,
which prunes most of the search where a step is a large share of the whole, as it is where machines are counted.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.branch_price.kernels_goods import FREE
from schedgap.formulations.provisioning.branch_price.master import Master, rounded_up
from schedgap.formulations.provisioning.branch_price.pricing import Cut, Pricing
from schedgap.formulations.provisioning.limits import MAX_NANO, class_values
from schedgap.instances.provisioning.dual_bound import NANO, scaled_bound
from schedgap.instances.provisioning.objective import price_step
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.formulations.backends.highs_lp import LpSolution
    from schedgap.formulations.provisioning.branch_price.program import Program
    from schedgap.instances.arrays import FloatArray, IntArray

SMOOTHING = 0.8
# Nodes of searches: of one for its own time, of a quick one for each item and at most, and of the longest.
FIRST_NODES, ITEM_NODES, QUICK_NODES, LAST_NODES = 2_000, 100, 50_000, 2_000_000_000
# From what share of the program's value on a bound's prices are near its own.
NEAR = 0.98
# Of the nodes that the time left is enough for, at the rate of the last search.
SPARE = 0.5
# From how many new contents on the program is solved again at once.
FEW = 10


class Relaxation:
    """Column generation for one program, continued at will.

    bound : micro-dollars, proven, rounded up to a step. values, penalties : int64, nano-dollars: what proves it. found : the
    last solution of the restricted master. packed : the machines of the cheapest packing that came by. is_converged : no
    content improves it.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.master, self.pricing = Master(program), Pricing(program)
        instance = program.instance
        self.step = price_step(instance)
        self.bound, self.is_converged = 0, False
        self.values, self.penalties = np.zeros(program.num_items, np.int64), np.zeros(0, np.int64)
        self.best = -1.0
        self.found: LpSolution | None = None
        self.packed: list[tuple[int, IntArray]] = []
        self.packed_cost: int | None = None
        self.centre = np.zeros(program.num_items)
        self.iterations = 0

    def start(self, machines: Sequence[tuple[int, IntArray]], values: IntArray, *, proven: bool = False) -> None:
        """Take first contents, and the item values (n,), nano-dollars, that the search begins at.

        proven : no content is worth more than its machine at these values.
        """
        self.master.add(machines)
        penalties = np.zeros(len(self.master.cuts), np.int64)
        self.centre = np.concatenate((values / (DOLLAR * NANO), np.zeros(penalties.shape[0])))
        if proven:
            worth = int(values.astype(object) @ self.program.counts)
            self.bound = scaled_bound(self.program.instance, worth, self.program.instance.price * NANO)
            self.values, self.best = values, float(worth)
        self.pack(values, penalties)

    def cut(self, cuts: Sequence[Cut]) -> None:
        """Add cuts; the bound stays."""
        self.master.cut(cuts)
        self.pricing.respect(self.master.cuts)
        self.centre = np.concatenate((self.centre, np.zeros(len(cuts))))
        self.penalties = np.concatenate((self.penalties, np.zeros(len(cuts), np.int64)))
        self.is_converged = False

    def solve(self, deadline: float, cutoff: int) -> None:
        """Generate contents until the bound is that of the program rounded up, or `cutoff`, or the deadline has passed."""
        num = self.program.num_items
        quick = min(ITEM_NODES * num, QUICK_NODES)
        nodes = 10 * quick
        self.restrict(self.program.counts, cutoff)
        while self.bound < cutoff:
            left_s = deadline - time.perf_counter()
            found = self.master.solve(left_s) if left_s > 0 else None
            if found is None:
                return
            self.found = found
            self.iterations += 1
            goal = rounded_up(found.objective, self.step)
            if self.bound >= goal:
                self.is_converged = True
                return
            duals = found.row_duals
            added, is_complete = self._extend(duals, min(quick, self._within(deadline)))
            if added >= FEW or (added and is_complete):
                continue
            # Prices far from the program's tell nothing of it.
            smoothing = SMOOTHING if self.best > NEAR * found.objective * DOLLAR * NANO else 0.0
            while time.perf_counter() < deadline:
                trial = smoothing * self.centre + (1 - smoothing) * duals
                values = self.values_near(trial[:num])
                penalties = self.penalties_near(trial[num:])
                most = min(nodes, self._within(deadline))
                better, contents, is_complete = self._prove(values, penalties, most, min(goal, cutoff))
                if self.bound >= goal:
                    break
                added += self.master.add(self.improving(contents, duals))
                if added:
                    if added < FEW and not is_complete:
                        nodes = min(nodes * 10, LAST_NODES)
                    break
                if better:
                    break
                if smoothing > 0:
                    smoothing = smoothing - 0.3 if smoothing > 0.5 else 0.0
                elif not is_complete and nodes < LAST_NODES:
                    nodes = nodes * 10
                else:
                    self.is_converged = is_complete
                    return

    def _within(self, deadline: float) -> int:
        """Return the nodes that there is time for."""
        return max(FIRST_NODES, int(SPARE * self.pricing.nodes_a_second * (deadline - time.perf_counter())))

    def _extend(self, duals: FloatArray, nodes: int) -> tuple[int, bool]:
        """Add contents of quick searches and of a packing, at these duals; return how many are new, and if searches ended."""
        num = self.program.num_items
        values, penalties = self.values_near(duals[:num]), self.penalties_near(duals[num:])
        _, contents, is_complete = self._prove(values, penalties, nodes, None)
        # In a tree tables price faster.
        if not (self.program.tasks and self.pricing.has_tables):
            contents += self.pack(values, penalties)
        return self.master.add(self.improving(contents, duals)), is_complete

    def polish(self, deadline: float) -> None:
        """Go on generating contents at the program's own duals while quick searches find any: for cuts and decisions.

        A bound of the program rounded up may be proven long before its solution is near the relaxation's, in which cuts are
        violated.
        """
        while time.perf_counter() < deadline:
            found = self.master.solve(deadline - time.perf_counter())
            if found is None:
                return
            self.found = found
            if not self._extend(found.row_duals, QUICK_NODES)[0]:
                return

    def pack(self, values: IntArray, penalties: IntArray) -> list[tuple[int, IntArray]]:
        """Pack everything at these values; keep the packing if it is the cheapest. Returns its machines."""
        machines = self.pricing.packing(values, penalties)
        self.take(machines)
        return machines

    def take(self, machines: list[tuple[int, IntArray]]) -> None:
        """Keep a packing of everything if it is the cheapest."""
        cost = sum(int(self.program.instance.price[k]) for k, _ in machines)
        if machines and (self.packed_cost is None or cost < self.packed_cost):
            self.packed, self.packed_cost = machines, cost

    def _prove(
        self, values: IntArray, penalties: IntArray, nodes: int, goal: int | None
    ) -> tuple[bool, list[tuple[int, IntArray]], bool]:
        """Price all types, with a target that is just enough for a bound of `goal`; whether the bound is the best so far."""
        instance = self.program.instance
        worth = int(values.astype(object) @ self.program.counts)
        worth -= sum(int(y) * cut.most for y, cut in zip(penalties, self.master.cuts, strict=True))
        target = instance.price * NANO
        if goal is not None and goal > self.step and worth > 0:
            enough = (goal - self.step) * NANO + 1
            target = np.array([max(int(t), min(worth * int(t) // enough, 2**61)) for t in target], np.int64)
        priced = self.pricing.best(values, penalties, target, nodes, spare=self.master.spare)
        ratio = min(1.0, float((instance.price * NANO / np.maximum(priced.upper, 1)).min()))
        better = worth * ratio > self.best
        if better:
            self.best, self.centre = worth * ratio, np.concatenate((values, penalties)) / (DOLLAR * NANO)
            self.centre[values.shape[0] :] *= -1
        bound = scaled_bound(instance, worth, priced.upper)
        if bound > self.bound:
            self.bound, self.values, self.penalties = bound, values, penalties
        return better, priced.contents, priced.is_complete

    def improving(self, machines: list[tuple[int, IntArray]], duals: FloatArray) -> list[tuple[int, IntArray]]:
        """Return the machines of negative reduced cost that the master allows."""
        if not machines:
            return []
        types, contents = np.array([k for k, _ in machines]), np.array([content for _, content in machines])
        least = -1e-9 * self.program.instance.price[types] / DOLLAR
        good = self.master.allows(contents) & (self.master.reduced_costs(types, contents, duals) < least)
        return [machine for machine, is_good in zip(machines, good, strict=True) if is_good]

    def restrict(self, left: IntArray, cutoff: int) -> None:
        """Ask only for `left` (n,) of each item, in solutions cheaper than `cutoff` micro-dollars."""
        spare = self.program.spare(left, cutoff - self.step) if self.pricing.has_tables else FREE
        if spare != self.master.spare or (left != self.master.left).any():
            self.master.restrict(left, spare)

    def values_near(self, duals: FloatArray) -> IntArray:
        """(n,) int64, nano-dollars: the items' values near their duals; at least 1 where an item may have to fill a machine."""
        values = class_values(self.program.instance, duals)
        return np.maximum(values, 1) if self.master.spare < FREE else values

    def penalties_near(self, duals: FloatArray) -> IntArray:
        """(Q,) int64, nano-dollars: the cuts' penalties near their duals, which are not positive."""
        most = MAX_NANO // max(1, int(self.program.counts.sum()))
        nano: IntArray = np.minimum(np.ceil(np.maximum(-duals, 0.0) * DOLLAR * NANO), most).astype(np.int64)
        return nano
