"""Between a bound and a schedule: linear programs on a grid raise the one, and suggest orders that lower the other.

A program's bound grows by the reduced cost of x if x >= 1. A start for which it then reaches the best schedule's objective
is in no better schedule, and is left out of the programs that follow. These bound what is better than the best schedule,
so the least of both is the bound.
"""

from __future__ import annotations

import math
import time

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.backends.contract import excluded
from schedgap.formulations.harvest.clairvoyant import Exchange, Future
from schedgap.formulations.harvest.time_indexed.program import Program, grid_of
from schedgap.formulations.harvest.work_bound import alone_ends, ending_together, objective_of_ends
from schedgap.formulations.linear_model import LinearModel, ModelResult, trusted
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.harvest.model import HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import Incumbent

# Exchanges of tasks at a time.
MOVES = 300_000


class OrderSearch:
    """The best schedule so far. objective : of it, ms. vm, start : (T,) int64, start in ms."""

    def __init__(self, instance: HarvestInstance) -> None:
        self.instance = instance
        self.future = Future(instance)
        self.job = instance.task2job()
        self.objective: int | None = None
        self.vm = self.start = np.zeros(0, np.int64)
        self.placed, self._total = 0, 0
        release, runtime = instance.arrival_ms[self.job], instance.runtime_ms
        work = np.add.reduceat(runtime * instance.cores[self.job], instance.first_task[:-1])[self.job]
        ends = alone_ends(instance)
        for keys in ((-runtime, self.job), (runtime, release), (-runtime, self.job, work), (runtime,), (ends,)):
            self.place(np.lexsort(keys))

    @property
    def end(self) -> IntArray:
        """(T,) int64: when tasks end, ms."""
        return self.start + self.instance.runtime_ms

    def place(self, order: IntArray) -> int:
        """Place the tasks in an order, keep the schedule if it is no worse than the best, and return its objective."""
        vm, start = self.future.place(order)
        objective = objective_of_ends(self.instance, start + self.instance.runtime_ms)
        self.take(objective, vm, start)
        self.placed += 1
        return objective

    def take(self, objective: int, vm: IntArray, start: IntArray) -> None:
        """Keep a schedule if it is no worse than the best, the sum of all starts deciding between equals."""
        total = int(start.sum())
        if self.objective is None or (objective, total) <= (self.objective, self._total):
            self.objective, self._total, self.vm, self.start = objective, total, vm, start

    def improve(self, random: np.ndarray, deadline: float, bound: int) -> None:
        """Exchange tasks of the best schedule. random : (1,) uint64. deadline : on `time.perf_counter`'s clock."""

        def learn(vm: IntArray, start: IntArray) -> int:
            objective = objective_of_ends(self.instance, start + self.instance.runtime_ms)
            self.take(objective, vm, start)
            return objective

        draft = Exchange(self.future, ending_together(self.instance), self.vm, self.start)
        draft.improve(MOVES, random, deadline, learn, enough=bound)

    def schedule(self) -> HarvestSchedule:
        """Return the best schedule."""
        return self.future.schedule(self.vm, self.start)


# Of the tasks of a group, the k-th starts when so much more than k of them have started in the linear program.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Above a whole number of slots, less than one.
PART = 1e-3


class Bracket:
    """What is known of an instance's optimum.

    bound : ms, proven. search : with the best schedule. horizon : slots. unsolved : why a program taught nothing, in the
    solver's words.
    """

    def __init__(self, instance: HarvestInstance, begun: float) -> None:
        self.begun = begun
        self.grid = grid_of(instance)
        self.search = OrderSearch(instance)
        self.bound = objective_of_ends(instance, alone_ends(instance))
        self.trajectory: list[Incumbent] = []
        self.unsolved: str | None = None
        self.add_point()
        best_end = int(self.search.end.max() - self.grid.origin_ms) // self.grid.unit_ms
        self.set_horizon(best_end + int(self.grid.length.max()))

    @property
    def objective(self) -> int:
        """The best schedule's objective, ms."""
        assert self.search.objective is not None
        return self.search.objective

    @property
    def is_closed(self) -> bool:
        """Whether the best schedule is proven to be optimal."""
        return self.bound >= self.objective

    def set_horizon(self, slots: int) -> None:
        """Begin anew with another horizon; starts that were left out may come back."""
        self.horizon = min(slots, self.grid.full_horizon)
        self._last: tuple[Program, FloatArray] | None = None

    def add_point(self) -> None:
        """Add what is known now to the trajectory."""
        self.trajectory.append(Incumbent(time.perf_counter() - self.begun, self.objective, self.bound))

    @property
    def reason(self) -> dict[str, str]:
        """Return the fact that a program taught nothing, for the outcome's details; none if all did."""
        return {} if self.unsolved is None else {"reason": self.unsolved}

    def linear(
        self, model: LinearModel, *, time_limit_s: float | None, threads: int, interior_point: bool = False
    ) -> ModelResult | None:
        """Solve a linear relaxation; None if HiGHS cannot."""
        try:
            return solve(
                model,
                "highs",
                time_limit_s=time_limit_s,
                threads=threads,
                relax=True,
                presolve=False,
                interior_point=interior_point,
            )
        except BackendError as error:
            # Memory of 2^37 MiB beside one core in a row: HiGHS ends without a status.
            self.unsolved = str(error)
            return None

    def suggest(self, program: Program, x: FloatArray) -> None:
        """Try the orders in which tasks start in a linear program's solution."""
        for quantile in QUANTILES:
            self.search.place(self.order(program, x, quantile))

    def relax(self, program: Program, *, time_limit_s: float | None, threads: int, interior_point: bool) -> None:
        """Solve a program's linear relaxation, and learn from it."""
        result = self.linear(program.model, time_limit_s=time_limit_s, threads=threads, interior_point=interior_point)
        if result is None:
            return
        self.learn(result.bound)
        if result.x is not None:
            self.suggest(program, result.x)
        if result.row_duals is not None:
            self._last = program, result.row_duals
        self.add_point()

    def learn(self, bound: float | None, below: int | None = None) -> None:
        """Take a program's bound, in slots, on schedules with a lower objective than `below`, ms, or the best one's.

        bound : infinite if there is no such schedule.
        """
        if bound is None or bound == -math.inf:
            return
        most = self.objective if below is None else min(self.objective, below)
        self.bound = max(self.bound, most if bound == math.inf else min(most, self.grid.objective_ms(trusted(bound))))

    def starts_below(self, objective: int) -> BoolArray:
        """(V or 1, G, H) bool: the only starts that schedules with a lower objective can have. objective : ms."""
        if self._last is None:
            return np.ones((1, self.grid.num_groups, self.horizon), np.bool_)
        program, row_duals = self._last
        out = excluded(program.model, row_duals, self.grid.slots(objective) - 1 + PART)[: program.num_starts]
        kept = np.zeros((program.num_places, self.grid.num_groups, self.horizon), np.bool_)
        kept[program.place[~out], program.group[~out], program.start[~out]] = True
        return kept

    def take(self, program: Program, x: FloatArray) -> None:
        """Take a program's whole solution, unless tasks in it end after the horizon, or solvers' tolerances hide a violation."""
        if program.late(x):
            return
        number = np.rint(x[: program.num_starts]).astype(np.int64)
        which = np.repeat(np.arange(program.num_starts), number)
        if (np.bincount(program.group[which], minlength=self.grid.num_groups) != self.grid.count).any():
            return
        schedule = self.grid.schedule(program.group[which], program.place[which], program.start[which])
        try:
            verify(self.search.instance, schedule)
        except VerifyError:
            return
        vm, start = np.empty_like(schedule.vm), np.empty_like(schedule.start_ms)
        vm[schedule.task], start[schedule.task] = schedule.vm, schedule.start_ms
        ends = start + self.search.instance.runtime_ms
        self.search.take(objective_of_ends(self.search.instance, ends), vm, start)

    def known(self, program: Program) -> FloatArray | None:
        """Return the columns of a program that are the best schedule, or None if it lacks some."""
        start = (self.search.start - self.grid.origin_ms) // self.grid.unit_ms
        place = self.search.vm if program.num_places > 1 else np.zeros_like(self.search.vm)
        return program.values(self.grid.group, place, start)

    def order(self, program: Program, x: FloatArray, quantile: float) -> IntArray:
        """Return the tasks in the order in which they start in a linear program's solution."""
        started = np.zeros((self.grid.num_groups, self.horizon))
        np.add.at(started, (program.group, program.start), x[: program.num_starts])
        started = started.cumsum(axis=1)
        group = self.grid.group
        by_group = np.argsort(group, kind="stable")
        firsts = np.searchsorted(group[by_group], np.arange(self.grid.num_groups))
        key = np.empty(group.shape[0], np.int64)
        for g, (first, count) in enumerate(zip(firsts.tolist(), self.grid.count.tolist(), strict=True)):
            key[by_group[first : first + count]] = np.searchsorted(started[g], np.arange(count) + quantile)
        return np.lexsort((self.search.instance.runtime_ms, key))
