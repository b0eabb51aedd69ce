"""What can be rented, what there is to place, and a plan in the making, in the form that compiled rules take."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.jit import inner_kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray


class Catalogue(NamedTuple):
    """What can be rented and what classes ask for.

    demand : (F, C, R). family : (K,). capacity : (K, R). price : (K,) float64, micro-dollars per hour. falling : (K,)
    types by falling price. kmin : (C,) reservation-price type. worth : (C,) float64, reservation price.
    """

    demand: IntArray
    family: IntArray
    capacity: IntArray
    price: FloatArray
    falling: IntArray
    kmin: IntArray
    worth: FloatArray


class Present(NamedTuple):
    """Tasks and machines of an observation.

    task_class, job_size, sent_to, held_on : (T,). machine_type, running : (M,).
    """

    task_class: IntArray
    job_size: IntArray
    sent_to: IntArray
    held_on: IntArray
    machine_type: IntArray
    running: BoolArray


class Packing(NamedTuple):
    """A plan in the making. place : (T,) machine of each task, from M on a new one, -1 for none yet.

    chosen : (M,) whether the plan has the machine. new_type : (T,). size : (1,) number of new machines.
    """

    place: IntArray
    chosen: BoolArray
    new_type: IntArray
    size: IntArray


@inner_kernel
def normalised(worth: float, throughput: float, size: int) -> float:
    """Return TNRP: what a task of a job of so many tasks is worth at a throughput (section 4.4)."""
    if size == 1:
        return worth * throughput
    return worth * max(0.0, 1 - (1 - throughput) * size)


@inner_kernel
def aligned(demand: IntArray, left: IntArray, capacity: IntArray) -> float:
    """Return how well a demand suits the room left: their inner product, each relative to the capacity (Tetris)."""
    score = 0.0
    for r in range(capacity.shape[0]):
        if capacity[r] > 0:
            score += demand[r] / capacity[r] * (left[r] / capacity[r])
    return score
