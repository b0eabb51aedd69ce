"""Duals and a fractional solution of the pattern relaxation, by column generation in a dense revised simplex.

    min  sum_p price_p x_p   s.t.  sum_p a_cp x_p >= counts_c for every class c,   x >= 0

Gilmore and Gomory (1961), with dual smoothing (Wentges 1997). Columns come from a knapsack heuristic that may miss the
best one, so the duals guide a rounding and prove nothing.
Letters used for shapes: K machine types, F machine families, R resources, C task classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import (
    Floats,
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


class Start(NamedTuple):
    """Where column generation begins. single_type : (C,) the cheapest type that fits one task: the first basis.

    centre : (C,) duals to start near. machine_type, patterns : (S,), (S, C), columns to begin with.
    """

    single_type: Any
    centre: Any
    machine_type: Any
    patterns: Any


class Basis(NamedTuple):
    """A basis of the simplex method. machine_type : (C,), -1 for a surplus column. pattern : (C, C), a column each row.

    x, dual : (C,). inverse : (C, C), of the basis matrix. direction : (C,), work.
    """

    machine_type: Any
    pattern: Any
    x: Any
    dual: Any
    inverse: Any
    direction: Any


class Pricing(NamedTuple):
    """Work arrays of pricing. value : (C,), smoothed duals. weight : (R,), tilted prices of resources. column : (C,)."""

    value: Any
    weight: Any
    column: Any


@kernel
def pattern_lp(
    problem: Problem, counts: Ints, start: Start, smoothing: float, steps: int, max_pivots: int, seed: np.uint64,
    weight: Floats, basis: Basis,
) -> int:  # fmt: skip
    """Solve the relaxation approximately; returns the number of pivots, each O(C^2).

    smoothing : the centre's share in pricing at first. weight : (F, R) in and out, prices of resources that order the
    knapsacks' items. steps : see `fill`. basis : out; `inverse` all 0 at first.
    """
    num_classes, num_resources = counts.shape[0], problem.capacity.shape[1]
    scratch = new_scratch(num_classes, num_resources)
    pricing = Pricing(np.empty(num_classes), np.empty(num_resources), np.zeros(num_classes, np.int64))
    state = np.empty(1, np.uint64)
    state[0] = seed
    _first_basis(problem, counts, start.single_type, basis, state)
    pivots = 0
    for s in range(start.machine_type.shape[0]):
        for c in range(num_classes):
            pricing.column[c] = start.patterns[s, c]
        k = start.machine_type[s]
        pivots += _pivot(basis, pricing.column, k, float(problem.price[k]), 1e-7)
    margin, quiet = 0.05, 0
    while pivots < max_pivots and (quiet < 20 or margin > 1e-7):
        before, num_present = pivots, 0
        for c in range(num_classes):
            pricing.value[c] = smoothing * start.centre[c] + (1.0 - smoothing) * basis.dual[c]
            if pricing.value[c] > 0.0:
                scratch.work[4, num_present] = c
                num_present += 1
        for f in range(problem.demand.shape[0]):
            pivots += _price_family(
                problem, counts, f, num_present, smoothing == 0.0, margin, steps, state, weight[f], scratch, pricing,
                basis,
            )  # fmt: skip
        found = pivots > before
        for c in range(num_classes):
            if basis.dual[c] < -1e-6:
                pricing.column[:] = 0
                pricing.column[c] = -1
                pivots += _pivot(basis, pricing.column, -1, 0.0, 0.0)
                found = True
        quiet = 0 if found else quiet + 1
        if quiet >= 3 and smoothing > 0.0:
            smoothing = smoothing * 0.7 if smoothing > 0.05 else 0.0
            quiet = 0
        elif quiet >= 3 and margin > 1e-7:
            margin = max(margin * 0.3, 1e-7)
            quiet = 0
    for i in range(num_classes):
        basis.x[i] = 0.0
        for c in range(num_classes):
            basis.x[i] += basis.inverse[i, c] * counts[c]
    return pivots


@kernel
def _first_basis(problem: Problem, counts: Ints, single_type: Ints, basis: Basis, state: State) -> None:
    """Start from machines of one class each."""
    for c in range(counts.shape[0]):
        k = single_type[c]
        number = min(counts[c], problem.most[c])
        for r in range(problem.capacity.shape[1]):
            need = problem.demand[problem.type2family[k], c, r]
            if need > 0:
                number = min(number, problem.capacity[k, r] // need)
        basis.machine_type[c] = k
        basis.pattern[c] = 0
        basis.pattern[c, c] = number
        basis.inverse[c, c] = 1.0 / number
        # A little more than was asked for, different for each class, so that ratio tests have no ties.
        basis.x[c] = counts[c] * (1.0 + 1e-4 * xorshift_uniform(state)) / number
        basis.dual[c] = problem.price[k] / number


@kernel
def _price_family(
    problem: Problem, counts: Ints, f: int, num_present: int, is_exact: bool, margin: float, steps: int, state: State,
    weight: Floats, scratch: Scratch, pricing: Pricing, basis: Basis,
) -> int:  # fmt: skip
    """Bring in the best columns found of a family's types; returns how many.

    num_present : classes of positive value, listed in scratch.work[4]. is_exact : whether values are the duals.
    """
    type2family, capacity, price, demand = problem.type2family, problem.capacity, problem.price, problem.demand[f]
    order, classes, taken = scratch.work[3], scratch.work[4], scratch.work[0]
    value, tilted, column = pricing
    heaviest = -1
    for k in range(price.shape[0]):
        if type2family[k] == f and (heaviest < 0 or price[k] > price[heaviest]):
            heaviest = k
    if heaviest < 0:
        return 0
    _balance(demand, problem.most, value, capacity[heaviest], price[heaviest], weight)
    for r in range(tilted.shape[0]):
        tilted[r] = weight[r] * np.exp(0.5 * (xorshift_uniform(state) - 0.5))
    n = sort_by_density(demand, value, tilted, classes, num_present, order, scratch)
    entered = 0
    for k in range(price.shape[0]):
        if type2family[k] != f:
            continue
        worth = fill(order, n, demand, value, counts, problem.most, tilted, capacity[k], steps, scratch)
        if worth <= price[k] * (1.0 + margin) and is_exact:
            continue
        column[:] = 0
        for i in range(n):
            column[order[i]] = taken[i]
        if _pivot(basis, column, k, float(price[k]), margin) > 0:
            entered += 1
            if is_exact:
                for c in range(value.shape[0]):
                    value[c] = max(basis.dual[c], 0.0)
    return entered


@kernel
def _balance(demand: Ints, most: Ints, value: Floats, capacity: Ints, price: int, weight: Floats) -> None:
    """Move resource prices towards the knapsack's Lagrangian optimum: dearer what is asked for beyond the capacity."""
    num_resources = capacity.shape[0]
    used = np.empty(num_resources)
    for sweep in range(10):
        used[:] = 0.0
        for c in range(most.shape[0]):
            if demand[c, 0] >= 0 and value[c] > 0.0:
                size = 0.0
                for r in range(num_resources):
                    size += demand[c, r] * weight[r]
                if value[c] > size:
                    number = float(most[c])
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
def _pivot(basis: Basis, column: Ints, entering_type: int, price: float, margin: float) -> int:
    """Bring a column into the basis if its value is above its price by the margin; returns 1 if it came in, else 0."""
    basis_type, pattern, x, dual, inverse, direction = basis
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
    for c in range(n):
        pattern[leaving, c] = column[c]
    return 1
