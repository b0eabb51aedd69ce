"""Tasks in lanes, exchanged by simulated annealing over how late jobs end.

A lane is room for one task on a VM at a time; its tasks follow one another, each as early as it can. What a job (`group`)
costs is a smooth latest end, width x log of the sum over its tasks of exp(end / width): each task near a job's end counts, where
the latest end alone would only ask for one of them.

The loop behind clairvoyant list scheduling: one task after the other to where it starts first.

VMs whose free cores over time are known: where a task fits, and what is left when it is there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.jit import kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform
from schedgap.instances.units import NEVER

FULL = -1


class Profile(NamedTuple):
    """moment, free, room : (V, W) int64. pieces : (V,) int64.

    VM v has free[v, k] cores and room[v, k] MiB from moment[v, k] until moment[v, k + 1] for k < pieces[v], the last of them for
    ever.
    """

    moment: np.ndarray
    free: np.ndarray
    room: np.ndarray
    pieces: np.ndarray


@kernel
def piece_at(p: Profile, vm: int, time: int) -> int:
    """Return the last piece of a VM that begins no later; 0 if none does. O(log W)."""
    low, high = 0, p.pieces[vm] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if p.moment[vm, middle] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def first_fit(
    p: Profile,
    vm: int,
    ready: int,
    length: int,
    cores: int,
    memory: int,
    latest: int,
) -> int:
    """Return the first start on a VM from which a task fits until its end.

    latest : later starts are not looked for; NEVER if there is none until then. O(log W + pieces until the task's end).
    """
    k = piece_at(p, vm, ready)
    start = -1
    while k < p.pieces[vm]:
        if start >= 0 and p.moment[vm, k] - start >= length:
            return start
        if p.free[vm, k] < cores or p.room[vm, k] < memory:
            start = -1
            if p.moment[vm, k] > latest:
                return NEVER
        elif start < 0:
            start = max(ready, p.moment[vm, k])
            if start > latest:
                return NEVER
        k += 1
    return start if start >= 0 else NEVER


@kernel
def fits_until(
    p: Profile,
    vm: int,
    since: int,
    cores: int,
    memory: int,
) -> int:
    """Return when a VM has too little for a task for the first time; NEVER if it always has enough. O(log W + pieces)."""
    k = piece_at(p, vm, since)
    while k < p.pieces[vm]:
        if p.free[vm, k] < cores or p.room[vm, k] < memory:
            until: int = p.moment[vm, k]
            return until
        k += 1
    return NEVER


@kernel
def occupy(
    p: Profile,
    vm: int,
    start: int,
    end: int,
    cores: int,
    memory: int,
) -> int:
    """Take cores and memory of a VM from start to end; return FULL if W pieces are too few, or 0. O(W)."""
    if p.pieces[vm] + 2 > p.moment.shape[1]:
        return FULL
    first = _split(p, vm, start)
    last = _split(p, vm, end)
    for k in range(first, last):
        p.free[vm, k] -= cores
        p.room[vm, k] -= memory
    _joined(p, vm, last)
    _joined(p, vm, first)
    return 0


@kernel
def _split(p: Profile, vm: int, time: int) -> int:
    """Return the piece that begins at a moment, made if there was none."""
    k = piece_at(p, vm, time)
    if p.moment[vm, k] == time:
        return k
    for i in range(p.pieces[vm], k + 1, -1):
        p.moment[vm, i] = p.moment[vm, i - 1]
        p.free[vm, i] = p.free[vm, i - 1]
        p.room[vm, i] = p.room[vm, i - 1]
    p.moment[vm, k + 1] = time
    p.free[vm, k + 1] = p.free[vm, k]
    p.room[vm, k + 1] = p.room[vm, k]
    p.pieces[vm] += 1
    return k + 1


@kernel
def _joined(p: Profile, vm: int, k: int) -> None:
    """Join a piece with the one before it if both have the same left."""
    if k == 0 or p.free[vm, k] != p.free[vm, k - 1] or p.room[vm, k] != p.room[vm, k - 1]:
        return
    for i in range(k + 1, p.pieces[vm]):
        p.moment[vm, i - 1] = p.moment[vm, i]
        p.free[vm, i - 1] = p.free[vm, i]
        p.room[vm, i - 1] = p.room[vm, i]
    p.pieces[vm] -= 1


class Needs(NamedTuple):
    """Of tasks: when they are ready, how long they run, cores and memory; (T,) int64. vm_memory : (V,) int64."""

    ready: np.ndarray
    length: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    vm_memory: np.ndarray


class Soonest(NamedTuple):
    """When tasks of some lengths could start on each VM.

    edge : (L,) int64, ascending, lengths of which the first is at most any task's. start : (L, V) int64: when the least of all
    tasks could start on a VM if it ran that long.
    """

    edge: np.ndarray
    start: np.ndarray


@kernel
def place_in_order(
    order: np.ndarray, needs: Needs, profile: Profile, soonest: Soonest, vm: np.ndarray, start: np.ndarray
) -> int:
    """Place tasks in the given order; return how many of them were placed before a VM had too many pieces.

    order : (N,) int64, tasks. profile, soonest : changed. vm, start : (T,) int64, written.

    Of VMs on which a task starts equally soon it takes the one that will be too small for it first, which leaves the long
    times to those who need them. A VM on which even less could only start later is passed by, which saves most of the
    time. O(N (V + pieces that are looked at)).
    """
    cores, memory, length, edge = needs.cores, needs.memory, needs.length, soonest.edge
    least_cores, least_memory = cores.min(), memory.min()
    for i in range(order.shape[0]):
        t = order[i]
        level = np.searchsorted(edge, length[t], side="right") - 1
        # The VM that may be first is looked at first, so that more of the others can be passed by.
        best, begin, lasts = -1, NEVER, -1
        likely = soonest.start[level].argmin()
        for n in range(-1, profile.pieces.shape[0]):
            v = likely if n < 0 else n
            if soonest.start[level, v] > begin or needs.vm_memory[v] < memory[t] or v == best:
                continue
            since = max(soonest.start[level, v], needs.ready[t])
            found = first_fit(profile, v, since, length[t], cores[t], memory[t], begin)
            if best < 0 or found < begin:
                best, begin, lasts = v, found, -1
            elif found == begin:
                if lasts < 0:
                    lasts = fits_until(profile, best, begin, cores[t], memory[t])
                until = fits_until(profile, v, begin, cores[t], memory[t])
                if until < lasts or (until == lasts and v < best):
                    best, lasts = v, until
        if occupy(profile, best, begin, begin + length[t], cores[t], memory[t]) == FULL:
            return i
        for k in range(edge.shape[0]):
            since = soonest.start[k, best]
            if since < begin + length[t] and since + edge[k] > begin:
                soonest.start[k, best] = first_fit(profile, best, since, edge[k], least_cores, least_memory, NEVER)
        vm[t] = best
        start[t] = begin
    return len(order)


@kernel
def soonest_starts(profile: Profile, ready: int, cores: int, memory: int, soonest: Soonest) -> None:
    """Find when a task of each length could start on each VM; `soonest.start` is written."""
    for k in range(soonest.edge.shape[0]):
        for v in range(profile.pieces.shape[0]):
            soonest.start[k, v] = first_fit(profile, v, ready, soonest.edge[k], cores, memory, NEVER)


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
