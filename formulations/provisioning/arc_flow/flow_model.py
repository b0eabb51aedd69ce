"""The arc-flow formulation: machines as units of flow from the roots of flow graphs to their end.

Sets        q roots, each of a machine type; e arcs of the graph, taking k[e] tasks of class c[e]
Variables   z[q] machines of the type, f[e] machines whose content takes arc e; whole
Minimise    sum_q price[q] z[q]
Rows        z into u + sum of f into u = sum of f out of u                     for each node u but the end
            sum_{e: c[e] = c} k[e] f[e] + counts[c] (z of types that c fits for free) >= counts[c]    for each class c
            low[g] <= sum_q weight[g, q] z[q] <= high[g]                       for each limited group g of machine types
            z[q] <= n - 1                    where asked for, and n machines of type q hold and cost as much as a larger one

Prices count in multiples of their greatest common divisor. An arc carries at most counts[c] // k machines: some best
solution places every task exactly once. The last row goes without loss too, since machines can be exchanged for larger ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.linear_model import Rows, Term
from schedgap.formulations.provisioning.bounds import type_multiples
from schedgap.instances import exact
from schedgap.instances.errors import BackendError
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import price_step

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


@dataclass(frozen=True, slots=True, eq=False)
class GroupLimits:
    """Limits on groups of machine types: weights (G, K) int64, low and high (G,)."""

    weights: IntArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FlowModel:
    """A linear model and what its variables mean: roots first, then the kept arcs of each graph.

    roots : (Z,) int64 machine types. arcs : for each graph, (n,) int64 indices of its arcs.
    """

    instance: ProvisioningInstance
    graphs: tuple[FlowGraph, ...]
    arcs: tuple[IntArray, ...]
    roots: IntArray
    model: LinearModel

    def solution(self, x: FloatArray) -> Provisioning | None:
        """Take flows apart into machines; tasks covered too often are taken off. None where some are not covered.

        Solvers take a row for kept that misses a side of many tasks by a few.

        Raises
        ------
        BackendError
            if more flow enters a node than leaves it.
        """
        types: list[int] = []
        repeats: list[int] = []
        patterns: list[IntArray] = []
        machines = dict(zip(self.roots.tolist(), x[: self.roots.shape[0]].astype(np.int64).tolist(), strict=True))
        start = self.roots.shape[0]
        for graph, arcs in zip(self.graphs, self.arcs, strict=True):
            flow = np.zeros(graph.num_arcs, np.int64)
            flow[arcs] = x[start : start + arcs.shape[0]].astype(np.int64)
            start += arcs.shape[0]
            for k, root in zip(graph.types.tolist(), graph.root.tolist(), strict=True):
                left = machines.get(k, 0)
                while left:
                    path = _path(graph, flow, root)
                    number = min([left, *(int(flow[e]) for e in path)])
                    if number == 0:
                        raise BackendError(f"{self.model.name}: flow is lost on the way; use another back end.")
                    flow[path] -= number
                    left -= number
                    pattern = np.zeros(self.instance.num_classes, np.int64)
                    pattern[graph.arc_class[path]] = graph.tasks[path]
                    pattern[graph.free] = self.instance.counts[graph.free]
                    types.append(k)
                    repeats.append(number)
                    patterns.append(pattern)
        matrix = np.array(patterns, np.int64).reshape(-1, self.instance.num_classes)
        if (exact.dot(np.array(repeats, np.int64), matrix) < self.instance.counts).any():
            return None
        return Provisioning.from_cover(self.instance, types, repeats, matrix)

    def values(self, solution: Provisioning) -> FloatArray | None:
        """(n,) float64: the values of the variables that mean this solution, None if arcs that it needs were not kept."""
        x = np.zeros(self.model.cost.shape[0])
        place = {int(k): i for i, k in enumerate(self.roots)}
        at: dict[int, tuple[FlowGraph, int, IntArray]] = {}
        start = self.roots.shape[0]
        for graph, arcs in zip(self.graphs, self.arcs, strict=True):
            column = np.full(graph.num_arcs, -1)
            column[arcs] = start + np.arange(arcs.shape[0])
            start += arcs.shape[0]
            at |= {int(k): (graph, int(root), column) for k, root in zip(graph.types, graph.root, strict=True)}
        for k, pattern in zip(*solution.machines(self.instance.num_classes), strict=True):
            graph, node, column = at[int(k)]
            path = [place.get(int(k), -1)]
            while node:
                taken = int(pattern[graph.classes[graph.nodes.layer[node]]])
                e = int(graph.nodes.ptr[node]) + taken
                path.append(int(column[e]) if e < graph.nodes.ptr[node + 1] else -1)
                node = int(graph.nodes.head[e])
            if min(path) < 0:
                return None
            x[path] += 1
        return x


def build_flow_model(
    instance: ProvisioningInstance,
    graphs: tuple[FlowGraph, ...],
    kept: tuple[BoolArray, ...] | None = None,
    limits: GroupLimits | None = None,
    *,
    large_first: bool = False,
) -> FlowModel:
    """Build the model over the kept arcs, (A,) bool for each graph, or over all.

    large_first : whether the number of small machines is limited as above; `limits` then must not tell apart a type and
    larger ones of the same price a unit.
    """
    step = price_step(instance)
    blocks: list[tuple[FlowGraph, IntArray, IntArray]] = []
    into: list[tuple[IntArray, IntArray]] = []
    roots: list[int] = []
    for i, graph in enumerate(graphs):
        index = np.arange(graph.num_arcs) if kept is None else np.flatnonzero(kept[i])
        row = np.full(graph.num_nodes, -1)
        nodes = np.unique(graph.tail[index])
        row[nodes] = np.arange(nodes.shape[0])
        usable = (row[graph.root] >= 0) | ((graph.root == 0) & (graph.free.size > 0))
        first = len(roots)
        roots += graph.types[usable].tolist()
        into.append((np.arange(first, len(roots)), row[graph.root[usable]]))
        blocks.append((graph, index, row))
    types = np.array(roots, np.int64)
    starts = types.shape[0] + np.cumsum([0, *(index.shape[0] for _, index, _ in blocks)])
    rows = Rows(int(starts[-1]))
    _add_cover(rows, instance, types, blocks, starts)
    _add_nodes(rows, blocks, into, starts)
    if limits is not None:
        bounded = np.isfinite(limits.low) | np.isfinite(limits.high)
        weights = limits.weights[bounded][:, types]
        g, q = np.nonzero(weights)
        rows.add("group", (g, q, weights[g, q]), lower=limits.low[bounded], upper=limits.high[bounded])
    most = np.full(types.shape[0], np.inf)
    for small, _, number in type_multiples(instance) if large_first else ():
        most[types == small] = np.minimum(most[types == small], number - 1)
    upper = [
        np.where(g.tasks[e] > 0, instance.counts[g.arc_class[e]] // np.maximum(g.tasks[e], 1), np.inf)
        for g, e, _ in blocks
    ]
    cost = np.zeros(rows.num_variables)
    cost[: types.shape[0]] = instance.price[types] // step
    model = rows.model(f"arc-flow-{instance.name}", cost, np.concatenate((most, *upper)), step)
    return FlowModel(instance, graphs, tuple(index for _, index, _ in blocks), types, model)


def _add_nodes(
    rows: Rows,
    blocks: list[tuple[FlowGraph, IntArray, IntArray]],
    into: list[tuple[IntArray, IntArray]],
    starts: IntArray,
) -> None:
    """Add the rows that as much flow leaves a node as enters it."""
    for (graph, index, row), (root, root_row), start in zip(blocks, into, starts, strict=False):
        at = start + np.arange(index.shape[0])
        tail, head = row[graph.tail[index]], row[graph.nodes.head[index]]
        inner, fed = head >= 0, root_row >= 0
        rows.add(
            "node",
            (root_row[fed], root[fed], 1.0),
            (tail, at, -1.0),
            (head[inner], at[inner], 1.0),
            lower=np.zeros(int(row.max(initial=-1)) + 1),
            upper=0.0,
        )


def _add_cover(
    rows: Rows,
    instance: ProvisioningInstance,
    types: IntArray,
    blocks: list[tuple[FlowGraph, IntArray, IntArray]],
    starts: IntArray,
) -> None:
    """Add the rows that every class is covered, by arcs and by machines that it fits for free."""
    free = np.zeros((instance.num_classes, instance.num_types), np.int64)
    taken: list[Term] = []
    for (graph, index, _), start in zip(blocks, starts, strict=False):
        free[np.ix_(graph.free, graph.types)] = instance.counts[graph.free, None]
        taking = np.flatnonzero(graph.tasks[index] > 0)
        taken.append((graph.arc_class[index[taking]], start + taking, graph.tasks[index[taking]]))
    c, q = np.nonzero(free[:, types])
    rows.add("class", (c, q, free[:, types][c, q]), *taken, lower=instance.counts)


def _path(graph: FlowGraph, flow: IntArray, node: int) -> list[int]:
    """Return arcs with flow from a node to the end."""
    path = []
    while node:
        first, stop = int(graph.nodes.ptr[node]), int(graph.nodes.ptr[node + 1])
        e = first + int(np.argmax(flow[first:stop] > 0))
        path.append(e)
        node = int(graph.nodes.head[e])
    return path
