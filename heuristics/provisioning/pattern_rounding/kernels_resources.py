"""Prices of resources, one set for each family of machines, and what they make of each task: a first value of it.

Letters used for shapes: K machine types, F machine families, R resources, C task classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel
from schedgap.instances.kernels.random_numbers import xorshift_uniform

if TYPE_CHECKING:
    from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import Floats, Ints, Problem


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
