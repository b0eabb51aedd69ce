"""Eva's Algorithm 1 over time: sets of tasks for machines of falling price, on machines that are rented already first.

Every type is visited once, and a set that does not pay ends its visit: O(K + machines) sets, each as `kernels_fill` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_fill import Bin, Kinds, fill, held
from schedgap.instances.jit import inner_kernel, kernel

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.kernels_monitor import Table
    from schedgap.heuristics.reconfiguration.kernels_wares import Now, Sketch, Wares
    from schedgap.instances.arrays import IntArray


@kernel
def pack(
    wares: Wares, table: Table, now: Now, sketch: Sketch, listed: IntArray, by_list: bool, downsizing: bool
) -> None:
    """Place the listed tasks, in list order on ties, on machines that the sketch does not have yet."""
    length, num_machines = listed.shape[0], now.machine_type.shape[0]
    committed = np.zeros(num_machines, np.int64)
    for m in now.sent_to:
        if m >= 0:
            committed[m] += 1
    kinds = Kinds(
        np.empty(length, np.int64), np.empty(length, np.int64), np.zeros(length, np.int64),
        np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64), np.ones(length, np.bool_),
    )  # fmt: skip
    num_kinds = _sort(now, listed, kinds, np.full(table.alone.shape[0], -1))
    content = Bin(
        np.empty(length, np.int64), np.empty(length), np.empty(length), np.empty(length, np.int64),
        np.empty(length, np.int64), np.empty(wares.capacity.shape[1], np.int64),
    )  # fmt: skip
    remaining = length
    for k in wares.falling:
        while remaining > 0:
            most = 0.0
            for c in range(num_kinds):
                most += kinds.left[c] * wares.worth[kinds.task_class[c]]
            # No set pays for the machine, and no task left has it as its own type.
            if most < wares.price[k]:
                break
            on = _reusable(now, sketch, committed, k)
            kinds.here[:] = 0
            if on >= 0:
                for i in range(num_kinds):
                    kinds.here[i] = held(kinds, now, listed, i, on)
            number, total = fill(wares, table, now, kinds, num_kinds, content, listed, k, on, by_list)
            own = number == 1 and wares.kmin[now.task_class[listed[content.member[0]]]] == k
            if number == 0 or (total < wares.price[k] and not own):
                for i in range(number):
                    kinds.open[content.member[i]] = True
                    kinds.left[content.kind[content.entry[i]]] += 1
                remaining -= _each_alone(wares, now, kinds, num_kinds, sketch, committed, listed, k)
                break
            machine_type = _cheapest(wares, now, listed, content, number, k) if downsizing else k
            place = _taken(now, sketch, on if machine_type == k else -1, machine_type)
            for i in range(number):
                sketch.place[listed[content.member[i]]] = place
            remaining -= number


@inner_kernel
def _sort(now: Now, listed: IntArray, kinds: Kinds, newest: IntArray) -> int:
    """Find the kinds; newest : (C,), -1, becomes the last kind of each class. Chains are built from the end."""
    num_kinds = 0
    for i in range(listed.shape[0] - 1, -1, -1):
        c, size = now.task_class[listed[i]], now.job_size[listed[i]]
        kind = newest[c]
        while kind >= 0 and (kinds.task_class[kind] != c or kinds.job_size[kind] != size):
            kind -= 1
        if kind < 0:
            kind = num_kinds
            num_kinds += 1
            kinds.task_class[kind], kinds.job_size[kind], kinds.first[kind] = c, size, -1
            newest[c] = kind
        kinds.after[i] = kinds.first[kind]
        kinds.first[kind] = i
        kinds.left[kind] += 1
    return num_kinds


@inner_kernel
def _reusable(now: Now, sketch: Sketch, committed: IntArray, k: int) -> int:
    """Return the running machine of a type that the plan does not have and with the most tasks, -1 for none."""
    best = -1
    for m in range(now.machine_type.shape[0]):
        free = now.machine_type[m] == k and now.running[m] and not sketch.chosen[m]
        if free and (best < 0 or committed[m] > committed[best]):
            best = m
    return best


@inner_kernel
def _taken(now: Now, sketch: Sketch, on: int, machine_type: int) -> int:
    """Return the machine `on`, now in the plan, or a new one."""
    if on >= 0:
        sketch.chosen[on] = True
        return on
    place = now.machine_type.shape[0] + sketch.size[0]
    sketch.new_type[sketch.size[0]] = machine_type
    sketch.size[0] += 1
    return int(place)


@inner_kernel
def _each_alone(
    wares: Wares, now: Now, kinds: Kinds, num_kinds: int, sketch: Sketch, committed: IntArray, listed: IntArray, k: int
) -> int:
    """Place every task that is left and has k as its own type on a machine of its own; return how many."""
    number = 0
    for i in range(listed.shape[0]):
        c = now.task_class[listed[i]]
        if not kinds.open[i] or wares.kmin[c] != k:
            continue
        sketch.place[listed[i]] = _taken(now, sketch, _reusable(now, sketch, committed, k), k)
        kinds.open[i] = False
        for kind in range(num_kinds):
            if kinds.task_class[kind] == c and kinds.job_size[kind] == now.job_size[listed[i]]:
                kinds.left[kind] -= 1
        number += 1
    return number


@inner_kernel
def _cheapest(wares: Wares, now: Now, listed: IntArray, content: Bin, number: int, k: int) -> int:
    """Return the cheapest type that takes the tasks, first in list order on ties.

    The authors' code measures them by their demand on the family tried. Here a type also has to take their demand on
    its own family, or the plan could not be carried out.
    """
    best = k
    for other in range(wares.price.shape[0]):
        cheaper = wares.price[other] < wares.price[best] or (wares.price[other] == wares.price[best] and other < best)
        if not cheaper:
            continue
        fits = True
        for r in range(wares.capacity.shape[1]):
            tried, own = 0, 0
            for i in range(number):
                c = now.task_class[listed[content.member[i]]]
                tried += wares.demand[wares.family[k], c, r]
                own += wares.demand[wares.family[other], c, r]
                fits &= wares.demand[wares.family[other], c, r] >= 0
            fits &= tried <= wares.capacity[other, r] and own <= wares.capacity[other, r]
        if fits:
            best = other
    return best
