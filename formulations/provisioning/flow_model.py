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
from scipy.sparse import coo_array, csc_array

from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.provisioning.multiples import type_multiples
from schedgap.instances.errors import BackendError
from schedgap.instances.provisioning.objective import price_step
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.flow_graph import FlowGraph
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
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

    def solution(self, x: FloatArray) -> Provisioning:
        """Take flows apart into machines; tasks covered too often are taken off.

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
        patterns = np.zeros((solution.machine_type.shape[0], self.instance.num_classes), np.int64)
        np.add.at(patterns, (solution.entry2group, solution.task_class), solution.count)
        for k, number, pattern in zip(solution.machine_type.tolist(), solution.repeat.tolist(), patterns, strict=True):
            graph, node, column = at[k]
            path = [place.get(k, -1)]
            while node:
                taken = int(pattern[graph.classes[graph.node_layer[node]]])
                e = int(graph.node_ptr[node]) + taken
                path.append(int(column[e]) if e < graph.node_ptr[node + 1] else -1)
                node = int(graph.head[e])
            if min(path) < 0:
                return None
            x[path] += number
        return x


def build_flow_model(
    instance: ProvisioningInstance,
    graphs: tuple[FlowGraph, ...],
    kept: tuple[BoolArray, ...] | None = None,
    limits: Limits | None = None,
    *,
    large_first: bool = False,
) -> FlowModel:
    """Build the model over the kept arcs, (A,) bool for each graph, or over all.

    large_first : whether the number of small machines is limited as above; `limits` then must not tell apart a type and
    larger ones of the same price a unit.
    """
    num_classes, step = instance.num_classes, price_step(instance)
    rows: list[IntArray] = []
    columns: list[IntArray] = []
    values: list[IntArray] = []
    upper = []
    arcs, roots, root_rows = [], [], []
    num_rows = num_classes
    blocks = []
    for i, graph in enumerate(graphs):
        index = np.arange(graph.num_arcs) if kept is None else np.flatnonzero(kept[i])
        row = np.full(graph.num_nodes, -1)
        nodes = np.unique(graph.tail[index])
        row[nodes] = num_rows + np.arange(nodes.shape[0])
        num_rows += nodes.shape[0]
        usable = (row[graph.root] >= 0) | ((graph.root == 0) & (graph.free.size > 0))
        roots += graph.types[usable].tolist()
        root_rows += row[graph.root[usable]].tolist()
        arcs.append(index)
        blocks.append((graph, index, row))
    free = np.zeros((num_classes, instance.num_types), np.int64)
    for graph in graphs:
        free[np.ix_(graph.free, graph.types)] = instance.counts[graph.free, None]
    types = np.array(roots, np.int64)
    into = np.array(root_rows, np.int64)
    at = np.arange(types.shape[0])
    _entries(rows, columns, values, into, at, np.ones_like(at), into >= 0)
    c, q = np.nonzero(free[:, types])
    _entries(rows, columns, values, c, q, free[:, types][c, q])
    start = types.shape[0]
    for graph, index, row in blocks:
        at = start + np.arange(index.shape[0])
        start += index.shape[0]
        tail, head, tasks, c = graph.tail[index], graph.head[index], graph.tasks[index], graph.arc_class[index]
        _entries(rows, columns, values, row[tail], at, -np.ones_like(at))
        _entries(rows, columns, values, row[head], at, np.ones_like(at), row[head] >= 0)
        _entries(rows, columns, values, c, at, tasks, tasks > 0)
        upper.append(np.where(tasks > 0, instance.counts[c] // np.maximum(tasks, 1), np.inf))
    row_lower = np.zeros(num_rows)
    row_upper = np.zeros(num_rows)
    row_lower[:num_classes], row_upper[:num_classes] = instance.counts, np.inf
    cost = np.zeros(start)
    cost[: types.shape[0]] = instance.price[types] // step
    most = np.full(types.shape[0], np.inf)
    for small, _, number in type_multiples(instance) if large_first else ():
        most[types == small] = np.minimum(most[types == small], number - 1)
    if limits is not None:
        extra, low, high = _limit_rows(types, limits)
        g, q = np.nonzero(extra)
        _entries(rows, columns, values, num_rows + g, q, extra[g, q])
        row_lower, row_upper = np.concatenate((row_lower, low)), np.concatenate((row_upper, high))
    entries = (np.concatenate(values).astype(np.float64), (np.concatenate(rows), np.concatenate(columns)))
    model = LinearModel(
        name=f"arc-flow-{instance.name}",
        cost=cost,
        matrix=csc_array(coo_array(entries, shape=(row_lower.shape[0], start))),
        row_lower=row_lower,
        row_upper=row_upper,
        lower=np.zeros(start),
        upper=np.concatenate((most, *upper)),
        integral=np.ones(start, np.bool_),
        objective_scale=step,
    )
    return FlowModel(instance, graphs, tuple(arcs), types, model)


def _entries(
    rows: list[IntArray],
    columns: list[IntArray],
    values: list[IntArray],
    row: IntArray,
    column: IntArray,
    value: IntArray,
    where: BoolArray | slice = slice(None),
) -> None:
    rows.append(row[where])
    columns.append(column[where])
    values.append(value[where])


def _limit_rows(types: IntArray, limits: Limits) -> tuple[IntArray, FloatArray, FloatArray]:
    bounded = np.isfinite(limits.low) | np.isfinite(limits.high)
    return limits.weights[bounded][:, types], limits.low[bounded], limits.high[bounded]


def _path(graph: FlowGraph, flow: IntArray, node: int) -> list[int]:
    """Return arcs with flow from a node to the end."""
    path = []
    while node:
        first, stop = int(graph.node_ptr[node]), int(graph.node_ptr[node + 1])
        e = first + int(np.argmax(flow[first:stop] > 0))
        path.append(e)
        node = int(graph.head[e])
    return path
