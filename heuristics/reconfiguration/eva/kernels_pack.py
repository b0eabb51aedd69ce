"""Eva's Algorithm 1 over time: sets of tasks for machines of falling price, on machines that are rented already first.

Every type is visited once, and a set that does not pay ends its visit: O(K + machines) sets, each as `kernels_fill` says.

Filling one machine as Algorithm 1 of Eva does (sections 4.2 to 4.4).

Tasks that no rule can tell apart except by where they are and where they stand in the list are one kind. Each choice
looks at all kinds: O(K E) table look-ups for K kinds and E distinct ones on the machine, where the authors' code has one
look-up for each task listed and each on the machine.

Eva's two candidate plans, compiled: what stays, what is inserted, what Algorithm 1 places, and what a plan saves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_monitor import Table, find
from schedgap.heuristics.reconfiguration.kernels_owl import contents, put, worth_of
from schedgap.heuristics.reconfiguration.kernels_player import Catalogue, Packing, Present, aligned, normalised
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, kernel


class Kinds(NamedTuple):
    """Listed tasks, L of them, by kind. task_class, job_size, left, here : (L,), of a kind; the last two are how many of
    its tasks are not placed, and how many of those are held on the machine that would be used.

    first : (L,) first listed task of a kind. after : (L,) the next of the same kind. open : (L,) whether not placed.
    """  # noqa: D205

    task_class: IntArray
    job_size: IntArray
    left: IntArray
    here: IntArray
    first: IntArray
    after: IntArray
    open: BoolArray


class Bin(NamedTuple):
    """The machine being filled. kind, factor, worth : (L,), of each distinct kind on it: the product of its pairwise
    throughputs beside the others, and what one task is worth. entry, member : (L,), of each task: its place in the
    former, and in the list. left : (R,).
    """  # noqa: D205

    kind: IntArray
    factor: FloatArray
    worth: FloatArray
    entry: IntArray
    member: IntArray
    left: IntArray


@inner_kernel
def fill(
    catalogue: Catalogue, table: Table, present: Present, kinds: Kinds, num_kinds: int, content: Bin, listed: IntArray, k: int,
    on: int, by_list: bool,
) -> tuple[int, float]:  # fmt: skip
    """Fill one machine of type k; return how many tasks it has and what they are worth.

    As long as anything fits, it takes the task with which the content is worth the most; then one that the machine
    `on` holds already; then the best aligned one; then the first listed. It stops before the worth falls.
    """
    left, family = content.left, catalogue.family[k]
    number, entries, total, key = 0, 0, 0.0, 0
    for r in range(left.shape[0]):
        left[r] = catalogue.capacity[k, r]
    while True:
        best, best_total, best_here, best_score, best_worth = -1, -1.0, False, 0.0, 0.0
        for kind in range(num_kinds):
            if kinds.left[kind] == 0:
                continue
            c = kinds.task_class[kind]
            fits = True
            for r in range(left.shape[0]):
                fits &= 0 <= catalogue.demand[family, c, r] <= left[r]
            if not fits:
                continue
            sum_with, worth = _worth_with(catalogue, table, kinds, content, number, entries, key, kind)
            if best >= 0 and sum_with < best_total:
                continue
            here, score = kinds.here[kind] > 0, 0.0
            if not by_list:
                score = aligned(catalogue.demand[family, c], left, catalogue.capacity[k])
            better = best < 0 or sum_with > best_total
            if not better and here != best_here:
                better = here
            elif not better and score != best_score:
                better = score > best_score
            elif not better:
                better = head(kinds, present, listed, kind, on) < head(kinds, present, listed, best, on)
            if better:
                best, best_total, best_here, best_score, best_worth = kind, sum_with, here, score, worth
        if best < 0 or best_total < total:
            return number, total
        total = best_total
        c = kinds.task_class[best]
        place = _entry(table, kinds, content, number, entries, best, best_worth)
        entries = max(entries, place + 1)
        i = head(kinds, present, listed, best, on)
        content.entry[number], content.member[number] = place, i
        number += 1
        key += table.number_beside[c]
        kinds.open[i] = False
        kinds.left[best] -= 1
        kinds.here[best] -= kinds.here[best] > 0
        for r in range(left.shape[0]):
            left[r] -= catalogue.demand[family, c, r]


@inner_kernel
def _entry(table: Table, kinds: Kinds, content: Bin, number: int, entries: int, kind: int, worth: float) -> int:
    """Slow the content down by one more task of a kind; return the kind's place among the entries, a new one if need be."""
    c, place, factor = kinds.task_class[kind], entries, 1.0
    for i in range(number):
        factor *= table.pair[c, kinds.task_class[content.kind[content.entry[i]]]]
    for e in range(entries):
        content.factor[e] *= table.pair[kinds.task_class[content.kind[e]], c]
        if content.kind[e] == kind:
            place = e
    if place == entries:
        content.kind[place], content.factor[place], content.worth[place] = kind, factor, worth
    return place


@inner_kernel
def _worth_with(
    catalogue: Catalogue, table: Table, kinds: Kinds, content: Bin, number: int, entries: int, key: int, kind: int
) -> tuple[float, float]:
    """Return what the content is worth with one more task of a kind, summed in the order of coming, and that task alone.

    key : sum of the numbers of the tasks in the content.
    """
    c = kinds.task_class[kind]
    if number == 0:
        worth = normalised(catalogue.worth[c], table.alone[c], kinds.job_size[kind])
        return worth, worth
    known, worth = False, 0.0
    for e in range(entries):
        d = kinds.task_class[content.kind[e]]
        if number == 1:
            throughput = table.pair[d, c]
        else:
            slot = find(table, table.number_itself[d] + key + table.number_beside[c] - table.number_beside[d])
            throughput = table.value[slot] if table.times[slot] > 0 else content.factor[e] * table.pair[d, c]
        content.worth[e] = normalised(catalogue.worth[d], throughput, kinds.job_size[content.kind[e]])
        if content.kind[e] == kind:
            known, worth = True, content.worth[e]
    if not known:
        if number == 1:
            throughput = table.pair[c, kinds.task_class[content.kind[0]]]
        else:
            slot = find(table, table.number_itself[c] + key)
            if table.times[slot] > 0:
                throughput = table.value[slot]
            else:
                throughput = 1.0
                for i in range(number):
                    throughput *= table.pair[c, kinds.task_class[content.kind[content.entry[i]]]]
        worth = normalised(catalogue.worth[c], throughput, kinds.job_size[kind])
    sum_with = 0.0
    for i in range(number):
        sum_with += content.worth[content.entry[i]]
    return sum_with + worth, worth


@inner_kernel
def head(kinds: Kinds, present: Present, listed: IntArray, kind: int, on: int) -> int:
    """Return the first open task of a kind, of those held on the machine if there are any."""
    i = kinds.first[kind]
    while not kinds.open[i] or (kinds.here[kind] > 0 and present.held_on[listed[i]] != on):
        i = kinds.after[i]
    return int(i)


@inner_kernel
def held(kinds: Kinds, present: Present, listed: IntArray, kind: int, on: int) -> int:
    """Return how many open tasks of a kind a machine holds."""
    number, i = 0, kinds.first[kind]
    while i >= 0:
        number += kinds.open[i] and present.held_on[listed[i]] == on
        i = kinds.after[i]
    return number


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


class EvaRules(NamedTuple):
    """by_list : no alignment among equal choices. downsizing : rent the cheapest type that takes a set. insertion : put
    tasks on machines that stay, whether that pays or not. sizes : job sizes count wherever a set is valued, not only in
    Algorithm 1.
    """  # noqa: D205

    by_list: bool
    downsizing: bool
    insertion: bool
    sizes: bool


@kernel
def full(catalogue: Catalogue, table: Table, present: Present, frozen: BoolArray, rules: EvaRules) -> Packing:
    """Return the plan of Full Reconfiguration: every task is placed anew that is not frozen."""
    num_tasks, num_machines = present.task_class.shape[0], present.machine_type.shape[0]
    packing = _new_packing(num_tasks, num_machines)
    for t in range(num_tasks):
        if frozen[t]:
            packing.place[t] = present.sent_to[t]
            packing.chosen[present.sent_to[t]] = True
    listed = np.flatnonzero(~frozen)
    if rules.insertion:
        listed = _inserted(catalogue, table, present, packing, listed, rules)
    pack(catalogue, table, present, packing, listed, rules.by_list, rules.downsizing)
    return packing


@kernel
def partial(catalogue: Catalogue, table: Table, present: Present, frozen: BoolArray, rules: EvaRules) -> Packing:
    """Return the plan of Partial Reconfiguration: new tasks are placed, and those on machines that do not pay."""
    num_tasks, num_machines = present.task_class.shape[0], present.machine_type.shape[0]
    packing = _new_packing(num_tasks, num_machines)
    content = contents(catalogue, present, present.machine_type, present.sent_to)
    for t in range(num_tasks):
        if frozen[t]:
            packing.chosen[present.sent_to[t]] = True
    listed = np.empty(num_tasks, np.int64)
    number = 0
    for t in range(num_tasks):
        if not frozen[t] and present.sent_to[t] < 0:
            listed[number] = t
            number += 1
    for m in range(num_machines):
        t = content.first[m]
        if t < 0:
            continue
        if not packing.chosen[m]:
            worth = worth_of(catalogue, table, present, content, m, rules.sizes, -1)
            own = content.after[t] < 0 and catalogue.kmin[present.task_class[t]] == present.machine_type[m]
            packing.chosen[m] = own or worth >= catalogue.price[present.machine_type[m]]
        while t >= 0:
            if packing.chosen[m]:
                packing.place[t] = m
            else:
                listed[number] = t
                number += 1
            t = content.after[t]
    listed = listed[:number].copy()
    if rules.insertion:
        listed = _inserted(catalogue, table, present, packing, listed, rules)
    pack(catalogue, table, present, packing, listed, rules.by_list, rules.downsizing)
    return packing


@kernel
def worth_and_price(
    catalogue: Catalogue, table: Table, present: Present, packing: Packing, sizes: bool
) -> tuple[float, float, float]:
    """Return the summed TNRP and price of a plan, and the price of its new machines."""
    num_machines, fresh = present.machine_type.shape[0], packing.size[0]
    types = np.concatenate((present.machine_type, packing.new_type[:fresh]))
    content = contents(catalogue, present, types, packing.place)
    worth, price, new_price = 0.0, 0.0, 0.0
    for m in range(types.shape[0]):
        if content.first[m] >= 0:
            worth += worth_of(catalogue, table, present, content, m, sizes, -1)
            price += catalogue.price[types[m]]
            if m >= num_machines:
                new_price += catalogue.price[types[m]]
    return worth, price, new_price


@kernel
def _new_packing(num_tasks: int, num_machines: int) -> Packing:
    return Packing(
        np.full(num_tasks, -1), np.zeros(num_machines, np.bool_), np.empty(num_tasks, np.int64), np.zeros(1, np.int64)
    )


@kernel
def _inserted(
    catalogue: Catalogue, table: Table, present: Present, packing: Packing, listed: IntArray, rules: EvaRules
) -> IntArray:
    """Put listed tasks on machines of the plan as long as any has room; return those that found none.

    Always the pair of a task and a machine whose content, with the task, is worth the most; then one where the task
    is held; then the best aligned; then the first task and machine. The gain is not looked at.
    """
    content = contents(catalogue, present, present.machine_type, packing.place)
    num_machines, length = present.machine_type.shape[0], listed.shape[0]
    # Tasks of equal class and job size are worth the same anywhere, so one row serves them all.
    row = np.empty(length, np.int64)
    for i in range(length):
        row[i] = i
        for other in range(i):
            a, b = listed[i], listed[other]
            if present.task_class[a] == present.task_class[b] and present.job_size[a] == present.job_size[b]:
                row[i] = row[other]
                break
    worth = np.full((length, num_machines), np.nan)
    while True:
        best, best_on, best_worth, best_held, best_score = -1, -1, 0.0, False, 0.0
        for i in range(length):
            t = listed[i]
            if packing.place[t] >= 0:
                continue
            for m in range(num_machines):
                if not packing.chosen[m]:
                    continue
                machine_type = present.machine_type[m]
                demand = catalogue.demand[catalogue.family[machine_type], present.task_class[t]]
                fits = True
                for r in range(demand.shape[0]):
                    fits &= 0 <= demand[r] <= content.left[m, r]
                if not fits:
                    continue
                if np.isnan(worth[row[i], m]):
                    worth[row[i], m] = worth_of(catalogue, table, present, content, m, rules.sizes, t)
                held, score = present.held_on[t] == m, 0.0
                if not rules.by_list:
                    score = aligned(demand, content.left[m], catalogue.capacity[machine_type])
                better = best < 0 or worth[row[i], m] > best_worth
                if not better and worth[row[i], m] == best_worth:
                    better = (held and not best_held) or (held == best_held and score > best_score)
                if better:
                    best, best_on, best_worth, best_held, best_score = i, m, worth[row[i], m], held, score
        if best < 0:
            return np.array([t for t in listed if packing.place[t] < 0], dtype=np.int64)
        packing.place[listed[best]] = best_on
        put(catalogue, present, content, listed[best], best_on, present.machine_type[best_on])
        worth[:, best_on] = np.nan
