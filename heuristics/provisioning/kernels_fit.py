"""Placing tasks one after another on the machines that are already there: fit-decreasing and Synergy. O(T M R)."""

from __future__ import annotations

from typing import Any, NamedTuple

from schedgap.instances.jit import inlined_kernel, lean_kernel


class Placed(NamedTuple):
    """What was placed: machine_type, task2machine : (T,), left : (T, R), of each machine, all int64."""

    machine_type: Any
    left: Any
    task2machine: Any


class Beside(NamedTuple):
    """What tasks do to one another. workload : (C,) into throughput (W + 1, W + 1) float64, of which the last are 1.

    factor : (T,) float64, the throughput of each placed task. last : (T,) the last task of each machine; before : (T,) the
    one placed before, -1 for none.
    """

    workload: Any
    throughput: Any
    factor: Any
    last: Any
    before: Any


class Apart(NamedTuple):
    """Classes of which only so many tasks may share a machine, int64.

    most : (C,), -1 for any number. last : (C,) the last task placed of each such class; before : (T,) the one before, -1 for
    none. held : (T,), 0 between uses: how many of a class each machine has.
    """

    most: Any
    last: Any
    before: Any
    held: Any


@inlined_kernel
def _mark(apart: Apart, c: int, task2machine: Any, sign: int) -> None:
    """Count the placed tasks of a class on each machine, or forget them again (sign -1). O(tasks of the class)."""
    other = apart.last[c]
    while other >= 0:
        apart.held[task2machine[other]] += sign
        other = apart.before[other]


@lean_kernel
def place_in_turn(
    order: Any,
    demand: Any,
    task2class: Any,
    type2group: Any,
    capacity: Any,
    opens: Any,
    best: bool,
    apart: Apart,
    placed: Placed,
) -> int:
    """Place each task on the first machine with room, or the one that it leaves the fullest; return their number.

    order : (T,) tasks in turn. demand : (G, C, R), -1 where a class cannot run. opens : (C,) type to rent where no
    machine has room. best : the least summed share of capacity left free, first machine on ties; otherwise the first.
    """
    machine_type, left, task2machine = placed
    num_machines = 0
    for t in order:
        c = task2class[t]
        chosen, chosen_free = -1, 0.0
        _mark(apart, c, task2machine, 1)
        for m in range(num_machines):
            k = machine_type[m]
            g = type2group[k]
            fits = demand[g, c, 0] >= 0 and (apart.most[c] < 0 or apart.held[m] < apart.most[c])
            for r in range(left.shape[1]):
                fits &= demand[g, c, r] <= left[m, r]
            if not fits:
                continue
            if not best:
                chosen = m
                break
            free = 0.0
            for r in range(left.shape[1]):
                if capacity[k, r] > 0:
                    free += (left[m, r] - demand[g, c, r]) / capacity[k, r]
            if chosen < 0 or free < chosen_free:
                chosen, chosen_free = m, free
        _mark(apart, c, task2machine, -1)
        if chosen < 0:
            chosen = num_machines
            num_machines += 1
            machine_type[chosen] = opens[c]
            for r in range(left.shape[1]):
                left[chosen, r] = capacity[opens[c], r]
        for r in range(left.shape[1]):
            left[chosen, r] -= demand[type2group[machine_type[chosen]], c, r]
        task2machine[t] = chosen
        if apart.most[c] >= 0:
            apart.before[t], apart.last[c] = apart.last[c], t
    return num_machines


@lean_kernel
def synergy_place(
    demand: Any, task2class: Any, type2group: Any, capacity: Any, price: Any, opens: Any, beside: Beside, placed: Placed
) -> int:
    """Place the tasks in list order as Eva's Synergy does; return the number of machines.

    opens : (C,) reservation type.
    """
    workload, throughput, factor, last, before = beside
    machine_type, left, task2machine = placed
    num_machines = 0
    for t in range(task2class.shape[0]):
        c = task2class[t]
        w = workload[c]
        chosen, chosen_ratio, chosen_score = -1, 1.0, -1.0
        for m in range(num_machines):
            k = machine_type[m]
            g = type2group[k]
            fits = demand[g, c, 0] >= 0
            for r in range(left.shape[1]):
                fits &= demand[g, c, r] <= left[m, r]
            if not fits:
                continue
            own, value = 1.0, 0.0
            other = last[m]
            while other >= 0:
                d = task2class[other]
                own *= throughput[w, workload[d]]
                value += price[opens[d]] * factor[other] * throughput[workload[d], w]
                other = before[other]
            ratio = (value + price[opens[c]] * own) / price[k]
            if ratio < chosen_ratio:
                continue
            score = 0.0
            for r in range(left.shape[1]):
                if capacity[k, r] > 0:
                    score += demand[g, c, r] / capacity[k, r] * (left[m, r] / capacity[k, r])
            if chosen < 0 or ratio > chosen_ratio or score > chosen_score:
                chosen, chosen_ratio, chosen_score = m, ratio, score
        if chosen < 0:
            chosen = num_machines
            num_machines += 1
            machine_type[chosen] = opens[c]
            last[chosen] = -1
            for r in range(left.shape[1]):
                left[chosen, r] = capacity[opens[c], r]
        g = type2group[machine_type[chosen]]
        for r in range(left.shape[1]):
            left[chosen, r] -= demand[g, c, r]
        factor[t] = 1.0
        other = last[chosen]
        while other >= 0:
            d = task2class[other]
            factor[t] *= throughput[w, workload[d]]
            factor[other] *= throughput[workload[d], w]
            other = before[other]
        before[t] = last[chosen]
        last[chosen] = t
        task2machine[t] = chosen
    return num_machines
