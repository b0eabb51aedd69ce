"""Arc-flow graphs: all patterns of machines as the paths of a compressed acyclic graph.

After Brandao and Pedroso, "Bin packing and related problems: general arc-flow formulation with graph compression"
(Computers and Operations Research 69, 2016; multiple-choice vector packing: arXiv:1312.3836). Families of machines on which
every class has the same demand share one graph, with a root for each machine type; what is left of a machine's capacity
is rounded down to what later classes can use, and states from which the same patterns fit are merged (`kernels_flow`).

Pricing is a longest path: exact, and about a nanosecond an arc for all machine types of a graph.

If every pattern of every machine that fits with the smallest demands in a cluster of classes also fits with the largest,
then the classes of the cluster are interchangeable: the instance with the smallest demands has the same optimum, and its
solutions hold for any assignment of the tasks. A longest path in the flow graph of the small instance finds the pattern
whose largest demand is worst; a cluster that makes it too large is cut in two, until none is.

On subsets of the Alibaba trace, where RAM rarely limits machines with GPUs, half of the classes go (58 to 26 of 1,000 tasks).
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedgap.formulations.provisioning.arc_flow.kernels_flow import (
    TOO_MANY,
    Nodes,
    States,
    Table,
    expand_states,
    follow,
    longest_paths,
    merge_states,
    node_arcs,
    subset_sums,
)
from schedgap.instances.arrays import IntArray
from schedgap.instances.provisioning.classes import Merged, with_classes
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.pricing import Priced

# Cells of the grid of all capacities up to the largest, in the units of the demands.
MAX_CELLS = 2**23
MAX_STATES = 2**23
FIRST_STATES = 2**16
ARCS_PER_STATE = 4
MAX_SUMS = 50_000_000
MAX_KEY = 2**61
# Expanding and merging take about a microsecond a state.
GROWTH, STATES_PER_SECOND = 4, 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class FlowGraph:
    """The patterns of the machine types of one or more families, as paths from their roots to node 0.

    types : (Q,) int64, the machine types. root : (Q,) int64, where their paths begin. classes : (L,) int64, the task
    class of each layer. free : (Z,) int64, classes that need nothing here: all their tasks fit every machine.
    nodes : arc e of node u leads to nodes.head[e] < u with e - nodes.ptr[u] tasks. num_states : before they were merged.
    """

    types: IntArray
    root: IntArray
    classes: IntArray
    free: IntArray
    nodes: Nodes
    num_states: int

    @property
    def num_nodes(self) -> int:
        """Number of nodes, the end included."""
        return int(self.nodes.layer.shape[0])

    @property
    def num_arcs(self) -> int:
        """Number of arcs."""
        return int(self.nodes.head.shape[0])

    @property
    def tail(self) -> IntArray:
        """(A,) int64: the node where each arc begins."""
        return np.repeat(np.arange(self.num_nodes, dtype=np.int64), np.diff(self.nodes.ptr))

    @property
    def tasks(self) -> IntArray:
        """(A,) int64: how many tasks each arc takes."""
        return np.arange(self.num_arcs, dtype=np.int64) - self.nodes.ptr[self.tail]

    @property
    def arc_class(self) -> IntArray:
        """(A,) int64: the task class of each arc."""
        return self.classes[self.nodes.layer[self.tail]]


def build_flow_graphs(
    instance: ProvisioningInstance, *, deadline: float = math.inf, max_states: int = MAX_STATES
) -> tuple[FlowGraph, ...] | str:
    """Build the graphs of all machine types, or say why that is too much.

    deadline : `time.perf_counter()` at which to give up.
    """
    graphs = []
    for families in _families_of_equal_demand(instance):
        graph = _build(instance, families, deadline, max_states)
        if isinstance(graph, str):
            return graph
        graphs.append(graph)
    return tuple(graphs)


def _families_of_equal_demand(instance: ProvisioningInstance) -> list[list[int]]:
    groups: list[list[int]] = []
    for f in np.unique(instance.type2family).tolist():
        for group in groups:
            if np.array_equal(instance.demand[group[0]], instance.demand[f]):
                group.append(f)
                break
        else:
            groups.append([f])
    return groups


def _build(instance: ProvisioningInstance, families: list[int], deadline: float, max_states: int) -> FlowGraph | str:
    types = np.flatnonzero(np.isin(instance.type2family, families))
    demand = instance.demand[families[0]]
    fits = instance.fits()[types].any(axis=0)
    free = np.flatnonzero(fits & (demand == 0).all(axis=1))
    classes = np.flatnonzero(fits & (demand > 0).any(axis=1))
    unit = np.maximum(np.gcd.reduce(demand[classes], axis=0), 1)
    needs = demand[classes] // unit
    capacity = np.minimum(instance.capacity[types] // unit, instance.counts[classes] @ needs)
    box = capacity.max(axis=0)
    # Classes that take a large share of one resource first: few states reach the layers where many would multiply
    # (trace subsets of 200 tasks: 3,375 to 9,446 arcs; ordered by the sum of the shares 5,772 to 10,000).
    order = np.argsort(-(needs / np.maximum(box, 1)).max(axis=1, initial=0.0), kind="stable")
    classes, needs = classes[order], np.ascontiguousarray(needs[order])
    with np.errstate(divide="ignore"):
        fit = np.where(needs > 0, box // np.maximum(needs, 1), np.iinfo(np.int64).max).min(axis=1)
    most = np.minimum(instance.counts[classes], fit)
    sizes = [int(size) + 1 for size in box]
    if float(np.prod(np.array(sizes, np.float64))) > MAX_KEY or (classes.size + 1) * sum(sizes) > MAX_SUMS:
        return f"capacities of {' x '.join(map(str, sizes))} units for {classes.size} task classes are too fine"
    stride = np.array([int(np.prod(sizes[r + 1 :])) for r in range(len(sizes))], np.int64)
    offset = np.cumsum([0, *(sizes * (classes.size + 1))[:-1]]).reshape(classes.size + 1, -1).astype(np.int64)
    sums = np.empty((classes.size + 1) * sum(sizes), np.int32)
    subset_sums(needs, most, box, offset, sums)
    start = sums[offset[0] + capacity] @ stride
    keys, root_state = np.unique(start, return_inverse=True)
    states = FIRST_STATES
    while True:
        left = deadline - time.perf_counter()
        if left <= 0:
            return "there is no time to build the flow graph"
        if states > max(FIRST_STATES, left * STATES_PER_SECOND):
            return (
                f"the flow graph has more than {states // GROWTH} states, and {left:.0f} s are too short for {states}"
            )
        built = _expand_and_merge(needs, most, stride, offset, sums, keys, min(states, max_states))
        if built is not None:
            break
        if states >= max_states:
            return f"the flow graph has more than {max_states} states or {ARCS_PER_STATE * max_states} arcs"
        states *= GROWTH
    nodes, state2node, num_states = built
    root = state2node[root_state.reshape(-1)].astype(np.int64)
    return FlowGraph(types, root, classes, free, nodes, num_states)


def _expand_and_merge(
    needs: IntArray,
    most: IntArray,
    stride: IntArray,
    offset: IntArray,
    sums: NDArray[np.int32],
    keys: IntArray,
    max_states: int,
) -> tuple[Nodes, NDArray[np.int32], int] | None:
    """Return (nodes, state2node, number of states), or None if the states are too many."""
    num_layers = needs.shape[0]
    state, layer_ptr, arc_ptr = (np.empty(n, np.int64) for n in (max_states, num_layers + 2, max_states + 1))
    states = States(state, layer_ptr, arc_ptr, np.empty(ARCS_PER_STATE * max_states, np.int32))
    slot = np.empty(1 << (2 * max_states - 1).bit_length(), np.int32)
    table = Table(slot, np.full_like(slot, -1))
    if keys.shape[0] > max_states:
        return None
    state[: keys.shape[0]] = keys
    count = expand_states(needs, most, stride, offset, sums, keys.shape[0], states, table)
    if count == TOO_MANY:
        return None
    arc_ptr = arc_ptr[: count + 1]
    states = states._replace(arc_ptr=arc_ptr, head=states.head[: arc_ptr[count]])
    used = np.empty(count, np.int64)
    state2node, node2state, layer = (np.empty(count + 1, np.int32) for _ in range(3))
    table.layer[:] = -1
    num_nodes = merge_states(needs, stride, states, used, state2node, node2state, layer, table)
    layer[0] = num_layers
    arcs = np.diff(arc_ptr)[node2state[1:num_nodes]].sum()
    nodes = Nodes(layer[:num_nodes].copy(), np.empty(num_nodes + 1, np.int64), np.empty(arcs, np.int32))
    node_arcs(states, state2node, node2state, nodes)
    return nodes, state2node[: keys.shape[0]].copy(), count


def is_coarse(instance: ProvisioningInstance) -> bool:
    """Whether capacities hold so few units of the demands that graphs are likely to be small."""
    demand = np.maximum(instance.demand, 0).reshape(-1, instance.demand.shape[2])
    units = instance.capacity.max(axis=0) // np.maximum(np.gcd.reduce(demand, axis=0), 1)
    return bool(np.prod(units + 1.0) <= MAX_CELLS)


class FlowPricer:
    """Prices all machine types of an instance over its flow graphs; stands in for `instances.provisioning.pricing.Pricer`.

    graphs : each with room for the best value, (nodes,) int64, and the arc to go on with, of each node.
    """

    def __init__(self, instance: ProvisioningInstance, graphs: tuple[FlowGraph, ...]) -> None:
        self.instance = instance
        self.graphs = [
            (graph, np.empty(graph.num_nodes, np.int64), np.empty(graph.num_nodes, np.int64)) for graph in graphs
        ]

    def price(
        self,
        values: IntArray,
        target: IntArray,
        node_limit: int = 0,
        *,
        use_tables: bool = False,
        counts: IntArray | None = None,
    ) -> Priced:
        """Find a most valuable pattern of every machine type; of those worth at most `target` (K,) only what it is worth.

        values : (C,) int64, not negative, or (F, C), for each family its own. counts : (C,), at most so many tasks of each
        class. node_limit and use_tables are for other pricers.
        """
        instance = self.instance
        counts = instance.counts if counts is None else counts
        num_types, num_classes = instance.num_types, instance.num_classes
        worth = np.zeros(num_types, np.int64)
        patterns = np.zeros((num_types, num_classes), np.int64)
        rows = np.atleast_2d(values)
        for graph, best, choice in self.graphs:
            # Which row of values each type of the graph has.
            row = instance.type2family[graph.types] if rows.shape[0] > 1 else np.zeros_like(graph.types)
            most = counts[graph.classes]
            for f in np.unique(row).tolist():
                value = rows[f, graph.classes]
                longest_paths(value, most, graph.nodes, best, choice)
                free = int(rows[f, graph.free] @ counts[graph.free])
                for q in np.flatnonzero(row == f).tolist():
                    k, root = int(graph.types[q]), int(graph.root[q])
                    worth[k] = best[root] + free
                    if worth[k] > target[k]:
                        pattern = np.zeros(graph.classes.shape[0], np.int64)
                        follow(root, graph.nodes, choice, pattern)
                        patterns[k, graph.classes] = pattern
                        patterns[k, graph.free] = counts[graph.free]
        return Priced(worth, worth.copy(), patterns)


Clusters: TypeAlias = "list[list[int]]"


def merge_interchangeable(
    instance: ProvisioningInstance, *, deadline: float = math.inf
) -> tuple[Merged, tuple[FlowGraph, ...]] | str:
    """Merge interchangeable classes of an instance without equal ones; return it with its flow graphs.

    deadline : `time.perf_counter()` at which to give up. Returns a reason where the graphs are too large or time is up.
    """
    clusters = [[c] for c in range(instance.num_classes)]
    small, graphs = instance, build_flow_graphs(instance, deadline=deadline)
    if isinstance(graphs, str):
        return graphs
    for r in reversed(range(len(instance.resources))):
        trial = _clustered(instance, clusters, r)
        while len(trial) < len(clusters):
            if time.perf_counter() > deadline:
                break
            candidate = _smallest(instance, trial)
            found = build_flow_graphs(candidate, deadline=deadline)
            if isinstance(found, str):
                break
            blamed = _blamed(instance, candidate, trial, found)
            if not blamed:
                clusters, small, graphs = trial, candidate, found
                break
            trial = [part for i, c in enumerate(trial) for part in (_cut(instance, c, r) if i in blamed else [c])]
    class2merged = np.empty(instance.num_classes, np.int64)
    for i, cluster in enumerate(clusters):
        class2merged[cluster] = i
    return Merged(instance, small, class2merged), graphs


def _clustered(instance: ProvisioningInstance, clusters: Clusters, r: int) -> Clusters:
    """Join clusters whose demands are equal in all resources but r and that fit the same machine types."""
    fits = instance.fits()
    joined: dict[bytes, list[int]] = {}
    for cluster in clusters:
        others = np.delete(instance.demand[:, cluster], r, axis=2)
        allowed = instance.demand[:, cluster, r] >= 0
        key = b"".join(
            np.ascontiguousarray(part).tobytes()
            for part in (others.min(axis=1), others.max(axis=1), allowed[:, 0], fits[:, cluster].min(axis=1))
        )
        joined.setdefault(key, []).extend(cluster)
    return list(joined.values())


def _smallest(instance: ProvisioningInstance, clusters: Clusters) -> ProvisioningInstance:
    first = [cluster[0] for cluster in clusters]
    return with_classes(
        instance,
        np.stack([instance.demand[:, cluster].min(axis=1) for cluster in clusters], axis=1),
        np.array([instance.counts[cluster].sum() for cluster in clusters]),
        class2workload=instance.class2workload[first],
    )


def _blamed(
    instance: ProvisioningInstance, small: ProvisioningInstance, clusters: Clusters, graphs: tuple[FlowGraph, ...]
) -> set[int]:
    """Return, for each machine type that some pattern overfills, the cluster that adds most to the worst pattern."""
    largest = np.stack([instance.demand[:, cluster].max(axis=1) for cluster in clusters], axis=1)
    blamed: set[int] = set()
    for graph in graphs:
        best, choice = np.empty(graph.num_nodes, np.int64), np.empty(graph.num_nodes, np.int64)
        # Types of several families share a graph where the smallest demands are equal there; the largest may differ.
        families = small.type2family[graph.types]
        for f, r in itertools.product(np.unique(families).tolist(), range(len(small.resources))):
            free = small.counts[graph.free] * largest[f, graph.free, r]
            weight = np.ascontiguousarray(largest[f, graph.classes, r])
            longest_paths(weight, small.counts[graph.classes], graph.nodes, best, choice)
            over = best[graph.root] + free.sum() > small.capacity[graph.types, r]
            for q in np.flatnonzero(over & (families == f)):
                pattern = np.zeros(graph.classes.shape[0], np.int64)
                follow(int(graph.root[q]), graph.nodes, choice, pattern)
                blame = np.zeros(len(clusters), np.int64)
                blame[graph.classes] = pattern * (weight - small.demand[f, graph.classes, r])
                blame[graph.free] = free
                blamed.add(int(np.argmax(blame)))
    return blamed


def _cut(instance: ProvisioningInstance, cluster: list[int], r: int) -> Clusters:
    """Cut a cluster in two at the widest step of its demand for resource r."""
    demand = instance.demand[:, cluster, r].max(axis=0)
    order = np.argsort(demand, kind="stable")
    widest = int(np.argmax(np.diff(demand[order]))) + 1
    ordered = [cluster[i] for i in order]
    return [ordered[:widest], ordered[widest:]]
