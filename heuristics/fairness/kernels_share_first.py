"""Whole tasks, one at a time, to the user with the lowest share that a machine can serve. O(T log N + N M R).

T tasks placed, N users, M machines, R resources. Room only shrinks: a machine that is too full for a user's task stays so,
and each user passes each machine once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.kernels.rounding import rounded

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
