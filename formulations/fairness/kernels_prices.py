"""Prices near those of a level, quickly: what is in demand becomes dearer, what is not cheaper. Mathematics only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray


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


@kernel
def seek_prices(
    gain: FloatArray,
    part: FloatArray,
    use: FloatArray,
    columns: BoolArray,
    cap: FloatArray,
    order: IntArray,
    room: FloatArray,
    level: float,
    steps: int,
    prices: FloatArray,
    best: FloatArray,
    weights: FloatArray,
) -> float:
    """Lower the level that prices prove nobody to exceed, all users at once; return the least found.

    Users buy min(level, cap) of their share. gain, part, columns : (U, C). use : (U, C, R). cap : (U,), the most that a
    user can have, or is to have if it stopped. order : (n,) int64, the users that there are, by cap. room : (C, R).
    prices : (C, R), where to start; it moves. best, weights : (C, R), (U,), set to those of the least level.
    O(steps n C R).
    """
    num_classes, num_resources = room.shape
    load = np.zeros(room.shape)
    cost = np.zeros(num_classes)
    amounts = np.zeros(2)
    weight = np.zeros(gain.shape[0])
    least = np.inf
    for step in range(steps):
        load[:] = 0.0
        bound = 0.0
        for k in range(num_classes):
            for r in range(num_resources):
                bound += prices[k, r] * room[k, r]
        rest = 0.0
        for i in order:
            for k in range(num_classes):
                cost[k] = 0.0
                if columns[i, k]:
                    for r in range(num_resources):
                        cost[k] += prices[k, r] * use[i, k, r]
            share = min(level, cap[i])
            first, second, weight[i] = buy(gain[i], part[i], cost, columns[i], share, amounts)
            if second < 0:
                continue
            rest += weight[i]
            if part[i, second] > 0.0:
                bound += max(weight[i] * gain[i, second] - cost[second], 0.0) / part[i, second]
            for r in range(num_resources):
                load[second, r] += use[i, second, r] * amounts[1]
                if first >= 0:
                    load[first, r] += use[i, first, r] * amounts[0]
        below, moved = 0.0, np.inf
        for i in order:
            if rest * cap[i] + below > bound:
                moved = (bound - below) / rest
                break
            below += weight[i] * cap[i]
            rest -= weight[i]
        if moved < least:
            least = moved
            best[:] = prices
            weights[:] = weight
        level = min(moved, level * 2.0)
        pace = 0.5 / np.sqrt(1.0 + step)
        for k in range(num_classes):
            for r in range(num_resources):
                if load[k, r] > 0.0 or room[k, r] > 0.0:
                    excess = load[k, r] / room[k, r] - 1.0 if room[k, r] > 0.0 else 1.0
                    prices[k, r] *= np.exp(pace * min(max(excess, -1.0), 1.0))
    return least
