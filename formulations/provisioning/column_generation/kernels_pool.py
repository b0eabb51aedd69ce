"""What the tasks of two machines need together, and what a machine has for them; only so many of a class share one.

A class of which there are more tasks than that is crowded: it counts as a resource of these two machines, of which a task of
the class needs one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.kernels_types import Catalogue
    from schedgap.instances.arrays import IntArray

EMPTY = -1


@kernel
def crowded_classes(items: IntArray, task_class: IntArray, most: IntArray, number: IntArray) -> IntArray:
    """(L,) int64: the classes of which there are more items than may share a machine. number : (C,), work."""
    for t in items:
        number[task_class[t]] += 1
    crowded = np.empty(items.shape[0], np.int64)
    found = 0
    for t in items:
        c = task_class[t]
        if number[c] > most[c]:
            crowded[found] = c
            found += 1
        number[c] = 0
    return crowded[:found]


@kernel
def needs_of(items: IntArray, task_class: IntArray, types: Catalogue, k: int, crowded: IntArray) -> IntArray:
    """(n, R + L) int64: what items need on type k, and of each crowded class its items; EMPTY where k rents nothing."""
    resources = types.capacity.shape[1]
    needs = np.full((items.shape[0], resources + crowded.shape[0]), EMPTY)
    if k >= 0:
        for i in range(items.shape[0]):
            c = task_class[items[i]]
            for r in range(resources):
                needs[i, r] = types.demand[types.type2family[k], c, r]
            for j in range(crowded.shape[0]):
                needs[i, resources + j] = crowded[j] == c
    return needs


@kernel
def room_of(types: Catalogue, k: int, crowded: IntArray) -> IntArray:
    """(R + L,) int64: what a machine of type k has, and how many of each crowded class may share it."""
    resources = types.capacity.shape[1]
    rest = np.empty(resources + crowded.shape[0], np.int64)
    rest[:resources] = types.capacity[k]
    for j in range(crowded.shape[0]):
        rest[resources + j] = types.most[crowded[j]]
    return rest
