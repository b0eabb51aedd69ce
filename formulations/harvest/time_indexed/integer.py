"""Integer programs on a grid, from below: for schedules just above the bound, few starts are left, and as a rule enough.

A program with all starts that schedules below some objective can have is a relaxation of these: its optimum, or that
objective if it is less, is a bound. So the first programs are small, and larger ones follow only if they are needed.

With the pool as one place, an optimum says by when each part ends and where on the grid tasks start. A program over single
VMs then finds VMs for them, with starts not far away and as few and short ends after the part's as can be.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.harvest.time_indexed.bracket import QUANTILES
from schedgap.formulations.harvest.time_indexed.grid import ALONE
from schedgap.formulations.harvest.time_indexed.program import pool_program, vm_program
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.formulations.harvest.time_indexed.bracket import Bracket
    from schedgap.formulations.harvest.time_indexed.program import Program
    from schedgap.formulations.linear_model import ModelResult
    from schedgap.instances.arrays import FloatArray

# By how much what is above the bound grows from program to program.
GROWTH = 3
# Slots by which starts on VMs may differ from those in the pool.
DISTANCES = (0, 2, 6)
# Of the time that is left, for a program that leaves out starts which better schedules may have.
SHARE, POOL_SHARE = 0.4, 0.6


@dataclass(slots=True)
class Integer:
    """Solves integer programs until `deadline`, on `time.perf_counter`'s clock. columns : of the largest, nodes : of all."""

    bracket: Bracket
    deadline: float
    threads: int
    backend: str
    columns: int = 0
    nodes: float = 0.0

    def over_pool(self) -> None:
        """Raise the bound to the optimum with the pool as one place, and look for schedules like it."""
        bracket, step = self.bracket, 1
        while not bracket.is_closed and time.perf_counter() < self.deadline:
            below = min(bracket.objective, bracket.bound + bracket.grid.objective_ms(step))
            program = pool_program(bracket.grid, bracket.horizon, bracket.starts_below(below))
            result = self._solve(program, POOL_SHARE, bracket.known(program))
            bracket.learn(_bound(result), below)
            if result.x is not None:
                self._on_vms(program, result.x)
            bracket.add_point()
            least = math.inf if result.objective is None else bracket.grid.objective_ms(round(result.objective))
            if result.status is not Status.OPTIMAL or least <= below or below >= bracket.objective:
                return
            step *= GROWTH

    def over_vms(self) -> bool:
        """Look for the optimum over single VMs; return whether that takes a longer horizon."""
        bracket, step = self.bracket, 1
        while not bracket.is_closed and time.perf_counter() < self.deadline:
            below = min(bracket.objective, bracket.bound + bracket.grid.objective_ms(step))
            is_all = below == bracket.objective
            program = vm_program(bracket.grid, bracket.horizon, bracket.starts_below(below))
            result = self._solve(program, 1.0 if is_all else SHARE, bracket.known(program))
            if result.x is not None:
                bracket.take(program, result.x)
            bracket.learn(_bound(result), below)
            bracket.add_point()
            if is_all:
                return result.status is Status.OPTIMAL and not bracket.is_closed
            step *= GROWTH
        return False

    def _on_vms(self, program: Program, x: FloatArray) -> None:
        """Look for a schedule in which parts end as in a solution with the pool as one place."""
        bracket, grid = self.bracket, self.bracket.grid
        if program.late(x):
            return
        for quantile in QUANTILES:
            bracket.search.place(bracket.order(program, x, quantile))
        used = np.flatnonzero(x[: program.num_starts] > 0.5)
        group, start = program.group[used], program.start[used]
        ends = start + grid.length[group]
        deadline = np.zeros(grid.part_release.shape[0], np.int64)
        np.maximum.at(deadline, grid.part[group], ends)
        value = round(float(program.model.cost @ x) + program.model.offset)
        separate = replace(grid, part=np.full_like(grid.part, ALONE), part_release=np.zeros(0, np.int64))
        for distance in DISTANCES:
            if bracket.objective <= grid.objective_ms(value) or time.perf_counter() >= self.deadline:
                return
            near = np.zeros((grid.num_groups, bracket.horizon), np.bool_)
            for away in range(-distance, distance + 1):
                near[group, np.clip(start + away, 0, bracket.horizon - 1)] = True
            found = vm_program(separate, bracket.horizon, near[None])
            # Slots that tasks end after their part did.
            cost = np.full_like(found.model.cost, bracket.horizon)
            after = found.start + grid.length[found.group] - deadline[grid.part[found.group]]
            cost[: found.num_starts] = np.maximum(after, 0)
            found = replace(found, model=replace(found.model, cost=cost))
            result = self._solve(found, SHARE)
            if result.x is not None:
                bracket.take(found, result.x)
                bracket.search.place(bracket.order(found, result.x, 0.5))

    def _solve(self, program: Program, share: float, known: FloatArray | None = None) -> ModelResult:
        """Solve a program within a share of the time that is left."""
        self.columns = max(self.columns, program.model.cost.shape[0])
        left_s = share * (self.deadline - time.perf_counter())
        limit_s = None if math.isinf(left_s) else left_s
        result = solve(program.model, self.backend, time_limit_s=limit_s, threads=self.threads, warm_start=known)
        self.nodes += result.details.get("nodes", 0.0)
        return result


def _bound(result: ModelResult) -> float | None:
    return math.inf if result.status is Status.INFEASIBLE else result.bound
