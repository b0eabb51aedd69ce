"""Prices near those of a level, quickly: what is in demand becomes dearer, what is not cheaper. Mathematics only."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray
from schedgap.instances.jit import kernel


@kernel
def buy(
    gain: FloatArray,
    part: FloatArray,
    cost: FloatArray,
    columns: BoolArray,
    share: float,
    amounts: FloatArray,
) -> tuple[int, int, float]:
    """Let a user buy a share where it is cheapest; return two classes, and the share's price at the margin.

    The user runs part(k) of its tasks a unit, at most all, so the cheapest way lies on the lower convex hull of the
    points (gain, cost) / part of its columns and the origin: the points before and after `share`. Class -1 is none.
    gain, part, cost, columns : (C,), of one user. amounts : (2,) float64, set to those of the classes. O(C) a corner.
    """
    first, second = -1, -1
    weight = np.inf
    for k in range(gain.shape[0]):
        if columns[k] and cost[k] < weight * gain[k]:
            weight, second = cost[k] / gain[k], k
    amounts[:] = 0.0
    if second < 0:
        return first, second, 0.0
    while part[second] > 0.0 and gain[second] < share * part[second] * (1.0 - 1e-12):
        corner, height = gain[second] / part[second], cost[second] / part[second]
        steepness, following = np.inf, -1
        for k in range(gain.shape[0]):
            if columns[k]:
                more = gain[k] / part[k] - corner
                if more > 1e-12 * corner and cost[k] / part[k] - height < steepness * more:
                    steepness, following = (cost[k] / part[k] - height) / more, k
        if following < 0:
            break
        first, second, weight = second, following, steepness
    if first < 0:
        amounts[1] = share / gain[second]
        if part[second] > 0.0:
            amounts[1] = min(amounts[1], 1.0 / part[second])
    else:
        low, high = gain[first] / part[first], gain[second] / part[second]
        mix = min((share - low) / (high - low), 1.0)
        amounts[0], amounts[1] = (1.0 - mix) / part[first], mix / part[second]
    return first, second, weight


class Users(NamedTuple):
    """What users can buy. gain, part, columns : (U, C). use : (U, C, R).

    cap : (U,), the most that one can have, or is to have if it stopped. order : (n,) int64, the users there are, by cap.
    """

    gain: Any
    part: Any
    use: Any
    columns: Any
    cap: Any
    order: Any


@kernel
def _buy_all(
    users: Users, level: float, prices: FloatArray, load: FloatArray, weights: FloatArray, bound: float
) -> tuple[float, float]:
    """Let all users buy min(level, cap) of their share; return the bound with their surpluses, and the sum of weights.

    load : (C, R), weights : (U,), out. bound : what all room is worth.
    """
    cost, amounts = np.zeros(prices.shape[0]), np.zeros(2)
    load[:] = 0.0
    rest = 0.0
    for i in users.order:
        for k in range(prices.shape[0]):
            cost[k] = 0.0
            if users.columns[i, k]:
                for r in range(prices.shape[1]):
                    cost[k] += prices[k, r] * users.use[i, k, r]
        share = min(level, users.cap[i])
        first, second, weights[i] = buy(users.gain[i], users.part[i], cost, users.columns[i], share, amounts)
        if second < 0:
            continue
        rest += weights[i]
        if users.part[i, second] > 0.0:
            bound += max(weights[i] * users.gain[i, second] - cost[second], 0.0) / users.part[i, second]
        for r in range(prices.shape[1]):
            load[second, r] += users.use[i, second, r] * amounts[1]
            if first >= 0:
                load[first, r] += users.use[i, first, r] * amounts[0]
    return bound, rest


@kernel
def seek_prices(
    users: Users,
    room: FloatArray,
    level: float,
    steps: int,
    prices: FloatArray,
    best: FloatArray,
    best_weights: FloatArray,
) -> float:
    """Lower the level that prices prove nobody to exceed, all users at once; return the least found.

    room : (C, R). prices : (C, R), where to start; it moves. best, best_weights : (C, R), (U,), set to those of the least
    level. O(steps n C R).
    """
    load, weights = np.zeros(room.shape), np.zeros(best_weights.shape[0])
    least = np.inf
    for step in range(steps):
        bound = 0.0
        for k in range(room.shape[0]):
            for r in range(room.shape[1]):
                bound += prices[k, r] * room[k, r]
        bound, rest = _buy_all(users, level, prices, load, weights, bound)
        below, moved = 0.0, np.inf
        for i in users.order:
            if rest * users.cap[i] + below > bound:
                moved = (bound - below) / rest
                break
            below += weights[i] * users.cap[i]
            rest -= weights[i]
        if moved < least:
            least = moved
            best[:] = prices
            best_weights[:] = weights
        level = min(moved, level * 2.0)
        pace = 0.5 / np.sqrt(1.0 + step)
        for k in range(room.shape[0]):
            for r in range(room.shape[1]):
                if load[k, r] > 0.0 or room[k, r] > 0.0:
                    excess = load[k, r] / room[k, r] - 1.0 if room[k, r] > 0.0 else 1.0
                    prices[k, r] *= np.exp(pace * min(max(excess, -1.0), 1.0))
    return least
