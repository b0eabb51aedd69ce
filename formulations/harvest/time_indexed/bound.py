"""The bound of time-indexed linear programs, first with the pool as one place, then over single VMs."""

from __future__ import annotations

import math
import time

import numpy as np

from schedgap.formulations.harvest.time_indexed.bracket import Bracket
from schedgap.formulations.harvest.time_indexed.grid import grid_of, not_exact
from schedgap.formulations.harvest.time_indexed.program import pool_program, vm_program
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import SECOND_MS

# Starts of groups on VMs, times the slots that each covers: beyond so many, linear programs take many minutes.
MAX_ENTRIES = 20_000_000
# Starts of single tasks in a day on a grid that is too fine are refused before anything is built.
MAX_CELLS = 50_000_000


def unusable(instance: HarvestInstance) -> str | None:
    """Return None, or why the instance is not for programs on a grid of time."""
    if (reason := not_exact(instance)) is not None:
        return reason
    grid = grid_of(instance)
    slots = int((grid.release + grid.length).max()) + 1
    cells = slots * max(grid.num_groups, instance.num_vms)
    if cells > MAX_CELLS:
        return (
            f"has {cells:.3g} starts or slots, more than {MAX_CELLS:.0e}: the greatest common divisor of its times is only "
            f"{grid.unit_ms} ms; round all times to multiples of some minutes (generators: grid_s=300), or use "
            "interval-model or bound-work"
        )
    return None


def too_large(bracket: Bracket) -> str | None:
    """Return None, or why the programs would be too large."""
    grid = bracket.grid
    starts = np.maximum(bracket.horizon - grid.release - grid.length + 1, 0).astype(np.float64)
    entries = float((starts * (grid.length + 1)).sum()) * grid.instance.num_vms
    if entries > MAX_ENTRIES:
        return (
            f"has some {entries:.3g} starts x runtimes in slots of {grid.unit_ms / SECOND_MS:g} s, more than "
            f"{MAX_ENTRIES:.0e}; use a coarser grid (generators: grid_s), fewer tasks, or bound-work"
        )
    return None


def relax_pool(bracket: Bracket, deadline: float, threads: int) -> None:
    """Raise the bound by the linear program with the pool as one place. deadline : on `time.perf_counter`'s clock."""
    if _has_work(bracket, deadline):
        program = pool_program(bracket.grid, bracket.horizon)
        bracket.relax(program, time_limit_s=_left_s(deadline), threads=threads, interior_point=False)


def relax_vms(bracket: Bracket, deadline: float, threads: int) -> None:
    """Raise the bound by the linear program over single VMs, with the starts that are left."""
    if _has_work(bracket, deadline):
        program = vm_program(bracket.grid, bracket.horizon, bracket.starts_below(bracket.objective))
        bracket.relax(program, time_limit_s=_left_s(deadline), threads=threads, interior_point=True)


def _has_work(bracket: Bracket, deadline: float) -> bool:
    return not bracket.is_closed and time.perf_counter() < deadline


def _left_s(deadline: float) -> float | None:
    return None if math.isinf(deadline) else deadline - time.perf_counter()


@method("time-indexed-bound", family=FAMILY, supports=unusable, bounds=True)
def time_indexed_bound(instance: HarvestInstance, *, time_limit_s: float | None = None, threads: int = 1) -> Outcome:
    """Bound the objective by time-indexed linear programs, proven by their duals: times on a coarse grid."""
    begun = time.perf_counter()
    bracket = Bracket(instance, begun)
    if (reason := too_large(bracket)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    deadline = math.inf if time_limit_s is None else begun + time_limit_s
    relax_pool(bracket, deadline, threads)
    relax_vms(bracket, deadline, threads)
    return Outcome(
        bound=bracket.bound,
        status=Status.NO_SOLUTION,
        solve_s=time.perf_counter() - begun,
        backend="highs",
        details={"slots": bracket.horizon, "groups": bracket.grid.num_groups, **bracket.reason},
    )
