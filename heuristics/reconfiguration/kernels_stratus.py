"""Stratus over time, compiled: O(T M R) a plan for T tasks to place and M machines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_player import Catalogue, Present
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, kernel
from schedgap.instances.kernels.sort import argsort


class Fleet(NamedTuple):
    """Machines and what is on them; rows for those of the observation, then for new ones.

    place : (T,) machine of each task, -1 for none. type : (M + T,). longest : (M + T,) the longest run time on a
    machine, 0 if empty. left : (M + T, R). tasks : (M + T,). open : (M + T,) whether tasks may be put there. size : (1,).
    """

    place: IntArray
    type: IntArray
    longest: FloatArray
    left: IntArray
    tasks: IntArray
    open: BoolArray
    size: IntArray


@kernel
def stratus_plan(
    catalogue: Catalogue, present: Present, frozen: BoolArray, run_time: FloatArray, unit: FloatArray, reference: IntArray,
    zero_blocks: bool,
) -> tuple[IntArray, IntArray]:  # fmt: skip
    """Return (T,) machines and the types of the new ones.

    run_time : (T,) seconds. unit : (R,) of an amount as people write it. reference : (K,) the type with whose capacity
    a type is compared. zero_blocks : a machine without one of the resources counts as half full.
    """
    num_tasks, num_machines = present.task_class.shape[0], present.machine_type.shape[0]
    rows, num_resources = num_machines + 2 * num_tasks, catalogue.capacity.shape[1]
    fleet = Fleet(
        np.full(num_tasks, -1), np.zeros(rows, np.int64), np.zeros(rows), np.zeros((rows, num_resources), np.int64),
        np.zeros(rows, np.int64), np.zeros(rows, np.bool_), np.array([num_machines]),
    )  # fmt: skip
    for m in range(num_machines):
        fleet.type[m] = present.machine_type[m]
        fleet.left[m] = catalogue.capacity[present.machine_type[m]]
        fleet.open[m] = present.running[m]
    held = np.zeros(rows, np.bool_)
    for t in range(num_tasks):
        if present.sent_to[t] >= 0:
            _put(catalogue, present, fleet, run_time, t, present.sent_to[t])
            held[present.sent_to[t]] |= frozen[t]
    _place(catalogue, present, fleet, run_time, unit, reference, np.flatnonzero(present.sent_to < 0))
    for m in range(fleet.size[0]):
        k = fleet.type[m]
        if held[m] or fleet.tasks[m] == 0 or not _half_empty(catalogue, fleet, m, zero_blocks):
            continue
        moved = np.flatnonzero(fleet.place == m)
        if moved.shape[0] == 1 and catalogue.kmin[present.task_class[moved[0]]] == k:
            continue
        fleet.open[m] = False
        fleet.tasks[m] = 0
        fleet.place[moved] = -1
        _place(catalogue, present, fleet, run_time, unit, reference, moved)
    # New machines that were emptied again are not rented.
    number = np.full(rows, -1)
    number[:num_machines] = np.arange(num_machines)
    new_type = np.empty(rows, np.int64)
    fresh = 0
    for m in range(num_machines, fleet.size[0]):
        if fleet.tasks[m] > 0:
            number[m] = num_machines + fresh
            new_type[fresh] = fleet.type[m]
            fresh += 1
    return number[fleet.place], new_type[:fresh].copy()


@inner_kernel
def run_time_class(seconds: float) -> int:
    """Return floor(log2(seconds)), at least 0."""
    c = 0
    while seconds >= 2:
        seconds /= 2
        c += 1
    return c


@inner_kernel
def _put(catalogue: Catalogue, present: Present, fleet: Fleet, run_time: FloatArray, t: int, m: int) -> None:
    fleet.place[t] = m
    fleet.tasks[m] += 1
    fleet.longest[m] = max(fleet.longest[m], run_time[t])
    for r in range(fleet.left.shape[1]):
        fleet.left[m, r] -= catalogue.demand[catalogue.family[fleet.type[m]], present.task_class[t], r]


@inner_kernel
def _half_empty(catalogue: Catalogue, fleet: Fleet, m: int, zero_blocks: bool) -> bool:
    for r in range(fleet.left.shape[1]):
        size = catalogue.capacity[fleet.type[m], r]
        if 2 * (size - fleet.left[m, r]) >= size and (size > 0 or zero_blocks):
            return False
    return True


@kernel
def _place(
    catalogue: Catalogue,
    present: Present,
    fleet: Fleet,
    run_time: FloatArray,
    unit: FloatArray,
    reference: IntArray,
    tasks: IntArray,
) -> None:
    """Put tasks on running machines, and the others on new ones."""
    left_out = np.empty(tasks.shape[0], np.int64)
    number = 0
    for t in tasks:
        m = _matching(catalogue, present, fleet, run_time, unit, t)
        if m >= 0:
            _put(catalogue, present, fleet, run_time, t, m)
        else:
            left_out[number] = t
            number += 1
    left_out = left_out[:number]
    left_out = left_out[argsort(-run_time[left_out])]
    first, limit = 0, 1
    need = np.zeros((catalogue.demand.shape[0], catalogue.capacity.shape[1]), np.int64)
    while first < number:
        # The longest run of tasks, at most `limit`, that some type takes.
        stop, machine_type = first, -1
        while stop < number and stop - first < limit:
            _demand(catalogue, present, left_out, first, stop + 1, need)
            bigger = _best_type(catalogue, need, reference)
            if bigger < 0:
                break
            stop, machine_type = stop + 1, bigger
        m = fleet.size[0]
        fleet.size[0] += 1
        fleet.type[m] = machine_type
        fleet.left[m] = catalogue.capacity[machine_type]
        for i in range(first, stop):
            _put(catalogue, present, fleet, run_time, left_out[i], m)
        first, limit = stop, limit + 1


@inner_kernel
def _matching(
    catalogue: Catalogue, present: Present, fleet: Fleet, run_time: FloatArray, unit: FloatArray, t: int
) -> int:
    """Return the open machine for a task: of its run-time class, of a higher one, of a lower one; -1 for none.

    In its own class, the one whose run time is the closest; in others, the one with the most room, summed over
    resources as people write their amounts. First on ties.
    """
    own = run_time_class(run_time[t])
    best, best_group, best_score = -1, 3, 0.0
    for m in range(present.machine_type.shape[0]):
        if not fleet.open[m]:
            continue
        demand = catalogue.demand[catalogue.family[fleet.type[m]], present.task_class[t]]
        fits, score = True, 0.0
        for r in range(demand.shape[0]):
            fits &= 0 <= demand[r] <= fleet.left[m, r]
            score += fleet.left[m, r] / unit[r]
        if not fits:
            continue
        there = run_time_class(fleet.longest[m])
        group = 0 if there == own else 1 if there > own else 2
        if group == 0:
            score = -abs(fleet.longest[m] - run_time[t])
        if group < best_group or (group == best_group and score > best_score):
            best, best_group, best_score = m, group, score
    return best


@inner_kernel
def _demand(catalogue: Catalogue, present: Present, tasks: IntArray, first: int, stop: int, need: IntArray) -> None:
    """Sum the demands of tasks[first:stop] on each family; -1 where one may not run."""
    for f in range(need.shape[0]):
        for r in range(need.shape[1]):
            need[f, r] = 0
            for i in range(first, stop):
                one = catalogue.demand[f, present.task_class[tasks[i]], r]
                need[f, r] = -1 if one < 0 or need[f, r] < 0 else need[f, r] + one


@inner_kernel
def _best_type(catalogue: Catalogue, need: IntArray, reference: IntArray) -> int:
    """Return the type that gives the most of its tightest resource, relative to its reference type, per price."""
    best, best_score = -1, 0.0
    for k in range(catalogue.price.shape[0]):
        demand = need[catalogue.family[k]]
        fits, tightest, fullest = True, 0, -1.0
        for r in range(demand.shape[0]):
            size = catalogue.capacity[k, r]
            fits &= 0 <= demand[r] <= size
            if size > 0 and demand[r] / size > fullest:
                tightest, fullest = r, demand[r] / size
        if not fits:
            continue
        size = catalogue.capacity[reference[k], tightest]
        score = demand[tightest] / size / catalogue.price[k] if size > 0 else np.inf
        if best < 0 or score > best_score:
            best, best_score = k, score
    return best
