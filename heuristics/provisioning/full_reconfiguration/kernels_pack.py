"""The packing loop of Full Reconfiguration (Eva, Algorithm 1) over task classes instead of tasks.

A machine's content, once found, is repeated for as long as every class in it has tasks enough: the best choice among
fewer and fewer candidates stays the best while it is there. So the cost follows the distinct contents, and one search
of a tree (`kernels_query.py`) replaces the pass over all tasks.

From rows of task demands to classes of equal rows, in one pass; sizes and reservation prices of the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedgap.heuristics.provisioning.full_reconfiguration.kernels_query import (
    Classes,
    Plan,
    Query,
    Types,
    best_aligned,
    first_listed,
    fits_kind,
)
from schedgap.heuristics.provisioning.full_reconfiguration.kernels_tree import (
    LAST,
    Tree,
    build,
    remove_point,
    write_point,
    write_rank,
)
from schedgap.instances.jit import inner_kernel, lean_kernel


@lean_kernel
def pack(types: Types, classes: Classes, forest: Tree, query: Query, plan: Plan, work: Any, flags: Any) -> int:
    """Place all tasks; return how many were left out, 0 unless a class fits no type.

    forest : a `Tree` whose arrays have a leading axis of G. work : `build`'s, a log (T,) int32 of changed
    classes, two counters (G,) and (G, R) int64.
    flags : (2,) bool, whether list order decides among equal reservation prices, and whether a machine is exchanged
    for the cheapest type that takes its tasks.
    """
    by_list, downsizing = flags[0], flags[1]
    build_work, log, seen, live, need = work
    num_resources = classes.demand.shape[2]
    left_out = classes.members.shape[0]
    logged = 0
    seen[:] = -1
    for k in types.falling:
        g = types.group[k]
        tree = Tree(
            forest.points[g], forest.boxes[g], forest.slots[g], forest.ranks[g], forest.box_ranks[g],
            forest.direction[g], forest.layout[g], forest.least[g], forest.limits,
        )  # fmt: skip
        if left_out == 0:
            break
        for r in range(num_resources):
            query.scale[0, r] = types.capacity[k, r]
        if seen[g] < 0 or 2 * (logged - seen[g]) > live[g]:
            for c in range(classes.head.shape[0]):
                classes.rank[g, c] = LAST - classes.head[c]
            live[g] = build(
                tree, classes.demand[g], classes.kind_start, classes.kind_classes, classes.counts, classes.rank[g],
                query.scale[0], by_list, classes.place[g], build_work,
            )  # fmt: skip
        else:
            for i in range(seen[g], logged):
                live[g] -= _refresh(tree, classes, g, log[i], by_list)
        while left_out > 0:
            start = plan.size[1]
            stop, total, tied = _fill(tree, classes, g, query, plan, by_list)
            if total < types.price[k] or stop == start:
                _undo(tree, classes, g, plan, stop, by_list)
                break
            chosen = (
                cheapest(types, classes.demand, plan.task_class, plan.count, start, stop, k, need) if downsizing else k
            )
            repeat = 1 if tied else repeats(classes.counts, plan.task_class, plan.count, start, stop)
            live[g] -= _accept(tree, classes, g, plan, stop, repeat, by_list)
            plan.machine_type[plan.size[0] - 1] = chosen
            for i in range(start, stop):
                left_out -= repeat * plan.count[i]
                log[logged] = plan.task_class[i]
                logged += 1
        seen[g] = logged
    return left_out


@inner_kernel
def _fill(tree: Tree, classes: Classes, g: int, query: Query, plan: Plan, by_list: bool) -> tuple[int, int, bool]:
    """Fill one machine; return the end of its entries, its tasks' summed value and whether a choice was a tie."""
    points, boxes, _, ranks, box_ranks, _, layout, least, limits = tree
    sums = box_ranks.view(np.float32)
    left, scale, weight = query.left, query.scale, query.weight
    counts, cursor, head, members, demand, place, rank = (
        classes.counts, classes.cursor, classes.head, classes.members, classes.demand[g], classes.place[g],
        classes.rank[g],
    )  # fmt: skip
    task_class, count, task2machine, entry = plan.task_class, plan.count, plan.task2machine, plan.entry
    most = classes.most
    for r in range(left.shape[0]):
        left[r] = scale[0, r]
        scale[1, r] = 1.0 if scale[0, r] > 0 else 0.0
        weight[0, r] = 1.0 / scale[0, r] if scale[0, r] > 0 else 0.0
    start, machine = plan.size[1], plan.size[2]
    stop, total, tied = start, 0, False
    for kind in range(classes.value.shape[0]):
        while fits_kind(least, kind, left):
            if by_list:
                c = first_listed(tree, kind, query)
                tie = True
            else:
                c, tie = best_aligned(tree, sums, kind, query, head)
            if c < 0:
                break
            tied |= tie
            total += classes.value[kind]
            i = entry[c]
            if i < start or i >= stop or task_class[i] != c:
                i = stop
                entry[c] = i
                task_class[i] = c
                count[i] = 0
                stop += 1
            count[i] += 1
            task2machine[head[c]] = machine
            counts[c] -= 1
            cursor[c] += 1
            if counts[c] > 0:
                head[c] = members[cursor[c]]
            if counts[c] == 0 or count[i] == most[c]:
                remove_point(points, boxes, layout, least, limits, kind, place[c])
                write_rank(ranks, box_ranks, layout, kind, place[c], -1)
            else:
                if by_list:
                    rank[c] = LAST - head[c]
                    write_rank(ranks, box_ranks, layout, kind, place[c], rank[c])
            for r in range(left.shape[0]):
                left[r] -= demand[c, r]
                if scale[0, r] > 0:
                    scale[1, r] = left[r] / scale[0, r]
                    weight[0, r] = scale[1, r] / scale[0, r]
    return stop, total, tied


@inner_kernel
def _undo(tree: Tree, classes: Classes, g: int, plan: Plan, stop: int, by_list: bool) -> None:
    """Take the tasks of the machine that was filled last off it again."""
    points, boxes, _, ranks, box_ranks, _, layout, least, limits = tree
    demand, kind, counts, members, cursor, head, place, rank = (
        classes.demand[g], classes.kind, classes.counts, classes.members, classes.cursor, classes.head,
        classes.place[g], classes.rank[g],
    )  # fmt: skip
    for i in range(plan.size[1], stop):
        c = plan.task_class[i]
        gone = counts[c] == 0 or plan.count[i] == classes.most[c]
        counts[c] += plan.count[i]
        cursor[c] -= plan.count[i]
        head[c] = members[cursor[c]]
        if gone:
            write_point(points, boxes, layout, least, limits, kind[c], place[c], demand[c])
        if by_list:
            rank[c] = LAST - head[c]
        if gone or by_list:
            write_rank(ranks, box_ranks, layout, kind[c], place[c], rank[c])


@inner_kernel
def repeats(counts: Any, task_class: Any, count: Any, start: int, stop: int) -> int:
    """How many machines in a row get the content that was found last."""
    repeat = -1
    for i in range(start, stop):
        more = counts[task_class[i]] // count[i]
        if repeat < 0 or more < repeat:
            repeat = more
    return repeat + 1


@inner_kernel
def _accept(tree: Tree, classes: Classes, g: int, plan: Plan, stop: int, repeat: int, by_list: bool) -> int:
    """Record the machine that was filled last, `repeat` times; return how many classes have no task left."""
    counts, members, cursor, head = classes.counts, classes.members, classes.cursor, classes.head
    task_class, count, task2machine, size = plan.task_class, plan.count, plan.task2machine, plan.size
    emptied = 0
    machine = size[2]
    for i in range(size[1], stop):
        c = task_class[i]
        gone = counts[c] == 0 or count[i] == classes.most[c]
        for m in range(machine + 1, machine + repeat):
            for _ in range(count[i]):
                task2machine[members[cursor[c]]] = m
                cursor[c] += 1
        counts[c] -= (repeat - 1) * count[i]
        if counts[c] > 0:
            head[c] = members[cursor[c]]
            if gone:
                _put_back(tree, classes, g, c, by_list)
        else:
            emptied += 1
            if not gone:
                _remove(tree, classes.kind[c], classes.place[g, c])
    plan.repeat[size[0]] = repeat
    plan.indptr[size[0] + 1] = stop
    size[0] += 1
    size[1] = stop
    size[2] += repeat
    return emptied


@inner_kernel
def _put_back(tree: Tree, classes: Classes, g: int, c: int, by_list: bool) -> None:
    """Put a class into the tree again of which no more tasks might share the machine that was filled last."""
    points, boxes, _, ranks, box_ranks, _, layout, least, limits = tree
    kind, place = classes.kind[c], classes.place[g, c]
    if by_list:
        classes.rank[g, c] = LAST - classes.head[c]
    write_point(points, boxes, layout, least, limits, kind, place, classes.demand[g, c])
    write_rank(ranks, box_ranks, layout, kind, place, classes.rank[g, c])


@inner_kernel
def _refresh(tree: Tree, classes: Classes, g: int, c: int, by_list: bool) -> int:
    """Bring a class whose tasks were placed on another group's machines up to date; return 1 if it goes."""
    place = classes.place[g, c]
    if place < 0:
        return 0
    if classes.counts[c] == 0:
        _remove(tree, classes.kind[c], place)
        classes.place[g, c] = -1
        return 1
    if by_list:
        classes.rank[g, c] = LAST - classes.head[c]
        write_rank(tree.ranks, tree.box_ranks, tree.layout, classes.kind[c], place, classes.rank[g, c])
    return 0


@inner_kernel
def _remove(tree: Tree, kind: int, place: int) -> None:
    """Take a class without tasks out of the tree."""
    points, boxes, _, ranks, box_ranks, _, layout, least, limits = tree
    write_rank(ranks, box_ranks, layout, kind, place, -1)
    remove_point(points, boxes, layout, least, limits, kind, place)


@inner_kernel
def cheapest(types: Types, demand: Any, task_class: Any, count: Any, start: int, stop: int, k: int, need: Any) -> int:
    """Return the cheapest type that takes the tasks of the machine that was filled last, k if none is cheaper.

    need : (G, R) int64, work. O(G N R + K R) for N entries.
    """
    group, capacity, price, _, rising = types
    for g in range(demand.shape[0]):
        for r in range(demand.shape[2]):
            need[g, r] = 0
        for i in range(start, stop):
            for r in range(demand.shape[2]):
                x = demand[g, task_class[i], r]
                need[g, r] = need[g, r] + x * count[i] if x >= 0 and need[g, r] >= 0 else -1
    for other in rising:
        if price[other] >= price[k]:
            break
        fits = True
        for r in range(demand.shape[2]):
            fits &= 0 <= need[group[other], r] <= capacity[other, r]
        if fits:
            return other
    return k


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
