"""Owl over time, compiled: O(C^2 K) a plan for C classes of tasks that may be placed anew.

Synergy over time, compiled: O(M) valued sets a task, each O(E) look-ups for E tasks on a machine.

Which tasks are on which machine, and what they are worth together, compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_monitor import Table, find
from schedgap.heuristics.reconfiguration.kernels_player import Catalogue, Present, aligned, normalised
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, kernel
from schedgap.instances.kernels.sort import argsort


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


class Content(NamedTuple):
    """Tasks by machine, linked. first, last : (M,) a machine's first and last task, -1 for none. after : (T,).

    left : (M, R) room. list : (T + 1,) work space for the classes of one machine, job_size : (T + 1,) for their sizes.
    """

    first: IntArray
    last: IntArray
    after: IntArray
    left: IntArray
    list: IntArray
    job_size: IntArray


@kernel
def contents(catalogue: Catalogue, present: Present, machine_type: IntArray, place: IntArray) -> Content:
    """Return which tasks are on which machine, in the order of the tasks."""
    num_tasks, num_machines = place.shape[0], machine_type.shape[0]
    content = Content(
        np.full(num_machines, -1), np.full(num_machines, -1), np.empty(num_tasks, np.int64),
        catalogue.capacity[machine_type], np.empty(num_tasks + 1, np.int64), np.empty(num_tasks + 1, np.int64),
    )  # fmt: skip
    for t in range(num_tasks):
        if place[t] >= 0:
            put(catalogue, present, content, t, place[t], machine_type[place[t]])
    return content


@inner_kernel
def put(catalogue: Catalogue, present: Present, content: Content, t: int, m: int, machine_type: int) -> None:
    """Append a task to a machine's list and take its room."""
    content.after[t] = -1
    if content.first[m] < 0:
        content.first[m] = t
    else:
        content.after[content.last[m]] = t
    content.last[m] = t
    for r in range(content.left.shape[1]):
        content.left[m, r] -= catalogue.demand[catalogue.family[machine_type], present.task_class[t], r]


@inner_kernel
def worth_of(
    catalogue: Catalogue, table: Table, present: Present, content: Content, m: int, sizes: bool, extra: int
) -> float:
    """Return the TNRP of the tasks on a machine, with one more unless `extra` is -1. O(E) look-ups for E tasks."""
    number, key, t = 0, 0, content.first[m]
    while t >= 0 or extra >= 0:
        one = t if t >= 0 else extra
        if t >= 0:
            t = content.after[t]
        else:
            extra = -1
        content.list[number], content.job_size[number] = present.task_class[one], present.job_size[one]
        key += table.number_beside[present.task_class[one]]
        number += 1
    worth = 0.0
    for i in range(number):
        c = content.list[i]
        if number == 1:
            throughput = table.alone[c]
        elif number == 2:
            throughput = table.pair[c, content.list[1 - i]]
        else:
            slot = find(table, table.number_itself[c] + key - table.number_beside[c])
            if table.times[slot] > 0:
                throughput = table.value[slot]
            else:
                throughput = 1.0
                for other in range(number):
                    if other != i:
                        throughput *= table.pair[c, content.list[other]]
        worth += normalised(catalogue.worth[c], throughput, content.job_size[i] if sizes else 1)
    return worth


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
