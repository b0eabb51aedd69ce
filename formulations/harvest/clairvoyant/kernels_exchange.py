"""Tasks in lanes, exchanged by simulated annealing over how late jobs end.

A lane is room for one task on a VM at a time; its tasks follow one another, each as early as it can. What a job (`group`)
costs is a smooth latest end, width x log of the sum over its tasks of exp(end / width): each task near a job's end counts, where
the latest end alone would only ask for one of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.instances.jit import kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform

if TYPE_CHECKING:
    from typing import Any

# Shares of moves: ALONE put one task elsewhere, the others exchange two. One draw decides what more: of the first, below ANYWHERE
# to any lane, above BEHIND (the larger) behind a task that starts near, else before it; of the others, below TAILS with all that
# follows.
ALONE, ANYWHERE, BEHIND, TAILS = 0.1, 0.3, 0.8, 0.3
# Tasks that are looked at before the caller looks at the clock again.
VISITS = 5_000_000
# Tasks are exchanged with one of so many that start next before and after.
NEAR = 150
# No task may come to end later than the smooth end of its group and so many widths.
FAR = 6.0
# What is left of a group's sum at least, where all its tasks end long before its last end.
LEAST = 1e-12
NONE = -1


class Tasks(NamedTuple):
    """(T,) int64, ms; group : what ends once. first : (G + 1,) int64, of a group's tasks."""

    ready: Any
    length: Any
    group: Any
    first: Any


class Lanes(NamedTuple):
    """(L,) int64: opens, closes : ms. kind : lanes of different kinds exchange nothing. head : the first task, changed."""

    opens: Any
    closes: Any
    kind: Any
    head: Any


class Plan(NamedTuple):
    """Of each task its lane, those before and after it there, or NONE, and its start: (T,) int64, changed."""

    lane: Any
    before: Any
    after: Any
    start: Any


class Soft(NamedTuple):
    """Smooth ends: end, latest : (G,) int64, ms. total, changed : (G,) float64, sums of exp((end of a task - end) / width).

    latest : no task of a group may end later. changed : NONE between moves. by_start, rank : (T,) int64, tasks in order of
    their starts, and where each is.
    """

    end: Any
    latest: Any
    total: Any
    changed: Any
    by_start: Any
    rank: Any


class Moved(NamedTuple):
    """Tasks that a move gives new starts, (T,) int64 both; group : (G,) int64, room for theirs."""

    task: Any
    start: Any
    group: Any


class Splice(NamedTuple):
    """What becomes of a lane behind the task `before`, or from its begin on: first `single`, if any, then `chain` and so on."""

    lane: int
    before: int
    single: int
    chain: int


@kernel
def exchange(
    tasks: Tasks, lanes: Lanes, plan: Plan, soft: Soft, moved: Moved, heat: float, width: float, moves: int, random: Any
) -> int:
    """Change a plan by so many moves at one temperature, fewer if they look at `VISITS` tasks; return how many.

    heat, width : ms. random : (1,) uint64, not 0, in and out. A move puts a task elsewhere, exchanges two, or exchanges all
    from two tasks on. O(T log T) before the first, then O(tasks behind those moved, in their lanes) a move.
    """
    _begin(tasks, plan, soft, width)
    number, visits = plan.start.shape[0], 0
    near = min(NEAR, number)
    for done in range(moves):
        if visits > VISITS:
            return done
        t = xorshift_below(random, number)
        place = soft.rank[t] + xorshift_below(random, 2 * near + 1) - near
        draw, other = xorshift_uniform(random), xorshift_uniform(random)
        allowed = -heat * math.log(1.0 - xorshift_uniform(random))
        a, before_t = plan.lane[t], plan.before[t]
        if draw < ALONE and other < ANYWHERE:
            b = xorshift_below(random, lanes.head.shape[0])
            before, u = NONE, lanes.head[b]
            while u != NONE and plan.start[u] < plan.start[t]:
                before, u = u, plan.after[u]
                visits += 1
        elif 0 <= place < number:
            u = soft.by_start[place]
            b, before = plan.lane[u], plan.before[u]
        else:
            continue
        if a == b or lanes.kind[a] != lanes.kind[b]:
            continue
        if draw < ALONE:
            if other > BEHIND:
                before, u = u, plan.after[u]
            one, two = Splice(a, before_t, NONE, plan.after[t]), Splice(b, before, t, u)
        elif other < TAILS:
            one, two = Splice(a, before_t, NONE, u), Splice(b, before, NONE, t)
        else:
            one, two = Splice(a, before_t, u, plan.after[t]), Splice(b, before, t, plan.after[u])
        first = _follow(tasks, lanes, plan, soft, moved, 0, one)
        count = first if first < 0 else _follow(tasks, lanes, plan, soft, moved, first, two)
        visits += abs(count)
        if count > 0 and _is_allowed(tasks, plan, soft, moved, count, width, allowed):
            _splice(lanes, plan, one)
            _splice(lanes, plan, two)
            for i in range(count):
                plan.start[moved.task[i]] = moved.start[i]
                plan.lane[moved.task[i]] = a if i < first else b
    return moves


@kernel
def _begin(tasks: Tasks, plan: Plan, soft: Soft, width: float) -> None:
    """Add up the smooth ends anew, and put tasks in order of their starts."""
    for g in range(soft.end.shape[0]):
        end, total = 0, 0.0
        for t in range(tasks.first[g], tasks.first[g + 1]):
            end = max(end, plan.start[t] + tasks.length[t])
        for t in range(tasks.first[g], tasks.first[g + 1]):
            total += math.exp((plan.start[t] + tasks.length[t] - end) / width)
        soft.end[g], soft.total[g], soft.changed[g] = end, total, NONE
        soft.latest[g] = end + int(width * (math.log(total) + FAR))
    soft.by_start[:] = np.argsort(plan.start)
    for place in range(plan.start.shape[0]):
        soft.rank[soft.by_start[place]] = place


@lean_kernel
def _follow(tasks: Tasks, lanes: Lanes, plan: Plan, soft: Soft, moved: Moved, count: int, splice: Splice) -> int:
    """Start tasks of a lane as early as they can, and note those that start at another moment or were elsewhere.

    Returns how many are noted by then; less than 0, by as many and one, if one would end after its lane closes, or too late for
    its group.
    """
    lane = splice.lane
    end = lanes.opens[lane]
    if splice.before != NONE:
        end = plan.start[splice.before] + tasks.length[splice.before]
    y = splice.chain if splice.single == NONE else splice.single
    while y != NONE:
        start = max(end, tasks.ready[y])
        if start == plan.start[y] and plan.lane[y] == lane:
            return count
        end = start + tasks.length[y]
        if end > lanes.closes[lane] or end > soft.latest[tasks.group[y]]:
            return -1 - count
        moved.task[count], moved.start[count] = y, start
        count += 1
        y = splice.chain if y == splice.single else plan.after[y]
    return count


@lean_kernel
def _is_allowed(tasks: Tasks, plan: Plan, soft: Soft, moved: Moved, count: int, width: float, allowed: float) -> bool:
    """Whether smooth ends together grow by no more than `allowed` ms; then the sums are those of the new starts."""
    groups, dearer = 0, 0.0
    for i in range(count):
        y = moved.task[i]
        g = tasks.group[y]
        if soft.changed[g] == NONE:
            soft.changed[g] = soft.total[g]
            moved.group[groups] = g
            groups += 1
        soft.changed[g] += math.exp((moved.start[i] + tasks.length[y] - soft.end[g]) / width)
        soft.changed[g] -= math.exp((plan.start[y] + tasks.length[y] - soft.end[g]) / width)
    for k in range(groups):
        g = moved.group[k]
        dearer += width * math.log(max(soft.changed[g], LEAST) / max(soft.total[g], LEAST))
    for k in range(groups):
        g = moved.group[k]
        if dearer <= allowed:
            soft.total[g] = soft.changed[g]
        soft.changed[g] = NONE
    return dearer <= allowed


@lean_kernel
def _splice(lanes: Lanes, plan: Plan, splice: Splice) -> None:
    """Join the tasks of a splice in the lane's order."""
    before = splice.before
    for i in range(2):
        y = splice.single if i == 0 else splice.chain
        if i == 0 and y == NONE:
            continue
        if before == NONE:
            lanes.head[splice.lane] = y
        else:
            plan.after[before] = y
        if y != NONE:
            plan.before[y] = before
        before = y
