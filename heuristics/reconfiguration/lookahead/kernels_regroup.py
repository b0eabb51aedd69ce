"""Regrouping a few machines: the best way to spread their tasks over them and new ones, found exactly, compiled.

A set of the n tasks that are regrouped is a number below 2^n: bit i stands for the i-th of them.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import (
    LEAST_RATE,
    MOST_ON_MACHINE,
    DraftRows,
    Problem,
    Tables,
    counted,
    put,
)
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import inner_kernel
from schedgap.instances.kernels.random_numbers import xorshift_below

# A demand where a class may not run: no sum of demands comes near it.
NOT_ALLOWED = 1 << 50
# Gains below this share of the cost are rounding.
LEAST_GAIN = 1e-9


@inner_kernel
def regroup(p: Problem, d: DraftRows, w: Tables, group_size: int, most_tasks: int, extra: int) -> float:
    """Spread the tasks of the machines `w.group` anew, at the least cost; returns the gain, 0 if there is none.

    Each machine of the last plan may keep its type and get any set of tasks, or be released; beside them there may be
    `extra` new machines more than there are now, each of the cheapest type that fits its tasks. The cost is that of
    `horizon` hours (prices and lost progress), of the moves, and of setting up new machines. Of more than `most_tasks`
    tasks, a random choice is regrouped. Dynamic programming over sets of tasks, machine by machine:
    O(n 2^n + machines x sets that fit a type x 2^(tasks left)), measured about 60 us for three machines and 9 tasks.
    """
    n, homes, fresh = _split(p, d, w, group_size, most_tasks)
    if n == 0:
        return 0.0
    full = (1 << n) - 1
    found = _value_sets(p, w, n)
    present_cost = 0.0
    for i in range(group_size):
        is_home = False
        for h in range(homes):
            is_home = is_home or w.home[h] == w.group[i]
        if not is_home:
            present = _tasks_on(d.place, w, n, w.group[i])
            if present:
                present_cost += w.fresh[present]
    stages = homes + fresh + extra
    for u in range(1, full + 1):
        w.best[0, u] = np.inf
    w.best[0, 0] = 0.0
    for stage in range(stages):
        empty = 0.0
        if stage < homes:
            empty = _value_here(p, d, w, n, stage, found)
            present = _tasks_on(d.place, w, n, w.home[stage])
            present_cost += w.here[present] if present else empty
            _add_machine(w, w.here, empty, stage, found, full, stage == stages - 1)
        else:
            _add_machine(w, w.fresh, empty, stage, found, full, stage == stages - 1)
    gain = present_cost - w.best[stages, full]
    if not gain > LEAST_GAIN * (1.0 + present_cost):
        return 0.0
    _rearrange(p, d, w, group_size, homes, stages, n)
    return float(gain)


@inner_kernel
def _split(p: Problem, d: DraftRows, w: Tables, group_size: int, most_tasks: int) -> tuple[int, int, int]:
    """Choose the tasks to regroup and the machines that may stay; returns how many, and how many are dissolved."""
    movable = 0
    for i in range(group_size):
        b = w.group[i]
        for x in range(d.size[b]):
            movable += p.movable[d.content[b, x]]
    n, homes, dissolved = 0, 0, 0
    for i in range(group_size):
        b = w.group[i]
        left = 0
        for x in range(d.size[b]):
            left += p.movable[d.content[b, x]]
        wanted = left if movable <= most_tasks else left * most_tasks // movable
        fixed = 0
        for x in range(d.size[b]):
            t = d.content[b, x]
            free = False
            if p.movable[t]:
                free = wanted == left or (wanted > 0 and xorshift_below(d.random, left) < wanted)
                left -= 1
            if free:
                wanted -= 1
                w.task[n] = t
                n += 1
            else:
                w.fixed[homes, fixed] = t
                fixed += 1
        if b < p.known or fixed > 0:
            w.home[homes], w.num_fixed[homes] = b, fixed
            homes += 1
        else:
            dissolved += 1
    return n, homes, dissolved


@inner_kernel
def _tasks_on(place: IntArray, w: Tables, n: int, b: int) -> int:
    """Return the set of regrouped tasks whose place is b."""
    found = 0
    for i in range(n):
        if place[w.task[i]] == b:
            found |= 1 << i
    return found


@inner_kernel
def _value_sets(p: Problem, w: Tables, n: int) -> int:
    """Fill the tables by sets, each from that without its first task; returns the number of sets that fit a type."""
    num_types, num_resources = p.capacity.shape
    for i in range(n):
        for j in range(n):
            w.beside[i, j] = p.rate[p.workload[w.task[i]], p.workload[w.task[j]]]
    for f in range(p.demand.shape[0]):
        for r in range(num_resources):
            w.need[0, f, r] = 0
    w.leave[0], w.weight[0], w.rank[0] = 0.0, 0.0, 0
    found = 0
    for s in range(1, 1 << n):
        rest = s & (s - 1)
        first = 0
        while not (s >> first) & 1:
            first += 1
        t = w.task[first]
        w.leave[s] = w.leave[rest] + p.leave[t]
        w.weight[s] = w.weight[rest] + p.weight[t]
        rank = w.rank[rest]
        if rank < num_types:
            for f in range(p.demand.shape[0]):
                for r in range(num_resources):
                    demand = p.demand[f, p.task_class[t], r]
                    w.need[s, f, r] = w.need[rest, f, r] + (demand if demand >= 0 else NOT_ALLOWED)
        # What takes a set takes the set without a task, so the cheapest type is no cheaper.
        while rank < num_types and not _fits(p, w, s, p.by_price[rank]):
            rank += 1
        w.rank[s] = rank
        if rank == num_types:
            continue
        own = 1.0
        w.loss[s], w.earned[s], w.overrun[s] = 0.0, 0.0, 0.0
        for i in range(first + 1, n):
            if (s >> i) & 1:
                w.rate[s, i] = w.rate[rest, i] * w.beside[i, first]
                own *= w.beside[first, i]
                _lose(p, w, s, w.task[i], w.rate[s, i])
        w.rate[s, first] = own
        _lose(p, w, s, t, own)
        k = p.by_price[rank]
        lost = counted(p.price[k], w.loss[s], w.earned[s], w.overrun[s])
        w.fresh[s] = p.horizon * (p.price[k] + lost) + p.setup[k] + w.leave[s] + w.weight[s] * p.boot[k]
        w.sets[found] = s
        found += 1
    return found


@inner_kernel
def _lose(p: Problem, w: Tables, s: int, t: int, rate: float) -> None:
    """Count what a task of a set makes and loses at a rate."""
    w.loss[s] += p.weight[t] * (1.0 - rate)
    w.earned[s] += p.alone[t] * rate
    w.overrun[s] += p.alone[t] * (1.0 / max(rate, LEAST_RATE) - 1.0)


@inner_kernel
def _fits(p: Problem, w: Tables, s: int, k: int) -> bool:
    need = w.need[s, p.type2family[k]]
    fits = True
    for r in range(need.shape[0]):
        fits = fits and need[r] <= p.capacity[k, r]
    return fits


@inner_kernel
def _value_here(p: Problem, d: DraftRows, w: Tables, n: int, h: int, found: int) -> float:
    """Fill `here`, infinite where a set does not fit beside the tasks that stay; returns the cost with no other task."""
    b, fixed = w.home[h], w.num_fixed[h]
    k = d.kind[b]
    family = p.type2family[k]
    for r in range(w.room.shape[0]):
        w.room[r] = p.capacity[k, r] - d.used[b, r]
        for i in range(n):
            if d.place[w.task[i]] == b:
                w.room[r] += p.demand[family, p.task_class[w.task[i]], r]
    once, fixed_weight = 0.0, 0.0
    for x in range(fixed):
        t = w.fixed[h, x]
        rate = 1.0
        for y in range(fixed):
            if y != x:
                rate *= p.rate[p.workload[t], p.workload[w.fixed[h, y]]]
        w.fixed_rate[x] = rate
        fixed_weight += p.weight[t]
        if p.origin[t] != b:
            once += p.leave[t]
    boot = 0.0
    if b >= p.known:
        boot = p.boot[k]
        once += p.setup[k] + fixed_weight * boot
    stay = _tasks_on(p.origin, w, n, b)
    for z in range(found):
        s = w.sets[z]
        w.here[s] = np.inf
        fits = True
        for r in range(w.room.shape[0]):
            fits = fits and w.need[s, family, r] <= w.room[r]
        if not fits or fixed + _number_in(s) > MOST_ON_MACHINE:
            continue
        loss = _loss_beside(p, w, n, h, s, p.price[k])
        w.here[s] = p.horizon * (p.price[k] + loss) + w.leave[s & ~stay] + w.weight[s] * boot + once
    return float(p.horizon * (p.price[k] + _loss_beside(p, w, n, h, 0, p.price[k])) + once) if fixed else 0.0


@inner_kernel
def _number_in(s: int) -> int:
    number = 0
    while s:
        s &= s - 1
        number += 1
    return number


@inner_kernel
def _loss_beside(p: Problem, w: Tables, n: int, h: int, s: int, price: float) -> float:
    """Return what a set of tasks and those that stay on a machine of that price lose to each other in an hour."""
    fixed = w.num_fixed[h]
    loss, earned, overrun = 0.0, 0.0, 0.0
    if fixed == 0:
        loss, earned, overrun = w.loss[s], w.earned[s], w.overrun[s]
    else:
        for i in range(n + fixed):
            if i < n and not (s >> i) & 1:
                continue
            if i < n:
                t, rate = w.task[i], w.rate[s, i]
                for x in range(fixed):
                    rate *= p.rate[p.workload[t], p.workload[w.fixed[h, x]]]
            else:
                t, rate = w.fixed[h, i - n], w.fixed_rate[i - n]
                for x in range(n):
                    if (s >> x) & 1:
                        rate *= p.rate[p.workload[t], p.workload[w.task[x]]]
            loss += p.weight[t] * (1.0 - rate)
            earned += p.alone[t] * rate
            overrun += p.alone[t] * (1.0 / max(rate, LEAST_RATE) - 1.0)
    return float(counted(price, loss, earned, overrun))


@inner_kernel
def _add_machine(w: Tables, cost: FloatArray, empty: float, stage: int, found: int, full: int, is_last: bool) -> None:
    """Let a further machine take any set of tasks, or none; after the last one only the set of all tasks matters."""
    before, after, choice = w.best[stage], w.best[stage + 1], w.choice[stage]
    for u in range(full + 1):
        after[u] = before[u] + empty
        choice[u] = 0
    for z in range(found):
        s = w.sets[z]
        if cost[s] == np.inf:
            continue
        others = full ^ s
        u = others
        # Before the first machine no task is placed, and after the last one all are.
        if stage == 0:
            u = 0
        while True:
            total = before[u] + cost[s]
            if total < after[u | s]:
                after[u | s] = total
                choice[u | s] = s
            if u == 0 or is_last:
                break
            u = (u - 1) & others


@inner_kernel
def _rearrange(p: Problem, d: DraftRows, w: Tables, group_size: int, homes: int, stages: int, n: int) -> None:
    for i in range(group_size):
        d.size[w.group[i]] = 0
        for r in range(d.used.shape[1]):
            d.used[w.group[i], r] = 0
        d.dirty[w.group[i]] = 1
    for h in range(homes):
        for x in range(w.num_fixed[h]):
            put(p, d, w.home[h], w.fixed[h, x])
    left = (1 << n) - 1
    slot = p.known
    for stage in range(stages - 1, -1, -1):
        s = w.choice[stage, left]
        left ^= s
        if s == 0:
            continue
        if stage < homes:
            slot_here = w.home[stage]
        else:
            while d.size[slot] > 0:
                slot += 1
            slot_here, d.kind[slot] = slot, p.by_price[w.rank[s]]
        for i in range(n):
            if (s >> i) & 1:
                put(p, d, slot_here, w.task[i])
        d.dirty[slot_here] = 1
