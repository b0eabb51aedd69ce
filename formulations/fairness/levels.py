"""The levels of water-filling: who rises, how far, and who stops where.

A level that nobody can exceed comes from any cut: the s for which sum_i v(i) min(s, cap(i)) reaches its bound, where
cap(i) is what user i has with all its tasks at the best place. The program of that level proves that it can be
reached, or returns a better cut. So caps take few programs, however many of them lie below the level: Newton's method
on a convex function, where one level after the other would take up to a program a user.

The certificate of an instance, made of cuts of its fluid problem.

What is left of the problem once some users stopped.

The optimal faces of the levels lie in each other. A column with a positive reduced cost in the cut of one level is 0 in
all later ones, and is dropped: whoever has no weight in the cut no longer uses what has a price, and whoever has one
keeps the columns that tie. A user that stopped leaves once a single column is left to it, with the capacity that it
uses; so do those that share no capacity, directly or through others, with anyone who still rises. A later cut need not
hold for dropped columns, but has to price what those use who left: they count in it with what that is worth.

Where the programs of water-filling start: near prices, the columns that look good at them, a first basis. Prices near those
of a level come quickly: what is in demand becomes dearer, what is not cheaper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.formulations.fairness.level_program import (
    Cut,
    Fluid,
    LevelProgram,
    Start,
    bound_of,
    costs_of,
    cut_from,
    excesses_of,
    highest_level,
    slack_of,
)
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness.certificate import is_closed
from schedgap.instances.fairness.model import Certificate, FairnessInstance
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


def certificate_of(instance: FairnessInstance, gain: FloatArray, fluid: Fluid, cuts: list[Cut]) -> Certificate:
    """Return the certificate that cuts make, in the units of the instance. gain : (N, K), a task's share."""
    room = instance.capacity * instance.machine_count[:, None].astype(np.float64)
    shares: list[tuple[IntArray, FloatArray]] = []
    prices: list[tuple[IntArray, IntArray, FloatArray]] = []
    for cut in cuts:
        weights = cut.weights[fluid.user2group] * fluid.user_part / fluid.scale
        users = np.flatnonzero(weights > 0)
        merged = cut.prices[fluid.class2group] * fluid.class_part[:, None]
        price = np.divide(merged, room, out=np.zeros(room.shape), where=room > 0)
        _price_what_is_not_there(instance, gain, users, weights, price)
        classes, resources = np.nonzero(price)
        shares.append((users, weights[users]))
        prices.append((classes, resources, price[classes, resources]))
    return Certificate(
        np.repeat(np.arange(len(cuts)), [user.shape[0] for user, _ in shares]),
        np.concatenate([user for user, _ in shares]),
        np.concatenate([weight for _, weight in shares]),
        np.repeat(np.arange(len(cuts)), [classes.shape[0] for classes, _, _ in prices]),
        np.concatenate([classes for classes, _, _ in prices]),
        np.concatenate([resources for _, resources, _ in prices]),
        np.concatenate([price for _, _, price in prices]),
    )


def _price_what_is_not_there(
    instance: FairnessInstance, gain: FloatArray, users: IntArray, weights: FloatArray, price: FloatArray
) -> None:
    """Price resources of which a class has none, which adds nothing to the bound: nobody gains where it cannot run."""
    for k, r in np.argwhere(instance.capacity == 0).tolist():
        needs = users[instance.demand[users, r] > 0]
        worth = weights[needs] * gain[needs, k] / instance.demand[needs, r]
        price[k, r] = float(worth.max(initial=0.0)) * (1 + 1e-9)


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


# A column looks good if its reduced cost is at most this part of what it is worth.
NEAR = 0.1
# Of `seek_prices`. With them, 1,000 users on 50 classes need 2 programs of 3,500 columns for the first level instead
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
