"""Search for a better plan: queued tasks go where they cost least, then machines are regrouped, two and more at a time."""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import (
    MOST_ON_MACHINE,
    DraftRows,
    Problem,
    Tables,
    loss_on,
    put,
)
from schedgap.heuristics.reconfiguration.lookahead.kernels_regroup import regroup
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, kernel
from schedgap.instances.kernels.random_numbers import xorshift_below
from schedgap.instances.kernels.sort import argsort


@kernel
def begin(p: Problem, d: DraftRows) -> None:
    """Put every task where the last plan sent it."""
    for t in range(p.origin.shape[0]):
        if p.origin[t] >= 0:
            put(p, d, p.origin[t], t)


@kernel
def insert_queued(p: Problem, d: DraftRows) -> None:
    """Put each task that is nowhere where it adds the least cost, the dearest task first; O(machines) each."""
    for t in argsort(-p.weight):
        if d.place[t] >= 0:
            continue
        least, where, kind = np.inf, -1, -1
        slot = p.known
        while d.size[slot] > 0:
            slot += 1
        for b in range(d.kind.shape[0]):
            if b < p.known or d.size[b] > 0:
                cost = _added_cost(p, d, b, t)
                if cost < least:
                    least, where = cost, b
        for k in p.by_price:
            if _has_room(p, k, d.used[slot], t):
                cost = p.horizon * p.price[k] + p.setup[k] + p.weight[t] * p.boot[k]
                if cost < least:
                    least, where, kind = cost, slot, k
                break
        if kind >= 0:
            d.kind[where] = kind
        put(p, d, where, t)
        d.dirty[where] = 1


# Threes of machines hold about nine tasks, whose 512 sets are soon looked at; fours gained no more for the same time.
GROUP = 3
# Machines drawn for each of a three, of which the most wasteful is taken: 2 gained less, 5 no more.
DRAWN = 3


@kernel
def search(
    p: Problem,
    d: DraftRows,
    w: Tables,
    most_tasks: int,
    extra: int,
    most_pairs: int,
    most_partners: int,
    rounds: int,
) -> None:
    """Regroup machines that changed, alone and in pairs, until none gains; then random threes of the most wasteful ones.

    most_pairs : tries in all of the former. most_partners : of one machine, in a row from a random one on. rounds : threes tried.
    """
    w.at[0].machine, w.at[0].first, w.at[0].step, w.at[0].left = -1, 0, 0, 0
    num_live, live, waste = 0, np.empty(0, np.int64), np.empty(0)
    pairs, threes, is_old = 0, 0, True
    # One call of `regroup` for both, since it is large where it is copied in.
    while True:
        size = 0
        if pairs < most_pairs:
            size = _next_pair(p, d, w, most_partners)
            pairs += 1
        if size == 0 and threes < rounds:
            pairs = most_pairs
            threes += 1
            if is_old:
                num_live, live, waste = _by_waste(p, d)
            if num_live >= GROUP:
                size = GROUP
                for i in range(size):
                    w.group[i] = _drawn_machine(d, w, i, num_live, live, waste)
        if size == 0:
            break
        gain = regroup(p, d, w, size, most_tasks, extra)
        is_old = size < GROUP or gain > 0.0


@inner_kernel
def _next_pair(p: Problem, d: DraftRows, w: Tables, most_partners: int) -> int:
    """Put the next changed machine, alone or with another, into `w.group`; returns how many these are, 0 at the end."""
    rows, at = d.kind.shape[0], w.at[0]
    while True:
        a = at.machine
        while at.left > 0 and at.step < rows:
            b = (at.first + at.step) % rows
            at.step += 1
            if a >= p.known and d.size[a] == 0:
                break
            # Two empty machines have nothing to regroup, and empty rows are no machines yet.
            if d.size[a] + d.size[b] > 0 and (b < p.known or d.size[b] > 0):
                at.left -= 1
                w.group[0], w.group[1] = a, b
                return 1 if b == a else 2
        for step in range(1, rows + 1):
            b = (a + step) % rows
            if d.dirty[b]:
                break
        else:
            return 0
        d.dirty[b] = 0
        at.machine, at.first, at.step, at.left = b, xorshift_below(d.random, rows), 0, most_partners


@kernel
def _by_waste(p: Problem, d: DraftRows) -> tuple[int, IntArray, FloatArray]:
    """Return the machines with tasks, and what each costs an hour beyond what its tasks are worth."""
    rows = d.kind.shape[0]
    live = np.empty(rows, np.int64)
    waste = np.zeros(rows)
    number = 0
    for b in range(rows):
        if d.size[b] > 0:
            live[number] = b
            number += 1
            waste[b] = p.price[d.kind[b]] + loss_on(p, d, b)
            for x in range(d.size[b]):
                waste[b] -= p.weight[d.content[b, x]]
    return number, live, waste


@inner_kernel
def _drawn_machine(d: DraftRows, w: Tables, i: int, num_live: int, live: IntArray, waste: FloatArray) -> int:
    best = -1
    drawn = 0
    while drawn < DRAWN or best < 0:
        b = live[xorshift_below(d.random, num_live)]
        drawn += 1
        is_new = True
        for j in range(i):
            is_new = is_new and w.group[j] != b
        if is_new and (best < 0 or waste[b] > waste[best]):
            best = b
    return int(best)


@inner_kernel
def _has_room(p: Problem, k: int, used: IntArray, t: int) -> bool:
    need = p.demand[p.type2family[k], p.task_class[t]]
    fits = True
    for r in range(need.shape[0]):
        fits = fits and need[r] >= 0 and used[r] + need[r] <= p.capacity[k, r]
    return fits


@inner_kernel
def _added_cost(p: Problem, d: DraftRows, b: int, t: int) -> float:
    """Return what a task adds to the cost of a machine of the draft; infinite where it does not fit."""
    k, number = d.kind[b], d.size[b]
    if number >= MOST_ON_MACHINE or not _has_room(p, k, d.used[b], t):
        return np.inf
    before = loss_on(p, d, b)
    d.content[b, number] = t
    d.size[b] += 1
    cost = p.horizon * (loss_on(p, d, b) - before)
    d.size[b] -= 1
    if number == 0:
        cost += p.horizon * p.price[k]
    if b >= p.known:
        cost += p.weight[t] * p.boot[k]
    return float(cost)
