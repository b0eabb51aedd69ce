"""Machines that fill up with whole tasks, for heuristics that place one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.fairness.kernels_share_first import Left, Turns, Users, place_by_share
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance
from schedgap.instances.fairness.solution import TASK, FairnessAllocation

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

# Tasks in all, or machines times resources, that a placement one at a time may have to hold.
MOST_TASKS = 2**23
NO_QUOTA = 2**62


def too_many_tasks(instance: FairnessInstance) -> str | None:
    """Return None, or that so many tasks fit that placing them one at a time is no way to do it."""
    most, machines = most_whole_tasks(instance), int(instance.machine_count.sum()) * len(instance.resources)
    if max(most, machines) <= MOST_TASKS:
        return None
    return (
        f"has room for up to {most:.3g} tasks on {instance.machine_count.sum():.3g} machines, which are placed one at a "
        "time; use equal-split, or larger tasks"
    )


def most_whole_tasks(instance: FairnessInstance) -> int:
    """Return a number of tasks that all machines together never exceed."""
    demand = np.where(instance.demand > 0, instance.demand, np.iinfo(np.int64).max)
    smallest = np.array([demand[allowed].min(axis=0, initial=demand.max()) for allowed in instance.allowed.T])
    # In floating point, where sums do not wrap: they are exact as long as they matter.
    each = (instance.capacity // smallest).sum(axis=1).astype(np.float64)
    room = int((each * instance.machine_count).sum())
    if (instance.tasks == UNLIMITED).any():
        return room
    return min(room, int(sum(instance.tasks.tolist())))


class Machines:
    """Single machines of an instance, with what is left of them.

    left : (M, R) int64. share : (N,) float64. tasks : (N,) int64, still to be placed.
    """

    def __init__(self, instance: FairnessInstance) -> None:
        self.instance = instance
        count = instance.machine_count
        self.first_machine = np.concatenate(([0], np.cumsum(count)))
        self.left = np.repeat(instance.capacity, count, axis=0)
        self.total, self.share = np.zeros((2, instance.num_users))
        self.tasks = np.where(instance.tasks == UNLIMITED, NO_QUOTA, instance.tasks)
        self._placed: list[tuple[IntArray, IntArray]] = []

    def place(
        self, value: FloatArray, scale: FloatArray, order: IntArray, rank: IntArray, quota: IntArray | None = None
    ) -> None:
        """Give tasks to the user with the lowest share, as long as one finds a machine.

        value, scale : as of `value_and_scale`, the same each time. order : (N, K), the classes that each user tries,
        then -1. rank : (N,) a permutation, who goes first at the same share. quota : (N, K), the most tasks on a class.
        """
        num_users = self.instance.num_users
        quotas = np.full(value.shape, NO_QUOTA) if quota is None else quota.copy()
        turns = Turns(*np.empty((3, num_users), np.int64))
        task_user, task_machine = np.empty((2, most_whole_tasks(self.instance)), np.int64)
        users = Users(self.instance.demand, value, scale, order, self.first_machine, rank)
        left = Left(self.tasks, quotas, self.left, self.total, self.share)
        number = place_by_share(users, left, turns, task_user, task_machine)
        assert number >= 0
        self._placed.append((task_user[:number].copy(), task_machine[:number].copy()))

    def allocation(self) -> FairnessAllocation:
        """Return all tasks placed so far."""
        user, machine = (np.concatenate(parts) for parts in zip(*self._placed, strict=True))
        num_machines = self.left.shape[0]
        where, number = np.unique(user * num_machines + machine, return_counts=True)
        user, machine = where // num_machines, where % num_machines
        machine_class = np.searchsorted(self.first_machine, machine, side="right") - 1
        return FairnessAllocation(user, machine_class, number * TASK, machine - self.first_machine[machine_class])
