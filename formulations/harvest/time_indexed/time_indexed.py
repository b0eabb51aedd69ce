"""The clairvoyant optimum on a grid of time: linear programs, a search for schedules, and an integer program.

1. Schedules are searched for: tasks one after the other, in many orders. The best one gives the horizon of all programs.
2. Where last ends of jobs count, or of all tasks, a program over these ends alone raises the bound, as a rule to the optimum
   (`ends`).
3. Otherwise, and where that ran out of time, the linear program with the pool as one place gives a bound and leaves out starts
   that no better schedule has; that over single VMs does so with the starts that are left.
4. Integer programs over single VMs look for the optimum. If it has tasks that end after the horizon, it is a bound only,
   and all is done again with twice the horizon.

Linear programs are proven by their duals at every size. Integer programs prove something while no row's numbers are too far apart
for a solver's tolerances (`separable`); beyond, they only suggest schedules, which are verified. Slots number at most 5 x 10^7
(`unusable`), so objectives in slots are whole numbers in floats.

Integer programs on a grid, from below: for schedules just above the bound, few starts are left, and as a rule enough.

A program with all starts that schedules below some objective can have is a relaxation of these: its optimum, or that
objective if it is less, is a bound. So the first programs are small, and larger ones follow only if they are needed.

Whether each part can end by some slot is a linear program over starts of tasks, the pool as one place or VMs, that minimises
how many tasks end later. If any do, its duals are prices y of the rows of capacity. In every schedule, tasks pay no more than
L = sum of limit y for the room that they use, and those of a part no less than

    P(p, t) = sum over its tasks of the least of 1 and the price of the cheapest start that ends by t

or nothing if it ends after the horizon. Whole multiples of y's unit make both exact. Ends that all linear programs admit
are tried with whole tasks on VMs; if some task is late then, one of the parts must end later, which is a row as well. So the
program's optimum is a bound, and the optimum as soon as a schedule has its ends (logic-based Benders decomposition: Hooker
and Ottosson, 2003, https://doi.org/10.1007/s10107-003-0375-9).

With 8 jobs of 25 tasks on 16 VMs this takes seconds where an integer program over starts, of the pool as one place, took more
than a minute: branching on starts moves a job's end little, and some ten to forty rows say all that matters of them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.harvest.price_bound import Row, ends_program
from schedgap.formulations.harvest.time_indexed.bracket import Bracket
from schedgap.formulations.harvest.time_indexed.program import (
    ALONE,
    Program,
    grid_of,
    not_exact,
    pool_program,
    vm_program,
)
from schedgap.formulations.linear_model import LinearModel, ModelResult, trusted
from schedgap.formulations.separable import EXACT, SEPARABLE
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import SECOND_MS

# By how much what is above the bound grows from program to program.
GROWTH = 3
# Of the time that is left, for a program that leaves out starts which better schedules may have.
INTEGER_SHARE = 0.4


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
        while self.has_work():
            below = min(bracket.objective, bracket.bound + bracket.grid.objective_ms(step))
            is_all = below == bracket.objective
            program = vm_program(bracket.grid, bracket.horizon, bracket.starts_below(below))
            result = self.solve(program.model, 1.0 if is_all else INTEGER_SHARE, bracket.known(program))
            if result.x is not None:
                bracket.take(program, result.x)
            bracket.learn(math.inf if result.status is Status.INFEASIBLE else result.bound, below)
            bracket.add_point()
            if is_all:
                return result.status is Status.OPTIMAL and not bracket.is_closed
            step *= GROWTH
        return False

    def has_work(self) -> bool:
        """Whether there is something to prove, and time for it."""
        return not self.bracket.is_closed and time.perf_counter() < self.deadline

    def relax_pool(self) -> None:
        """Raise the bound by the linear program with the pool as one place."""
        if self.has_work():
            self._relax(pool_program(self.bracket.grid, self.bracket.horizon), interior_point=False)

    def relax_vms(self) -> None:
        """Raise the bound by the linear program over single VMs, with the starts that are left."""
        bracket = self.bracket
        if self.has_work():
            starts = bracket.starts_below(bracket.objective)
            self._relax(vm_program(bracket.grid, bracket.horizon, starts), interior_point=True)

    def _relax(self, program: Program, *, interior_point: bool) -> None:
        limit_s, threads = self.left_s(), self.threads
        self.bracket.relax(program, time_limit_s=limit_s, threads=threads, interior_point=interior_point)

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


# Of the time that is left, for whole tasks on VMs with given ends.
ENDS_SHARE = 0.9


class Room:
    """A program whose tasks are late if they do not end by their part's end."""

    def __init__(self, program: Program, part: IntArray) -> None:
        self.program, self.part = program, part
        grid = program.grid
        self.end = program.start + grid.length[program.group]
        rows = program.model.matrix.tocsr()[grid.num_groups :]
        self.weight = rows.T.tocsr()[: program.num_starts]
        self.limit = program.model.row_upper[grid.num_groups :]
        # What a late task pays: prices in a program over ends are separable.
        self.unit = max(1, SEPARABLE // 2 // int(np.bincount(part, grid.count).max()))

    def by(self, ends: IntArray) -> Program:
        """Return the program of starts that end by a part's end, which minimises how many tasks do not."""
        program, grid, model = self.program, self.program.grid, self.program.model
        kept = self.end <= ends[self.part[program.group]]
        columns = np.concatenate((kept, np.ones(grid.num_groups, np.bool_)))
        cost = np.zeros(columns.shape[0])
        cost[program.num_starts :] = ends[self.part] <= program.horizon
        upper = np.concatenate((model.upper[: program.num_starts], grid.count))
        some = replace(
            model,
            cost=cost[columns],
            matrix=model.matrix[:, columns],
            lower=model.lower[columns],
            upper=upper[columns],
            integral=model.integral[columns],
            offset=0.0,
        )
        return replace(
            program, model=some, place=program.place[kept], group=program.group[kept], start=program.start[kept]
        )

    def row(self, duals: FloatArray) -> Row | None:
        """Return the row of a linear program's duals, or None if its numbers are too large to be exact."""
        grid, horizon = self.program.grid, self.program.horizon
        y = np.floor(np.clip(-duals[grid.num_groups :], 0.0, 1.0) * self.unit)
        price, limit = self.weight @ y, float(self.limit @ y)
        # Sums of whole numbers below 2^53 are exact as floats, in whichever order.
        if max(limit, float(price.max(initial=0.0))) >= EXACT:
            return None
        cheapest = np.full((grid.num_groups, horizon + 2), self.unit)
        np.minimum.at(cheapest, (self.program.group, self.end), np.minimum(price, self.unit).astype(np.int64))
        cheapest = np.minimum.accumulate(cheapest, axis=1) * grid.count[:, None]
        paid = np.zeros((int(self.part.max()) + 1, horizon + 2), np.int64)
        np.add.at(paid, self.part, cheapest)
        paid[:, horizon + 1] = 0
        return Row(paid, int(limit))


@dataclass(slots=True)
class Ends:
    """Looks for the least ends of parts until `integer` is out of time."""

    integer: Integer
    rooms: list[Room] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def search(self) -> None:
        """Raise the bound, and find the optimum unless time or horizon is too short."""
        bracket = self.integer.bracket
        grid, horizon = bracket.grid, bracket.horizon
        separate = replace(grid, part=np.full_like(grid.part, ALONE), part_release=np.zeros(0, np.int64))
        self.rooms, self.rows = [], []
        for build in (pool_program, vm_program):
            if not self.integer.has_work():
                return
            self.rooms.append(Room(build(separate, horizon), grid.part))
            while (ends := self._least()) is not None and self._is_taught(ends):
                pass
        while (ends := self._least()) is not None and (self._is_taught(ends) or self._is_too_early(ends)):
            pass

    def _least(self) -> IntArray | None:
        """Return (P,) int64, the least ends that all rows allow, H + 1 for later ones; None if there is no need to go on."""
        bracket = self.integer.bracket
        grid, horizon = bracket.grid, bracket.horizon
        if not self.integer.has_work():
            return None
        first = np.full(grid.num_groups, horizon + 1)
        np.minimum.at(first, self.rooms[0].program.group, self.rooms[0].end)
        earliest = np.zeros_like(grid.part_release)
        np.maximum.at(earliest, grid.part, first)
        least = int((earliest - grid.part_release).sum())
        bracket.learn(least)
        slack = grid.slots(bracket.objective) - least
        at = np.cumsum(np.concatenate(([0], np.minimum(slack, horizon + 1 - earliest))))
        if bracket.is_closed or at[-1] == 0:
            return None if bracket.is_closed else earliest
        model = replace(ends_program(self.rows, earliest, at), offset=float(least))
        result = self.integer.solve(model, 1.0)
        bracket.learn(np.inf if result.status is Status.INFEASIBLE else result.bound)
        bracket.add_point()
        if result.x is None or result.status is not Status.OPTIMAL:
            return None
        later: IntArray = np.diff(np.concatenate(([0], np.cumsum(np.rint(result.x))))[at]).astype(np.int64)
        return earliest + later

    def _is_taught(self, ends: IntArray) -> bool:
        """Look for prices at which parts cannot end so; and for schedules like what a linear program finds."""
        bracket = self.integer.bracket
        for room in self.rooms:
            program = room.by(ends)
            left_s = self.integer.left_s()
            result = bracket.linear(program.model, time_limit_s=left_s, threads=self.integer.threads)
            row = None if result is None or result.row_duals is None else room.row(result.row_duals)
            if row is not None and not row.allows(ends):
                self.rows.append(row)
                return True
        if result is not None and result.x is not None:
            bracket.suggest(program, result.x)
        return False

    def _is_too_early(self, ends: IntArray) -> bool:
        """Look for a schedule with these ends; return whether there is none."""
        program = self.rooms[-1].by(ends)
        result = self.integer.solve(program.model, ENDS_SHARE)
        if result.x is not None:
            self.integer.bracket.take(program, result.x)
        if result.bound is None or trusted(result.bound) < 1:
            return False
        price = (np.arange(program.horizon + 2) <= ends[:, None]).astype(np.int64)
        self.rows.append(Row(price, ends.shape[0] - 1))
        return True


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
            "bound-work"
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


# Of the time that is left, for exchanges before a program is solved.
SHARE = 0.05


@model_builder("time-indexed", family=FAMILY)
def build(instance: HarvestInstance) -> LinearModel:
    """Build the integer program over single VMs with all starts, in slots.

    Raises `MethodError` if it would not be exact, or too large.
    """
    reason = unusable(instance)
    if reason is not None:
        raise MethodError(f"{instance.name} {reason}.")
    bracket = Bracket(instance, time.perf_counter())
    reason = too_large(bracket)
    if reason is not None:
        raise MethodError(f"{instance.name} {reason}.")
    return vm_program(bracket.grid, bracket.horizon).model


@method("time-indexed", version=3, family=FAMILY, supports=unusable, exact=True, choices=MIP_CHOICES)
def time_indexed(
    instance: HarvestInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Find the clairvoyant optimum by time-indexed programs: instances whose times are on a coarse grid."""
    begun = time.perf_counter()
    deadline = np.inf if time_limit_s is None else begun + time_limit_s
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome(status=Status.NO_SOLUTION)
    bracket = Bracket(instance, begun)
    if (reason := too_large(bracket)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    random = np.array([1], np.uint64)
    integer = Integer(bracket, deadline, threads, backend)
    while True:
        _search(bracket, deadline, random)
        if bracket.grid.part_release.size:
            Ends(integer).search()
        integer.relax_pool()
        _search(bracket, deadline, random)
        integer.relax_vms()
        _search(bracket, deadline, random)
        if not integer.over_vms() or bracket.horizon == bracket.grid.full_horizon:
            break
        bracket.set_horizon(2 * bracket.horizon)
    return Outcome(
        bracket.search.schedule(),
        bracket.bound,
        Status.OPTIMAL if bracket.is_closed else Status.FEASIBLE,
        solve_s=time.perf_counter() - begun,
        trajectory=tuple(bracket.trajectory),
        backend=backend,
        details={
            "slots": bracket.horizon,
            "groups": bracket.grid.num_groups,
            "columns": integer.columns,
            "nodes": integer.nodes,
            "orders": bracket.search.placed,
            **bracket.reason,
        },
    )


def _search(bracket: Bracket, deadline: float, random: np.ndarray) -> None:
    """Exchange tasks for a share of the time that is left."""
    now = time.perf_counter()
    if not bracket.is_closed:
        bracket.search.improve(random, now + SHARE * (deadline - now), bracket.bound)
    bracket.add_point()
