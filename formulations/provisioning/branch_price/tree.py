"""The branching tree: pairs of tasks on one machine or not (Ryan and Foster, 1981), cuts inherited, depth first.

Every node proves its bound with prices in integers, so the tree as a whole is a proof: `proof` is what a certificate says of it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from schedgap.formulations.provisioning.branch_price.program import Cut, Program
from schedgap.formulations.provisioning.branch_price.relaxation import Relaxation, shared, violated_cuts
from schedgap.formulations.provisioning.limits import MAX_NANO
from schedgap.instances.arrays import IntArray
from schedgap.instances.provisioning.pricing import NANO

Machines = list[tuple[int, IntArray]]

# Rounds of cuts at the root and below, and how many of a node's patterns its children inherit at most, by items.
ROOT_ROUNDS, NODE_ROUNDS = 30, 4
INHERITED = 12
WHOLE = 1e-6


@dataclass(eq=False, slots=True)
class Node:
    """A node: its program, the patterns and cuts that it begins with, item values, and the bound of its parent.

    proof : what proves its bound, filled in when it is done, or its children.
    """

    program: Program
    machines: Machines
    cuts: list[Cut]
    values: IntArray
    bound: int
    depth: int
    proof: dict[str, Any] = field(default_factory=dict)


class Tree:
    """Nodes that are open, last in first out."""

    def __init__(self, root: Node) -> None:
        self.root, self.open = root, [root]
        self.nodes = self.cuts = 0

    @property
    def bound(self) -> int | None:
        """Micro-dollars: the least bound of the open nodes, None if there are none."""
        return min((node.bound for node in self.open), default=None)

    def step(self, deadline: float, cutoff: int) -> Relaxation | None:
        """Solve the next node, with cuts; drop it if it reaches `cutoff`, or branch.

        Returns the relaxation, for the caller to look for solutions; None after the deadline, with the node still open.
        """
        node = self.open[-1]
        self.nodes += 1
        relaxation = Relaxation(node.program)
        relaxation.cut(node.cuts)
        relaxation.start(node.machines, node.values)
        relaxation.solve(deadline, cutoff)
        for _ in range(NODE_ROUNDS if node.depth else ROOT_ROUNDS):
            if relaxation.bound >= cutoff or not relaxation.is_converged:
                break
            relaxation.polish(deadline)
            cuts = violated_cuts(relaxation)
            if not cuts:
                break
            relaxation.cut(cuts)
            self.cuts += len(cuts)
            relaxation.solve(deadline, cutoff)
        node.bound = max(node.bound, relaxation.bound)
        if relaxation.bound >= cutoff:
            node.proof.update(leaf(relaxation))
            self.open.pop()
            return relaxation
        if time.perf_counter() >= deadline or not relaxation.is_converged:
            return None
        pair = _pair(relaxation)
        if pair is None:
            # A whole solution that is cheaper than the cutoff: the caller finds it and comes back with a lower one.
            return relaxation
        self.open.pop()
        self._branch(node, relaxation, pair)
        return relaxation

    def _branch(self, node: Node, relaxation: Relaxation, pair: tuple[int, int]) -> None:
        i, j = pair
        master = relaxation.master
        assert relaxation.found is not None
        # What the node's solution uses, and then the patterns of least reduced cost.
        reduced = master.reduced_costs(master.kind, master.patterns, relaxation.found.row_duals)
        near = np.argsort(reduced, kind="stable")[: INHERITED * node.program.num_items]
        kept = [master.machine(int(p)) for p in near]
        children = {
            "apart": Node(
                node.program.apart(i, j),
                [(k, c) for k, c in kept if not (c[i] and c[j])],
                list(master.cuts),
                relaxation.values,
                node.bound,
                node.depth + 1,
            ),
            "together": Node(
                node.program.together(i, j),
                [(k, np.delete(c, j)) for k, c in kept if c[i] == c[j]],
                [Cut(_joined(cut.numerators, i, j), cut.divisor, cut.most) for cut in master.cuts],
                _joined(relaxation.values, i, j),
                node.bound,
                node.depth + 1,
            ),
        }
        node.proof["pair"] = [node.program.tasks[i][0], node.program.tasks[j][0]]
        for side, child in children.items():
            node.proof[side] = child.proof
            if child.program.is_possible:
                self.open.append(child)
            else:
                child.proof.update(_impossible(child.program))


def _joined(amounts: IntArray, i: int, j: int) -> IntArray:
    """Return (n,) amounts of items with those of j, the larger number, added to those of i."""
    joined = amounts.copy()
    joined[i] += joined[j]
    return np.delete(joined, j)


def _pair(relaxation: Relaxation) -> tuple[int, int] | None:
    """Return two items that the relaxation holds on one machine to a share, large ones before small; None for none."""
    program, found = relaxation.program, relaxation.found
    assert found is not None
    used = np.flatnonzero(found.x > 1e-7)
    pair = shared(relaxation.master.patterns[used].astype(np.float64), found.x[used])
    part = np.minimum(pair, 1.0 - np.minimum(pair, 1.0))
    share = (program.demand / np.maximum(program.capacity.max(axis=0), 1)).max(axis=(0, 2))
    score = np.triu(np.where(part > WHOLE, part * (share[:, None] + share), 0.0), 1)
    best = int(np.argmax(score))
    i, j = divmod(best, program.num_items)
    return (i, j) if score[i, j] > 0 else None


def _impossible(program: Program) -> dict[str, Any]:
    """Return the proof that there is no solution: an item that no machine holds, worth more than any."""
    prices = [0] * sum(len(tasks) for tasks in program.tasks)
    item = int(np.flatnonzero(~program.fits.any(axis=0))[0])
    prices[program.tasks[item][0]] = MAX_NANO
    return {"scale": NANO, "task_prices": prices, "cuts": []}


def leaf(relaxation: Relaxation) -> dict[str, Any]:
    """Return what proves a relaxation's bound: prices of its items and cuts, nano-dollars."""
    program = relaxation.program
    proof: dict[str, Any] = {"scale": NANO}
    if program.tasks:
        prices = [0] * sum(len(tasks) for tasks in program.tasks)
        for tasks, value in zip(program.tasks, relaxation.values.tolist(), strict=True):
            prices[tasks[0]] = value
        proof["task_prices"] = prices
    else:
        proof["prices"] = relaxation.values.tolist()
    proof["cuts"] = [
        _cut(program, cut, int(penalty))
        for cut, penalty in zip(relaxation.master.cuts, relaxation.penalties, strict=True)
        if penalty
    ]
    return proof


def _cut(program: Program, cut: Cut, penalty: int) -> dict[str, Any]:
    """Return a cut over tasks. What tasks of one item share can be put on its first, since they always meet."""
    items = np.flatnonzero(cut.numerators)
    names = [program.tasks[i][0] for i in items] if program.tasks else items.tolist()
    return {
        "tasks" if program.tasks else "classes": names,
        "numerators": cut.numerators[items].tolist(),
        "denominator": cut.divisor,
        "price": penalty,
    }
