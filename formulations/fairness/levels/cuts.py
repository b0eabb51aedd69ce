"""Cuts: inequalities between shares that every allocation obeys.

A cut has prices mu(k, r) of capacity, weights v(i) of shares and surpluses u(i) of numbers of tasks, all at least 0, and says

    sum_i v(i) share(i) <= sum_kr mu(k, r) room(k, r) + sum_i u(i)

which holds for every allocation if no z(i, k) has a negative reduced cost,

    excess(i, k) = sum_r mu(k, r) use(i, k, r) + u(i) part(i, k) - v(i) gain(i, k) >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from schedgap.formulations.fairness.levels.fluid import Fluid
    from schedgap.instances.arrays import BoolArray, FloatArray

# Prices below this part of the largest are rounding errors.
NOISE = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Prices (C, R), weights (U,) and surpluses (U,) of a cut of the fluid problem."""

    prices: FloatArray
    weights: FloatArray
    surpluses: FloatArray


def costs_of(fluid: Fluid, prices: FloatArray) -> FloatArray:
    """Return (U, C): the capacity that one unit of z takes, at prices (C, R)."""
    cost = fluid.use[:, :, 0] * prices[:, 0]
    for r in range(1, fluid.num_resources):
        cost += fluid.use[:, :, r] * prices[:, r]
    return cost


def excesses_of(fluid: Fluid, cut: Cut) -> FloatArray:
    """Return (U, C): the reduced costs."""
    excess: FloatArray = costs_of(fluid, cut.prices) - cut.weights[:, None] * fluid.gain
    excess += cut.surpluses[:, None] * fluid.part
    return excess


def cut_from(fluid: Fluid, columns: BoolArray, prices: FloatArray, weights: FloatArray) -> Cut:
    """Return the cut of some prices (C, R) that holds exactly, not but for rounding errors.

    columns : (U, C), the z that there are. weights : (U,), taken as they are from users with a limited number of tasks,
    who then have the least surplus that does; another's is the largest that the prices cover.
    """
    prices = np.where(prices > NOISE * prices.max(), prices, 0.0)
    cost = costs_of(fluid, prices)
    ratio = np.divide(cost, fluid.gain, out=np.full(cost.shape, np.inf), where=columns)
    covered = ratio.min(axis=1)
    weights = np.where(fluid.limited, weights, np.where(np.isfinite(covered), covered, 0.0))
    short = np.where(columns, weights[:, None] * fluid.gain - cost, 0.0)
    worth = np.divide(short, fluid.part, out=np.zeros(short.shape), where=fluid.part > 0)
    return Cut(prices, weights, np.maximum(worth.max(axis=1), 0.0))


def bound_of(cut: Cut, room: FloatArray) -> float:
    """Return the right-hand side."""
    return float((cut.prices * room).sum() + cut.surpluses.sum())


def slack_of(fluid: Fluid, cut: Cut, amounts: FloatArray, room: FloatArray) -> float:
    """Return by how much amounts (U, C) miss the bound: a sum of terms none of which is a difference of large numbers."""
    free = np.abs(room - np.einsum("ucr,uc->cr", fluid.use, amounts))
    idle = np.abs(1 - (fluid.part * amounts).sum(axis=1))
    left = np.abs(excesses_of(fluid, cut)) * amounts
    return float((cut.prices * free).sum() + cut.surpluses @ idle + left.sum())


def highest_level(weights: FloatArray, cap: FloatArray, bound: float) -> float:
    """Return the largest s with sum_i weights(i) min(s, cap(i)) <= bound; infinite if there is no largest.

    weights, cap : (n,), cap infinite for users that never run out. O(n log n).
    """
    order = np.argsort(cap, kind="stable")
    weights, cap = weights[order], cap[order]
    finite = np.where(np.isfinite(cap), cap, 0.0)
    below = np.concatenate(([0.0], np.cumsum(weights * finite)[:-1]))
    rest = np.cumsum(weights[::-1])[::-1]
    # The sum at s = cap(j), for users in this order: those before j are at their caps, the rest at cap(j).
    reached = np.where(np.isfinite(cap), below + rest * finite, np.inf)
    first = int(np.searchsorted(reached, bound, side="right"))
    if first == cap.shape[0] or rest[first] <= 0:
        return float("inf")
    return float((bound - below[first]) / rest[first])
