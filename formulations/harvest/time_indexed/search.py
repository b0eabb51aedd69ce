"""A search for good schedules: tasks placed one after the other, in orders that linear programs and chance suggest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.alone import alone_ends, objective_of_ends
from schedgap.formulations.harvest.clairvoyant.future import Future

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance
    from schedgap.instances.harvest.solution import HarvestSchedule


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
        ends: IntArray = self.start + self.instance.runtime_ms
        return ends

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

    def improve(self, rng: np.random.Generator, *, bound: int, deadline: float, stale: int) -> None:
        """Move tasks in the order of the best schedule's starts until it meets a bound, or nothing was better so often.

        deadline : on `time.perf_counter`'s clock.
        """
        since = 0
        while self.objective is not None and self.objective > bound and since < stale:
            if time.perf_counter() > deadline:
                return
            before = self.objective
            self.place(self._moved(rng, np.argsort(self.start, kind="stable")))
            since = 0 if self.objective < before else since + 1

    def _moved(self, rng: np.random.Generator, order: IntArray) -> IntArray:
        """Return an order in which some tasks have been moved."""
        kind = rng.integers(4)
        number = order.shape[0]
        if kind == 0:
            # A job, or tasks of it, to another place.
            chosen = self.job[order] == rng.integers(self.instance.num_jobs)
            if rng.random() < 0.5:
                chosen &= rng.random(number) < 0.5
            rest = order[~chosen]
            at = int(rng.integers(rest.shape[0] + 1))
            return np.concatenate((rest[:at], order[chosen], rest[at:]))
        if kind == 1:
            # All by their starts, shaken.
            scale = float(self.instance.runtime_ms.mean()) * rng.random()
            keys = self.start + scale * rng.standard_normal(number)
            moved: IntArray = np.argsort(keys, kind="stable")
            return moved
        a, b = int(rng.integers(number)), int(rng.integers(number))
        if kind == 2:
            return np.insert(np.delete(order, a), min(b, number - 1), order[a])
        swapped = order.copy()
        swapped[[a, b]] = order[[b, a]]
        return swapped

    def schedule(self) -> HarvestSchedule:
        """Return the best schedule."""
        return self.future.schedule(self.vm, self.start)
