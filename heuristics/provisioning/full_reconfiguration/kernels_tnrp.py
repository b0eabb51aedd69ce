"""The packing loop of Full Reconfiguration under interference (Eva, sections 4.3 and 4.4), over task classes.

What a task adds depends on what is on the machine already, so each choice looks at all classes: O(C E) for E classes on
the machine. As without interference, a content once found is repeated while its classes last, unless a choice was a tie.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.provisioning.full_reconfiguration.kernels_pack import cheapest, repeats
from schedgap.heuristics.provisioning.full_reconfiguration.kernels_query import Classes, Plan, Types
from schedgap.instances.jit import inlined_kernel, inner_kernel, lean_kernel


@lean_kernel
def pack_tnrp(types: Types, classes: Classes, jobs: Any, plan: Plan, work: Any, flags: Any) -> int:
    """Place all tasks; return how many were left out, 0 unless a class fits no type.

    jobs : throughput (W + 1, W + 1) float64, whose last row and column are 1; workload (C,) int64 into it; price (C,)
    float64, reservation price; job value (C,) float64; the least that a task is worth, 0 or minus infinity.
    work : left (R,) like the demands, capacity (R,) float64, factor (C,) float64, need (G, R) int64.
    flags : (2,) bool, whether list order decides among equal values, and whether to downsize.
    """
    by_list, downsizing = flags[0], flags[1]
    left, capacity, factor, need = work
    group, capacities, prices, falling, _ = types
    counts, cursor, head, members = classes.counts, classes.cursor, classes.head, classes.members
    task_class, count, task2machine, size = plan.task_class, plan.count, plan.task2machine, plan.size
    left_out = members.shape[0]
    for k in falling:
        demand = classes.demand[group[k]]
        while left_out > 0:
            for r in range(left.shape[0]):
                left[r] = capacities[k, r]
                capacity[r] = capacities[k, r]
            start = size[1]
            stop, total, tied = _fill(demand, classes, jobs, left, capacity, factor, plan, by_list)
            if stop == start or total < prices[k]:
                for i in range(start, stop):
                    c = task_class[i]
                    counts[c] += count[i]
                    cursor[c] -= count[i]
                    head[c] = members[cursor[c]]
                break
            repeat = 1 if tied else repeats(counts, task_class, count, start, stop)
            plan.machine_type[size[0]] = (
                cheapest(types, classes.demand, task_class, count, start, stop, k, need) if downsizing else k
            )
            for i in range(start, stop):
                c = task_class[i]
                for m in range(1, repeat):
                    for _ in range(count[i]):
                        task2machine[members[cursor[c]]] = size[2] + m
                        cursor[c] += 1
                counts[c] -= (repeat - 1) * count[i]
                left_out -= repeat * count[i]
                if counts[c] > 0:
                    head[c] = members[cursor[c]]
            plan.repeat[size[0]] = repeat
            plan.indptr[size[0] + 1] = stop
            size[0] += 1
            size[1] = stop
            size[2] += repeat
    return left_out


@inner_kernel
def _fill(
    demand: Any, classes: Classes, jobs: Any, left: Any, capacity: Any, factor: Any, plan: Plan, by_list: bool
) -> tuple[int, float, bool]:
    """Fill one machine; return the end of its entries, its value and whether a choice was a tie.

    factor[i - start] is the throughput of the tasks of entry i beside all others on the machine.
    """
    throughput, workload, _, _, _ = jobs
    counts, head = classes.counts, classes.head
    task_class, count = plan.task_class, plan.count
    start = plan.size[1]
    stop, total, tied = start, 0.0, False
    while True:
        best, best_total, best_score, best_tied = -1, -1.0, -1.0, False
        for c in range(counts.shape[0]):
            fits = counts[c] > 0 and demand[c, 0] >= 0
            for r in range(left.shape[0]):
                fits &= demand[c, r] <= left[r]
            if not fits:
                continue
            sum_with = _value_with(c, start, stop, jobs, factor, plan)
            score = 0.0
            if not by_list:
                for r in range(left.shape[0]):
                    if capacity[r] > 0:
                        score += demand[c, r] / capacity[r] * (left[r] / capacity[r])
            if sum_with > best_total or (sum_with == best_total and score > best_score):
                best, best_total, best_score, best_tied = c, sum_with, score, False
            elif sum_with == best_total and score == best_score:
                best_tied = True
                if head[c] < head[best]:
                    best = c
        if best < 0 or best_total < total:
            return stop, total, tied
        tied |= best_tied
        total = best_total
        place, own = stop, 1.0
        for i in range(start, stop):
            e = task_class[i]
            factor[i - start] *= throughput[workload[e], workload[best]]
            if e == best:
                place = i
            for _ in range(count[i]):
                own *= throughput[workload[best], workload[e]]
        if place == stop:
            task_class[stop] = best
            count[stop] = 0
            factor[stop - start] = own
            stop += 1
        count[place] += 1
        plan.task2machine[head[best]] = plan.size[2]
        counts[best] -= 1
        classes.cursor[best] += 1
        if counts[best] > 0:
            head[best] = classes.members[classes.cursor[best]]
        for r in range(left.shape[0]):
            left[r] -= demand[best, r]


@inlined_kernel
def _value_with(c: int, start: int, stop: int, jobs: Any, factor: Any, plan: Plan) -> float:
    """Return what the tasks of a machine are worth together with one of class c."""
    throughput, workload, price, value, least = jobs
    sum_with, own, inside = 0.0, 1.0, False
    for i in range(start, stop):
        e = plan.task_class[i]
        number, f = plan.count[i], factor[i - start] * throughput[workload[e], workload[c]]
        if e == c:
            inside = True
            number += 1
        else:
            for _ in range(number):
                own *= throughput[workload[c], workload[e]]
        sum_with += number * max(least, price[e] - value[e] * (1 - f))
    if not inside:
        sum_with += max(least, price[c] - value[c] * (1 - own))
    return sum_with
