"""What is known of orders of transactions from their delays alone: parts, cliques, bounds, and a model for CP-SAT.

delay : (N, N) int64, how much later j starts than i at least, where i comes before j; `FREE` for two that do not conflict.
"""

from __future__ import annotations

import heapq
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from transactions_kernels import cheapest_walk

from schedgap.formulations.backends import solve
from schedgap.formulations.backends.cp_sat import load_cp_model, search
from schedgap.formulations.linear_model import Rows
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedgap.instances.arrays import FloatArray, IntArray

FREE = -(2**29)
# Prices of visits are whole multiples of 1/SCALE steps, so that bounds are exact.
SCALE = 1000
# Entries of the table that remembers walks: 160 MB.
MAX_TABLE = 40_000_000


def delays(size: int, owner: IntArray, key: IntArray, position: IntArray, is_write: Any) -> IntArray:
    """Return the delay of each pair: the largest p - q + 1 over accesses of one key at p and q, one of them a write."""
    delay = np.full((size, size), FREE, np.int64)
    for each in np.unique(key):
        at = np.flatnonzero(key == each)
        first, second = np.nonzero(is_write[at][:, None] | is_write[at])
        first, second = at[first], at[second]
        np.maximum.at(delay, (owner[first], owner[second]), position[first] - position[second] + 1)
    np.fill_diagonal(delay, FREE)
    return delay


def parts(delay: IntArray) -> Iterator[IntArray]:
    """Yield the parts whose transactions conflict with none of another part, so that each is a problem by itself."""
    left = np.ones(delay.shape[0], np.bool_)
    while left.any():
        part = np.zeros_like(left)
        part[np.argmax(left)] = True
        while (grown := part | (delay[part] > FREE).any(axis=0)).sum() > part.sum():
            part = grown
        left &= ~part
        yield np.flatnonzero(part)


def cliques(delay: IntArray, owner: IntArray, key: IntArray, is_write: Any) -> list[IntArray]:
    """Return sets of transactions of which any two conflict: the writers of a key, and with them whoever conflicts with all."""
    found = set()
    for each in np.unique(key[is_write]):
        chosen = np.unique(owner[is_write & (key == each)]).tolist()
        found.add(tuple(chosen))
        common = (delay[chosen] > FREE).all(axis=0)
        while common.any():
            chosen.append(int(np.argmax(common)))
            common &= delay[chosen[-1]] > FREE
        found.add(tuple(sorted(chosen)))
    return [np.array(each) for each in sorted(found, key=lambda each: (len(each), each))]


def one_machine(head: IntArray, tail: IntArray) -> int:
    """Return the least end of unit jobs on one machine: of those that are there, the one with the longest tail first."""
    step, end, waiting = 0, 0, list[int]()
    jobs = sorted(zip(head.tolist(), tail.tolist(), strict=True), reverse=True)
    while jobs or waiting:
        step = step if waiting else max(step, jobs[-1][0])
        while jobs and jobs[-1][0] <= step:
            heapq.heappush(waiting, -jobs.pop()[1])
        step += 1
        end = max(end, step - heapq.heappop(waiting))
    return end


def order_bound(delay: IntArray, length: IntArray, rounds: int, ends: float) -> int:
    """Return a bound on the makespan of transactions of which any two conflict: then an order has no ties.

    An order is a walk of N visits, one of each transaction. With a price y_i for each visit of i, no order ends before
    L(y) = sum of y + min over all walks of their steps less prices, whatever y is; `rounds` of subgradient steps raise L.
    """
    n = length.size
    if n == 1:
        return int(length[0])
    diagonal = np.eye(n, dtype=np.bool_)
    off = delay[~diagonal]
    lowest = int(off.min())
    # The third of three starts so much later than the second where the first starts after that one.
    distances = int(off.max()) - lowest + max(-lowest, 0) + 1
    bound, walk_s = int((n - 1) * lowest + length.min()), 1e-9 * n**4 * distances
    if n**3 * distances > MAX_TABLE or time.perf_counter() + walk_s > ends:
        return bound
    value, after = (np.empty((n, n, distances), np.int64) for _ in range(2))
    came, visits = np.empty((n, n, n, distances), np.int32), np.empty(n, np.int64)
    price = best_price = _assignment_prices(np.where(diagonal, 2 * off.max(), delay))
    delay = np.where(diagonal, lowest, delay)
    best, factor, idle, direction = -np.inf, 0.5, 0, np.zeros(n)
    for _ in range(rounds):
        if time.perf_counter() + walk_s > ends:
            break
        scaled = np.rint(price * SCALE).astype(np.int64)
        walk = cheapest_walk(delay, scaled, length, SCALE, lowest, value, after, came, visits)
        total = walk + int(scaled.sum())
        bound = max(bound, -(-total // SCALE))
        idle = 0 if total > best else idle + 1
        if total > best:
            best, best_price = total, price
        if idle > 10:
            factor, idle, price = 0.7 * factor, 0, best_price
        direction = 0.6 * direction + (1 - visits)
        if not direction.any():
            break
        target = 1.08 * best / SCALE + 1
        price = price + factor * (target - total / SCALE) / (direction @ direction) * direction
    return bound


def _assignment_prices(cost: IntArray) -> FloatArray:
    """Return for each place the sum of its two dual values in the assignment of successors: prices to begin with.

    Those of an interior point: from a vertex, of which there are many as good, the first steps lead nowhere.
    """
    n = cost.shape[0]
    entries, ones = np.arange(n * n), np.ones(n)
    rows = Rows(n * n)
    rows.add("follows", (entries // n, entries, 1.0), lower=ones, upper=ones)
    rows.add("is followed", (entries % n, entries, 1.0), lower=ones, upper=ones)
    program = rows.model("successors", cost.ravel().astype(np.float64), np.full(n * n, np.inf), 1, integral=False)
    duals = solve(program, interior_point=True).row_duals
    assert duals is not None
    prices: FloatArray = duals[:n] + duals[n:]
    return prices


def solve_order(
    delay: IntArray,
    length: IntArray,
    known: IntArray,
    between: tuple[int, int],
    time_limit_s: float | None,
    threads: int,
) -> tuple[IntArray, int]:
    """Return an order and a proven bound by CP-SAT: start and place of each, and for each conflict which comes first.

    Equal transactions keep their order. known : an order, from which the search starts. between : a bound, and its makespan.
    """
    begun, cp_model, n = time.perf_counter(), load_cp_model(), length.size
    bound, makespan = between
    model = cp_model.CpModel()
    end = model.new_int_var(bound, makespan, "")
    start = [model.new_int_var(0, makespan - int(each), "") for each in length]
    place = [model.new_int_var(0, n - 1, "") for _ in range(n)]
    rank = np.argsort(known)
    for i in range(n):
        model.add(start[i] + int(length[i]) <= end)
        model.add_hint(place[i], int(rank[i]))
    for i in range(n):
        if time_limit_s is not None and time.perf_counter() > begun + time_limit_s:
            return known, bound
        for j in range(i + 1, n):
            if delay[i, j] == FREE:
                continue
            same = length[i] == length[j] and delay[i, j] == delay[j, i]
            others = np.delete(np.arange(n), [i, j])
            same = (
                same
                and np.array_equal(delay[i, others], delay[j, others])
                and np.array_equal(delay[others, i], delay[others, j])
            )
            before = model.new_constant(1) if same else model.new_bool_var("")
            if not same:
                model.add_hint(before, bool(rank[i] < rank[j]))
            model.add(start[j] >= start[i] + int(delay[i, j])).only_enforce_if(before)
            model.add(place[j] > place[i]).only_enforce_if(before)
            model.add(start[i] >= start[j] + int(delay[j, i])).only_enforce_if(~before)
            model.add(place[i] > place[j]).only_enforce_if(~before)
    model.minimize(end)
    solver, status = search(
        cp_model, model, "order of transactions", begun=begun, time_limit_s=time_limit_s, threads=threads
    )
    if status is Status.NO_SOLUTION:
        return known, bound
    order = np.argsort([solver.value(each) for each in place], kind="stable")
    return order, max(bound, int(np.ceil(solver.best_objective_bound - 1e-6)))
