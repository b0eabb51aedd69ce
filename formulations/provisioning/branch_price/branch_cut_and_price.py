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
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np

from schedgap.formulations.column_generation.diving import Depths, Dive
from schedgap.formulations.provisioning.branch_price.kernels_pattern import FREE
from schedgap.formulations.provisioning.branch_price.listing import MAX_WORTH, Listing, by_task, listed
from schedgap.formulations.provisioning.branch_price.program import Program, first_values
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation, machines_of
from schedgap.formulations.provisioning.branch_price.tree import Node, Tree, leaf
from schedgap.formulations.provisioning.column_generation.column_generation import UNLIMITED_S, supported
from schedgap.formulations.provisioning.limits import class_values
from schedgap.formulations.provisioning.search import Search, restoring
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import cost
from schedgap.instances.units import DOLLAR

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
