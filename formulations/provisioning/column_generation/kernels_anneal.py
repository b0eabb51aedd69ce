"""Tasks on machines that are given, by simulated annealing over what does not fit.

A state is any assignment of tasks to machines whose families they may run on; it pays for every unit of a resource beyond
what a machine has. Moves put a task elsewhere or exchange two. Sizes, loads and what is beyond are int64, so that a state
that pays nothing is a solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedgap.instances.jit import inlined_kernel, kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

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
