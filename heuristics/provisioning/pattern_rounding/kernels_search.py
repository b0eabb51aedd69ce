"""Ruin and recreate: take a few machines apart, fill their tasks into machines anew, keep what is not dearer.

Shaw (1998); Schrimpf et al. (2000). The duals of the pattern relaxation guide it: a machine's slack, its price less the
value of its tasks, is what it adds to the distance from the bound, and a repacking is given up as soon as the slack
that it has spent exceeds the slack that was there.
Letters used for shapes: K machine types, F machine families, R resources, C task classes, U units (tasks), M machines.

Packing tasks into new machines greedily: one machine after the other, always the one of most value per price.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, n of them looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import (
    Floats,
    Guide,
    Ints,
    Problem,
    Scratch,
    State,
    fill,
    new_scratch,
    sort_by_density,
)
from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import xorshift_uniform
from schedgap.instances.kernels.sort import sort


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


class Units(NamedTuple):
    """Machines as linked lists of units, one unit a task; all (U,), of which the first M of `head` are machines.

    unit_class : the class of each unit. following : the next unit on the same machine, -1 at the end.
    head : the first unit of each machine. machine_type : the type of each machine.
    """

    unit_class: Any
    following: Any
    head: Any
    machine_type: Any


@kernel
def place_in_blocks(
    problem: Problem, dual: Floats, weight: Floats, counts: Ints, block: int, steps: int, seed: np.uint64,
    units: Units, num_machines: int, num_units: int,
) -> int:  # fmt: skip
    """Pack `counts` (C,) into new machines and units behind those in use; returns the number of machines.

    Classes are packed a block at a time: O(C / block) packings of O(block^2), not one of O(C^2). Class c goes to block
    c mod (number of blocks).
    """
    num_classes = counts.shape[0]
    state = np.empty(1, np.uint64)
    state[0] = seed
    available = np.zeros(num_classes, np.int64)
    present = np.empty(num_classes, np.int64)
    scratch, guide = new_scratch(num_classes, problem.capacity.shape[1]), Guide(dual, dual, weight)
    num_blocks = -(-num_classes // block)
    for b in range(num_blocks):
        num_present, total = 0, 0
        for c in range(b, num_classes, num_blocks):
            if counts[c] > 0:
                available[c] = counts[c]
                total += counts[c]
                present[num_present] = c
                num_present += 1
        packing = new_packing(total)
        machines = pack(problem, guide, available, present, num_present, 1.0, np.inf, steps, state, scratch, packing)
        for q in range(machines):
            units.machine_type[num_machines] = packing.machine_type[q]
            units.head[num_machines] = -1
            for i in range(packing.start[q], packing.start[q + 1]):
                for _ in range(packing.number[i]):
                    units.unit_class[num_units] = packing.task_class[i]
                    units.following[num_units] = units.head[num_machines]
                    units.head[num_machines] = num_units
                    num_units += 1
            num_machines += 1
    return num_machines


@kernel
def search(
    problem: Problem, dual: Floats, weight: Floats, iterations: int, widest: int, noise: float, chance: float,
    steps: int, seed: np.uint64, units: Units, num_machines: int,
) -> int:  # fmt: skip
    """Improve the machines in place; returns how many there are then.

    widest : machines taken apart at once, at most. noise : width of the relative disturbance of the duals.
    steps : see `fill`.
    """
    unit_class, following, head, machine_type = units.unit_class, units.following, units.head, units.machine_type
    price = problem.price
    num_classes, num_units = dual.shape[0], unit_class.shape[0]
    state = np.empty(1, np.uint64)
    state[0] = seed
    available = np.zeros(num_classes, np.int64)
    first_unit = np.full(num_classes, -1, np.int64)
    present = np.empty(num_classes, np.int64)
    value = np.empty(num_classes)
    scratch, guide = new_scratch(num_classes, problem.capacity.shape[1]), Guide(dual, value, weight)
    packing = new_packing(num_units)
    slack = np.empty(num_units)
    picked = np.empty(widest, np.int64)
    for m in range(num_machines):
        slack[m] = _slack(price, dual, units, m)
    for _ in range(iterations):
        num_picked = _pick(slack, num_machines, 1 + int(xorshift_uniform(state) * widest), picked, state)
        old, num_present = 0, 0
        for i in range(num_picked):
            old += price[machine_type[picked[i]]]
            u = head[picked[i]]
            while u >= 0:
                c = unit_class[u]
                if available[c] == 0:
                    present[num_present] = c
                    num_present += 1
                    value[c] = dual[c] * (1.0 + noise * (xorshift_uniform(state) - 0.5))
                available[c] += 1
                u = following[u]
        limit = old + 0.5
        machines = pack(problem, guide, available, present, num_present, chance, limit, steps, state, scratch, packing)
        new = 0
        for q in range(machines):
            new += price[packing.machine_type[q]]
        if machines < 0 or new > limit:
            continue
        num_machines = _exchange(
            price, dual, units, picked[:num_picked], packing, machines, slack, first_unit, num_machines
        )
    return num_machines


@kernel
def _exchange(
    price: Ints, dual: Floats, units: Units, picked: Ints, packing: Packing, machines: int, slack: Floats,
    first_unit: Ints, num_machines: int,
) -> int:  # fmt: skip
    """Put a packing of the picked machines' units in their place; returns the number of machines.

    first_unit : (C,) a list of units for each class, empty (-1) before and after.
    """
    unit_class, following, head, machine_type = units.unit_class, units.following, units.head, units.machine_type
    num_picked = picked.shape[0]
    for i in range(num_picked):
        u = head[picked[i]]
        while u >= 0:
            after = following[u]
            following[u] = first_unit[unit_class[u]]
            first_unit[unit_class[u]] = u
            u = after
    for q in range(machines):
        m = picked[q] if q < num_picked else num_machines
        num_machines = max(num_machines, m + 1)
        machine_type[m] = packing.machine_type[q]
        head[m] = -1
        for i in range(packing.start[q], packing.start[q + 1]):
            c = packing.task_class[i]
            for _ in range(packing.number[i]):
                u = first_unit[c]
                first_unit[c] = following[u]
                following[u] = head[m]
                head[m] = u
        slack[m] = _slack(price, dual, units, m)
    # Close the gaps from the back, so that the machine moved into one is never a gap itself.
    gaps = picked[min(machines, num_picked) :]
    sort(gaps, np.empty_like(gaps), gaps.shape[0])
    for i in range(gaps.shape[0] - 1, -1, -1):
        num_machines -= 1
        machine_type[gaps[i]] = machine_type[num_machines]
        head[gaps[i]] = head[num_machines]
        slack[gaps[i]] = slack[num_machines]
    return num_machines


@kernel
def _slack(price: Ints, dual: Floats, units: Units, m: int) -> float:
    """Return the price of machine m less the dual value of its tasks."""
    slack = float(price[units.machine_type[m]])
    u = units.head[m]
    while u >= 0:
        slack -= dual[units.unit_class[u]]
        u = units.following[u]
    return slack


@kernel
def _pick(slack: Floats, num_machines: int, width: int, picked: Ints, state: State) -> int:
    """Pick at most `width` different machines, each the one of more slack of two (the first: of three)."""
    num_picked = 0
    for i in range(width):
        m = int(xorshift_uniform(state) * num_machines)
        for _ in range(1 if i else 2):
            rival = int(xorshift_uniform(state) * num_machines)
            if slack[rival] > slack[m]:
                m = rival
        fresh = True
        for j in range(num_picked):
            if picked[j] == m:
                fresh = False
        if fresh:
            picked[num_picked] = m
            num_picked += 1
    return num_picked


@kernel
def count_contents(units: Units, num_machines: int, indptr: Ints, task_class: Ints, number: Ints) -> int:
    """Write what each machine holds as `indptr` (M + 1,), `task_class` and `number` (U,); returns how many entries."""
    held, scratch = np.empty_like(number), np.empty_like(number)
    entries = 0
    indptr[0] = 0
    for m in range(num_machines):
        length = 0
        u = units.head[m]
        while u >= 0:
            held[length] = units.unit_class[u]
            length += 1
            u = units.following[u]
        sort(held, scratch, length)
        at = entries - 1
        for i in range(length):
            if i == 0 or held[i] != held[i - 1]:
                at += 1
                task_class[at] = held[i]
                number[at] = 0
            number[at] += 1
        entries = at + 1
        indptr[m + 1] = entries
    return entries
