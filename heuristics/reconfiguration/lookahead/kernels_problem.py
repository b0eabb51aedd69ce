"""What a plan is made from, and a plan in the making, as compiled code takes them.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, W workloads, T tasks, M
machines of the last plan, B machines of a draft (the M, then room for new ones), L most tasks on a machine; in a
regrouping: n tasks, S = 2^n sets of them, G most machines, X most new ones.

What a policy learns as it goes: pairwise throughputs, what progress costs, which machines changed; compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, record
from schedgap.instances.jit import inner_kernel, kernel, lean_kernel

MOST_ON_MACHINE = 48
# A throughput of 0 is taken for a billionth, the least that is above it.
LEAST_RATE = 1e-9


class Problem(NamedTuple):
    """What a plan is made from; all money is in dollars, all times are in hours.

    capacity : (K, R) int64. price : (K,) an hour. type2family : (K,). by_price : (K,) types, cheapest first.
    boot : (K,) from the order of a machine until it runs tasks. setup : (K,) what that costs.
    demand : (F, C, R) int64. task_class, workload : (T,). weight : (T,) what an hour without progress of it costs.
    alone : (T,) what an hour of it costs on a machine of its own.
    leave : (T,) what being stopped and launched again costs, 0 for a task that is nowhere yet. movable : (T,) bool.
    origin : (T,) where the last plan sent it, -1 for nowhere. rate : (W, W) throughput of a workload beside another.
    horizon : for how long a plan is taken to last. known : M.
    """

    capacity: Any
    price: Any
    type2family: Any
    by_price: Any
    boot: Any
    setup: Any
    demand: Any
    task_class: Any
    workload: Any
    weight: Any
    alone: Any
    leave: Any
    movable: Any
    origin: Any
    rate: Any
    horizon: float
    known: int


class DraftRows(NamedTuple):
    """A plan in the making.

    kind : (B,) machine types. size : (B,) tasks on it. content : (B, L) which. used : (B, R). place : (T,), -1 for none.
    dirty : (B,) 1 where something changed. random : (1,) uint64.
    """

    kind: Any
    size: Any
    content: Any
    used: Any
    place: Any
    dirty: Any
    random: Any


class Pairs:
    """Fields of `Tables.at`: a machine that changed, the row that its partners are counted from, steps taken, partners left."""

    machine: int
    first: int
    step: int
    left: int


class Tables(NamedTuple):
    """Work space of `regroup`.

    group : (G,) the machines, to be filled before the call. By sets of tasks: need : (S, F, R); rate : (S, n) of each;
    loss, earned, overrun : (S,) an hour, as in `counted`; leave, weight : (S,) sums; rank : (S,) the cheapest type that
    fits, an index into `by_price`, K for none; fresh : (S,) cost on a new machine; here : (S,) on the machine looked at.
    sets : (S,) those that fit a type. best, choice : (G + X + 1, S) least cost after so many machines, and the set on the
    last of them. task : (n,).
    beside : (n, n) rates. home : (G,) machines that may stay. fixed, num_fixed : (G, L), (G,) tasks that stay there.
    fixed_rate : (L,). room : (R,) of the machine looked at. at : where the search for pairs is.
    """

    group: Any
    need: Any
    rate: Any
    loss: Any
    earned: Any
    overrun: Any
    leave: Any
    weight: Any
    rank: Any
    fresh: Any
    here: Any
    sets: Any
    best: Any
    choice: Any
    task: Any
    beside: Any
    home: Any
    fixed: Any
    num_fixed: Any
    fixed_rate: Any
    room: Any
    at: Sequence[Pairs]


def new_tables(most_tasks: int, most_machines: int, most_new: int, num_families: int, num_resources: int) -> Tables:
    """Return work space for that many tasks, machines and new machines beside them."""
    sets, stages = 1 << most_tasks, most_machines + most_new
    ints, floats = (sets, np.int64), (sets, np.float64)
    return Tables(
        group=np.zeros(most_machines, np.int64),
        need=np.zeros((sets, num_families, num_resources), np.int64),
        rate=np.ones((sets, most_tasks)),
        loss=np.zeros(*floats),
        earned=np.zeros(*floats),
        overrun=np.zeros(*floats),
        leave=np.zeros(*floats),
        weight=np.zeros(*floats),
        rank=np.zeros(*ints),
        fresh=np.zeros(*floats),
        here=np.zeros(*floats),
        sets=np.zeros(*ints),
        best=np.zeros((stages + 1, sets)),
        choice=np.zeros((stages, sets), np.int64),
        task=np.zeros(most_tasks, np.int64),
        beside=np.zeros((most_tasks, most_tasks)),
        home=np.zeros(most_machines, np.int64),
        fixed=np.zeros((most_machines, MOST_ON_MACHINE), np.int64),
        num_fixed=np.zeros(most_machines, np.int64),
        fixed_rate=np.zeros(MOST_ON_MACHINE),
        room=np.zeros(num_resources, np.int64),
        at=record(Pairs),
    )


@inner_kernel
def put(p: Problem, d: DraftRows, b: int, t: int) -> None:
    """Put a task that is nowhere on a machine."""
    d.content[b, d.size[b]] = t
    d.size[b] += 1
    d.place[t] = b
    need = p.demand[p.type2family[d.kind[b]], p.task_class[t]]
    for r in range(need.shape[0]):
        d.used[b, r] += need[r]


@lean_kernel
def counted(price: float, loss: float, earned: float, overrun: float) -> float:
    """Return what the progress that a machine's tasks lose in an hour counts for.

    loss : at their weights, what progress costs on machines that pay. earned : what they make, at the prices of machines
    of their own; below the machine's price it never pays, however long it lasts. overrun : at these prices, how much
    longer than an hour each takes for an hour's work: what such a machine costs until the work is made up there.
    """
    return loss if price <= earned else max(loss, overrun)


@inner_kernel
def loss_on(p: Problem, d: DraftRows, b: int) -> float:
    """Return what the tasks of a machine lose to each other in an hour; O(tasks^2)."""
    loss, earned, overrun = 0.0, 0.0, 0.0
    for x in range(d.size[b]):
        t = d.content[b, x]
        rate = 1.0
        for y in range(d.size[b]):
            if y != x:
                rate *= p.rate[p.workload[t], p.workload[d.content[b, y]]]
        loss += p.weight[t] * (1.0 - rate)
        earned += p.alone[t] * rate
        overrun += p.alone[t] * (1.0 / max(rate, LEAST_RATE) - 1.0)
    return float(counted(p.price[d.kind[b]], loss, earned, overrun))


# Logarithms this near are the same throughput; those this far apart make a machine worth another look.
SAME, NEWS = 1e-9, 0.01
# How far a task's value may go from that of its share of a machine.
LEAST_FACTOR, MOST_FACTOR = 0.3, 2.0


@kernel
def learn_rates(
    log_rate: FloatArray,
    class2workload: IntArray,
    task_class: IntArray,
    task_job: IntArray,
    held_on: IntArray,
    rate: FloatArray,
    dirty: IntArray,
    seen: BoolArray,
) -> None:
    """Correct `log_rate`, (W, W), the logarithms of pairwise throughputs, by what the tasks of an observation show.

    What is observed is the product over the tasks beside: a linear equation in the logarithms, onto which the present
    values are projected (Kaczmarz); they converge if the equations agree. A job of several tasks shows the throughput
    of its slowest: the task that is believed to be the slowest is corrected down to it, and every task that is believed
    to be slower than it is corrected up. Machines on which some task shows nothing are left out, since it may contend.
    dirty : (M,), set to 1 for machines on which a throughput was not as believed. seen : (W, W), set for pairs that were
    together. O(tasks x workloads).
    """
    num_tasks, num_workloads, num_machines = task_class.shape[0], log_rate.shape[0], dirty.shape[0]
    load = np.zeros((num_machines, num_workloads), np.int64)
    unclear = np.zeros(num_machines, np.bool_)
    for t in range(num_tasks):
        if held_on[t] >= 0:
            load[held_on[t], class2workload[task_class[t]]] += 1
            unclear[held_on[t]] |= rate[t] < 0
    first = 0
    while first < num_tasks:
        last = first
        is_clear = True
        while last < num_tasks and task_job[last] == task_job[first]:
            is_clear = is_clear and held_on[last] >= 0 and rate[last] >= 0 and not unclear[held_on[last]]
            last += 1
        if is_clear:
            workload = class2workload[task_class[first]]
            row, shown = log_rate[workload], np.log(max(rate[first], LEAST_RATE))
            slowest, least = first, np.inf
            for t in range(first, last):
                believed = _believed(row, load[held_on[t]], workload)
                if believed < least:
                    slowest, least = t, believed
            for t in range(first, last):
                for v in range(num_workloads):
                    seen[workload, v] |= load[held_on[t], v] > (v == workload)
                error = shown - _believed(row, load[held_on[t]], workload)
                if error > SAME or (t == slowest and error < -SAME):
                    _project(row, load[held_on[t]], workload, error)
                    dirty[held_on[t]] |= abs(error) > NEWS
        first = last


@inner_kernel
def _believed(row: FloatArray, load: IntArray, workload: int) -> float:
    total = -row[workload]
    for v in range(row.shape[0]):
        total += load[v] * row[v]
    return float(total)


@inner_kernel
def _project(row: FloatArray, load: IntArray, workload: int, error: float) -> None:
    length = 0
    for v in range(row.shape[0]):
        beside = load[v] - (v == workload)
        length += beside * beside
    if length == 0:
        return
    for v in range(row.shape[0]):
        beside = load[v] - (v == workload)
        row[v] = min(0.0, row[v] + error * beside / length)


@kernel
def revalue(p: Problem, d: DraftRows, factor: FloatArray, step: float) -> None:
    """Move `factor`, (C,), so that the progress on each machine becomes worth its price.

    These are the dual prices of the relaxation over patterns: on a machine worth renting, what its tasks' progress is
    worth equals the price. Each plan takes a small multiplicative step; tasks that fill holes become cheap.
    """
    for b in range(d.kind.shape[0]):
        if d.size[b] == 0:
            continue
        price, worth = p.price[d.kind[b]], -loss_on(p, d, b)
        for x in range(d.size[b]):
            worth += p.weight[d.content[b, x]]
        if price <= 0.0 or worth <= 0.0:
            continue
        by = (price / worth) ** step
        for x in range(d.size[b]):
            c = p.task_class[d.content[b, x]]
            factor[c] = min(MOST_FACTOR, max(LEAST_FACTOR, factor[c] * by))


@kernel
def mark_changed(machine: IntArray, size: IntArray, movable: IntArray, planned: IntArray, dirty: IntArray) -> None:
    """Set `dirty`, (M,), to 1 for machines without the number of tasks and movable tasks in `planned`, else to 0.

    planned : (P, 3), machine, tasks and movable tasks on it, of the last plan. Both in order of machines.
    """
    row = 0
    for b in range(machine.shape[0]):
        while row < planned.shape[0] and planned[row, 0] < machine[b]:
            row += 1
        is_same = row < planned.shape[0] and planned[row, 0] == machine[b]
        is_same = is_same and planned[row, 1] == size[b] and planned[row, 2] == movable[b]
        dirty[b] = not is_same


@kernel
def tally(place: IntArray, movable: BoolArray, rows: int) -> tuple[IntArray, IntArray]:
    """Return how many tasks each machine has, (rows,), and how many that may move."""
    size, free = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for t in range(place.shape[0]):
        if place[t] >= 0:
            size[place[t]] += 1
            free[place[t]] += movable[t]
    return size, free
