"""Branch-cut-and-price for covering task classes by the patterns of machines.

    minimise    sum_p price[type p] x[p]                       x[p]: machines with pattern p, whole
    subject to  sum_p pattern[p, c] x[p] >= counts[c]          for each task class c

over all patterns of all machine types. Column generation with exact pricing (`kernels_pattern`), subset-row cuts that pricing
respects, branching on pairs of tasks, and dives; with one machine type and one resource, only patterns that leave no more free
than all machines of a cheaper solution leave together, and a search of their list where they are few; everything that counts is
proven in integers, and the proof can be written down for others to check. Best where tasks are large, and so machines hold few,
or where prices have a large common step.

Sources: Gilmore and Gomory (1961); Ryan and Foster (1981); Farley (1990); Jepsen et al. (2008) for the cuts; Pessoa, Sadykov,
Uchoa and Vanderbeck (2018) for smoothing; Sadykov et al. (2019) for dives; da Silva and Schouery (2023) for what is left free.

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
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp
from schedgap.formulations.column_generation.master import Depths, Dive
from schedgap.formulations.provisioning.branch_price.kernels_pattern import FREE
from schedgap.formulations.provisioning.branch_price.program import Program, first_values
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation, machines_of, shared
from schedgap.formulations.provisioning.branch_price.tree import Node, Tree, leaf
from schedgap.formulations.provisioning.column_generation.column_generation import UNLIMITED_S, supported
from schedgap.formulations.provisioning.limits import class_values
from schedgap.formulations.provisioning.search import Search, restoring
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import cost
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


# Which part of a machine counts as one in a dive; how far dives step back: not at all, a little, and in turns with the tree
# further and further.
NEARLY_WHOLE = 0.8
QUICK, LONGER = Depths(0, 0), Depths(3, 2)
LONGEST = (Depths(10, 2), Depths(5, 4), Depths(20, 3), Depths(10, 5))
# The first turns of the tree and of such a dive; the following ones are twice as long each.
TURN_S = 5.0
# Until when the relaxation at the root is solved, as a share of the time limit, and the dive that follows.
STAGES = ((0.1, QUICK), (0.5, LONGER), (1.0, LONGER))
# Largest share of the time limit that the search among listed patterns takes, seconds of it, and for better prices before it.
LISTING_SHARE, LISTING_S, POLISHING_S = 0.1, 120.0, 2.0
# In the tree every task is a row of dense columns.
MAX_TASKS = 1_500
# Largest share of all time that dives in the tree take, and seconds of the longest one.
DIVING_SHARE, DIVE_S = 0.4, 20.0


@method("branch-cut-and-price", family=FAMILY, supports=supported, exact=True, version=6)
def branch_cut_and_price(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, found: Found = untold
) -> Outcome:
    """Branch-cut-and-price: exact pricing, subset-row cuts, branching on pairs of tasks, dives."""
    search = BranchCutAndPrice(instance, time_limit_s, found)
    search.run()
    return search.outcome()


class BranchCutAndPrice(Search):
    """One run, in the instance whose equal classes are merged."""

    def __init__(self, instance: ProvisioningInstance, time_limit_s: float | None, found: Found = untold) -> None:
        start, limit_s = time.perf_counter(), UNLIMITED_S if time_limit_s is None else time_limit_s
        self.merged = merge_equal_classes(instance)
        super().__init__(start, limit_s, restoring(found, self.merged.restore))
        self.deadline = self.start + self.limit_s
        self.instance = self.merged.instance
        self.tree: Tree | None = None
        # The bound that can be shown, micro-dollars, and its proof: of the root, or of the whole tree.
        self.shown: tuple[int, dict[str, Any]] = (0, {})
        self.diving_s = 0.0
        self.root: Relaxation | None = None
        alone = np.eye(self.instance.num_classes, dtype=np.int64)
        self._improve(Provisioning.from_patterns(self.instance.reservation_type, self.instance.counts, alone))

    def run(self) -> None:
        """Solve the relaxation over classes, dive, and then branch over tasks."""
        program = Program.of_classes(self.instance)
        root = self.root = Relaxation(program)
        root.start([], first_values(program), proven=True)
        self.raise_bound(min(root.bound, self._cutoff()))
        self._take(root)
        for share, depths in STAGES:
            if self.is_open:
                root.solve(min(self.deadline, self.start + share * self.limit_s), self._cutoff())
                self._take(root)
                self.raise_bound(min(root.bound, self._cutoff()))
            if self.is_open:
                self._dive(root, depths)
            if self.is_open and depths is QUICK:
                self._list(root)
        self._show(min(root.bound, self._cutoff()), leaf(root))
        if self.is_open and root.is_converged and self.instance.num_tasks <= MAX_TASKS:
            self._branch(root)
        for depths in LONGEST:
            if self.is_open and self.tree is None:
                self._dive(root, depths, self.left_s)

    def _list(self, root: Relaxation) -> None:
        """Look for a solution at the price of the bound, or prove that there is none, by a list of what may be in one."""
        program, price = root.program, int(self.instance.price[0])
        if not root.is_converged or not root.pricing.has_tables or program.spare(program.counts, 0) == FREE:
            return
        begun = time.perf_counter()
        until = min(self.deadline, begun + min(LISTING_SHARE * self.limit_s, LISTING_S))
        root.polish(min(until, begun + POLISHING_S))
        self.raise_bound(min(root.bound, self._cutoff()))
        if root.found is None or not self.is_open:
            return
        machines, capacity = root.bound // price, int(program.capacity[0, 0])
        which = np.repeat(np.arange(program.num_items), program.counts)
        sizes, tasks = program.demand[0][which, 0], self._task_numbers()
        values = np.maximum(class_values(self.instance, root.found.row_duals), 1)[which]
        if int(values.astype(object).sum()) > MAX_WORTH * DOLLAR * NANO:
            return
        possible = listed(sizes, values, capacity, program.spare(program.counts, machines * price), machines)
        if possible is None:
            return
        listing = Listing(sizes, possible, machines, tasks)
        is_possible = listing.run(until)
        if is_possible:
            patterns = listing.packing @ np.eye(program.num_items, dtype=np.int64)[which]
            ones: IntArray = np.ones(len(patterns), np.int64)
            self._improve(Provisioning.from_cover(self.instance, ones * 0, ones, patterns))
        elif is_possible is False:
            listing.proof["listed"] = [by_task(values, tasks), *listing.proof["listed"]]
            self.raise_bound((machines + 1) * price)
            self._show((machines + 1) * price, listing.proof)

    def _show(self, bound: int, proof: dict[str, Any]) -> None:
        """Take a proof of a bound if it is the best."""
        if bound > self.shown[0]:
            self.shown = bound, proof

    def _branch(self, root: Relaxation) -> None:
        program = root.program.expanded(self._task_numbers())
        which = np.repeat(np.arange(root.program.num_items), root.program.counts)
        machines = (
            [] if (root.program.counts > 1).any() else [root.master.machine(p) for p in range(root.master.num_columns)]
        )
        tree = self.tree = Tree(Node(program, machines, [], root.values[which], self.bound, 0))
        turn_s, dives = TURN_S, cycle(LONGEST)
        while self.is_open and tree.open:
            self._climb(tree, min(self.deadline, time.perf_counter() + turn_s))
            if self.is_open and tree.open:
                self._dive(root, next(dives), turn_s)
            turn_s *= 2
        if not tree.open:
            self.shown = self.bound, tree.root.proof

    def _climb(self, tree: Tree, until: float) -> None:
        """Solve nodes of the tree, dive from each, and raise the bound."""
        while self.is_open and tree.open and time.perf_counter() < until:
            relaxation = tree.step(self.deadline, self._cutoff())
            if relaxation is None:
                return
            self._take(relaxation)
            if relaxation.bound < self._cutoff() and self.is_open:
                self._dive(relaxation, QUICK)
            least = tree.bound
            self.raise_bound(self._cutoff() if least is None else min(least, self._cutoff()))

    def _task_numbers(self) -> list[int]:
        """Return the numbers, in the order of the source's classes, of the tasks of the merged classes one by one."""
        first = np.cumsum(self.merged.source.counts) - self.merged.source.counts
        return [
            int(first[c]) + copy
            for c in np.argsort(self.merged.class2merged, kind="stable")
            for copy in range(int(self.merged.source.counts[c]))
        ]

    def _certificate(self) -> dict[str, Any]:
        """Return the certificate of the bound that can be shown, for the instance as it was given."""
        bound, proof = self.shown
        if "prices" in proof:
            proof = proof | {"prices": [proof["prices"][g] for g in self.merged.class2merged]}
        return {"bound": bound // DOLLAR if bound % DOLLAR == 0 else bound / DOLLAR, "proof": proof}

    def _dive(self, relaxation: Relaxation, depths: Depths, most_s: float = DIVE_S) -> None:
        spent = time.perf_counter() - self.start
        if depths == QUICK and self.diving_s > DIVING_SHARE * spent + 1.0:
            return
        before = time.perf_counter()
        dive = Dive(relaxation, min(self.deadline, before + most_s), self._cutoff(), NEARLY_WHOLE)
        relaxation.take(machines_of(dive.run(depths)))
        self._take(relaxation)
        self.diving_s += time.perf_counter() - before

    def _cutoff(self) -> int:
        assert self.objective is not None
        return self.objective

    def _take(self, relaxation: Relaxation) -> None:
        """Take the cheapest packing that a relaxation came by."""
        if relaxation.packed_cost is not None and relaxation.packed_cost < self._cutoff():
            types, packed = zip(*relaxation.packed, strict=True)
            # A product of whole arrays takes O(machines n C), where patterns hold few of n items.
            rows = relaxation.program.content
            patterns = np.array([pattern[pattern > 0] @ rows[pattern > 0] for pattern in packed])
            ones: IntArray = np.ones(len(types), np.int64)
            self._improve(Provisioning.from_cover(self.instance, types, ones, patterns))

    def _improve(self, solution: Provisioning) -> None:
        self.keep(solution, cost(self.instance, solution))

    def outcome(self) -> Outcome:
        """Return the outcome for the instance as it was given."""
        assert self.root is not None
        counted = {
            "iterations": self.root.iterations,
            "columns": self.root.master.num_columns,
            "nodes": 0 if self.tree is None else self.tree.nodes,
            "cuts": 0 if self.tree is None else self.tree.cuts,
            "diving_s": round(self.diving_s, 2),
        }
        found = self.outcome_for(self.merged.source, self.merged.restore, 0.0, counted)
        return replace(found, certificate=self._certificate() if self.shown[0] else None)
