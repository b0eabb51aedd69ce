"""Eva's Algorithm 1 over time: sets of tasks for machines of falling price, on machines that are rented already first.

Every type is visited once, and a set that does not pay ends its visit: O(K + machines) sets, each as `kernels_fill` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.eva.kernels_fill import Bin, Kinds, fill, held
from schedgap.instances.jit import inner_kernel, kernel

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.kernels_catalogue import Catalogue, Packing, Present
    from schedgap.heuristics.reconfiguration.kernels_monitor import Table
    from schedgap.instances.arrays import IntArray


@kernel
def pack(
    catalogue: Catalogue,
    table: Table,
    present: Present,
    packing: Packing,
    listed: IntArray,
    by_list: bool,
    downsizing: bool,
) -> None:
    """Place the listed tasks, in list order on ties, on machines that the packing does not have yet."""
    length, num_machines = listed.shape[0], present.machine_type.shape[0]
    committed = np.zeros(num_machines, np.int64)
    for m in present.sent_to:
        if m >= 0:
            committed[m] += 1
    kinds = Kinds(
        np.empty(length, np.int64), np.empty(length, np.int64), np.zeros(length, np.int64),
        np.zeros(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64), np.ones(length, np.bool_),
    )  # fmt: skip
    num_kinds = _sort(present, listed, kinds, np.full(table.alone.shape[0], -1))
    content = Bin(
        np.empty(length, np.int64), np.empty(length), np.empty(length), np.empty(length, np.int64),
        np.empty(length, np.int64), np.empty(catalogue.capacity.shape[1], np.int64),
    )  # fmt: skip
    remaining = length
    for k in catalogue.falling:
        while remaining > 0:
            most = 0.0
            for c in range(num_kinds):
                most += kinds.left[c] * catalogue.worth[kinds.task_class[c]]
            # No set pays for the machine, and no task left has it as its own type.
            if most < catalogue.price[k]:
                break
            on = _reusable(present, packing, committed, k)
            kinds.here[:] = 0
            if on >= 0:
                for i in range(num_kinds):
                    kinds.here[i] = held(kinds, present, listed, i, on)
            number, total = fill(catalogue, table, present, kinds, num_kinds, content, listed, k, on, by_list)
            own = number == 1 and catalogue.kmin[present.task_class[listed[content.member[0]]]] == k
            if number == 0 or (total < catalogue.price[k] and not own):
                for i in range(number):
                    kinds.open[content.member[i]] = True
                    kinds.left[content.kind[content.entry[i]]] += 1
                remaining -= _each_alone(catalogue, present, kinds, num_kinds, packing, committed, listed, k)
                break
            machine_type = _cheapest(catalogue, present, listed, content, number, k) if downsizing else k
            place = _taken(present, packing, on if machine_type == k else -1, machine_type)
            for i in range(number):
                packing.place[listed[content.member[i]]] = place
            remaining -= number


@inner_kernel
def _sort(present: Present, listed: IntArray, kinds: Kinds, newest: IntArray) -> int:
    """Find the kinds; newest : (C,), -1, becomes the last kind of each class. Chains are built from the end."""
    num_kinds = 0
    for i in range(listed.shape[0] - 1, -1, -1):
        c, size = present.task_class[listed[i]], present.job_size[listed[i]]
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
def _reusable(present: Present, packing: Packing, committed: IntArray, k: int) -> int:
    """Return the running machine of a type that the plan does not have and with the most tasks, -1 for none."""
    best = -1
    for m in range(present.machine_type.shape[0]):
        free = present.machine_type[m] == k and present.running[m] and not packing.chosen[m]
        if free and (best < 0 or committed[m] > committed[best]):
            best = m
    return best


@inner_kernel
def _taken(present: Present, packing: Packing, on: int, machine_type: int) -> int:
    """Return the machine `on`, now in the plan, or a new one."""
    if on >= 0:
        packing.chosen[on] = True
        return on
    place = present.machine_type.shape[0] + packing.size[0]
    packing.new_type[packing.size[0]] = machine_type
    packing.size[0] += 1
    return int(place)


@inner_kernel
def _each_alone(
    catalogue: Catalogue,
    present: Present,
    kinds: Kinds,
    num_kinds: int,
    packing: Packing,
    committed: IntArray,
    listed: IntArray,
    k: int,
) -> int:
    """Place every task that is left and has k as its own type on a machine of its own; return how many."""
    number = 0
    for i in range(listed.shape[0]):
        c = present.task_class[listed[i]]
        if not kinds.open[i] or catalogue.kmin[c] != k:
            continue
        packing.place[listed[i]] = _taken(present, packing, _reusable(present, packing, committed, k), k)
        kinds.open[i] = False
        for kind in range(num_kinds):
            if kinds.task_class[kind] == c and kinds.job_size[kind] == present.job_size[listed[i]]:
                kinds.left[kind] -= 1
        number += 1
    return number


@inner_kernel
def _cheapest(catalogue: Catalogue, present: Present, listed: IntArray, content: Bin, number: int, k: int) -> int:
    """Return the cheapest type that takes the tasks, first in list order on ties.

    The authors' code measures them by their demand on the family tried. Here a type also has to take their demand on
    its own family, or the plan could not be carried out.
    """
    best = k
    for other in range(catalogue.price.shape[0]):
        cheaper = catalogue.price[other] < catalogue.price[best] or (
            catalogue.price[other] == catalogue.price[best] and other < best
        )
        if not cheaper:
            continue
        fits = True
        for r in range(catalogue.capacity.shape[1]):
            tried, own = 0, 0
            for i in range(number):
                c = present.task_class[listed[content.member[i]]]
                tried += catalogue.demand[catalogue.family[k], c, r]
                own += catalogue.demand[catalogue.family[other], c, r]
                fits &= catalogue.demand[catalogue.family[other], c, r] >= 0
            fits &= tried <= catalogue.capacity[other, r] and own <= catalogue.capacity[other, r]
        if fits:
            best = other
    return best
