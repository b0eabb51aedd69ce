"""The co-location throughput table, compiled: O(1) a look-up, O(tasks) an update.

An entry belongs to a task class and the multiset of classes beside it. Its key is a 64-bit sum of random numbers, one
for the class and one for each task beside it, so that a task more or less changes the key by one addition. Two entries
share a key with probability 2**-64: below 1e-9 for a hundred thousand entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, kernel, lean_kernel

# Of `Table.count`: the number of entries, and how often the table has changed. No `record`: Python reads it at every plan, which
# takes it 0.1 us of this and 2 us of that.
COUNTS = np.dtype([("entries", np.int64), ("changes", np.int64)])


class Table(NamedTuple):
    """What has been observed of C classes, in H slots (a power of two) of which at least one is free.

    number_beside, number_itself : (C,) int64, random, of a class as one beside the task and as the task itself.
    key, times : (H,) int64, times the number of observations of an entry, 0 for a free slot. value : (H,) float64.
    alone : (C,) float64, value of a task beside nothing. pair : (C, C) float64, of one beside one; as recorded, and
    1 and the default where not. count : (1,) of `COUNTS`.
    """

    number_beside: IntArray
    number_itself: IntArray
    key: IntArray
    times: IntArray
    value: FloatArray
    alone: FloatArray
    pair: FloatArray
    count: Any


@inner_kernel
def find(table: Table, key: int) -> int:
    """Return the slot of a key, or the free slot where it belongs."""
    mask = table.key.shape[0] - 1
    slot = key & mask
    while table.times[slot] > 0 and table.key[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@lean_kernel
def throughput_beside(table: Table, c: int, beside: IntArray, number: int) -> float:
    """Return the normalised throughput of a task of class c beside the first `number` classes of a list.

    As recorded; else the product of the pairwise throughputs, in the order of the list (section 4.3).
    """
    if number == 0:
        return float(table.alone[c])
    if number == 1:
        return float(table.pair[c, beside[0]])
    key, product = table.number_itself[c], 1.0
    for i in range(number):
        key += table.number_beside[beside[i]]
        product *= table.pair[c, beside[i]]
    slot = find(table, key)
    return float(table.value[slot]) if table.times[slot] > 0 else product


@inner_kernel
def record(table: Table, c: int, key: int, number: int, other: int, observed: float, by_maximum: bool) -> None:
    """Add an observation to the entry of class c and a key; `other` is one of the `number` classes beside it."""
    slot = find(table, key)
    before, value = table.times[slot], observed
    if before > 0:
        value = table.value[slot]
        if by_maximum:
            value = max(value, observed)
        else:
            # The mean of equal values is that value, to the last bit.
            value += (observed - value) / (before + 1)
    else:
        table.count[0]["entries"] += 1
        table.key[slot] = key
    if before == 0 or value != table.value[slot]:
        table.count[0]["changes"] += 1
    table.times[slot] = before + 1
    table.value[slot] = value
    if number == 0:
        table.alone[c] = value
    elif number == 1:
        table.pair[c, other] = value


@lean_kernel
def rehash(table: Table, larger: Table) -> None:
    """Copy the entries into a table with more slots."""
    for old in range(table.key.shape[0]):
        if table.times[old] > 0:
            slot = find(larger, table.key[old])
            larger.key[slot] = table.key[old]
            larger.times[slot] = table.times[old]
            larger.value[slot] = table.value[old]


@kernel
def observe(
    table: Table,
    task_job: IntArray,
    task_class: IntArray,
    held_on: IntArray,
    rate: FloatArray,
    running: BoolArray,
    by_maximum: bool,
) -> None:
    """Record what the tasks of an observation show; the table needs a free slot for each of them and one more.

    A machine shows something if it runs and every task on it shows a throughput. A job of several tasks shows something
    if all of its machines do.
    """
    num_tasks, num_machines = task_job.shape[0], running.shape[0]
    total = np.zeros(num_machines, np.int64)
    number = np.zeros(num_machines, np.int64)
    sum_classes = np.zeros(num_machines, np.int64)
    shows = running.copy()
    for t in range(num_tasks):
        m = held_on[t]
        if m >= 0:
            total[m] += table.number_beside[task_class[t]]
            sum_classes[m] += task_class[t]
            number[m] += 1
            shows[m] &= rate[t] >= 0
    first = 0
    while first < num_tasks:
        stop, usable = first, True
        while stop < num_tasks and task_job[stop] == task_job[first]:
            m = held_on[stop]
            usable &= m >= 0 and shows[m] and rate[stop] >= 0
            stop += 1
        if usable:
            t = first
            if stop > first + 1:
                t = _straggler(table, first, stop, task_class[first], held_on, rate[first], total, number)
            c, m = task_class[t], held_on[t]
            key = table.number_itself[c] + total[m] - table.number_beside[c]
            # With one task beside it, the sum of the classes names that one.
            record(table, c, key, number[m] - 1, sum_classes[m] - c, min(1.0, rate[t]), by_maximum)
        first = stop


@inner_kernel
def _straggler(
    table: Table, first: int, stop: int, c: int, held_on: IntArray, observed: float, total: IntArray, number: IntArray
) -> int:
    """Return the task of a job to which its throughput is put down (section 4.4, Attributing Source of Interference).

    The recorded one with the lowest value, unless some are unrecorded and no recorded value is as low as the observed
    one: then the unrecorded one with the most tasks beside it. First on ties.
    """
    lowest, low, crowded = -1, 2.0, -1
    for t in range(first, stop):
        m = held_on[t]
        slot = find(table, table.number_itself[c] + total[m] - table.number_beside[c])
        if table.times[slot] > 0:
            if table.value[slot] < low:
                lowest, low = t, table.value[slot]
        elif crowded < 0 or number[m] > number[held_on[crowded]]:
            crowded = t
    return lowest if crowded < 0 or (lowest >= 0 and low <= observed) else crowded
