"""What a policy learns as it goes: pairwise throughputs, what progress costs, which machines changed; compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import DraftRows, Problem, loss_on
from schedgap.instances.jit import inner_kernel, kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

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
) -> None:
    """Correct `log_rate`, (W, W), the logarithms of pairwise throughputs, by what the tasks of an observation show.

    What is observed is the product over the tasks beside: a linear equation in the logarithms, onto which the present
    values are projected (Kaczmarz); they converge if the equations agree. A job of several tasks shows the throughput
    of its slowest: the task that is believed to be the slowest is corrected down to it, and every task that is believed
    to be slower than it is corrected up. Machines on which some task shows nothing are left out, since it may contend.
    dirty : (M,), set to 1 for machines on which a throughput was not as believed. O(tasks x workloads).
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
            is_clear = is_clear and held_on[last] >= 0 and rate[last] > 0 and not unclear[held_on[last]]
            last += 1
        if is_clear:
            workload = class2workload[task_class[first]]
            row, shown = log_rate[workload], np.log(rate[first])
            slowest, least = first, np.inf
            for t in range(first, last):
                believed = _believed(row, load[held_on[t]], workload)
                if believed < least:
                    slowest, least = t, believed
            for t in range(first, last):
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
