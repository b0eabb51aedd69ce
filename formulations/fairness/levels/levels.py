"""The levels of water-filling: who rises, how far, and who stops where.

A level that nobody can exceed comes from any cut: the s for which sum_i v(i) min(s, cap(i)) reaches its bound, where
cap(i) is what user i has with all its tasks at the best place. The program of that level proves that it can be
reached, or returns a better cut. So caps take few programs, however many of them lie below the level: Newton's method
on a convex function, where one level after the other would take up to a program a user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.fairness.levels.cuts import Cut, bound_of, highest_level, slack_of
from schedgap.formulations.fairness.levels.level_program import LevelProgram, Start
from schedgap.formulations.fairness.levels.remainder import Remainder
from schedgap.formulations.fairness.levels.start import first_start, near_columns, near_cut
from schedgap.instances.errors import BackendError

if TYPE_CHECKING:
    from schedgap.formulations.fairness.levels.fluid import Fluid
    from schedgap.instances.arrays import BoolArray, FloatArray

# A user stops where a cut proves it, up to this part of its share.
PROOF = 1e-8
# Shares that differ by less are the same.
SAME = 1e-12
# A level is reached if all but this part of the rise to it is. The least rise to try, in parts of a share.
REACHED, LEAST_RISE = 1e-10, 1e-6


class Levels:
    """A run of water-filling on a fluid problem.

    reduce : whether to drop what can play no part in later levels; shares are the same.

    share : (U,) float64, what each user has at least. active : (U,) bool, who still rises. cuts : those that prove the
    shares of all who stopped. num_levels, num_programs, num_iterations : what it took.
    """

    def __init__(self, fluid: Fluid, *, reduce: bool = True) -> None:
        self.fluid, self.reduce = fluid, reduce
        self.share = np.zeros(fluid.num_users)
        self.active = np.ones(fluid.num_users, np.bool_)
        self.remainder = Remainder(fluid)
        self.cuts: list[Cut] = []
        self.num_levels = self.num_programs = self.num_iterations = 0
        self._start: Start | None = None

    @property
    def amounts(self) -> FloatArray:
        """(U, C) float64: z."""
        return self.remainder.amounts

    def run(self, deadline: float) -> bool:
        """Go through all levels; whether that ended before the deadline, on `time.perf_counter`'s clock.

        Raises
        ------
        BackendError
            if the linear programs lead nowhere.
        """
        while self.active.any():
            if not self._next_level(deadline):
                return False
        return True

    def _next_level(self, deadline: float) -> bool:
        rest = self.remainder
        cap = rest.caps()
        level, start = self._first_guess(cap)
        program = self._program(start)
        floor = float(program.base[self.active].max())
        cut: Cut | None = None
        while True:
            target = np.where(self.active, np.minimum(level, cap), program.base)
            if not np.isfinite(target).all():
                raise BackendError(f"no prices bound the level of {self.active.sum()} users; accuracy was lost.")
            point = program.solve(target, deadline)
            if point is None:
                return False
            risen = floor + point.theta * (level - floor)
            is_stuck = risen <= floor * (1 + 10 * SAME)
            if is_stuck or not (cap[self.active] <= max(level, risen)).any():
                level, cut = max(floor, risen), point.cut
                break
            if point.theta >= 1 - REACHED:
                # Who runs all its tasks stops; what holds back the others the next program tells best.
                break
            lower = self._level(point.cut, cap)
            level = lower if floor < lower < level * (1 - SAME) else risen
        self._start = program.finish()
        self.num_levels += 1
        self.num_programs += program.num_programs
        self.num_iterations += program.num_iterations
        rest.amounts[rest.present] = point.amounts[rest.present]
        self._stop(cut, level, cap)
        return True

    def _first_guess(self, cap: FloatArray) -> tuple[float, Start]:
        """Return a level that nobody can exceed, and where the program starts."""
        fluid, rest = self.fluid, self.remainder
        columns = rest.columns & rest.present[:, None]
        # Without caps any level will do, and the last basis knows which columns are good.
        is_known = self._start is not None and not np.isfinite(cap[self.active]).any()
        top = np.where(self.active, cap, self.share)
        cut = near_cut(fluid, columns, top, rest.room, 1) if is_known else near_cut(fluid, columns, top, rest.room)
        start = self._start or first_start(fluid, columns, cut)
        if not is_known:
            start.columns |= near_columns(fluid, columns, cut)
        floor, most = float(self.share[self.active].max()), float(cap[self.active].max())
        return max(min(self._level(cut, cap), most), floor * (1 + LEAST_RISE)), start

    def _program(self, start: Start) -> LevelProgram:
        """Return the program of the next level, of which the last solution is feasible whatever was rounded."""
        fluid, rest = self.fluid, self.remainder
        amounts = np.where(rest.columns & rest.present[:, None], rest.amounts, 0.0)
        base = np.minimum(self.share, (fluid.gain * amounts).sum(axis=1))
        room = np.maximum(rest.room, np.einsum("ucr,uc->cr", fluid.use, amounts))
        tasks = np.maximum(1.0, (fluid.part * amounts).sum(axis=1))
        return LevelProgram(fluid, rest.present, rest.columns, room, tasks, base, start)

    def _level(self, cut: Cut, cap: FloatArray) -> float:
        stopped = self.remainder.present & ~self.active
        left = bound_of(cut, self.remainder.room) - float(cut.weights[stopped] @ self.share[stopped])
        return highest_level(cut.weights[self.active], cap[self.active], left)

    def _stop(self, cut: Cut | None, level: float, cap: FloatArray) -> None:
        """Let those stop who run all their tasks, and those whom the cut proves to have their fair share."""
        rest = self.remainder
        capped = self.active & (cap <= level * (1 + SAME))
        self.share = np.where(self.active, np.minimum(level, cap), self.share)
        order = np.flatnonzero(capped)
        for user in order[np.argsort(cap[order], kind="stable")].tolist():
            alone = np.zeros(self.fluid.num_users)
            alone[user] = 1.0
            self.cuts.append(Cut(np.zeros(rest.room.shape), alone, alone * cap[user]))
        self.active = self.active & ~capped
        if self.reduce:
            rest.drop_capped(capped, cap)
        proven = np.zeros(self.fluid.num_users, np.bool_)
        if cut is not None:
            kept, proven, slack = self._proven(cut)
            if proven.any():
                self.cuts.append(rest.completed(kept))
                self.active = self.active & ~proven
                if self.reduce:
                    rest.drop_priced(kept, self.share, slack, bound_of(kept, rest.room))
        if not (capped | proven).any():
            raise BackendError(
                f"nobody is proven to stop at the level {level * self.fluid.scale:.9g}, where all {self.active.sum()} "
                "users that are left do; accuracy was lost."
            )
        if self.reduce:
            rest.leave(self.active, self.share)

    def _proven(self, cut: Cut) -> tuple[Cut, BoolArray, float]:
        """Return the cut without weights that are but rounding errors, (U,) bool: whose share it proves, and its slack."""
        present = self.remainder.present
        amounts = np.where(present[:, None], self.amounts, 0.0)
        cut = Cut(cut.prices, np.where(present, cut.weights, 0.0), np.where(present, cut.surpluses, 0.0))
        slack = slack_of(self.fluid, cut, amounts, self.remainder.room)
        worth = cut.weights * self.share
        counted = self.active & (worth * PROOF > slack)
        while True:
            noise = slack + float(worth[self.active & ~counted].sum())
            fewer = counted & (worth * PROOF > noise)
            if (fewer == counted).all():
                break
            counted = fewer
        weights = np.where(counted | ~self.active, cut.weights, 0.0)
        slack += float(worth[self.active & ~counted].sum())
        return Cut(cut.prices, weights, np.where(weights > 0, cut.surpluses, 0.0)), counted, slack
