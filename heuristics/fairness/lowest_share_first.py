"""The online rule of the fair schedulers on a snapshot: the user with the lowest share goes first.

Eunomia, section III-B; Choosy, TSF and DRF with their own shares. All machines are free, and tasks are given out whole, one
at a time, to the user with the lowest share that some machine can still serve. The papers leave the order of machines open.

Machines that fill up with whole tasks, for heuristics that place one at a time.

Every machine class split among those who may use it: what any fair scheduler must beat.

The fair point in whole tasks on single machines: rounded, then filled up.

Whole tasks, one at a time, to the user with the lowest share that a machine can serve. O(T log N + N M R).

T tasks placed, N users, M machines, R resources. Room only shrinks: a machine that is too full for a user's task stays so,
and each user passes each machine once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.model import (
    FAMILY,
    NOTIONS,
    TASK,
    UNLIMITED,
    FairnessAllocation,
    FairnessInstance,
    allocation_of,
    tasks_per_class,
)
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.fairness.verify import fair_point
from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.kernels.rounding import rounded
from schedgap.instances.method import Outcome, Status, method

# Returned where the caller's arrays hold no more tasks.
FULL = -1


class Users(NamedTuple):
    """What users ask for. demand : (N, R). value : (N, K) float64, of a task. scale : (N,) float64, of all of a user's share.

    order : (N, K), the classes that a user tries in turn, then -1. first_machine : (K + 1,), of each class.
    rank : (N,), who goes first at the same share, unique.
    """

    demand: Any
    value: Any
    scale: Any
    order: Any
    first_machine: Any
    rank: Any


class Left(NamedTuple):
    """What changes. tasks : (N,), how many a user still has. quota : (N, K), most tasks on a class. left : (M, R).

    total, share : (N,) float64, the values of a user's tasks together, and what part of its scale they are.
    """

    tasks: Any
    quota: Any
    left: Any
    total: Any
    share: Any


class Turns(NamedTuple):
    """Who is next. place, machine : (N,), the class and the machine that a user tries; heap : (N,), by share. Work."""

    place: Any
    machine: Any
    heap: Any


@lean_kernel
def place_by_share(users: Users, left: Left, turns: Turns, task_user: Any, task_machine: Any) -> int:
    """Place tasks until nobody can be served; return how many, or `FULL`. task_user, task_machine : (T,), out."""
    demand, rank, tasks, share, heap = users.demand, users.rank, left.tasks, left.share, turns.heap
    num_users = rank.shape[0]
    for i in range(num_users):
        turns.place[i] = 0
        turns.machine[i] = -1
        heap[rank[i]] = i
    size = num_users
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap, size, at, share, rank)
    placed = 0
    while size > 0:
        i = heap[0]
        m = -1
        if tasks[i] > 0:
            m = _next_machine(i, users, left, turns)
        if m < 0:
            size -= 1
            heap[0] = heap[size]
            _sink(heap, size, 0, share, rank)
            continue
        if placed == task_user.shape[0]:
            return FULL
        k = users.order[i, turns.place[i]]
        for r in range(demand.shape[1]):
            left.left[m, r] -= demand[i, r]
        tasks[i] -= 1
        left.quota[i, k] -= 1
        left.total[i] += users.value[i, k]
        share[i] = rounded(left.total[i] / users.scale[i])
        task_user[placed] = i
        task_machine[placed] = m
        placed += 1
        _sink(heap, size, 0, share, rank)
    return placed


@inlined_kernel
def _next_machine(i: int, users: Users, left: Left, turns: Turns) -> int:
    """Return the first machine in a user's order with room for a task, -1 for none."""
    demand, order, first_machine = users.demand, users.order, users.first_machine
    place, machine = turns.place, turns.machine
    while place[i] < order.shape[1] and order[i, place[i]] >= 0:
        k = order[i, place[i]]
        if machine[i] < first_machine[k] or machine[i] >= first_machine[k + 1]:
            machine[i] = first_machine[k]
        while left.quota[i, k] > 0 and machine[i] < first_machine[k + 1]:
            fits = True
            for r in range(demand.shape[1]):
                fits &= demand[i, r] <= left.left[machine[i], r]
            if fits:
                return int(machine[i])
            machine[i] += 1
        place[i] += 1
        machine[i] = -1
    return -1


@inlined_kernel
def _sink(heap: Any, size: int, at: int, share: Any, rank: Any) -> None:
    """Move a user down a heap by share, then rank, to where it belongs."""
    if size <= at:
        return
    user = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            share[heap[other]] < share[heap[child]]
            or (share[heap[other]] == share[heap[child]] and rank[heap[other]] < rank[heap[child]])
        ):
            child = other
        below = heap[child]
        if share[user] < share[below] or (share[user] == share[below] and rank[user] < rank[below]):
            break
        heap[at] = below
        at = child
    heap[at] = user


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


@method("equal-split", family=FAMILY)
def equal_split(instance: FairnessInstance) -> FairnessAllocation:
    """Give each user its weight's part of every machine class that it may use. O(N K)."""
    fits = instance.fitting()
    weight = np.where(instance.allowed & (fits > 0), instance.weight[:, None], 0)
    total = np.maximum(weight.sum(axis=0), 1)
    return allocation_of(instance, weight / total * fits * instance.machine_count)


ORDERS = ("index", "fastest", "scarce")
TIES = ("index", "constrained")


@method(
    "lowest-share-first",
    version=2,
    family=FAMILY,
    supports=too_many_tasks,
    choices={"notion": ("", *NOTIONS), "order": ORDERS, "ties": TIES},
)
def lowest_share_first(
    instance: FairnessInstance, notion: str = "", order: str = "scarce", ties: str = "index"
) -> FairnessAllocation:
    """Give whole tasks to the user with the lowest share, one at a time, on the first machine with room.

    notion : whose share; empty for the instance's own. order : which machine classes a user tries first: as they are
        listed, where its tasks are `fastest`, or the `scarce` ones that it can use and few others can (their part of what
        users demand, each split evenly over all its machines). ties : who goes first at the same share: as listed, or
        the most `constrained`, which can use the least.
    """
    machines = Machines(instance)
    machines.place(*value_and_scale(instance, notion), class_order(instance, order), user_rank(instance, ties))
    return machines.allocation()


def class_order(instance: FairnessInstance, order: str) -> IntArray:
    """Return (N, K) int64: the classes that each user can use, in the order in which it tries them, then -1."""
    usable = instance.allowed & (instance.fitting() >= 1)
    if order == "fastest":
        key = -instance.performance.astype(np.float64)
    elif order == "scarce":
        alone = np.where(usable, instance.fitting() * instance.machine_count, 0.0)
        part = alone / np.maximum(alone.sum(axis=1, keepdims=True), 1e-300)
        key = np.broadcast_to((part / np.maximum(alone, 1e-300)).sum(axis=0), usable.shape)
    else:
        key = np.zeros(usable.shape)
    ranked = np.argsort(np.where(usable, key, np.inf), axis=1, kind="stable")
    return np.where(np.take_along_axis(usable, ranked, axis=1), ranked, -1)


def user_rank(instance: FairnessInstance, ties: str) -> IntArray:
    """Return (N,) int64, a permutation: who goes first at the same share."""
    rank = np.arange(instance.num_users)
    if ties == "constrained":
        usable = np.where(instance.allowed, instance.fitting() * instance.machine_count, 0.0).sum(axis=1)
        total = (instance.fitting() * instance.machine_count).sum(axis=1)
        rank = np.empty_like(rank)
        rank[np.argsort(usable / total, kind="stable")] = np.arange(instance.num_users)
    return rank


# Tasks of the fair point that lack this part of one, or exceed it by that, are whole.
ALMOST = 1e-6


@method("fair-point-rounding", version=2, family=FAMILY, supports=too_many_tasks)
def fair_point_rounding(instance: FairnessInstance) -> FairnessAllocation | Outcome:
    """Round the fair point to whole tasks, then give out what is left, to the user furthest below its fair share first.

    Users take their tasks of the fair point in turn, the one with the smallest part of its fair share first, on the first
    machine of the class with room; then, in the same manner, tasks on any machine, the fastest first. Once with the numbers
    of tasks rounded down, once rounded up; the one that leaves the worst-off user better off is returned. Where the fair
    point is not proven, there is no solution.
    """
    try:
        fair, shares = fair_point(instance)
    except (BackendError, VerifyError) as error:
        return Outcome(status=Status.NO_SOLUTION, details={"reason": str(error)})
    value, scale = value_and_scale(instance)
    scale *= shares
    tasks = tasks_per_class(instance, fair)
    tries = [
        _rounded(instance, value, scale, tasks, np.floor(tasks + ALMOST)),
        _rounded(instance, value, scale, tasks, np.ceil(tasks - ALMOST)),
    ]
    return max(tries, key=lambda machines: float(machines.share.min())).allocation()


def _rounded(
    instance: FairnessInstance, value: FloatArray, scale: FloatArray, tasks: FloatArray, whole: FloatArray
) -> Machines:
    """Place whole tasks, (N, K), as far as they go, those of the class with the most first; then any."""
    machines, rank = Machines(instance), user_rank(instance, "constrained")
    order = np.argsort(-tasks, axis=1, kind="stable")
    used = np.take_along_axis(whole, order, axis=1) > 0
    machines.place(value, scale, np.where(used, order, -1), rank, whole.astype(np.int64))
    machines.place(value, scale, class_order(instance, "fastest"), rank)
    return machines
