"""What the nodes of a placement draw: watts by the model of CPUs and GPUs, on or idle.

As PWR counts them (github.com/Fr4nz83/PWR-plugin-kubernetes, CCGrid 2025): a GPU that any pod uses draws all it can, and so
does a processor of which a core is in use; two of a pod's CPUs are a core.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.placement.model import ONE, Placement, PlacementInstance, use


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
