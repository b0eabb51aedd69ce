"""Synergy over time, compiled: O(M) valued sets a task, each O(E) look-ups for E tasks on a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_catalogue import Catalogue, Present, aligned
from schedgap.heuristics.reconfiguration.kernels_worth import contents, put, worth_of
from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.kernels_monitor import Table
    from schedgap.instances.arrays import BoolArray, IntArray


@kernel
def best_fit(
    catalogue: Catalogue, table: Table, present: Present, frozen: BoolArray, sizes: bool
) -> tuple[IntArray, IntArray]:
    """Place the tasks that are nowhere, one after the other; return (T,) machines and the types of the new ones."""
    num_machines = present.machine_type.shape[0]
    num_new = 0
    for m in present.sent_to:
        num_new += m < 0
    types = np.concatenate((present.machine_type, np.zeros(num_new, np.int64)))
    place = present.sent_to.copy()
    content = contents(catalogue, present, types, place)
    machines, order = num_machines, np.empty(types.shape[0], np.int64)
    listed = _listed_machines(place, frozen, num_machines, order)
    for t in range(place.shape[0]):
        if place[t] >= 0:
            continue
        c = present.task_class[t]
        best, best_ratio, best_score = -1, 0.0, 0.0
        for m in order[:listed]:
            k = types[m]
            demand = catalogue.demand[catalogue.family[k], c]
            fits = True
            for r in range(demand.shape[0]):
                fits &= 0 <= demand[r] <= content.left[m, r]
            if not fits:
                continue
            ratio = worth_of(catalogue, table, present, content, m, sizes, t) / catalogue.price[k]
            if ratio < 1 or (best >= 0 and ratio < best_ratio):
                continue
            score = aligned(demand, content.left[m], catalogue.capacity[k])
            if best < 0 or ratio > best_ratio or score > best_score:
                best, best_ratio, best_score = m, ratio, score
        if best < 0:
            best = machines
            types[best] = catalogue.kmin[c]
            content.left[best] = catalogue.capacity[catalogue.kmin[c]]
            order[listed] = best
            listed += 1
            machines += 1
        place[t] = best
        put(catalogue, present, content, t, best, types[best])
    return place, types[num_machines:machines].copy()


@kernel
def _listed_machines(place: IntArray, frozen: BoolArray, num_machines: int, order: IntArray) -> int:
    """Write machines with tasks by the first of those, frozen ones before the others, to `order`; return how many."""
    known, listed = np.zeros(num_machines, np.bool_), 0
    for first in (True, False):
        for t in range(place.shape[0]):
            m = place[t]
            if m >= 0 and frozen[t] == first and not known[m]:
                known[m] = True
                order[listed] = m
                listed += 1
    return listed
