"""Filling one machine as Algorithm 1 of Eva does (sections 4.2 to 4.4).

Tasks that no rule can tell apart except by where they are and where they stand in the list are one kind. Each choice
looks at all kinds: O(K E) table look-ups for K kinds and E distinct ones on the machine, where the authors' code has one
look-up for each task listed and each on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedgap.heuristics.reconfiguration.kernels_catalogue import Catalogue, Present, aligned, normalised
from schedgap.heuristics.reconfiguration.kernels_monitor import Table, find
from schedgap.instances.jit import inner_kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray


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
