"""Packing tasks into new machines greedily: one machine after the other, always the one of most value per price.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, n of them looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import (
    Guide,
    Ints,
    Problem,
    Scratch,
    State,
    fill,
    sort_by_density,
)
from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import xorshift_uniform


class Packing(NamedTuple):
    """Machine q is of machine_type[q] and holds number[i] tasks of task_class[i], start[q] <= i < start[q + 1].

    All have room for U tasks: (U,), and start (U + 1,).
    """

    machine_type: Any
    start: Any
    task_class: Any
    number: Any


@kernel
def new_packing(num_tasks: int) -> Packing:
    """Return an empty packing with room for `num_tasks` tasks."""
    return Packing(
        np.empty(num_tasks, np.int64),
        np.empty(num_tasks + 1, np.int64),
        np.empty(num_tasks, np.int64),
        np.empty(num_tasks, np.int64),
    )


@kernel
def pack(
    problem: Problem, guide: Guide, available: Ints, present: Ints, num_present: int, chance: float, limit: float,
    steps: int, state: State, scratch: Scratch, packing: Packing,
) -> int:  # fmt: skip
    """Fill machines one after the other, always the one of most value per price, until no task is left.

    available : (C,) tasks of each class, 0 at the end. present : (C,) the classes with tasks, first num_present.
    chance : probability that a type is considered for a machine (all are, if none was chosen).
    limit : give up once price so far plus the duals of what is left is above it.
    Returns the number of machines, -1 if given up. O(K n (steps + n) R) a machine.
    """
    dual = guide.dual
    kept, kept_number = scratch.work[4], scratch.work[5]
    rest, spent = 0.0, 0.0
    for i in range(num_present):
        rest += available[present[i]] * dual[present[i]]
    machines = 0
    packing.start[0] = 0
    while num_present > 0:
        if spent + rest > limit:
            for i in range(num_present):
                available[present[i]] = 0
            return -1
        chosen, num_kept = _best_machine(problem, guide, available, present, num_present, chance, steps, state, scratch)
        again = True
        while again:
            packing.machine_type[machines] = chosen
            spent += problem.price[chosen]
            at = packing.start[machines]
            for i in range(num_kept):
                c = kept[i]
                packing.task_class[at + i] = c
                packing.number[at + i] = kept_number[i]
                available[c] -= kept_number[i]
                rest -= kept_number[i] * dual[c]
                again = again and available[c] >= kept_number[i]
            machines += 1
            packing.start[machines] = at + num_kept
        n = 0
        for i in range(num_present):
            if available[present[i]] > 0:
                present[n] = present[i]
                n += 1
        num_present = n
    return machines


@kernel
def _best_machine(
    problem: Problem, guide: Guide, available: Ints, present: Ints, num_present: int, chance: float, steps: int,
    state: State, scratch: Scratch,
) -> tuple[int, int]:  # fmt: skip
    """Return the type of the machine of most value per price, and how many classes it holds.

    scratch.work[4] and [5] hold then those classes, and how many tasks of each.
    """
    type2family, capacity, price, demand = problem.type2family, problem.capacity, problem.price, problem.demand
    value, weight = guide.value, guide.weight
    best, order, kept, kept_number = scratch.work[0], scratch.work[3], scratch.work[4], scratch.work[5]
    chosen, most, num_kept, worth_left = -1, 0.0, 0, 0.0
    for i in range(num_present):
        worth_left += available[present[i]] * value[present[i]]
    while chosen < 0:
        for f in range(demand.shape[0]):
            n = sort_by_density(demand[f], value, weight[f], present, num_present, order, scratch)
            if n == 0:
                continue
            for k in range(price.shape[0]):
                if type2family[k] != f or xorshift_uniform(state) >= chance:
                    continue
                most_possible = 0.0
                for r in range(capacity.shape[1]):
                    most_possible += capacity[k, r] * weight[f, r]
                most_possible = min(most_possible * scratch.density[order[0]], worth_left)
                if most_possible <= most * price[k]:
                    continue
                worth = fill(
                    order, n, demand[f], value, available, problem.most, weight[f], capacity[k], steps, scratch
                )
                if worth > most * price[k]:
                    chosen, most, num_kept = k, worth / price[k], 0
                    for i in range(n):
                        if best[i] > 0:
                            kept[num_kept] = order[i]
                            kept_number[num_kept] = best[i]
                            num_kept += 1
        chance = 1.0
    return chosen, num_kept
