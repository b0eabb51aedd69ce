"""A search for good schedules: tasks placed one after the other, in orders that linear programs suggest, and exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.alone import alone_ends, ending_together, objective_of_ends
from schedgap.formulations.harvest.clairvoyant.future import Future
from schedgap.formulations.harvest.clairvoyant.lanes import Exchange

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule

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
