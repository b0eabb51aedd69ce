"""Pricing by longest paths in flow graphs: exact, and about a nanosecond an arc for all machine types of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.arc_flow.kernels_flow import follow, longest_paths
from schedgap.instances.provisioning.pricing import Priced

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


# Cells of the grid of all capacities up to the largest, in the units of the demands.
MAX_CELLS = 2**23


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
        """Find a most valuable content of every machine type; of those worth at most `target` (K,) only what it is worth.

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
                        content = np.zeros(graph.classes.shape[0], np.int64)
                        follow(root, graph.nodes, choice, content)
                        patterns[k, graph.classes] = content
                        patterns[k, graph.free] = counts[graph.free]
        return Priced(worth, worth.copy(), patterns)
