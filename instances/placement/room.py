"""What pods that run leave of nodes: of their resources, of each GPU, and of the slices of GPUs that MIG divides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.placement.model import MAX_SLICES, NOWHERE, ONE, PlacementInstance, devices_of, use


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """What is free beside pods. left : (N, R) int64. milli : (N, G) int64, thousandths of each GPU, -1 where there is none.

    taken : (N, G) int64, bit s for each slice s of a GPU that MIG divides.
    """

    left: IntArray
    milli: IntArray
    taken: IntArray


def room_of(instance: PlacementInstance, pods: BoolArray) -> Room:
    """Return what is free beside some of the pods that run. pods : (P,) bool. O((P + N) (R + G))."""
    node = np.where(pods, instance.running_node, NOWHERE)
    used, milli = use(instance, node, instance.running_gpus)
    there = np.arange(milli.shape[1]) < instance.num_gpus[instance.node2type, None]
    taken = np.zeros_like(milli)
    if instance.slices is not None and instance.running_start is not None:
        size = instance.slices[instance.pod2class]
        sliced = np.flatnonzero((node != NOWHERE) & (size > 0))
        gpu = devices_of(instance.running_gpus[sliced], milli.shape[1]).argmax(axis=1)
        # No two pods hold the same slice.
        np.add.at(taken, (node[sliced], gpu), ((1 << size[sliced]) - 1) << instance.running_start[sliced])
    return Room(instance.capacity[instance.node2type] - used, np.where(there, ONE - milli, -1), taken)


def open_start(instance: PlacementInstance, c: int, kind: IntArray, taken: IntArray) -> IntArray:
    """Return the last slice at which a pod of a class may start on GPUs, -1 where none is open: the first stay free longest.

    kind, taken : of the GPUs, broadcast: the type of their node, and int64 with a bit for each slice that is taken.
    """
    found = np.full(np.broadcast_shapes(np.shape(kind), np.shape(taken)), -1)
    assert instance.slices is not None
    assert instance.starts is not None
    assert instance.gpu_slices is not None
    size = int(instance.slices[c])
    for start in np.flatnonzero(devices_of(instance.starts[c : c + 1], MAX_SLICES)[0]).tolist():
        is_open = (taken & (((1 << size) - 1) << start) == 0) & (start + size <= instance.gpu_slices[kind])
        found[is_open] = start
    return found
