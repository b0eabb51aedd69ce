"""The linear program of one round of progressive filling (Eunomia, Algorithm 1, LP), for any notion of a share.

Sets         users i, machine classes k, resources r; pairs (i, k) where a task of i may run, fits and adds a share
Given        n(k) machines, l(k, r) capacity, d(i, r) demand, f(i, k) tasks on one machine, g(i, k) share of a task,
             D(i) tasks or infinity, active users A, shares v(i) that the others keep
Variables    z(i, k) >= 0   tasks of i on k, in the T-th part of what all machines of k hold of it alone
             s >= 0         the share of all active users, in units of about a fair one
Maximise     s
Rows         capacity(k, r)  sum_i d(i, r) f(i, k) / l(k, r) z(i, k)        <= T
             tasks(i)        sum_k n(k) f(i, k) z(i, k)                     <= T D(i)
             share(i), A     sum_k g(i, k) n(k) f(i, k) z(i, k) - T unit s  >= 0
             share(i), else  sum_k g(i, k) n(k) f(i, k) z(i, k)             >= T v(i)

Rows of tasks and shares are divided by what the user would have alone, so that coefficients are at most 1, and T makes
the right-hand sides large: solvers accept errors of 1e-7, absolute, which are T times less of a machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csc_array

from schedgap.formulations.linear_model import LinearModel
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance
from schedgap.instances.fairness.shares import share_of_a_task

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

# T; a power of two, which changes no digit.
SCALE = 2.0**12


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A solution of the program in the instance's own units.

    tasks : (N, K) float64. shares : (N,) float64, what they come to. level : the common share of the active users.
    """

    tasks: FloatArray
    shares: FloatArray
    level: float


class RoundModel:
    """The programs of all rounds on one instance, which differ in their column s and in the bounds of their rows.

    gain : (N, K) float64, the share of one task. user, machine_class : (P,) int64, the pairs.
    """

    def __init__(self, instance: FairnessInstance) -> None:
        self.instance = instance
        self.gain = share_of_a_task(instance)
        fits = instance.fitting()
        self.user, self.machine_class = np.nonzero(instance.allowed & (fits > 0) & (self.gain > 0))
        user, machine_class = self.user, self.machine_class
        self.whole = fits[user, machine_class] * instance.machine_count[machine_class]
        num_users, num_pairs = instance.num_users, user.shape[0]
        self.limit = np.where(instance.tasks == UNLIMITED, np.inf, instance.tasks)
        self.most_tasks = np.minimum(self.limit, np.bincount(user, self.whole, num_users))
        alone = self.gain[user, machine_class] * self.whole
        self.most_share = np.bincount(user, alone, num_users)
        self.unit = float(np.median(self.most_share)) / num_users
        self.priced = np.argwhere(instance.capacity > 0)
        number = self.num_capacity = self.priced.shape[0]
        where = np.full(instance.capacity.shape, -1)
        where[tuple(self.priced.T)] = np.arange(number)
        needs = instance.demand[user] * fits[user, machine_class][:, None]
        held = instance.capacity[machine_class]
        pair, resource = np.nonzero(needs > 0)
        pairs = np.arange(num_pairs)
        entries = (
            np.concatenate(
                (
                    needs[pair, resource] / held[pair, resource],
                    self.whole / self.most_tasks[user],
                    alone / self.most_share[user],
                )
            ),
            (
                np.concatenate((where[machine_class[pair], resource], number + user, number + num_users + user)),
                np.concatenate((pair, pairs, pairs)),
            ),
        )
        self.matrix = csc_array(coo_array(entries, shape=(number + 2 * num_users, num_pairs)))

    def build(self, active: BoolArray, kept: FloatArray, kept_tasks: FloatArray | None = None) -> LinearModel:
        """Return the program of a round.

        active : (N,) bool. kept : (N,) float64, the shares of the other users.
        kept_tasks : (N,) float64, the numbers of tasks that the other users keep instead, and active users then have
        the level itself, not at least that: the program as the paper prints it.
        """
        num_users, (rows, pairs) = self.instance.num_users, self.matrix.shape
        users = np.flatnonzero(active)
        values: FloatArray = np.append(self.matrix.data, -SCALE * self.unit / self.most_share[users])
        places: IntArray = np.append(self.matrix.indices, self.num_capacity + num_users + users)
        starts: IntArray = np.append(self.matrix.indptr, self.matrix.nnz + users.shape[0])
        matrix = csc_array((values, places, starts), shape=(rows, pairs + 1))
        printed = kept_tasks is not None
        keeps_tasks = np.full(num_users, -np.inf)
        keeps_share = np.where(active, 0.0, SCALE * kept / self.most_share)
        if kept_tasks is not None:
            keeps_tasks[~active] = (SCALE * kept_tasks / self.most_tasks)[~active]
            keeps_share[~active] = -np.inf
        free = np.full(num_users, np.inf)
        return LinearModel(
            name=f"progressive-filling-{self.instance.name}",
            cost=np.append(np.zeros(pairs), -SCALE),
            matrix=matrix,
            row_lower=np.concatenate((np.full(self.num_capacity, -np.inf), keeps_tasks, keeps_share)),
            row_upper=np.concatenate(
                (
                    np.full(self.num_capacity, SCALE),
                    SCALE * self.limit / self.most_tasks,
                    np.where(active, 0.0, free) if printed else free,
                )
            ),
            lower=np.zeros(pairs + 1),
            upper=np.full(pairs + 1, np.inf),
            integral=np.zeros(pairs + 1, np.bool_),
            objective_scale=1,
        )

    def point(self, x: FloatArray) -> Point:
        """Return a solution of a program of `build`, (P + 1,), in the instance's units."""
        tasks = np.zeros(self.gain.shape)
        tasks[self.user, self.machine_class] = np.maximum(x[:-1], 0.0) * self.whole / SCALE
        shares: FloatArray = (tasks * self.gain).sum(axis=1)
        return Point(tasks, shares, float(x[-1]) * self.unit)

    def weights(self, row_duals: FloatArray) -> FloatArray:
        """Return (N,) float64: what a share of each user is worth, at the duals of a program."""
        return np.maximum(row_duals[-self.instance.num_users :], 0.0) / self.most_share

    def prices(self, row_duals: FloatArray) -> FloatArray:
        """Return (K, R) float64: what a unit of each resource is worth, at the duals of a program."""
        instance = self.instance
        prices = np.zeros(instance.capacity.shape)
        k, r = self.priced.T
        room = instance.capacity[k, r] * instance.machine_count[k]
        prices[k, r] = np.maximum(-row_duals[: self.num_capacity], 0.0) / room
        return prices
