"""Renting for all tasks together, then packing: the method for clouds, whose machines are large beside tasks.

1. Machine types in whose place another is as good go (`offered`).
2. The pooled program (`program`) proposes machines, and proves a bound: no solution costs less than whole machines with the
   capacities that all tasks together need.
3. The tasks are packed on these machines (`packing`). What finds no room is a smaller instance, treated alike.
4. Where something was left, 2 and 3 are repeated with a little of each machine spared, by halves between what was too
   little and what was enough.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.limits import claimed, without_interference
from schedgap.formulations.provisioning.pooled.offered import reduced
from schedgap.formulations.provisioning.pooled.packing import pack
from schedgap.formulations.provisioning.pooled.program import MAX_SHARES, Pooled
from schedgap.formulations.provisioning.search import Search
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY
from schedgap.instances.provisioning.objective import cost
from schedgap.instances.provisioning.offer import MOVES, STOCK
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

UNLIMITED_S = 60.0
# Shares of the time limit for one program, and for one packing.
PROGRAM_SHARE, PACKING_SHARE = 0.1, 0.05
# When the search for room by families, and that by types, is over.
FIRST_SHARE, LAST_SHARE = 0.35, 0.85
# What is spared of each machine first, the least difference that is tried, and the most, in average tasks.
FIRST_SPARE, LEAST_SPARE, MOST_SPARE = 0.1, 0.02, 30.0
MAX_DEPTH = 8
MAX_CLASSES = 3_000
# Share of the cost above the bound from which on machines by families are not looked at further.
NEAR = 0.02


@method("bound-pooled", family=FAMILY, bounds=True, handles=(STOCK, MOVES))
def bound_pooled(instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1) -> Outcome:
    """Bound the price by whole machines whose capacities together hold all tasks, pooled by machine family."""
    small = reduced(instance).instance
    limit_s = UNLIMITED_S if time_limit_s is None else time_limit_s
    return Outcome(bound=Pooled(small, by_type=False).solve(0.0, limit_s, threads).bound)


def _supported(instance: ProvisioningInstance) -> str | None:
    """Return None, or why tasks cannot be packed in reasonable memory: contents have a place for each distinct demand."""
    if instance.num_classes > MAX_CLASSES and merge_equal_classes(instance).instance.num_classes > MAX_CLASSES:
        return f"more than {MAX_CLASSES} distinct demands: the contents of all machines would not fit; use pattern-rounding"
    return without_interference(instance)


@method("pooled", family=FAMILY, supports=_supported, bounds=True)
def pooled(instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1) -> Outcome:
    """Rent whole machines for all tasks together by an integer program, then pack; bound and solution."""
    start = time.perf_counter()
    small = reduced(instance)
    search = _Search(small.instance, start, UNLIMITED_S if time_limit_s is None else time_limit_s, threads)
    build_s = time.perf_counter() - start
    search.run()
    solved = time.perf_counter()
    solution = None if search.best is None else small.restore(search.best)
    return Outcome(
        solution,
        search.bound,
        claimed(instance, solution, search.bound),
        build_s,
        solved - start - build_s,
        time.perf_counter() - solved,
        tuple(search.trajectory),
        "highs",
        {"types": small.instance.num_types, "programs": search.programs},
    )


class _Search(Search):
    """One run: the best solution, the bound and the clock."""

    def __init__(self, instance: ProvisioningInstance, start: float, limit_s: float, threads: int) -> None:
        super().__init__(start, limit_s)
        self.instance, self.threads = instance, threads
        self.programs = 0

    def run(self) -> None:
        """Try each task alone, the pooled program by families, and by types where its machines are too few for the tasks."""
        if self.is_open:
            self._keep(_alone(self.instance))
        programs = [Pooled(self.instance, by_type=False)]
        if self.instance.num_types * self.instance.num_classes <= MAX_SHARES and self.instance.num_types > 1:
            programs.append(Pooled(self.instance, by_type=True))
        for program in programs:
            if self.is_open and self._try(program, 0.0) is False:
                is_last = program is programs[-1]
                if is_last or self._is_near:
                    self._widen(program, LAST_SHARE if is_last else FIRST_SHARE)
        for program in programs:
            if self.is_open:
                left = self.left_s if program is programs[-1] else self.left_s / 2
                self.raise_bound(program.solve(0.0, left, self.threads).bound)

    @property
    def _is_near(self) -> bool:
        """Whether the machines by families were nearly enough."""
        return self.objective is not None and self.objective - self.bound <= NEAR * self.objective

    def _widen(self, program: Pooled, share: float) -> None:
        """Look for the least spare with which all tasks fit, until this share of the time is over."""
        low, high, step = 0.0, None, FIRST_SPARE
        end = self.start + share * self.limit_s
        while (
            self.is_open
            and time.perf_counter() < end
            and low < MOST_SPARE
            and (high is None or high - low > LEAST_SPARE)
        ):
            spare = low + step if high is None else (low + high) / 2
            is_whole = self._try(program, spare)
            if is_whole is None:
                return
            if is_whole:
                high = spare
            else:
                low, step = spare, 2 * step

    def _try(self, program: Pooled, spare: float) -> bool | None:
        """Rent with so much to spare and pack; returns whether nothing was left, None where the program had no answer."""
        self.programs += 1
        rented = program.solve(spare, min(self.left_s, PROGRAM_SHARE * self.limit_s), self.threads)
        if spare == 0:
            self.raise_bound(rented.bound)
        if rented.machines is None:
            return None
        types, content, is_whole = self._packed(self.instance, rented.machines, MAX_DEPTH)
        self._keep(Provisioning.from_machines(types, content))
        return is_whole

    def _packed(
        self, instance: ProvisioningInstance, machines: IntArray, depth: int
    ) -> tuple[IntArray, IntArray, bool]:
        """Return types (M,) and contents (M, C) of machines with all tasks, and whether those given were enough."""
        types = np.repeat(np.arange(instance.num_types), machines)
        content = pack(instance, types, min(self.left_s, PACKING_SHARE * self.limit_s))
        used = content.any(axis=1)
        types, content = types[used], content[used]
        left = instance.counts - content.sum(axis=0)
        if not left.any():
            return types, content, True
        more_types, more = self._rest(instance, left, depth)
        return np.concatenate((types, more_types)), np.vstack((content, more)), False

    def _rest(self, instance: ProvisioningInstance, left: IntArray, depth: int) -> tuple[IntArray, IntArray]:
        """Rent and pack for the tasks (C,) that found no room; at the last depth each on a machine of its own."""
        assert instance.reservation_type is not None
        classes = np.flatnonzero(left)
        if depth > 0 and self.left_s > 0:
            part = _part(instance, classes, left[classes])
            rented = Pooled(part, by_type=True).solve(0.0, min(self.left_s, 0.03 * self.limit_s), self.threads)
            if rented.machines is not None and rented.machines.any():
                types, content, _ = self._packed(part, rented.machines, depth - 1)
                whole = np.zeros((types.shape[0], instance.num_classes), np.int64)
                whole[:, classes] = content
                return types, whole
        alone = np.repeat(classes, left[classes])
        content = np.zeros((alone.size, instance.num_classes), np.int64)
        content[np.arange(alone.size), alone] = 1
        return instance.reservation_type[alone], content

    def _keep(self, solution: Provisioning) -> None:
        self.keep(solution, cost(self.instance, solution))


def _alone(instance: ProvisioningInstance) -> Provisioning:
    assert instance.reservation_type is not None
    classes = np.arange(instance.num_classes)
    return Provisioning(
        instance.reservation_type, instance.counts, np.append(classes, classes.size), classes, np.ones_like(classes)
    )


def _part(instance: ProvisioningInstance, classes: IntArray, counts: IntArray) -> ProvisioningInstance:
    return instance.replace(
        name=f"{instance.name}, part",
        demand=instance.demand[:, classes],
        counts=counts,
        class_names=None,
        class2workload=None,
        job_names=(),
        class2job=None,
        tasks_per_job=None,
        task2class=None,
        task_names=None,
    )
