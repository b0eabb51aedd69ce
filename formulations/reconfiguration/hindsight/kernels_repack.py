"""One plan's packing, improved by emptying machines and putting their tasks elsewhere.

A draft costs, in micro-dollars: each machine for as long as the plan lasts, and of each task that moves, or waits for a machine
that boots, the periods by which it ends later, at what its class is worth. A round empties one to four machines, puts each of
their tasks, the most valuable first, where it wastes least, and what then has no room on machines that are worth most for
their price. It is kept if the draft costs less; otherwise all is put back.

Letters: M rows of machines, those that are there first; N tasks, R resources, K machine types, F families, C classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below, uniform
from schedgap.instances.kernels.sort import sort_places

# Machines that a round empties at most, and of how many drawn ones each is the most wasteful.
MOST_GONE, DRAWN = 4, 3
# What of the worth of the room that a task leaves on a machine counts against it, at most; and how much orders vary.
FIT, NOISE = 0.2, 0.3
EPSILON = 1e-9


class Moment(NamedTuple):
    """What is given at a plan.

    demand : (F, C, R), negative where a class may not run. capacity : (K, R). type2family, boot : (K,), seconds until a new
    machine runs. price : (K,), of a period.
    task_class, end, leave, start, origin : (N,), seconds from now until it ends where it is, or if it began at once; until it has
    left its machine; from its launch until it progresses; and its machine, -1 for none. value : (N,), of a period of it.
    period : seconds. horizon : periods.
    """

    demand: IntArray
    capacity: IntArray
    type2family: IntArray
    boot: IntArray
    price: FloatArray
    task_class: IntArray
    end: IntArray
    leave: IntArray
    start: IntArray
    origin: IntArray
    value: FloatArray
    period: int
    horizon: int


class Draft(NamedTuple):
    """What a plan may become.

    kind, ready : (M,), type, and seconds until it runs. is_fixed : (M,), whether some of its tasks must stay. tail : (M,), what
    it costs if all leave it. head : (M,), a task on it, or -1. used : (M, R). worth : (M,), of its tasks.
    place, after, before : (N,), machine of each task, and the next and last one there.
    live, position : (M,), machines with tasks, and where each is among them. spare : (M,), unused rows.
    counts : (3,), how many are live, are spare, are known.
    """

    kind: IntArray
    ready: IntArray
    is_fixed: IntArray
    tail: FloatArray
    head: IntArray
    used: IntArray
    worth: FloatArray
    place: IntArray
    after: IntArray
    before: IntArray
    live: IntArray
    position: IntArray
    spare: IntArray
    counts: IntArray


class Work(NamedTuple):
    """Work space. out, order, scratch, was : (N,). key : (N,). gone : (MOST_GONE,)."""

    out: IntArray
    order: IntArray
    scratch: IntArray
    was: IntArray
    key: FloatArray
    gone: IntArray


@inner_kernel
def _periods(mo: Moment, d: Draft, i: int, m: int) -> int:
    """Return after how many periods the task leaves the plans if it is on a machine."""
    end = mo.end[i]
    if m != mo.origin[i]:
        end += max(mo.leave[i], d.ready[m]) + mo.start[i]
    return int((end + mo.period - 1) // mo.period)


@inner_kernel
def _task_cost(mo: Moment, d: Draft, i: int, m: int) -> float:
    if m == mo.origin[i]:
        return 0.0
    return float(mo.value[i] * (_periods(mo, d, i, m) - (mo.end[i] + mo.period - 1) // mo.period))


@inner_kernel
def _machine_cost(mo: Moment, d: Draft, m: int) -> float:
    """Return what a machine costs with tasks on it."""
    return float(mo.price[d.kind[m]] * mo.horizon)


@inner_kernel
def _has_room(mo: Moment, d: Draft, i: int, m: int) -> bool:
    k, c = d.kind[m], mo.task_class[i]
    f = mo.type2family[k]
    if mo.demand[f, c, 0] < 0:
        return False
    fits = True
    for r in range(mo.capacity.shape[1]):
        fits = fits and d.used[m, r] + mo.demand[f, c, r] <= mo.capacity[k, r]
    return fits


@inner_kernel
def _put(mo: Moment, d: Draft, i: int, m: int) -> None:
    """Put a task that is nowhere on a machine."""
    f = mo.type2family[d.kind[m]]
    if d.head[m] < 0:
        d.position[m] = d.counts[0]
        d.live[d.counts[0]] = m
        d.counts[0] += 1
    else:
        d.before[d.head[m]] = i
    d.after[i], d.before[i], d.place[i], d.head[m] = d.head[m], -1, m, i
    for r in range(mo.capacity.shape[1]):
        d.used[m, r] += mo.demand[f, mo.task_class[i], r]
    d.worth[m] += mo.value[i]


@inner_kernel
def _take(mo: Moment, d: Draft, i: int) -> None:
    """Take a task off its machine."""
    m = d.place[i]
    f = mo.type2family[d.kind[m]]
    if d.before[i] >= 0:
        d.after[d.before[i]] = d.after[i]
    else:
        d.head[m] = d.after[i]
    if d.after[i] >= 0:
        d.before[d.after[i]] = d.before[i]
    d.place[i] = -1
    for r in range(mo.capacity.shape[1]):
        d.used[m, r] -= mo.demand[f, mo.task_class[i], r]
    d.worth[m] -= mo.value[i]
    if d.head[m] < 0:
        d.worth[m] = 0.0
        last = d.live[d.counts[0] - 1]
        d.live[d.position[m]], d.position[last] = last, d.position[m]
        d.counts[0] -= 1


@inner_kernel
def _give_up(d: Draft, m: int) -> None:
    """Let a new machine that nothing is on be an unused row again."""
    if d.head[m] < 0 and m >= d.counts[2]:
        d.spare[d.counts[1]] = m
        d.counts[1] += 1


@inner_kernel
def _best_place(mo: Moment, d: Draft, i: int, fit: float) -> int:
    """Return the machine with tasks and room on which the task costs least, -1 for none; O(M R)."""
    best, place = np.inf, -1
    for n in range(d.counts[0]):
        m = d.live[n]
        if not _has_room(mo, d, i, m):
            continue
        key = _task_cost(mo, d, i, m) + fit * mo.horizon * (mo.price[d.kind[m]] - d.worth[m])
        if key < best:
            best, place = key, m
    return place


@inner_kernel
def _filled(mo: Moment, d: Draft, w: Work, rest: int, m: int, is_done: bool) -> tuple[float, float, int]:
    """Fill an empty machine with what is left, `order[:rest]`, in order; return its worth, its price, and how many have no room.

    is_done : put the tasks there, and take them out of what is left; otherwise nothing is changed.
    """
    k = d.kind[m]
    f = mo.type2family[k]
    worth, price, kept = 0.0, 0.0, 0
    num_resources = mo.capacity.shape[1]
    for r in range(num_resources):
        d.used[m, r] = 0
    for n in range(rest):
        i = w.order[n]
        fits = _has_room(mo, d, i, m)
        if fits:
            worth += mo.value[i] * mo.horizon
            price += _task_cost(mo, d, i, m)
            if is_done:
                _put(mo, d, i, m)
            else:
                for r in range(num_resources):
                    d.used[m, r] += mo.demand[f, mo.task_class[i], r]
        else:
            if is_done:
                w.order[kept] = i
            kept += 1
    if not is_done:
        for r in range(num_resources):
            d.used[m, r] = 0
    return worth, price + _machine_cost(mo, d, m), kept


@inner_kernel
def _recreate(mo: Moment, d: Draft, w: Work, number: int, limit: float, random: Any) -> float:
    """Put the tasks `out[:number]`, which are nowhere, on machines; return what that adds to the cost.

    At the limit or above it ends early, with some of them nowhere.
    """
    added, rest = 0.0, 0
    fit = FIT * uniform(random)
    for n in range(number):
        w.order[n] = w.out[n]
        w.key[w.out[n]] = -mo.value[w.out[n]] * (1.0 + NOISE * uniform(random))
    sort_places(w.key, w.order, w.scratch, number)
    for n in range(number):
        i = w.order[n]
        m = _best_place(mo, d, i, fit)
        if m < 0:
            w.order[rest] = i
            rest += 1
            continue
        _put(mo, d, i, m)
        added += _task_cost(mo, d, i, m)
        if added >= limit:
            return added
    while rest > 0:
        best, place, kind = 0.0, -1, -1
        for m in range(d.counts[2]):
            if d.head[m] < 0:
                worth, price, _ = _filled(mo, d, w, rest, m, False)
                if worth > best * price:
                    best, place, kind = worth / price, m, d.kind[m]
        new = d.spare[d.counts[1] - 1]
        for k in range(mo.price.shape[0]):
            d.kind[new], d.ready[new], d.tail[new] = k, mo.boot[k], 0.0
            worth, price, _ = _filled(mo, d, w, rest, new, False)
            worth *= 1.0 + 0.1 * NOISE * uniform(random)
            if worth > best * price:
                best, place, kind = worth / price, new, k
        if place < 0:
            return np.inf
        if place == new:
            d.kind[new], d.ready[new] = kind, mo.boot[kind]
            d.counts[1] -= 1
        _, price, rest = _filled(mo, d, w, rest, place, True)
        added += price
        if added >= limit:
            return added
    return added


@inner_kernel
def _emptied(mo: Moment, d: Draft, w: Work, most: int, random: Any) -> tuple[int, int, float]:
    """Take all tasks off a few wasteful machines, into `out`; return the numbers of both, and what they cost."""
    num_gone, number, cost = 0, 0, 0.0
    for _ in range(1 + below(random, MOST_GONE)):
        worst, chosen = -np.inf, -1
        for _ in range(DRAWN if d.counts[0] > 0 else 0):
            m = d.live[below(random, d.counts[0])]
            waste = mo.price[d.kind[m]] - d.worth[m]
            if d.is_fixed[m] == 0 and waste > worst:
                worst, chosen = waste, m
        if chosen < 0 or number > most:
            break
        w.gone[num_gone] = chosen
        num_gone += 1
        cost += _machine_cost(mo, d, chosen)
        while d.head[chosen] >= 0:
            i = d.head[chosen]
            cost += _task_cost(mo, d, i, chosen)
            w.out[number], w.was[i] = i, chosen
            number += 1
            _take(mo, d, i)
    return num_gone, number, cost


@inner_kernel
def _begin(mo: Moment, d: Draft, w: Work, random: Any) -> None:
    """Leave tasks where they are, and put those that are nowhere."""
    number = 0
    for i in range(mo.origin.shape[0]):
        if mo.origin[i] >= 0:
            _put(mo, d, i, mo.origin[i])
        else:
            w.out[number] = i
            number += 1
    _recreate(mo, d, w, number, np.inf, random)


@inner_kernel
def _put_back(mo: Moment, d: Draft, w: Work, number: int) -> None:
    for n in range(number):
        i = w.out[n]
        m = d.place[i]
        if m >= 0:
            _take(mo, d, i)
            _give_up(d, m)
    for n in range(number):
        _put(mo, d, w.out[n], w.was[w.out[n]])


@lean_kernel
def repack(mo: Moment, d: Draft, w: Work, rounds: int, most: int, random: Any) -> None:
    """Fill an empty draft if `rounds` is 0, else do so many rounds; each empties machines of `most` tasks or a machine more."""
    if rounds == 0:
        _begin(mo, d, w, random)
    for _ in range(rounds):
        num_gone, number, cost = _emptied(mo, d, w, most, random)
        added = _recreate(mo, d, w, number, cost - EPSILON, random)
        for g in range(num_gone):
            if d.head[w.gone[g]] < 0:
                added += d.tail[w.gone[g]]
        if added < cost - EPSILON:
            for g in range(num_gone):
                _give_up(d, w.gone[g])
        else:
            _put_back(mo, d, w, number)
