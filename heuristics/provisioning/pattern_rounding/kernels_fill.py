"""Filling machines with the most valuable tasks: knapsacks in R resources, by bounded branch and bound and swaps.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, n of them looked at.

Prices of resources, one set for each family of machines, and what they make of each task: a first value of it.

Letters used for shapes: K machine types, F machine families, R resources, C task classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import xorshift_uniform
from schedgap.instances.kernels.sort import sort_places

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
State: TypeAlias = NDArray[np.uint64]


class Problem(NamedTuple):
    """type2family, price : (K,). capacity : (K, R). demand : (F, C, R), -1 where a class fits no type of the family.

    most : (C,), at most so many tasks of a class are on one machine.
    """

    type2family: Any
    capacity: Any
    price: Any
    demand: Any
    most: Any


class Guide(NamedTuple):
    """What tasks are worth. dual, value : (C,), what one may cost, and the same disturbed for one packing, positive.

    weight : (F, R), prices of resources.
    """

    dual: Any
    value: Any
    weight: Any


class Scratch(NamedTuple):
    """Work arrays. density, key : (C,) float64. work : (7, C), room : (R,), both int64."""

    density: Any
    key: Any
    work: Any
    room: Any


@kernel
def new_scratch(num_classes: int, num_resources: int) -> Scratch:
    """Return work arrays for packings of up to `num_classes` classes."""
    return Scratch(
        np.empty(num_classes),
        np.empty(num_classes),
        np.empty((7, num_classes), np.int64),
        np.empty(num_resources, np.int64),
    )


@kernel
def fill(
    order: Ints, n: int, size: Ints, value: Floats, available: Ints, most: Ints, weight: Floats, capacity: Ints, steps: int,
    scratch: Scratch,
) -> float:  # fmt: skip
    """Put the most valuable set of tasks into one machine; returns its value.

    order : (C,) the n classes that may be taken, densest first. size : (C, R). value : (C,). available : (C,) tasks of
    each class, of which `most` (C,) may share a machine. weight : (R,) with scratch.density = value / (size . weight), so
    that what is left of a machine is worth at most (room . weight) x the density of the next class: the bound that prunes.
    capacity : (R,).
    steps : classes looked at before the depth-first search stops with the best set so far; swaps may still improve it.
    scratch.work[0, i] holds then how many tasks of order[i] are taken. O(steps R + n), and the swaps.
    """
    density, room = scratch.density, scratch.room
    best, taken, stack = scratch.work[0], scratch.work[1], scratch.work[2]
    free = 0.0
    for r in range(capacity.shape[0]):
        room[r] = capacity[r]
        free += capacity[r] * weight[r]
    for i in range(n):
        taken[i] = 0
        best[i] = 0
    total, highest, depth, i = 0.0, 0.0, 0, 0
    while True:
        while i < n:
            item = order[i]
            if total + free * density[item] <= highest + 1e-9:
                break
            steps -= 1
            number = _fitting(size, item, room, min(available[item], most[item]))
            if number > 0:
                taken[i] = number
                total += number * value[item]
                free = _put(size, item, number, room, weight)
                stack[depth] = i
                depth += 1
            i += 1
        if total > highest + 1e-9:
            highest = total
            for j in range(n):
                best[j] = taken[j]
        if depth == 0 or steps <= 0:
            break
        i = stack[depth - 1]
        item = order[i]
        taken[i] -= 1
        total -= value[item]
        free = _put(size, item, -1, room, weight)
        if taken[i] == 0:
            depth -= 1
        i += 1
    for r in range(capacity.shape[0]):
        room[r] = capacity[r]
    for i in range(n):
        if best[i] > 0:
            _put(size, order[i], best[i], room, weight)
    return highest + _swap(order, n, size, value, available, most, room, best)


@kernel
def _put(size: Ints, item: int, number: int, room: Ints, weight: Floats) -> float:
    """Take tasks of a class off the room, (R,); returns what is left, weighted."""
    free = 0.0
    for r in range(room.shape[0]):
        room[r] -= number * size[item, r]
        free += room[r] * weight[r]
    return free


@kernel
def _fitting(size: Ints, item: int, room: Ints, number: int) -> int:
    """Return how many of `number` tasks of a class fit into `room`."""
    for r in range(room.shape[0]):
        need = size[item, r]
        if need * number > room[r]:
            if need > room[r]:
                return 0
            number = room[r] // need
    return number


@kernel
def _swap(
    order: Ints, n: int, size: Ints, value: Floats, available: Ints, together: Ints, room: Ints, best: Ints
) -> float:
    """Take one task out and the dearest that then fits in, while the value rises; returns the gain.

    Four passes at most: O(n R) for each class taken.
    """
    num_resources = room.shape[0]
    gained = 0.0
    for _ in range(4):
        before = gained
        for i in range(n):
            if best[i] == 0:
                continue
            out = order[i]
            chosen, most = -1, value[out] + 1e-9
            for j in range(n):
                item = order[j]
                if value[item] > most and best[j] < min(available[item], together[item]):
                    fits = True
                    for r in range(num_resources):
                        if size[item, r] > room[r] + size[out, r]:
                            fits = False
                            break
                    if fits:
                        chosen, most = j, value[item]
            if chosen >= 0:
                item = order[chosen]
                best[i] -= 1
                best[chosen] += 1
                gained += value[item] - value[out]
                for r in range(num_resources):
                    room[r] += size[out, r] - size[item, r]
        if gained == before:
            break
        for j in range(n):
            item = order[j]
            number = _fitting(size, item, room, min(available[item], together[item]) - best[j])
            if number > 0:
                best[j] += number
                gained += number * value[item]
                for r in range(num_resources):
                    room[r] -= number * size[item, r]
    return gained


@kernel
def sort_by_density(
    demand: Ints, value: Floats, weight: Floats, classes: Ints, num_present: int, order: Ints, scratch: Scratch
) -> int:
    """Write the classes that may run on one family into `order`, densest first; returns their number.

    demand : (C, R) of the family, -1 where not allowed. weight : (R,). scratch.density : out, value per weighted size.
    """
    n = 0
    for i in range(num_present):
        c = classes[i]
        if demand[c, 0] >= 0:
            size = 1e-30
            for r in range(demand.shape[1]):
                size += demand[c, r] * weight[r]
            scratch.density[c] = value[c] / size
            scratch.key[c] = -scratch.density[c]
            order[n] = c
            n += 1
    sort_places(scratch.key, order, scratch.work[6], n)
    return n


@kernel
def resource_prices(problem: Problem, counts: Ints, trials: int, seed: np.uint64, weight: Floats) -> float:
    """Find prices of resources, one for each family, that make tasks worth much but no machine type more than its price.

    weight : (F, R), out.
    With weight_f . capacity_k <= price_k for all types k of family f, the sum over tasks of min_f weight_f . demand_f
    is a lower bound on the cost; random search with a shrinking step raises it. O(trials C F R).
    """
    capacity, price, demand = problem.capacity, problem.price, problem.demand
    num_families, num_resources = demand.shape[0], demand.shape[2]
    state = np.empty(1, np.uint64)
    state[0] = seed
    cand = np.zeros(num_resources)
    kept = np.zeros(num_resources)
    for f in range(num_families):
        for k in range(capacity.shape[0]):
            if problem.type2family[k] == f:
                for r in range(num_resources):
                    if capacity[k, r] > 0:
                        weight[f, r] = max(weight[f, r], price[k] / capacity[k, r])
        _scale(problem, f, weight[f])
    most = _task_value(demand, counts, weight)
    step = 2.0
    for trial in range(trials):
        f = trial % num_families
        for r in range(num_resources):
            kept[r] = weight[f, r]
            cand[r] = kept[r] * np.exp(step * (xorshift_uniform(state) - 0.5))
        _scale(problem, f, cand)
        for r in range(num_resources):
            weight[f, r] = cand[r]
        value = _task_value(demand, counts, weight)
        if value > most:
            most = value
            step = min(step * 1.2, 4.0)
        else:
            step = max(step * 0.98, 0.05)
            for r in range(num_resources):
                weight[f, r] = kept[r]
    return most


@kernel
def _scale(problem: Problem, f: int, weight: Floats) -> None:
    """Scale the prices of a family's resources so that its tightest type is worth just its price."""
    most = 0.0
    for k in range(problem.price.shape[0]):
        if problem.type2family[k] == f:
            worth = 0.0
            for r in range(weight.shape[0]):
                worth += problem.capacity[k, r] * weight[r]
            most = max(most, worth / problem.price[k])
    if most > 0.0:
        for r in range(weight.shape[0]):
            weight[r] /= most


@kernel
def _task_value(demand: Ints, counts: Ints, weight: Floats) -> float:
    total = 0.0
    for c in range(counts.shape[0]):
        total += counts[c] * _cheapest_share(demand, weight, c)
    return total


@kernel
def cheapest_shares(demand: Ints, weight: Floats, dual: Floats) -> None:
    """Write the price of each task's resources on its cheapest family into `dual` (C,)."""
    for c in range(dual.shape[0]):
        dual[c] = _cheapest_share(demand, weight, c)


@kernel
def _cheapest_share(demand: Ints, weight: Floats, c: int) -> float:
    least = np.inf
    for f in range(demand.shape[0]):
        if demand[f, c, 0] >= 0:
            share = 0.0
            for r in range(demand.shape[2]):
                share += weight[f, r] * demand[f, c, r]
            least = min(least, share)
    return least
