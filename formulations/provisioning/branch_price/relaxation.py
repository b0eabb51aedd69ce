"""The linear relaxation of a node by column generation with cuts; its bound is proven in integers at every step.

    minimise    sum_p price[type p] x[p]
    subject to  sum_p pattern[p, i] x[p] >= counts[i]                                  for each item i
                sum_p floor(numerators[q] @ pattern[p] / divisor[q]) x[p] <= most[q]   for each cut q
                x >= 0

The duals are smoothed towards those of the best bound so far. All prices in a solution are multiples of one step, so a bound
need only pass the last multiple below the program's value: patterns are priced against a target above the machine's price,
which prunes most of the search where a step is a large share of the whole, as it is where machines are counted.

Cuts are subset-row cuts: of three tasks, at most one machine holds two or more (Jepsen, Petersen, Spoorendonk and Pisinger
2008).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from schedgap.formulations.backends.highs_lp import LpSolution
from schedgap.formulations.column_generation.master import Generation, Master, Part
from schedgap.formulations.provisioning.branch_price.kernels_pattern import FREE, violated_triples
from schedgap.formulations.provisioning.branch_price.program import Cut, Pricing, Program
from schedgap.formulations.provisioning.limits import MAX_NANO, class_values
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.provisioning.pricing import NANO, scaled_bound
from schedgap.instances.provisioning.verify import price_step
from schedgap.instances.units import DOLLAR

Machines = list[tuple[int, IntArray]]

SMOOTHING = 0.8
# Nodes of searches: of one for its own time, of a quick one for each item and at most, and of the longest.
FIRST_NODES, ITEM_NODES, QUICK_NODES, LAST_NODES = 2_000, 100, 50_000, 2_000_000_000
# From what share of the program's value on a bound's prices are near its own.
NEAR = 0.98
# Of the nodes that the time left is enough for, at the rate of the last search.
SPARE = 0.5
# From how many new patterns on the program is solved again at once.
FEW = 10
# Rounds of pricing at a step of a dive: quick ones, and all of them where the value is above the cutoff.
ROUNDS, MOST_ROUNDS = 3, 30
# Cuts that are violated by less are not worth their row; so many come in at a time, of one item at most so many.
LEAST, CANDIDATES, NEW, OF_ITEM = 0.02, 400, 40, 4
# Bounds on the O(n^3) search.
MAX_ITEMS = 1_200


class CutMaster(Master):
    """Patterns found so far, the linear program over them, and its cuts.

    spare : what a machine may leave free (see `Program.spare`).
    """

    def __init__(self, program: Program) -> None:
        self.program, self.spare = program, FREE
        self.cuts: list[Cut] = []
        super().__init__(program.instance.price, program.counts, np.zeros(0), np.zeros(0))

    def others(self, kind: IntArray, patterns: IntArray) -> IntArray:
        """(m, Q) int64: how often patterns count in each cut."""
        parts = [patterns @ cut.numerators // cut.divisor for cut in self.cuts]
        return np.column_stack(parts) if parts else super().others(kind, patterns)

    def allows(self, patterns: IntArray) -> BoolArray:
        """(m,): whether a machine may have a pattern: no more than is left to ask for, and nearly full where it must be."""
        program, within = self.program, super().allows(patterns)
        if self.spare == FREE:
            return within
        free = program.capacity[0, 0] - patterns @ program.demand[program.instance.type2family[0], :, 0]
        full: BoolArray = within & (free <= self.spare)
        return full

    def machine(self, p: int) -> tuple[int, IntArray]:
        """Return the type of a known column, and its pattern."""
        return int(self.kind[p]), self.patterns[p].copy()

    def cut(self, cuts: Sequence[Cut]) -> None:
        """Add cuts."""
        self.cuts += cuts
        self.low = np.concatenate((self.low, np.full(len(cuts), -np.inf)))
        self.high = np.concatenate((self.high, [cut.most for cut in cuts]))
        self.build()

    def restrict(self, left: IntArray, spare: int = FREE) -> None:
        """Ask only for `left` (n,) of each item, by patterns that have at most so many and leave at most `spare` free."""
        self.spare = spare
        super().restrict(left)


def rounded_up(dollars: float, step: int) -> int:
    """Return micro-dollars: an amount near `dollars` rounded up to whole steps, with a solver's tolerance taken off."""
    return math.ceil(dollars * DOLLAR / step - 1e-6) * step


class Relaxation(Generation):
    """Column generation for one program, continued at will.

    bound : micro-dollars, proven, rounded up to a step. values, penalties : int64, nano-dollars: what proves it. packed : the
    machines of the cheapest packing that came by.
    """

    master: CutMaster
    is_solved_anew = False

    def __init__(self, program: Program) -> None:
        super().__init__(CutMaster(program))
        self.program, self.pricing = program, Pricing(program)
        instance = program.instance
        self.step = price_step(instance)
        self.bound = self._goal = self._cutoff = self._added = 0
        self._deadline, self._nodes = math.inf, LAST_NODES
        self.values, self.penalties = np.zeros(program.num_items, np.int64), np.zeros(0, np.int64)
        self.best = -1.0
        self.packed: Machines = []
        self.packed_cost: int | None = None
        self.centre = np.zeros(program.num_items)

    def start(self, machines: Machines, values: IntArray, *, proven: bool = False) -> None:
        """Take first patterns, and the item values (n,), nano-dollars, that the search begins at.

        proven : no pattern is worth more than its machine at these values.
        """
        self.master.add(*self._columns(machines))
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
        """Generate patterns until the bound is that of the program rounded up, or `cutoff`, or the deadline has passed."""
        self._deadline, self._cutoff = deadline, cutoff
        self._nodes = 10 * self._quick
        self.restrict(self.program.counts, cutoff)
        self.generate(deadline)

    @property
    def is_open(self) -> bool:
        """Whether the bound is below the cutoff."""
        return self.bound < self._cutoff

    @property
    def _quick(self) -> int:
        return min(ITEM_NODES * self.program.num_items, QUICK_NODES)

    def ended(self, found: LpSolution) -> bool | None:
        """End where the bound is the value of the program, rounded up."""
        self._goal = rounded_up(found.objective, self.step)
        return True if self.bound >= self._goal else None

    def extend(self, found: LpSolution) -> bool:
        """Add patterns of quick searches and a packing; whether there are so many that the program is solved again at once."""
        self._added, is_complete = self._extend(found.row_duals, min(self._quick, self._within(self._deadline)))
        # Prices far from the program's tell nothing of it.
        self.share = SMOOTHING if self.best > NEAR * found.objective * DOLLAR * NANO else 0.0
        return self._added >= FEW or (self._added > 0 and is_complete)

    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Price all types against a target that is just enough for the next step of the bound."""
        num, most = self.program.num_items, min(self._nodes, self._within(self._deadline))
        values, penalties = self.values_near(trial[:num]), self.penalties_near(trial[num:])
        goal = min(self._goal, self._cutoff)
        is_better, machines, is_complete = self._prove(values, penalties, most, goal)
        if self.bound >= self._goal:
            return True, is_complete
        self._added += self.add(machines, found.row_duals)
        if 0 < self._added < FEW and not is_complete:
            self._nodes = min(self._nodes * 10, LAST_NODES)
        return self._added > 0 or is_better, is_complete

    def longer(self) -> bool:
        """Search ten times as many nodes."""
        is_short = self._nodes < LAST_NODES
        self._nodes *= 10 if is_short else 1
        return is_short

    def _within(self, deadline: float) -> int:
        """Return the nodes that there is time for."""
        return max(FIRST_NODES, int(SPARE * self.pricing.nodes_a_second * (deadline - time.perf_counter())))

    def _extend(self, duals: FloatArray, nodes: int) -> tuple[int, bool]:
        """Add patterns of quick searches and of a packing, at these duals; return how many are new, and if searches ended."""
        num = self.program.num_items
        values, penalties = self.values_near(duals[:num]), self.penalties_near(duals[num:])
        _, machines, is_complete = self._prove(values, penalties, nodes, None)
        # In a tree tables price faster.
        if not (self.program.tasks and self.pricing.has_tables):
            machines += self.pack(values, penalties)
        return self.add(machines, duals), is_complete

    def polish(self, deadline: float) -> None:
        """Go on generating patterns at the program's own duals while quick searches find any: for cuts and decisions.

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

    def pack(self, values: IntArray, penalties: IntArray) -> Machines:
        """Pack everything at these values; keep the packing if it is the cheapest. Returns its machines."""
        machines = self.pricing.packing(values, penalties)
        self.take(machines)
        return machines

    def take(self, machines: Machines) -> None:
        """Keep a packing of everything if it is the cheapest."""
        cost = self._cost(machines)
        if machines and (self.packed_cost is None or cost < self.packed_cost):
            self.packed, self.packed_cost = machines, cost

    def _cost(self, machines: Machines) -> int:
        return sum(int(self.program.instance.price[k]) for k, _ in machines)

    def _prove(
        self, values: IntArray, penalties: IntArray, nodes: int, goal: int | None
    ) -> tuple[bool, Machines, bool]:
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
        return better, priced.patterns, priced.is_complete

    def add(self, machines: Machines, duals: FloatArray) -> int:
        """Add the machines that would improve the master at its duals; returns how many are new."""
        kind, patterns = self._columns(machines)
        good = self.master.improving(kind, patterns, duals)
        return self.master.add(kind[good], patterns[good])

    def _columns(self, machines: Machines) -> tuple[IntArray, IntArray]:
        """Return types (m,) and patterns (m, n)."""
        patterns = np.array([pattern for _, pattern in machines], np.int64).reshape(-1, self.program.num_items)
        return np.array([k for k, _ in machines], np.int64), patterns

    def near(self, left: IntArray, fixed: list[Part], deadline: float, cutoff: int) -> LpSolution | None:
        """Solve the master for what is left, with a few rounds of quick pricing; None above the cutoff."""
        num = left.shape[0]
        for turn in range(MOST_ROUNDS):
            left_s = deadline - time.perf_counter()
            found = self.master.solve(left_s) if left_s > 0 else None
            if found is None:
                return None
            is_above = rounded_up(found.objective, self.step) >= cutoff
            if turn >= ROUNDS and not is_above:
                return found
            values, penalties = self.values_near(found.row_duals[:num]), self.penalties_near(found.row_duals[num:])
            machines = self.pricing.packing(values, penalties, left)
            if machines and self._cost(machines) < cutoff:
                self.take(machines_of(fixed) + machines)
            target = self.program.instance.price * NANO
            nodes = QUICK_NODES if turn >= ROUNDS else min(ITEM_NODES * int((left > 0).sum()), QUICK_NODES)
            priced = self.pricing.best(values, penalties, target, nodes, left, self.master.spare)
            if not self.add(priced.patterns + machines, found.row_duals):
                if not is_above:
                    return found
                if turn >= ROUNDS:
                    return None
        return None

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


def machines_of(parts: list[Part]) -> Machines:
    """Return the machines of a dive one by one."""
    return [(part.kind, part.pattern) for part in parts for _ in range(part.times)]


def violated_cuts(relaxation: Relaxation) -> list[Cut]:
    """Return cuts that the last solution of a relaxation violates, the most violated first; of items that are single tasks."""
    program, found = relaxation.program, relaxation.found
    if found is None or program.num_items > MAX_ITEMS or (program.counts > 1).any():
        return []
    used = np.flatnonzero(found.x > 1e-7)
    patterns, x = relaxation.master.patterns[used].astype(np.float64), found.x[used]
    pair = shared(patterns, x)
    item, column = np.nonzero(patterns.T)
    start = np.searchsorted(item, np.arange(program.num_items + 1))
    triples, by = violated_triples(pair, start, column, patterns, x, LEAST, CANDIDATES)
    known = {tuple(np.flatnonzero(cut.numerators)) for cut in relaxation.master.cuts}
    times = np.zeros(program.num_items, np.int64)
    cuts: list[Cut] = []
    for t in np.argsort(-by, kind="stable"):
        if len(cuts) == NEW:
            break
        triple = tuple(triples[t].tolist())
        if triple not in known and (times[triples[t]] < OF_ITEM).all():
            times[triples[t]] += 1
            numerators = np.zeros(program.num_items, np.int64)
            numerators[triples[t]] = 1
            cuts.append(Cut(numerators, 2, 1))
    return cuts


def shared(patterns: FloatArray, x: FloatArray) -> FloatArray:
    """(n, n): how many machines hold both items of a pair, by patterns (P, n) and their machines x (P,); diagonal 0."""
    pair: FloatArray = (patterns.T * x) @ patterns
    np.fill_diagonal(pair, 0.0)
    return pair
