"""The nodes of a cluster by GPU, as they are and after a plan, as one SVG; nodes without GPUs by their first resource."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from schedgap.bench.capacity import Capacity
from schedgap.bench.report.figure_files import rendered
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.placement import PlacementInstance
from schedgap.instances.placement.model import NOWHERE, Placement, devices_of
from schedgap.instances.placement.verify import moved

STAYS, MOVES, NEW = "#555b63", "#c2571a", "#1f6fb2"
KINDS = (("stays", STAYS), ("moved", MOVES), ("new", NEW))
# Nodes that are shown, those that the plan changes first.
MAX_NODES = 40
# Inches: of one half, of a node, of titles and legend; the part of a device that is drawn.
WIDTH, ROW, EDGES, CELL = 4.5, 0.16, 1.3, 0.9


def capacity_svg(found: Capacity) -> bytes:
    """Return the figure; without a plan only what runs."""
    planned = found.plan()
    instance = found.instance if planned is None or planned[0].instance is None else planned[0].instance
    sides = [("now", Placement(instance.running_node, instance.running_gpus, instance.running_start))]
    if planned is not None and planned[1].plan is not None:
        sides.append(("after the plan", planned[1].plan))
    nodes = _shown(instance, sides[-1][1].node)

    def draw_on(canvas: Figure) -> None:
        axes = canvas.subplots(1, len(sides), squeeze=False)[0]
        for each, (title, placement) in zip(axes, sides, strict=True):
            _draw(each, instance, nodes, title, placement)
        canvas.legend(
            handles=[Patch(color=colour, label=label) for label, colour in KINDS], loc="outside lower center", ncols=3
        )

    return rendered(draw_on, size=(len(sides) * WIDTH, EDGES + ROW * len(nodes)))


def _shown(instance: PlacementInstance, after: IntArray) -> IntArray:
    """Return the nodes to draw: those that change, then those with the most GPUs."""
    changed = np.zeros(instance.num_nodes, np.bool_)
    differs = after != instance.running_node
    for node in (after[differs], instance.running_node[differs]):
        changed[node[node != NOWHERE]] = True
    order = np.lexsort((np.arange(changed.size), -instance.num_gpus[instance.node2type], ~changed))
    chosen = order[:MAX_NODES]
    return chosen[np.lexsort((chosen, -instance.num_gpus[instance.node2type[chosen]]))]


def _draw(axes: Axes, instance: PlacementInstance, nodes: IntArray, title: str, placement: Placement) -> None:
    there = np.maximum(instance.num_gpus[instance.node2type[nodes]], 1)
    left = np.zeros((nodes.size, int(there.max())))
    rows, cells = np.nonzero(np.arange(left.shape[1]) < there[:, None])
    axes.barh(rows, CELL, left=cells, height=0.8, color="none", edgecolor="#b9bdc3", linewidth=0.4)
    moves, new = moved(instance, placement), ~instance.is_running
    for which, (_, colour) in zip((~moves & ~new, moves, new), KINDS, strict=True):
        share = _shares(instance, nodes, np.where(which, placement.node, NOWHERE), placement.gpus, left.shape[1])
        axes.barh(
            rows,
            CELL * share[rows, cells],
            left=(left + np.arange(left.shape[1]))[rows, cells],
            height=0.8,
            color=colour,
        )
        left += CELL * share
    axes.set_yticks(range(nodes.size), [instance.node_name(n) for n in nodes.tolist()], fontsize=6, parse_math=False)
    axes.set_xlim(0, left.shape[1])
    axes.set_ylim(nodes.size - 0.4, -0.6)
    axes.set_xticks([])
    axes.grid(visible=False)
    hidden = instance.num_nodes - nodes.size
    axes.set_title(title)
    axes.set_xlabel(
        "a box for each GPU; of nodes without, for cpu" + (f"; {hidden} nodes are not shown" if hidden else "")
    )


def _shares(instance: PlacementInstance, nodes: IntArray, node: IntArray, gpus: IntArray, width: int) -> FloatArray:
    """(N, G) float64: the share of each box that pods take."""
    place = np.full(instance.num_nodes + 1, NOWHERE)
    place[nodes] = np.arange(nodes.size)
    row = place[node]
    pods = np.flatnonzero(row != NOWHERE)
    classes = instance.pod2class[pods]
    share = np.zeros((nodes.size, width))
    np.add.at(share, row[pods], devices_of(gpus[pods], width) * (instance.gpu_milli[classes, None] / 1000))
    bare = np.flatnonzero(instance.num_gpus[instance.node2type[nodes]] == 0)
    used = np.zeros(nodes.size)
    np.add.at(used, row[pods], instance.demand[classes, 0])
    share[bare, 0] = used[bare] / np.maximum(instance.capacity[instance.node2type[nodes[bare]], 0], 1)
    return share
