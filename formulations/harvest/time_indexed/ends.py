"""When parts can end: a program over ends alone, with rows from linear programs that find no room for the tasks by then.

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

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.ends_program import Row, ends_program
from schedgap.formulations.harvest.time_indexed.grid import ALONE
from schedgap.formulations.harvest.time_indexed.program import Program, pool_program, vm_program
from schedgap.formulations.separable import EXACT, SEPARABLE
from schedgap.formulations.trusted import trusted
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.formulations.harvest.time_indexed.integer import Integer
    from schedgap.instances.arrays import FloatArray, IntArray

# Of the time that is left, for whole tasks on VMs with given ends.
SHARE = 0.9


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
            if not self._has_work():
                return
            self.rooms.append(Room(build(separate, horizon), grid.part))
            while (ends := self._least()) is not None and self._is_taught(ends):
                pass
        while (ends := self._least()) is not None and (self._is_taught(ends) or self._is_too_early(ends)):
            pass

    def _has_work(self) -> bool:
        return not self.integer.bracket.is_closed and time.perf_counter() < self.integer.deadline

    def _least(self) -> IntArray | None:
        """Return (P,) int64, the least ends that all rows allow, H + 1 for later ones; None if there is no need to go on."""
        bracket = self.integer.bracket
        grid, horizon = bracket.grid, bracket.horizon
        if not self._has_work():
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
        result = self.integer.solve(program.model, SHARE)
        if result.x is not None:
            self.integer.bracket.take(program, result.x)
        if result.bound is None or trusted(result.bound) < 1:
            return False
        price = (np.arange(program.horizon + 2) <= ends[:, None]).astype(np.int64)
        self.rows.append(Row(price, ends.shape[0] - 1))
        return True
