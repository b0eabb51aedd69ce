"""The linear program of a level: how far all active users can rise together.

    maximise    theta
    subject to  sum_k gain(i, k) z(i, k) - (target(i) - base(i)) theta >= base(i)      weight v(i), for each user
                sum_k part(i, k) z(i, k) <= 1                                          surplus u(i), where it may bind
                sum_i use(i, k, r) z(i, k) <= room(k, r)                               price mu(k, r)
                z >= 0

with shares `base` that are feasible, so theta = 0 is, and target = base for users that are to rise no more. Its duals are
a cut (`cuts`). Most columns are 0 in every good solution: the program has those that look promising at some prices, and
takes in others while their reduced costs are negative.

Cuts: inequalities between shares that every allocation obeys.

A cut has prices mu(k, r) of capacity, weights v(i) of shares and surpluses u(i) of numbers of tasks, all at least 0, and says

    sum_i v(i) share(i) <= sum_kr mu(k, r) room(k, r) + sum_i u(i)

which holds for every allocation if no z(i, k) has a negative reduced cost,

    excess(i, k) = sum_r mu(k, r) use(i, k, r) + u(i) part(i, k) - v(i) gain(i, k) >= 0.

The fluid problem behind an instance: without units, and with equal users and equal machine classes merged.

An allocation z(i, k) is measured in the most that user i could have of class k: all tasks that fit there, or all that it
has. With n machines of capacity l, f tasks of i on one of them, D(i) tasks at most and a task's share g(i, k),

    reach(i, k) = min(n(k) f(i, k), D(i))                      tasks of one unit of z(i, k)
    use(i, k, r) = d(i, r) reach(i, k) / (n(k) l(k, r))        in [0, 1]: sum_i use(i, k, r) z(i, k) <= 1
    part(i, k) = reach(i, k) / D(i)                            in [0, 1]: sum_k part(i, k) z(i, k) <= 1, 0 if unlimited
    gain(i, k) = g(i, k) reach(i, k) / scale                   share(i) / scale = sum_k gain(i, k) z(i, k)

Machines of one kind may be merged since tasks are divisible, and so may users with the same demand, constraints and
relative performance whose weights and numbers of tasks, if limited, are in the same proportion: max-min fairness gives
equal shares to equals.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import gcd

import numpy as np

from schedgap.formulations.backends.highs_lp import Basis, LpSolution, WarmLp
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, grouped
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance
from schedgap.instances.fairness.shares import share_of_a_task


@dataclass(frozen=True, slots=True, eq=False)
class Fluid:
    """The fluid problem, of U merged users, C merged machine classes and R resources.

    user2group : (N,) int64. user_part : (N,) float64, the part of its group's tasks that is a user's own.
    class2group : (K,) int64. class_part : (K,) float64, a class's part of the machines of its group.
    gain, part, reach : (U, C) float64. use : (U, C, R) float64. open : (U, C) bool, where z may be positive.
    scale : the share that counts as 1. gain and use are 0 where z is none.
    """

    user2group: IntArray
    user_part: FloatArray
    class2group: IntArray
    class_part: FloatArray
    gain: FloatArray
    part: FloatArray
    reach: FloatArray
    use: FloatArray
    open: BoolArray
    scale: float

    @property
    def num_users(self) -> int:
        """Number of merged users."""
        return int(self.gain.shape[0])

    @property
    def num_classes(self) -> int:
        """Number of merged machine classes."""
        return int(self.gain.shape[1])

    @property
    def num_resources(self) -> int:
        """Number of resources."""
        return int(self.use.shape[2])

    @property
    def limited(self) -> BoolArray:
        """(U,) bool: whose number of tasks could matter."""
        return np.asarray((self.part > 0).any(axis=1))

    def tasks(self, amounts: FloatArray) -> FloatArray:
        """Return (N, K) tasks of the users on the machine classes from (U, C) amounts z."""
        merged = amounts * self.reach
        each = merged[self.user2group] * self.user_part[:, None]
        return each[:, self.class2group] * self.class_part[None, :]


def fluid_of(instance: FairnessInstance, *, merge: bool = True) -> Fluid:
    """Return the fluid problem of an instance.

    merge : whether equal users and equal machine classes become one; the result is the same. O(N K R).

    Raises
    ------
    InstanceError
        if shares have no meaning (`shares.py`).
    """
    gain = share_of_a_task(instance)
    user2group, first_user, class2group, first_class = groups_of(instance, merge=merge)
    limited = instance.tasks != UNLIMITED
    weight = np.bincount(user2group, instance.weight)
    user_part = instance.weight / weight[user2group]
    count = np.bincount(class2group, instance.machine_count)
    class_part = instance.machine_count / count[class2group]
    tasks = np.bincount(user2group, np.where(limited, instance.tasks, np.inf))
    # The users of a group have the share that its first one would have with all their weight.
    gain = gain[np.ix_(first_user, first_class)] * user_part[first_user, None]
    demand = instance.demand[first_user].astype(np.float64)
    room = instance.capacity[first_class] * count[:, None].astype(np.float64)
    alone = instance.fitting()[np.ix_(first_user, first_class)] * count
    reach = np.minimum(alone, tasks[:, None])
    is_open = (gain > 0) & (reach > 0)
    reach = np.where(is_open, reach, 0.0)
    wide = demand[:, None, :] * reach[:, :, None]
    use = np.divide(wide, room[None, :, :], out=np.zeros(wide.shape), where=wide > 0)
    gain = np.where(is_open, gain * reach, 0.0)
    # Alone on its best class a user has a share of this order; with all others, of a part of it.
    scale = float(np.exp(np.log(gain.max(axis=1)).mean())) * first_class.shape[0] / first_user.shape[0]
    part = np.where(np.isfinite(tasks)[:, None], reach / tasks[:, None], 0.0)
    return Fluid(
        user2group, user_part, class2group, class_part, gain / scale, part, reach, np.minimum(use, 1.0), is_open, scale
    )


def groups_of(instance: FairnessInstance, *, merge: bool = True) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the group of each user, the first user of each group, and the same of machine classes; exactly. O(N K R).

    merge : whether equal users and equal machine classes are in one group.
    """
    measured = instance.notion == "eunomia"
    speed = _reduced(instance.performance) if measured else np.zeros_like(instance.performance)
    classes = np.hstack((instance.capacity, speed.T, instance.allowed.T))
    class2group, first_class = grouped(classes if merge else np.arange(classes.shape[0]))
    limited = instance.tasks != UNLIMITED
    common = np.gcd(instance.weight, np.where(limited, instance.tasks, 0))
    proportion = np.where(limited, [instance.tasks // common, instance.weight // common], 0).T
    users = np.hstack((instance.demand, speed, instance.allowed, proportion))
    user2group, first_user = grouped(users if merge else np.arange(users.shape[0]))
    return user2group, first_user, class2group, first_class


def _reduced(performance: IntArray) -> IntArray:
    """Return performance up to a factor of each user's, which progress shares do not know of."""
    factor = np.array([gcd(*row) for row in performance.tolist()])
    reduced: IntArray = performance // factor[:, None]
    return reduced


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


# A column is taken in if it costs less than it is worth by this part.
WORTHWHILE = 1e-11
# Of z in the solver, whose least tolerance is 1e-10: prices of 1e5 make errors of that size visible in a proof.
UNIT = 256.0
# So many columns of each user at once, the best first.
AT_ONCE = 3


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """An optimum. amounts : (U, C). cut : that all columns, in the program or not, obey."""

    theta: float
    amounts: FloatArray
    cut: Cut


@dataclass(slots=True, eq=False)
class Start:
    """Where a program starts: its columns, and what is basic. columns, basic : (U, C) bool. user, task : (U,) bool.

    room : (C, R) bool. user, task, room : of the rows' own slacks.
    """

    columns: BoolArray
    basic: BoolArray
    user: BoolArray
    task: BoolArray
    room: BoolArray


class LevelProgram:
    """The program above for some users, kept warm while targets change.

    users : (U,) bool. columns : (U, C) bool, all z that there are. room : (C, R) float64, tasks, base : (U,) float64, the
    right-hand sides.
    """

    def __init__(
        self,
        fluid: Fluid,
        users: BoolArray,
        columns: BoolArray,
        room: FloatArray,
        tasks: FloatArray,
        base: FloatArray,
        start: Start,
    ) -> None:
        self.fluid, self.base = fluid, base
        self.columns = columns & users[:, None]
        self.users = np.flatnonzero(users)
        self.tasked = np.flatnonzero(users & _may_run_out(fluid, self.columns))
        num_users, num_tasked = self.users.shape[0], self.tasked.shape[0]
        self.first_room = num_users + num_tasked
        self._user_row = np.full(fluid.num_users, -1)
        self._user_row[self.users] = np.arange(num_users)
        self._task_row = np.full(fluid.num_users, -1)
        self._task_row[self.tasked] = num_users + np.arange(num_tasked)
        lower = np.concatenate((base[self.users], np.full(num_tasked + room.size, -np.inf)))
        upper = np.concatenate((np.full(num_users, np.inf), tasks[self.tasked], room.reshape(-1)))
        self._lp = WarmLp(UNIT * lower, UNIT * upper)
        self._lp.add_entries([-1.0], np.zeros(num_users, np.int64), np.arange(num_users), np.full(num_users, -1.0))
        self._user = np.zeros(0, np.int64)
        self._class = np.zeros(0, np.int64)
        self._inside = np.zeros(columns.shape, np.bool_)
        self._add_columns(self.columns & start.columns)
        self._set_basis(start)
        self.num_programs = 0
        self.num_iterations = 0

    def solve(self, target: FloatArray, deadline: float) -> Point | None:
        """Return the optimum for targets (U,), or None at the deadline on `time.perf_counter`'s clock.

        Raises
        ------
        BackendError
            if it is not found.
        """
        # Where rounding put a base above its target, it stays.
        rise = np.maximum((target - self.base)[self.users], 0.0)
        # Makes the mean weight of what rises 1.
        total = float(rise.sum())
        if not 0 < total < np.inf:
            raise BackendError(f"the targets of a level are {total:g} above what all users have; accuracy was lost.")
        self._lp.set_entries(0, np.arange(rise.shape[0]), -rise / total)
        while True:
            left = deadline - time.perf_counter()
            solution = self._lp.solve_surely(left) if left > 0 else None
            if solution is None:
                return None
            self.num_programs += 1
            self.num_iterations += self._lp.iterations
            duals = self._duals(solution)
            new = self._worthwhile(duals)
            if not new.any():
                break
            self._add_columns(new)
        amounts = np.zeros(self.columns.shape)
        amounts[self._user, self._class] = np.maximum(solution.x[1:], 0.0) / UNIT
        # Where the number of tasks has no row, since what runs gives a share wherever it does, more may run than there is.
        amounts /= np.maximum((self.fluid.part * amounts).sum(axis=1), 1.0)[:, None]
        cut = cut_from(self.fluid, self.columns, duals.prices, duals.weights)
        return Point(float(solution.x[0]) / total / UNIT, amounts, cut)

    def finish(self) -> Start:
        """Return the last basis, for the next program."""
        fluid, basis = self.fluid, self._lp.basis()
        basic = np.zeros(self.columns.shape, np.bool_)
        basic[self._user, self._class] = basis.columns[1:]
        user, task = np.ones(fluid.num_users, np.bool_), np.ones(fluid.num_users, np.bool_)
        user[self.users] = basis.rows[: self.users.shape[0]]
        task[self.tasked] = basis.rows[self.users.shape[0] : self.first_room]
        room = basis.rows[self.first_room :].reshape(fluid.num_classes, fluid.num_resources)
        return Start(self._inside, basic, user, task, room)

    def _set_basis(self, start: Start) -> None:
        """Start where `start` says, as far as that goes: with as many basic variables as rows."""
        columns = np.concatenate(([False], start.basic[self._user, self._class]))
        rows = np.concatenate((start.user[self.users], start.task[self.tasked], start.room.reshape(-1)))
        missing = rows.shape[0] - int(columns.sum()) - int(rows.sum())
        if missing > 0:
            rows[np.flatnonzero(~rows)[::-1][:missing]] = True
        elif missing < 0:
            columns[np.flatnonzero(columns)[missing:]] = False
        self._lp.set_basis(Basis(columns, rows))

    def _add_columns(self, columns: BoolArray) -> None:
        user, machine_class = np.nonzero(columns)
        fluid, number = self.fluid, user.shape[0]
        resources = fluid.num_resources
        rows = np.empty((number, 2 + resources), np.int64)
        rows[:, 0], rows[:, 1] = self._user_row[user], self._task_row[user]
        rows[:, 2:] = self.first_room + machine_class[:, None] * resources + np.arange(resources)
        values = np.empty(rows.shape)
        values[:, 0] = fluid.gain[user, machine_class]
        values[:, 1] = np.where(rows[:, 1] >= 0, fluid.part[user, machine_class], 0.0)
        values[:, 2:] = fluid.use[user, machine_class]
        column, entry = np.nonzero(values)
        self._lp.add_entries(np.zeros(number), column, rows[column, entry], values[column, entry])
        self._user = np.concatenate((self._user, user))
        self._class = np.concatenate((self._class, machine_class))
        self._inside |= columns

    def _duals(self, solution: LpSolution) -> Cut:
        fluid, number = self.fluid, self.users.shape[0]
        weights, surpluses = np.zeros(fluid.num_users), np.zeros(fluid.num_users)
        weights[self.users] = np.maximum(solution.row_duals[:number], 0.0)
        surpluses[self.tasked] = np.maximum(-solution.row_duals[number : self.first_room], 0.0)
        prices = np.maximum(-solution.row_duals[self.first_room :], 0.0)
        return Cut(prices.reshape(fluid.num_classes, fluid.num_resources), weights, surpluses)

    def _worthwhile(self, duals: Cut) -> BoolArray:
        """Return (U, C) bool: columns to take in, none if the solution is optimal without them."""
        new = self.columns & ~self._inside
        if not new.any():
            return new
        excess = np.where(new, excesses_of(self.fluid, duals), 0.0)
        new = excess < -WORTHWHILE * duals.weights[:, None] * self.fluid.gain
        if self.fluid.num_classes > AT_ONCE:
            best = np.partition(excess, AT_ONCE - 1, axis=1)[:, AT_ONCE - 1]
            new &= excess <= best[:, None]
        return new


def _may_run_out(fluid: Fluid, columns: BoolArray) -> BoolArray:
    """Return (U,) bool: who might have all its tasks run and still a smaller share than elsewhere."""
    worth = np.divide(fluid.gain, fluid.part, out=np.zeros(columns.shape), where=columns & (fluid.part > 0))
    least = np.where(worth > 0, worth, np.inf).min(axis=1)
    limited: BoolArray = least < worth.max(axis=1) * (1 - 1e-12)
    return limited
