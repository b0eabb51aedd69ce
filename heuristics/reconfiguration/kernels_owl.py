"""Owl over time, compiled: O(C^2 K) a plan for C classes of tasks that may be placed anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import inner_kernel, kernel
from schedgap.instances.kernels.sort import argsort

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.kernels_catalogue import Catalogue, Present
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray


@kernel
def owl_plan(
    catalogue: Catalogue, present: Present, frozen: BoolArray, class2workload: IntArray, throughput: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return (T,) machines and the types of the new ones. throughput : (W, W) float64."""
    num_tasks, num_machines = present.task_class.shape[0], present.machine_type.shape[0]
    tasks_on = np.zeros(num_machines, np.int64)
    held = np.zeros(num_machines, np.bool_)
    for t in range(num_tasks):
        if present.sent_to[t] >= 0:
            tasks_on[present.sent_to[t]] += 1
            held[present.sent_to[t]] |= frozen[t]
    # Classes of the tasks that may be placed, in the order of their numbers, and the tasks of each, linked: new ones, then
    # those that are alone, machine by machine.
    first, last = np.full(catalogue.kmin.shape[0], -1), np.full(catalogue.kmin.shape[0], -1)
    after, place = np.full(num_tasks, -1), present.sent_to.copy()
    for t in argsort(present.sent_to):
        m, c = present.sent_to[t], present.task_class[t]
        if m >= 0 and (held[m] or tasks_on[m] >= 2):
            continue
        if first[c] < 0:
            first[c] = t
        else:
            after[last[c]] = t
        last[c] = t
    classes = np.flatnonzero(first >= 0)
    one, two, type_of, ratio = _combinations(catalogue, classes, class2workload, throughput)
    new_type = np.empty(num_tasks, np.int64)
    fresh = 0
    for i in argsort(-ratio):
        a, b = one[i], two[i]
        while first[a] >= 0 and (b < 0 or (after[first[a]] >= 0 if a == b else first[b] >= 0)):
            t = first[a]
            first[a] = after[t]
            m = present.sent_to[t]
            if b < 0 and m >= 0 and present.machine_type[m] == type_of[i]:
                continue
            place[t] = num_machines + fresh
            if b >= 0:
                place[first[b]] = num_machines + fresh
                first[b] = after[first[b]]
            new_type[fresh] = type_of[i]
            fresh += 1
    return place, new_type[:fresh].copy()


@kernel
def _combinations(
    catalogue: Catalogue, classes: IntArray, class2workload: IntArray, throughput: FloatArray
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return single classes and pairs that fit a type: first class, second or -1, cheapest type, worth per price."""
    number = classes.shape[0]
    rows = number + number * (number + 1) // 2
    one, two = np.empty(rows, np.int64), np.full(rows, -1)
    type_of, ratio = np.empty(rows, np.int64), np.empty(rows)
    row = 0
    for a in classes:
        one[row], type_of[row], ratio[row] = a, catalogue.kmin[a], 1.0
        row += 1
    for i in range(number):
        for other in range(i, number):
            a, b = classes[i], classes[other]
            k = _cheapest_for_two(catalogue, a, b)
            if k < 0:
                continue
            v, w = class2workload[a], class2workload[b]
            worth = catalogue.worth[a] * throughput[v, w] + catalogue.worth[b] * throughput[w, v]
            # Single tasks come before pairs that are worth no more.
            if worth > catalogue.price[k]:
                one[row], two[row], type_of[row], ratio[row] = a, b, k, worth / catalogue.price[k]
                row += 1
    return one[:row], two[:row], type_of[:row], ratio[:row]


@inner_kernel
def _cheapest_for_two(catalogue: Catalogue, a: int, b: int) -> int:
    best = -1
    for k in range(catalogue.price.shape[0]):
        if best >= 0 and catalogue.price[k] >= catalogue.price[best]:
            continue
        demand = catalogue.demand[catalogue.family[k]]
        fits = True
        for r in range(demand.shape[1]):
            fits &= demand[a, r] >= 0 and demand[b, r] >= 0
            fits &= demand[a, r] + demand[b, r] <= catalogue.capacity[k, r]
        if fits:
            best = k
    return best
