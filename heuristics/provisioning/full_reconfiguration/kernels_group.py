"""From rows of task demands to classes of equal rows, in one pass; sizes and reservation prices of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.instances.jit import lean_kernel


@lean_kernel
def group_rows(demand: Any, multiplier: Any, table: Any, task2class: Any, first: Any) -> int:
    """Give distinct rows numbers in order of first appearance and return how many there are. O(T F R) expected.

    Open addressing with a multiply-shift hash. A cache line a row when few are distinct.

    demand : (F, T, R) int64. multiplier : (F, R) odd int64. table : (power of two >= 2 T,) int32, all -1.
    task2class : (T,) int32, out. first : (T,) int32, out: the first task of each class.
    """
    num_families, num_tasks, num_resources = demand.shape
    mask = table.shape[0] - 1
    num_classes = 0
    for t in range(num_tasks):
        mixed = np.int64(0)
        for f in range(num_families):
            for r in range(num_resources):
                mixed += demand[f, t, r] * multiplier[f, r]
        mixed ^= mixed >> 29
        slot = ((mixed * multiplier[0, 0]) >> 32) & mask
        while True:
            c = table[slot]
            if c < 0:
                table[slot] = num_classes
                task2class[t] = num_classes
                first[num_classes] = t
                num_classes += 1
                break
            other = first[c]
            equal = True
            for f in range(num_families):
                for r in range(num_resources):
                    equal &= demand[f, t, r] == demand[f, other, r]
            if equal:
                task2class[t] = c
                break
            slot = (slot + 1) & mask
    return num_classes


@lean_kernel
def list_members(task2class: Any, start: Any, members: Any) -> None:
    """List the tasks by class, list order kept within a class: a counting sort. O(T + C).

    task2class : (T,). start : (C + 1,) int64, out. members : (T,) int32, out: class c owns start[c]..start[c + 1] - 1.
    """
    start[:] = 0
    for t in range(task2class.shape[0]):
        start[task2class[t] + 1] += 1
    for c in range(start.shape[0] - 1):
        start[c + 1] += start[c]
    for t in range(task2class.shape[0]):
        c = task2class[t]
        members[start[c]] = t
        start[c] += 1
    for c in range(start.shape[0] - 1, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0


@lean_kernel
def class_demand(demand: Any, rows: Any, families: Any, largest: Any, out: Any) -> None:
    """Copy the demands of some rows, -1 in every resource where a row can run on no type of the family. O(G C R).

    demand : (F, T, R) int64, negative where a task may not run. rows : (C,) row of each class. families : (G,) which
    families to copy. largest : (G, R) int64, largest capacity there. out : (G, C, R) int32 or int64.
    """
    for g in range(families.shape[0]):
        for c in range(rows.shape[0]):
            usable = True
            for r in range(demand.shape[2]):
                x = demand[families[g], rows[c], r]
                usable &= (x >= 0) & (x <= largest[g, r])
            for r in range(demand.shape[2]):
                out[g, c, r] = demand[families[g], rows[c], r] if usable else -1


@lean_kernel
def reservation_ranks(demand: Any, type2group: Any, capacity: Any, by_price: Any, rank: Any) -> int:
    """Set rank[c] to the place in `by_price` of the first type that fits class c; return the first class without one.

    demand : (G, C, R). type2group : (K,), capacity : (K, R), by_price : (K,) types by rising price. rank : (C,) int32.
    O(C K R); -1 is returned if every class fits somewhere.
    """
    unplaceable = -1
    for c in range(demand.shape[1] - 1, -1, -1):
        rank[c] = -1
        for i in range(by_price.shape[0]):
            k = by_price[i]
            g = type2group[k]
            fits = demand[g, c, 0] >= 0
            for r in range(demand.shape[2]):
                fits &= demand[g, c, r] <= capacity[k, r]
            if fits:
                rank[c] = i
                break
        if rank[c] < 0:
            unplaceable = c
    return unplaceable
