"""Where the programs of water-filling start: near prices, the columns that look good at them, a first basis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.fairness.levels.cuts import Cut, cut_from, excesses_of
from schedgap.formulations.fairness.levels.kernels_prices import Users, seek_prices
from schedgap.formulations.fairness.levels.level_program import Start

if TYPE_CHECKING:
    from schedgap.formulations.fairness.levels.fluid import Fluid
    from schedgap.instances.arrays import BoolArray, FloatArray

# A column looks good if its reduced cost is at most this part of what it is worth.
NEAR = 0.1
# Of price adjustment. With them, 1,000 users on 50 classes need 2 programs of 3,500 columns for the first level instead
# of 21 that grow to 14,000; twice as many steps save nothing.
STEPS = 200


def near_cut(fluid: Fluid, columns: BoolArray, top: FloatArray, room: FloatArray, steps: int = STEPS) -> Cut:
    """Return a cut near that of the level, for users that want no more than `top`, (U,), of a share.

    columns : (U, C), all z that there are; users without any take no part. O(steps U C R).
    """
    users = np.flatnonzero(columns.any(axis=1))
    order = users[np.argsort(top[users], kind="stable")]
    prices = np.where((fluid.use > 0).any(axis=0), 1.0, 0.0)
    best, weights = prices.copy(), np.zeros(fluid.num_users)
    offers = Users(fluid.gain, fluid.part, fluid.use, columns, top, order)
    seek_prices(offers, room, 1.0, steps, prices, best, weights)
    return cut_from(fluid, columns, best, weights)


def near_columns(fluid: Fluid, columns: BoolArray, cut: Cut) -> BoolArray:
    """Return (U, C) bool: those of the columns that look good at a cut's prices."""
    return columns & (excesses_of(fluid, cut) <= NEAR * cut.weights[:, None] * fluid.gain)


def first_start(fluid: Fluid, columns: BoolArray, cut: Cut) -> Start:
    """Return a start at theta = 0 and base = 0: each user on the column that looks best, and nothing used yet."""
    place = np.where(columns, excesses_of(fluid, cut), np.inf).argmin(axis=1)
    basic = np.zeros(columns.shape, np.bool_)
    basic[np.arange(fluid.num_users), place] = True
    everyone = np.ones(fluid.num_users, np.bool_)
    slack = np.ones((fluid.num_classes, fluid.num_resources), np.bool_)
    return Start(near_columns(fluid, columns, cut) | basic, basic, ~everyone, everyone, slack)
