"""Integer programs on a grid, from below: for schedules just above the bound, few starts are left, and as a rule enough.

A program with all starts that schedules below some objective can have is a relaxation of these: its optimum, or that
objective if it is less, is a bound. So the first programs are small, and larger ones follow only if they are needed.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.formulations.backends import solve
from schedgap.formulations.harvest.time_indexed.program import vm_program
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.formulations.harvest.time_indexed.bracket import Bracket
    from schedgap.formulations.linear_model import LinearModel, ModelResult
    from schedgap.instances.arrays import FloatArray

# By how much what is above the bound grows from program to program.
GROWTH = 3
# Of the time that is left, for a program that leaves out starts which better schedules may have.
SHARE = 0.4


@dataclass(slots=True)
class Integer:
    """Solves integer programs until `deadline`, on `time.perf_counter`'s clock. columns : of the largest, nodes : of all."""

    bracket: Bracket
    deadline: float
    threads: int
    backend: str
    columns: int = 0
    nodes: float = 0.0

    def over_vms(self) -> bool:
        """Look for the optimum over single VMs; return whether that takes a longer horizon."""
        bracket, step = self.bracket, 1
        while not bracket.is_closed and time.perf_counter() < self.deadline:
            below = min(bracket.objective, bracket.bound + bracket.grid.objective_ms(step))
            is_all = below == bracket.objective
            program = vm_program(bracket.grid, bracket.horizon, bracket.starts_below(below))
            result = self.solve(program.model, 1.0 if is_all else SHARE, bracket.known(program))
            if result.x is not None:
                bracket.take(program, result.x)
            bracket.learn(math.inf if result.status is Status.INFEASIBLE else result.bound, below)
            bracket.add_point()
            if is_all:
                return result.status is Status.OPTIMAL and not bracket.is_closed
            step *= GROWTH
        return False

    def left_s(self) -> float | None:
        """Return the time that is left, None for no limit."""
        left_s = self.deadline - time.perf_counter()
        return None if math.isinf(left_s) else left_s

    def solve(self, model: LinearModel, share: float, known: FloatArray | None = None) -> ModelResult:
        """Solve a model within a share of the time that is left."""
        self.columns = max(self.columns, model.cost.shape[0])
        left_s = self.left_s()
        limit_s = None if left_s is None else share * left_s
        result = solve(model, self.backend, time_limit_s=limit_s, threads=self.threads, warm_start=known)
        self.nodes += result.details.get("nodes", 0.0)
        return result
