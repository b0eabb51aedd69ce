"""What is left of the problem once some users stopped.

The optimal faces of the levels lie in each other. A column with a positive reduced cost in the cut of one level is 0 in
all later ones, and is dropped: whoever has no weight in the cut no longer uses what has a price, and whoever has one
keeps the columns that tie. A user that stopped leaves once a single column is left to it, with the capacity that it
uses; so do those that share no capacity, directly or through others, with anyone who still rises. A later cut need not
hold for dropped columns, but has to price what those use who left: they count in it with what that is worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.fairness.levels.cuts import Cut, costs_of, excesses_of
from schedgap.instances.fairness.certificate import is_closed

if TYPE_CHECKING:
    from schedgap.formulations.fairness.levels.fluid import Fluid
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

# So many times clearer than a certificate needs it has to be that a column is closed: that one is checked in other units.
CLEARLY = 4.0
# Rounding errors of a cut, as a part of its bound.
ROUNDING = 1e-13


class Remainder:
    """What is left. columns : (U, C) bool. present : (U,) bool, who has not left. room : (C, R), for those present.

    amounts : (U, C) float64, those of the last solution, final for users that left.
    """

    def __init__(self, fluid: Fluid) -> None:
        self.fluid = fluid
        self.columns = fluid.open.copy()
        self.present = np.ones(fluid.num_users, np.bool_)
        self.room = np.where((fluid.use > 0).any(axis=0), 1.0, 0.0)
        self.amounts = np.zeros(fluid.gain.shape)
        # The one column of users that left for it, or -1.
        self._place = np.full(fluid.num_users, -1)

    def caps(self) -> FloatArray:
        """Return (U,): the share that each user has with all its tasks at the best place left."""
        fluid = self.fluid
        limited = self.columns & (fluid.part > 0)
        most = np.divide(fluid.gain, fluid.part, out=np.zeros(limited.shape), where=limited).max(axis=1)
        return np.where(most > 0, most, np.inf)

    def completed(self, cut: Cut) -> Cut:
        """Return a cut that holds for what is left with the weights of users that left with what is priced."""
        users = np.flatnonzero(self._place >= 0)
        place, weights = self._place[users], cut.weights.copy()
        weights[users] = costs_of(self.fluid, cut.prices)[users, place] / self.fluid.gain[users, place]
        return Cut(cut.prices, weights, cut.surpluses)

    def drop_capped(self, capped: BoolArray, cap: FloatArray) -> None:
        """Drop all but the best columns of users that run all their tasks."""
        fluid, users = self.fluid, np.flatnonzero(capped)
        size = cap[users, None] * fluid.part[users]
        self.columns[users] &= ~self._closed(users, size - fluid.gain[users], size, cap, ROUNDING * cap[users, None])

    def drop_priced(self, cut: Cut, share: FloatArray, slack: float, bound: float) -> None:
        """Drop columns that a cut closes, which shares (U,) meet up to some slack."""
        users = np.flatnonzero(self.present)
        excess = excesses_of(self.fluid, cut)[users]
        size = excess + cut.weights[users, None] * self.fluid.gain[users]
        limit = np.full((users.shape[0], 1), slack + ROUNDING * bound)
        self.columns[users] &= ~self._closed(users, excess, size, share, limit)

    def leave(self, active: BoolArray, share: FloatArray) -> None:
        """Let users leave whose share (U,) no longer matters to those that still rise, or only by what it takes."""
        fluid = self.fluid
        users = np.flatnonzero(self.present & ~active & (self.columns.sum(axis=1) == 1))
        place = self.columns[users].argmax(axis=1)
        self._place[users] = place
        self.amounts[users] = 0.0
        self.amounts[users, place] = share[users] / fluid.gain[users, place]
        np.subtract.at(self.room, place, fluid.use[users, place] * self.amounts[users, place][:, None])
        np.maximum(self.room, 0.0, out=self.room)
        self.present[users] = False
        self._leave_unconnected(active)
        self.columns &= self.present[:, None]

    def _leave_unconnected(self, active: BoolArray) -> None:
        use, stays = self.fluid.use, active.copy()
        held = np.flatnonzero(self.present & ~active)
        wants = (use[held] > 0) & self.columns[held, :, None]
        rows = ((use[stays] > 0) & self.columns[stays, :, None]).any(axis=0)
        while True:
            reached = (wants & rows).any(axis=(1, 2)) & ~stays[held]
            if not reached.any():
                break
            stays[held[reached]] = True
            rows |= wants[reached].any(axis=0)
        self.present &= stays

    def _closed(
        self, users: IntArray, excess: FloatArray, size: FloatArray, share: FloatArray, slack: FloatArray
    ) -> BoolArray:
        """Return (n, C) bool: what is closed of users (n,), of reduced costs (n, C) and a slack (n, 1)."""
        gain = self.fluid.gain[users]
        columns = self.columns[users]
        amount = np.divide(share[users, None], gain, out=np.zeros(gain.shape), where=columns)
        return columns & is_closed(excess, CLEARLY * size, amount, CLEARLY * slack)
