"""Duals and a fractional solution of the pattern relaxation, by column generation in a dense revised simplex.

    min  sum_p price_p x_p   s.t.  sum_p a_cp x_p >= counts_c for every class c,   x >= 0

Gilmore and Gomory (1961), with dual smoothing (Wentges 1997). Columns come from a knapsack heuristic that may miss the
best one, so the duals guide a rounding and prove nothing.
Letters used for shapes: K machine types, F machine families, R resources, C task classes.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.provisioning.kernels_rounding import (
    Floats,
    Ints,
    Problem,
    fill,
    new_scratch,
    next_random,
    sort_by_density,
)
from schedgap.instances.jit import kernel


@kernel
def resource_prices(problem: Problem, counts: Ints, trials: int, seed: np.uint64, weight: Floats) -> float:
    """Find prices of resources, one for each family, that make the tasks dear but no machine type: `weight` (F, R) out.

    With weight_f . capacity_k <= price_k for all types k of family f, the sum over tasks of min_f weight_f . demand_f
    is a lower bound on the cost; random search with a shrinking step raises it. O(trials C F R).
    """
    capacity, price, demand = problem.capacity, problem.price, problem.demand
    num_families, num_resources = demand.shape[0], demand.shape[2]
    state = np.array([seed], np.uint64)
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
            cand[r] = kept[r] * np.exp(step * (next_random(state) - 0.5))
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


@kernel
def pattern_lp(
    problem: Problem, counts: Ints, single_type: Ints, centre: Floats, start_type: Ints, start_pattern: Ints,
    smoothing: float, steps: int, max_pivots: int, seed: np.uint64, weight: Floats, basis_type: Ints, pattern: Ints,
    x: Floats, dual: Floats,
) -> int:  # fmt: skip
    """Solve the relaxation approximately; returns the number of pivots, each O(C^2).

    single_type : (C,) the cheapest type that fits one task: the first basis. centre : (C,) duals to start near.
    start_type, start_pattern : (S,), (S, C), columns to begin with. smoothing : the centre's share in pricing at first.
    weight : (F, R) in and out, prices of resources that order the knapsacks' items. steps : see `fill`.
    basis_type : (C,) out, -1 for a surplus column. pattern : (C, C) out, one basic column a row. x, dual : (C,) out.
    """
    type2family, capacity, price, demand = problem.type2family, problem.capacity, problem.price, problem.demand
    num_types, num_resources = capacity.shape
    num_classes = counts.shape[0]
    inverse = np.zeros((num_classes, num_classes))
    scratch = new_scratch(num_classes, num_resources)
    order, classes, taken = scratch.work[3], scratch.work[4], scratch.work[0]
    direction = np.empty(num_classes)
    smooth = np.empty(num_classes)
    tilted = np.empty(num_resources)
    column = np.zeros(num_classes, np.int64)
    state = np.array([seed], np.uint64)
    for c in range(num_classes):
        k = single_type[c]
        number = counts[c]
        for r in range(num_resources):
            need = demand[type2family[k], c, r]
            if need > 0:
                number = min(number, capacity[k, r] // need)
        basis_type[c] = k
        pattern[c] = 0
        pattern[c, c] = number
        inverse[c, c] = 1.0 / number
        # A little more than was asked for, different for each class, so that ratio tests have no ties.
        x[c] = counts[c] * (1.0 + 1e-4 * next_random(state)) / number
        dual[c] = price[k] / number
    pivots = 0
    for s in range(start_type.shape[0]):
        column[:] = start_pattern[s]
        k = start_type[s]
        pivots += _pivot(inverse, basis_type, pattern, x, dual, direction, column, k, float(price[k]), 1e-7)
    margin, quiet = 0.05, 0
    while pivots < max_pivots and (quiet < 20 or margin > 1e-7):
        found = False
        num_present = 0
        for c in range(num_classes):
            smooth[c] = smoothing * centre[c] + (1.0 - smoothing) * dual[c]
            if smooth[c] > 0.0:
                classes[num_present] = c
                num_present += 1
        for f in range(demand.shape[0]):
            heaviest = -1
            for k in range(num_types):
                if type2family[k] == f and (heaviest < 0 or price[k] > price[heaviest]):
                    heaviest = k
            if heaviest < 0:
                continue
            _balance(demand[f], counts, smooth, capacity[heaviest], price[heaviest], weight[f])
            for r in range(num_resources):
                tilted[r] = weight[f, r] * np.exp(0.5 * (next_random(state) - 0.5))
            n = sort_by_density(demand[f], smooth, tilted, classes, num_present, order, scratch.density)
            for k in range(num_types):
                if type2family[k] != f:
                    continue
                worth = fill(order, n, demand[f], smooth, counts, tilted, capacity[k], steps, scratch)
                if worth <= price[k] * (1.0 + margin) and smoothing == 0.0:
                    continue
                column[:] = 0
                for i in range(n):
                    column[order[i]] = taken[i]
                done = _pivot(inverse, basis_type, pattern, x, dual, direction, column, k, float(price[k]), margin)
                if done > 0:
                    found = True
                    pivots += 1
                    if smoothing == 0.0:
                        for c in range(num_classes):
                            smooth[c] = max(dual[c], 0.0)
        for c in range(num_classes):
            if dual[c] < -1e-6:
                column[:] = 0
                column[c] = -1
                pivots += _pivot(inverse, basis_type, pattern, x, dual, direction, column, -1, 0.0, 0.0)
                found = True
        if found:
            quiet = 0
        else:
            quiet += 1
            if quiet >= 3 and smoothing > 0.0:
                smoothing = smoothing * 0.7 if smoothing > 0.05 else 0.0
                quiet = 0
            elif quiet >= 3 and margin > 1e-7:
                margin = max(margin * 0.3, 1e-7)
                quiet = 0
    for i in range(num_classes):
        x[i] = 0.0
        for c in range(num_classes):
            x[i] += inverse[i, c] * counts[c]
    return pivots


@kernel
def _balance(demand: Ints, counts: Ints, value: Floats, capacity: Ints, price: int, weight: Floats) -> None:
    """Move resource prices towards the knapsack's Lagrangian optimum: dearer what is asked for beyond the capacity."""
    num_resources = capacity.shape[0]
    used = np.empty(num_resources)
    for sweep in range(10):
        used[:] = 0.0
        for c in range(counts.shape[0]):
            if demand[c, 0] >= 0 and value[c] > 0.0:
                size = 0.0
                for r in range(num_resources):
                    size += demand[c, r] * weight[r]
                if value[c] > size:
                    number = float(counts[c])
                    for r in range(num_resources):
                        if demand[c, r] * number > capacity[r]:
                            number = capacity[r] / demand[c, r]
                    for r in range(num_resources):
                        used[r] += demand[c, r] * number
        for r in range(num_resources):
            if capacity[r] > 0:
                ratio = used[r] / capacity[r]
                change = (ratio - 1.0) / (ratio + (3.0 if ratio > 1.0 else 1.0))
                least = 0.001 * price / capacity[r]
                weight[r] = max(weight[r] * (1.0 + change * 0.5 / (1.0 + 0.1 * sweep)), least)


@kernel
def _pivot(
    inverse: Floats, basis_type: Ints, pattern: Ints, x: Floats, dual: Floats, direction: Floats, column: Ints,
    entering_type: int, price: float, margin: float,
) -> int:  # fmt: skip
    """Bring a column into the basis if its value is above its price by the margin; returns 1 if it came in, else 0."""
    n = dual.shape[0]
    worth = 0.0
    for c in range(n):
        if column[c] != 0:
            worth += dual[c] * column[c]
    if worth <= price * (1.0 + margin):
        return 0
    direction[:] = 0.0
    for c in range(n):
        if column[c] != 0:
            for i in range(n):
                direction[i] += inverse[i, c] * column[c]
    leaving, ratio = -1, 0.0
    for i in range(n):
        if direction[i] > 1e-9:
            step = max(x[i], 0.0) / direction[i]
            if leaving < 0 or step < ratio:
                leaving, ratio = i, step
    if leaving < 0:
        return 0
    scale = 1.0 / direction[leaving]
    for c in range(n):
        inverse[leaving, c] *= scale
        dual[c] += (price - worth) * inverse[leaving, c]
    for i in range(n):
        factor = direction[i]
        if i != leaving and factor != 0.0:
            x[i] -= ratio * factor
            for c in range(n):
                inverse[i, c] -= factor * inverse[leaving, c]
    x[leaving] = ratio
    basis_type[leaving] = entering_type
    pattern[leaving] = column
    return 1
