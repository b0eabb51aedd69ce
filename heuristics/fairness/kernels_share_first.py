"""Whole tasks, one at a time, to the user with the lowest share that a machine can serve. O(T log N + N M R).

T tasks placed, N users, M machines, R resources. Room only shrinks: a machine that is too full for a user's task stays so,
and each user passes each machine once.
"""

from __future__ import annotations

from typing import Any

from schedgap.instances.jit import inlined_kernel, lean_kernel

# Returned where the caller's arrays hold no more tasks.
FULL = -1


@lean_kernel
def place_by_share(
    demand: Any, gain: Any, tasks: Any, order: Any, quota: Any, first_machine: Any, rank: Any,
    left: Any, share: Any, place: Any, machine: Any, heap: Any, task_user: Any, task_machine: Any,
) -> int:  # fmt: skip
    """Place tasks until nobody can be served; return how many, or `FULL`.

    demand : (N, R). gain : (N, K) float64, added to `share` by a task. tasks : (N,), how many a user still has.
    order : (N, K), the classes that a user tries in turn, then -1. quota : (N, K), most tasks on a class.
    first_machine : (K + 1,), of each class. rank : (N,), who goes first at the same share, unique.
    left : (M, R), share : (N,) float64, tasks and quota : in and out. place, machine : (N,), heap : (N,): work.
    task_user, task_machine : (T,), out.
    """
    num_users = rank.shape[0]
    for i in range(num_users):
        place[i] = 0
        machine[i] = -1
        heap[rank[i]] = i
    size = num_users
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap, size, at, share, rank)
    placed = 0
    while size > 0:
        i = heap[0]
        m = -1
        if tasks[i] > 0:
            m = _next_machine(i, demand, order, quota, first_machine, left, place, machine)
        if m < 0:
            size -= 1
            heap[0] = heap[size]
            _sink(heap, size, 0, share, rank)
            continue
        if placed == task_user.shape[0]:
            return FULL
        k = order[i, place[i]]
        for r in range(demand.shape[1]):
            left[m, r] -= demand[i, r]
        tasks[i] -= 1
        quota[i, k] -= 1
        share[i] += gain[i, k]
        task_user[placed] = i
        task_machine[placed] = m
        placed += 1
        _sink(heap, size, 0, share, rank)
    return placed


@inlined_kernel
def _next_machine(
    i: int, demand: Any, order: Any, quota: Any, first_machine: Any, left: Any, place: Any, machine: Any
) -> int:
    """Return the first machine in a user's order with room for a task, -1 for none."""
    while place[i] < order.shape[1] and order[i, place[i]] >= 0:
        k = order[i, place[i]]
        if machine[i] < first_machine[k] or machine[i] >= first_machine[k + 1]:
            machine[i] = first_machine[k]
        while quota[i, k] > 0 and machine[i] < first_machine[k + 1]:
            fits = True
            for r in range(demand.shape[1]):
                fits &= demand[i, r] <= left[machine[i], r]
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
