"""Figures of a placement beside its objective: what is allocated and idle, as pods arrive and in the end.

What the nodes of a placement draw: watts by the model of CPUs and GPUs, on or idle.

As PWR counts them (github.com/Fr4nz83/PWR-plugin-kubernetes, CCGrid 2025): a GPU that any pod uses draws all it can, and so
does a processor of which a core is in use; two of a pod's CPUs are a core.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.picture import MAX_BARS, Bar, Curve, Part, Picture, rounded
from schedgap.instances.placement.model import NOWHERE, ONE, Placement, PlacementInstance, use
from schedgap.instances.placement.verify import moves
from schedgap.instances.units import resource_scales


class Processor(NamedTuple):
    """idle, full : watts. cores : of one."""

    idle: int
    full: int
    cores: int


E5_2682, PLATINUM_8163 = Processor(15, 120, 16), Processor(20, 165, 24)
GOLD_6326, PLATINUM_8369B = Processor(20, 185, 16), Processor(20, 270, 32)
# By the model of a node's GPUs: watts of a GPU, idle and in use, and the node's processors. G2 counts as A10, G3 as A100.
MODELS = {
    "T4": (10, 70, PLATINUM_8163),
    "P100": (25, 250, E5_2682),
    "V100M16": (30, 300, GOLD_6326),
    "V100M32": (30, 300, GOLD_6326),
    "A10": (30, 150, PLATINUM_8369B),
    "G2": (30, 150, PLATINUM_8369B),
    "A100": (50, 400, PLATINUM_8369B),
    "G3": (50, 400, PLATINUM_8369B),
}
NO_MODEL = (0, 0, E5_2682)
CORE = 2 * ONE


def is_known(instance: PlacementInstance) -> bool:
    """Return whether there are figures for all GPUs, and a CPU to count."""
    return "cpu" in instance.resources and all(
        model in MODELS for model, gpus in zip(instance.gpu_model, instance.num_gpus.tolist(), strict=True) if gpus
    )


def watts_by_type(instance: PlacementInstance) -> IntArray:
    """(T, 5) int64: watts of a GPU, idle and in use, of a processor, likewise, and its cores."""
    found = [MODELS.get(model, NO_MODEL) for model in instance.gpu_model]
    return np.array([(idle, full, *processor) for idle, full, processor in found], np.int64)


def power_w(instance: PlacementInstance, placement: Placement) -> int:
    """Return what all nodes draw, in watts. For instances of which `is_known` says so."""
    used, milli = use(instance, placement.node, placement.gpus)
    kinds, cpu = watts_by_type(instance)[instance.node2type], list(instance.resources).index("cpu")
    working = (milli > 0).sum(axis=1)
    gpus = kinds[:, 0] * (instance.num_gpus[instance.node2type] - working) + kinds[:, 1] * working
    capacity = instance.capacity[instance.node2type, cpu]
    cores = -(-capacity // CORE)
    active = -(-(cores - (capacity - used[:, cpu]) // CORE) // kinds[:, 4])
    processors = -(-cores // kinds[:, 4])
    return int((gpus + kinds[:, 2] * (processors - active) + kinds[:, 3] * active).sum())


PERCENT = 100
# Where the paper's experiments are read, in per cent of all GPUs that have arrived.
MARKS = (50, 80, 90, 95, 100, 105, 110, 120, 130)


def measures(instance: PlacementInstance, placement: Placement) -> dict[str, float]:
    """Return the figures of a feasible placement.

    placed_pods, refused_pods, and moves where pods run. allocated_percent, idle_percent : of all GPUs, in the end.
    idle_at_N : idle GPUs in per cent of all when pods that ask for N per cent of all GPUs have arrived: the mean over the
    arrivals that round to it, as the paper's experiments are read; N is 50, 80, 90, 95, 100, 105, 110, 120, 130.
    nodes_used, and `*_utilisation`, the share of each resource that pods take on all nodes. power_w : what nodes draw in the
    end, where it is known of all models.
    """
    placed = placement.node != NOWHERE
    figures = {"placed_pods": float(placed.sum()), "refused_pods": float((~placed).sum())}
    if instance.is_running.any():
        figures["moves"] = float(moves(instance, placement))
    figures["nodes_used"] = float(np.unique(placement.node[placed]).size)
    if instance.gpu_capacity:
        arrived, allocated = over_arrivals(instance, placement)
        figures["allocated_percent"] = float(allocated[-1])
        figures["idle_percent"] = float(PERCENT - allocated[-1])
        for mark in MARKS:
            if (here := np.rint(arrived) == mark).any():
                figures[f"idle_at_{mark}"] = float(PERCENT - allocated[here].mean())
    if is_known(instance):
        figures["power_w"] = float(power_w(instance, placement))
    used, _ = use(instance, placement.node, placement.gpus)
    total = instance.capacity[instance.node2type].sum(axis=0)
    for r, name in enumerate(instance.resources):
        if total[r]:
            figures[f"{name.removesuffix('_gib').removesuffix('_mib')}_utilisation"] = float(
                used[:, r].sum() / total[r]
            )
    return figures


def over_arrivals(instance: PlacementInstance, placement: Placement) -> tuple[FloatArray, FloatArray]:
    """Return (P,) each: what has arrived after each pod, and what is allocated, in per cent of all GPUs."""
    milli = (instance.gpus * instance.gpu_milli)[instance.pod2class]
    held = np.where(placement.node != NOWHERE, milli, 0)
    return PERCENT * np.cumsum(milli) / instance.gpu_capacity, PERCENT * np.cumsum(held) / instance.gpu_capacity


def picture(instance: PlacementInstance, placement: Placement) -> Picture:
    """Return what nodes hold, those with equal contents once, and what is allocated as pods arrive."""
    placed = np.flatnonzero(placement.node != NOWHERE)
    holds: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    order = placed[np.argsort(placement.node[placed], kind="stable")]
    cuts = np.searchsorted(placement.node[order], np.arange(instance.num_nodes + 1))
    for node in range(instance.num_nodes):
        classes, counts = np.unique(instance.pod2class[order[cuts[node] : cuts[node + 1]]], return_counts=True)
        content = tuple(zip(classes.tolist(), counts.tolist(), strict=True))
        key = (int(instance.node2type[node]), content)
        holds[key] = holds.get(key, 0) + 1
    most = sorted(holds.items(), key=lambda item: -item[1])[:MAX_BARS]
    bars = tuple(
        Bar(
            instance.type_names[t],
            repeat,
            _amounts(instance, instance.capacity[t], int(instance.num_gpus[t]) * ONE),
            tuple(
                Part(
                    instance.class_names[c],
                    count,
                    _amounts(instance, instance.demand[c], int(instance.gpus[c] * instance.gpu_milli[c])),
                )
                for c, count in content
            ),
        )
        for (t, content), repeat in most
    )
    curves: tuple[Curve, ...] = ()
    if instance.gpu_capacity:
        arrived, allocated = over_arrivals(instance, placement)
        shown = np.unique(np.linspace(0, arrived.size - 1, 120).astype(np.int64))
        x, y = rounded(arrived[shown]), rounded(allocated[shown])
        curves = (Curve("GPUs allocated", "per cent arrived", "per cent allocated", x, y, is_step=True),)
    return Picture(("GPUs", *instance.resources), bars, instance.num_nodes - sum(repeat for _, repeat in most), curves)


def _amounts(instance: PlacementInstance, resources: IntArray, milli: int) -> tuple[float, ...]:
    return (milli / ONE, *(resources / resource_scales(instance.resources)).tolist())
