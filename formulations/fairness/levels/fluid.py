"""The fluid problem behind an instance: without units, and with equal users and equal machine classes merged.

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

from dataclasses import dataclass
from math import gcd

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, grouped
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
