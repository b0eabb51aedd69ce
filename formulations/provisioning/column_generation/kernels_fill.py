"""Machines that are given, filled with tasks: one by exchanges of a few tasks for others, several by simulated annealing.

A state of annealing is any assignment of tasks to machines whose families they may run on; it pays for every unit of a resource
beyond what a machine has. Moves put a task elsewhere or exchange two. Sizes, loads and what is beyond are int64, so that a state
that pays nothing is a solution.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.jit import inlined_kernel, kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform

# Of all moves, those that put a task elsewhere.
ALONE = 0.15


class Fleet(NamedTuple):
    """M machines for T tasks. size : (F, T, R) int64, -1 where not allowed. family : (M,). capacity : (M, R) int64.

    price : (R,) float64, of a unit of each resource beyond a machine's capacity.
    """

    size: Any
    family: Any
    capacity: Any
    price: Any


@kernel
def anneal(fleet: Fleet, machine: IntArray, hot: float, cold: float, moves: int, random: Any) -> bool:
    """Change `machine` (T,) of each task, in place, until everything fits or `moves` are done; whether it fits.

    hot, cold : the first and last temperature, in the unit of `price`. random : (1,) uint64, not 0, in and out. O(R) a move.
    """
    num_machines, num_resources = fleet.capacity.shape
    num_tasks = machine.shape[0]
    load = np.zeros((num_machines, num_resources), np.int64)
    for t in range(num_tasks):
        load[machine[t]] += fleet.size[fleet.family[machine[t]], t]
    paid = np.zeros(num_machines)
    beyond = 0
    for m in range(num_machines):
        paid[m] = _paid(fleet, load[m], m)
        beyond += paid[m] > 0
    one, two = np.zeros(num_resources, np.int64), np.zeros(num_resources, np.int64)
    temperature, factor = hot, (cold / hot) ** (1.0 / max(1, moves))
    for _ in range(moves):
        if beyond == 0:
            break
        temperature *= factor
        t = xorshift_below(random, num_tasks)
        a, u, b = machine[t], -1, 0
        if xorshift_uniform(random) < ALONE:
            b = xorshift_below(random, num_machines)
        else:
            u = xorshift_below(random, num_tasks)
            b = machine[u]
        f, g = fleet.family[a], fleet.family[b]
        if a == b or fleet.size[g, t, 0] < 0 or (u >= 0 and fleet.size[f, u, 0] < 0):
            continue
        for r in range(num_resources):
            one[r] = load[a, r] - fleet.size[f, t, r]
            two[r] = load[b, r] + fleet.size[g, t, r]
            if u >= 0:
                one[r] += fleet.size[f, u, r]
                two[r] -= fleet.size[g, u, r]
        paid_a, paid_b = _paid(fleet, one, a), _paid(fleet, two, b)
        rise = paid_a + paid_b - paid[a] - paid[b]
        if rise > 0 and xorshift_uniform(random) >= np.exp(-rise / temperature):
            continue
        beyond += (paid_a > 0) + (paid_b > 0)
        beyond -= (paid[a] > 0) + (paid[b] > 0)
        paid[a], paid[b] = paid_a, paid_b
        load[a], load[b] = one, two
        machine[t] = b
        if u >= 0:
            machine[u] = a
    return beyond == 0


@inlined_kernel
def _paid(fleet: Fleet, load: IntArray, m: int) -> float:
    """Return what a machine pays for a load (R,): 0 only if nothing is beyond its capacity."""
    paid = 0.0
    for r in range(load.shape[0]):
        paid += max(0, load[r] - fleet.capacity[m, r]) * fleet.price[r]
    return paid


# The most tasks that a move takes off; and how often the first that it puts on is drawn.
REMOVED, DRAWN = 3, 0.5


@kernel
def fill_machine(
    demand: IntArray, value: FloatArray, capacity: IntArray, goal: float, moves: int, random: Any, best: BoolArray
) -> float:
    """Look for a pattern of at least the value `goal`, until `moves` are done; return the best one's value.

    demand : (N, R) int64. value : (N,) float64, not negative. capacity : (R,). random : (1,) uint64, not 0, in and out.
    best : (N,), written. A move takes some tasks off and puts on the best two, after one that is drawn at times; worse
    patterns are not taken, others of the same value are. O(N^2 R) a move.
    """
    number, num_resources = demand.shape
    inside = np.zeros(number, np.bool_)
    room = capacity.copy()
    order = np.empty(number)
    for i in range(number):
        order[i] = -value[i] * (0.5 + xorshift_uniform(random))
    worth = 0.0
    for i in np.argsort(order):
        if value[i] > 0 and _fits(demand, i, room):
            _put(demand, i, room, -1)
            inside[i] = True
            worth += value[i]
    most = worth
    best[:] = inside
    removed, outside = np.empty(number, np.int64), np.empty(number, np.int64)
    rest = np.empty(num_resources, np.int64)
    for _ in range(moves):
        if most >= goal:
            break
        held = 0
        for i in range(number):
            if inside[i]:
                removed[held] = i
                held += 1
        if held == 0:
            break
        off = min(held, 1 + xorshift_below(random, REMOVED))
        lost = 0.0
        for j in range(off):
            other = j + xorshift_below(random, held - j)
            removed[j], removed[other] = removed[other], removed[j]
            _put(demand, removed[j], room, 1)
            inside[removed[j]] = False
            lost += value[removed[j]]
        size = 0
        for i in range(number):
            if not inside[i] and _fits(demand, i, room):
                outside[size] = i
                size += 1
        first = outside[xorshift_below(random, size)] if xorshift_uniform(random) < DRAWN else -1
        rest[:] = room
        if first >= 0:
            _put(demand, first, rest, -1)
        gained, a, b = _best_pair(demand, value, outside[:size], first, rest)
        if first >= 0:
            gained += value[first]
        if gained >= lost:
            for i in (first, a, b):
                if i >= 0:
                    _put(demand, i, room, -1)
                    inside[i] = True
            worth += gained - lost
        else:
            for j in range(off):
                _put(demand, removed[j], room, -1)
                inside[removed[j]] = True
        if worth > most:
            most = worth
            best[:] = inside
    return most


@inlined_kernel
def _best_pair(
    demand: IntArray, value: FloatArray, outside: IntArray, first: int, rest: IntArray
) -> tuple[float, int, int]:
    """Return the most value of at most two tasks but `first` that fit together, and which; -1 for none."""
    most, best_a, best_b = 0.0, -1, -1
    for p in range(outside.shape[0]):
        a = outside[p]
        if a == first or not _fits(demand, a, rest):
            continue
        if value[a] > most:
            most, best_a, best_b = value[a], a, -1
        for q in range(p + 1, outside.shape[0]):
            b = outside[q]
            if b == first or value[a] + value[b] <= most:
                continue
            together = True
            for r in range(rest.shape[0]):
                if demand[a, r] + demand[b, r] > rest[r]:
                    together = False
                    break
            if together:
                most, best_a, best_b = value[a] + value[b], a, b
    return most, best_a, best_b


@inlined_kernel
def _fits(demand: IntArray, i: int, room: IntArray) -> bool:
    fits = True
    for r in range(room.shape[0]):
        fits &= demand[i, r] <= room[r]
    return fits


@inlined_kernel
def _put(demand: IntArray, i: int, room: IntArray, sign: int) -> None:
    for r in range(room.shape[0]):
        room[r] += sign * demand[i, r]
