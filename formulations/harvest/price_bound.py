"""The bound of prices on the cores of all VMs together: Lagrangian relaxation of their capacity, exact in integers.

Let y(t) >= 0 be a price for a unit of cores at the moment t, and K(t) the units that tasks can use then (`machine`). In
every schedule the completing runs use at most K(t), so its objective is at least

    sum over groups of min over ends C of [C - release + sum over tasks of units x least price of a window that ends by C]
        -  integral of K y

where a group is what ends once: a job, a task, or all for the makespan; and a window of a task is a time as long as it,
after it is ready, all of which some VM has its cores. Tasks that can take checkpoints have no price, only their earliest
end (`alone`). y is constant in each cell of a grid and a whole multiple of 2^-q. It is improved along averaged subgradients:
what the cheapest windows use, less K; first on a coarse grid, then on finer ones, where ends are rounded down by less. At the
end they count on a grid that is finer still, once: 0.06 % more for one round in some hundreds.

A proof at every size: delays and prices are whole multiples of 2^-20 below 2^42 ms, so that sums stay below 2^63; where times or
work are more (139 years), the bound is that of work.

Variables   z[p, t] whether part p has not ended by slot t, from its earliest end on
Minimise    sum over p of earliest end + sum of z[p, t] - release
Rows        z[p, t] >= z[p, t + 1];  sum over p of P(p, end of p) <= L for each row of prices
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedgap.formulations.column_generation.ascent import TowardsAim, ascend
from schedgap.formulations.harvest.kernels_work import Groups, Prices, Starts, Tasks, cheapest_groups, paid_by_end
from schedgap.formulations.harvest.work_bound import (
    Machine,
    alone_ends,
    bound_work,
    ending_together,
    kinds,
    machine_of,
    segments_of,
)
from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import SECOND_MS


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """price : (P, H + 2) int64, what a part pays if it ends in a slot. limit : what all pay at most."""

    price: IntArray
    limit: int

    def allows(self, ends: IntArray) -> bool:
        """Whether parts may end so. ends : (P,) int64."""
        return int(self.price[np.arange(ends.shape[0]), ends].sum()) <= self.limit


def ends_program(rows: list[Row], earliest: IntArray, at: IntArray) -> LinearModel:
    """Return the program over ends. at : (P + 1,) int64, where the columns of each part begin, and end."""
    number = int(at[-1])
    owner = np.repeat(np.arange(earliest.shape[0]), np.diff(at))
    slot = np.arange(number) - at[owner] + earliest[owner]
    follows = np.flatnonzero(owner[1:] == owner[:-1])
    all_rows, each = Rows(number), np.arange(follows.shape[0])
    all_rows.add("later", (each, follows, 1.0), (each, follows + 1, -1.0), lower=np.zeros(each.shape[0]))
    for row in rows:
        saved = row.price[owner, slot] - row.price[owner, slot + 1]
        needed = int(row.price[np.arange(earliest.shape[0]), earliest].sum()) - row.limit
        all_rows.add("room", (0, np.arange(number), saved), lower=np.array([needed]))
    return all_rows.model("time-indexed-ends", np.ones(number), np.ones(number), 1)


BITS, AMOUNT_BITS = 20, 60
MAX_DELAY_MS = 1 << 42
# Of the grid: cells at first, and how much finer it gets, how often.
FIRST_CELLS, FINER, LEVELS = 150, 4, 3
# Of the ascent on the first grid, and how it shrinks from one to the next.
FIRST_STEP, SHRINK = 0.3, 0.3
# A group's end is looked for up to so many times its delay alone.
STRETCH = 40


class PriceProblem:
    """The tasks of an instance against a grid of `cells` cells of time from the first arrival on."""

    def __init__(self, instance: HarvestInstance, machine: Machine, ends: IntArray, cells: int) -> None:
        job = instance.task2job()
        origin = int(instance.arrival_ms[0])
        first = ending_together(instance).copy()
        ready, length = instance.arrival_ms[job] - origin, instance.runtime_ms
        release, earliest = ready[first[:-1]], np.maximum.reduceat(ends, first[:-1]) - origin
        units = np.where(instance.checkpoint_ms[job] < 0, instance.cores[job] // machine.unit, 0)
        work = units * length
        last = max(int(ends.max()), machine.done_at(int(machine.done_by(instance.arrival_ms[-1:])[0] + work.sum()) + 1))
        self.cell = -(-(last - origin) // cells)
        latest = release + STRETCH * (earliest - release)
        self.groups = Groups(first, release, earliest, np.minimum(-(-latest // self.cell), cells))
        self.capacity = np.diff(machine.done_by(origin + self.cell * np.arange(cells + 1)))
        needs, kind = kinds(instance)
        self.tasks = Tasks(ready, length, units, kind[job])
        begins, reaches = zip(*(_starts(instance, need, origin) for need in needs.tolist()), strict=True)
        firsts = np.cumsum([0, *(each.shape[0] for each in begins)])
        self.starts = Starts(firsts, np.concatenate(begins), np.concatenate(reaches))
        # Delays that are looked at, and the end of the cell that they are in.
        self.is_exact = int(latest.max()) + self.cell < MAX_DELAY_MS
        # Whole prices of a group stay below 2^60.
        most = int(np.add.reduceat(work, first[:-1]).max())
        self.highest = (1 << AMOUNT_BITS) // max(1, most, int(length.max()), self.cell * cells)
        self._work = np.empty((3, cells), np.int64)
        self._value = np.empty(release.shape[0], np.int64)

    def evaluate(self, price: FloatArray) -> tuple[int, FloatArray]:
        """Return the bound of prices, rounded up, and (C,) float64, what the cheapest windows use. price : (C,), 1 / unit."""
        prices, limit = self._prices(price)
        load = np.zeros(price.shape[0])
        cheapest_groups(self.groups, self.tasks, self.starts, prices, self._work, self._value, load)
        return -((limit - sum(self._value.tolist())) >> BITS), load

    def paid(self, price: FloatArray) -> tuple[IntArray, int]:
        """Return (G, C) int64, what each group pays at least that ends by the end of a cell, and what all pay at most; ms."""
        prices, limit = self._prices(price)
        paid = np.zeros((self._value.shape[0], price.shape[0]), np.int64)
        paid_by_end(self.groups, self.tasks, self.starts, prices, self._work, paid)
        return paid >> BITS, -(-limit >> BITS)

    def _prices(self, price: FloatArray) -> tuple[Prices, int]:
        """Return prices in whole numbers, and what all cores are worth at them."""
        whole = np.minimum(np.floor(price * 2.0**BITS), self.highest).astype(np.int64)
        sums = np.concatenate(([0], np.cumsum(whole * self.cell)))
        return Prices(self.cell, whole, sums, BITS), sum(map(int.__mul__, whole.tolist(), self.capacity.tolist()))


class Priced(NamedTuple):
    """A bound by prices, ms. problem : on the last grid on which prices were improved, if any. tried : there, with bounds."""

    bound: int
    rounds: int
    problem: PriceProblem | None
    tried: list[tuple[int, FloatArray]]


@method("bound-prices", version=2, family=FAMILY, bounds=True)
def bound_prices(
    instance: HarvestInstance, *, time_limit_s: float | None = None, rounds: int = 200, levels: int = LEVELS
) -> Outcome:
    """Bound the objective by prices on the cores of all VMs together over time; exact integers, never below `bound-work`.

    rounds : of improving the prices on each grid. levels : grids, each four times as fine as the one before; on one more the
        prices are counted only.
    """
    if rounds < 1 or levels < 1:
        raise MethodError(f"rounds is {rounds}, levels {levels}; give at least 1.")
    begun = time.perf_counter()
    deadline = math.inf if time_limit_s is None else begun + time_limit_s
    cheap = bound_work(instance, time_limit_s=None if time_limit_s is None else time_limit_s / 4)
    found = priced(instance, rounds, levels, deadline)
    details = {"rounds": found.rounds, "cheap_bound_s": (cheap.bound or 0) / SECOND_MS}
    return Outcome(bound=max(cheap.bound or 0, found.bound), status=Status.NO_SOLUTION, details=details)


def priced(instance: HarvestInstance, rounds: int, levels: int, deadline: float) -> Priced:
    """Improve prices on grids that are finer and finer, and count the last on one more."""
    machine, ends = machine_of(instance), alone_ends(instance)
    best = Priced(0, 0, None, [])
    # Delays are whole multiples of 2^-20 below 2^60.
    if machine is None or int(ends.max()) - int(instance.arrival_ms[0]) >= 1 << (AMOUNT_BITS - BITS - 3):
        return best
    price = np.zeros(FIRST_CELLS)
    for level in range(levels + 1):
        if time.perf_counter() >= deadline:
            break
        problem = PriceProblem(instance, machine, ends, FIRST_CELLS * FINER**level)
        if not problem.is_exact:
            break
        tried = _ascend(problem, price, rounds if level < levels else 1, deadline, FIRST_STEP * SHRINK**level)
        found, price = max(tried, key=lambda each: each[0])
        best = best._replace(bound=max(best.bound, found), rounds=best.rounds + len(tried))
        if level < levels:
            best = best._replace(problem=problem, tried=tried)
        price = np.repeat(price, FINER)
    return best


def _ascend(
    problem: PriceProblem, price: FloatArray, rounds: int, deadline: float, step: float
) -> list[tuple[int, FloatArray]]:
    """Return the prices tried, at least one, with their bounds."""
    tried: list[tuple[int, FloatArray]] = []

    def evaluate(price: FloatArray) -> tuple[int, FloatArray]:
        found, load = problem.evaluate(price)
        tried.append((found, price))
        return found, load - problem.capacity

    ascend(evaluate, price, rounds, TowardsAim(step), lambda _: time.perf_counter() >= deadline)
    return tried


def _starts(instance: HarvestInstance, need: list[int], origin: int) -> tuple[IntArray, IntArray]:
    """Return (S,) int64 moments after `origin` from which a task may start, and until when it may then run."""
    some = segments_of(instance, need[0], need[1])
    begin, reach = np.maximum(some.begin - origin, 0), np.maximum.accumulate(some.end - origin)
    # Of those that begin together the last reaches furthest; what reaches no further than one before does not matter.
    kept = np.append(np.diff(begin) > 0, True)
    begin, reach = begin[kept], reach[kept]
    longer = np.concatenate(([True], np.diff(reach) > 0))
    return begin[longer], reach[longer]
