"""Finding good prices on machine time: for a number of machines, ascent whose steps follow each price's own history.

The bound of `machine_prices` for s machines is concave in the prices, and a subgradient with respect to the price between
two moments is the number of machines that the jobs would use there, less s while they are paid: where more is asked for, time
gets dearer.
Prices are first found on a coarse grid, whose rounds are cheap and whose prices move far, and then on finer ones that begin
where the coarser one ended.

What every round proves is a line over the number of machines. So the number to work on is always that for which all lines
together prove least: once it is one for which the prices of this grid were improved already, the grid is done. Prices for
a number that proves as much as one before it does are good enough: the bound is what the least of all numbers proves.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.column_generation.ascent import ByHistory, ascend

if TYPE_CHECKING:
    from schedgap.formulations.waiting.fluid_bound.machine_prices import Line, MachineTime
    from schedgap.instances.arrays import FloatArray, IntArray

# In shares of a machine's price over its size: the first steps on the coarsest grid, and on all others. Rounds are cheap
# on the coarsest one, and prices for the first number of machines have the longest way to go there.
FIRST_STEP, LATER_STEP, FIRST_ROUNDS = 0.3, 0.1, 3


class Ascent:
    """What was found so far: lines of all rounds, and by number of machines prices on the last grid, best or good enough."""

    def __init__(self, problem: MachineTime, deadline: float | None = None) -> None:
        """Prepare. deadline : of `time.perf_counter`."""
        self.problem, self.deadline = problem, deadline
        self.lines: list[Line] = []
        self.grid: IntArray = np.zeros(0, np.int64)
        self.rates: dict[int, FloatArray] = {}

    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.perf_counter() > self.deadline

    def begin_with(self, other: Ascent) -> None:
        """Begin with prices for more jobs and all ends; behind those, a machine is worth its price."""
        until, measures = self.problem.until, self.problem.capacity.shape[0]
        behind = np.zeros((measures, 1))
        behind[0] = 1.0
        self.grid = np.union1d(other.grid[other.grid < until], [self.problem.scaled.horizon, until])
        for number, rate in other.rates.items():
            self.rates[number] = _on_grid(np.hstack((rate[:measures], behind)), other.grid, self.grid)
        nothing = np.zeros_like(next(iter(self.rates.values())))
        self.lines = [self.problem.evaluate(self.grid, rate).line for rate in (nothing, *self.rates.values())]

    def improve(self, grid: IntArray, rounds: int, step: float = LATER_STEP) -> None:
        """Improve the prices on a grid, one after the other for all numbers of machines for which lines prove least.

        grid : (G + 1,) int64, as of `MachineTime.evaluate`. rounds : for one number, more for the very first one. step : the
        first, where prices are known.
        O(rounds x one evaluation).
        """
        if self.rates:
            known = {number: _on_grid(rate, self.grid, grid) for number, rate in self.rates.items()}
            first_rounds, machines = rounds, self.problem.least(self.lines)[0]
        else:
            # At even prices machines are worth their price where all jobs keep them busy; at none, nothing is.
            even = np.zeros((self.problem.capacity.shape[0], grid.shape[0] - 1))
            even[0] = 1.0
            proof = self.problem.evaluate(grid, even)
            self.lines += [proof.line, self.problem.evaluate(grid, np.zeros_like(even)).line]
            step, first_rounds = FIRST_STEP, FIRST_ROUNDS * rounds
            machines = max(1, int(proof.levels[0] @ np.diff(grid) / grid[-1]))
            known = {machines: even}
        self.grid, self.rates = grid, {}
        while machines not in self.rates and not (self.rates and self.is_late()):
            enough = min((max(line.at(number) for line in self.lines) for number in self.rates), default=None)
            nearest = min(known, key=lambda number: (abs(number - machines), number))
            now = rounds if self.rates else first_rounds
            known[machines] = self.rates[machines] = self._ascend(grid, known[nearest], machines, now, step, enough)
            machines = self.problem.least(self.lines)[0]

    def prices_for(self, machines: float, grid: IntArray, rounds: int) -> FloatArray:
        """Return prices on a grid for a number of machines, whole or not: those for what proves least, improved for it."""
        lowest = self.problem.least(self.lines)[0]
        rate = self.rates[min(self.rates, key=lambda number: abs(number - lowest))]
        return self._ascend(grid, _on_grid(rate, self.grid, grid), machines, rounds, LATER_STEP, None)

    def _ascend(
        self, grid: IntArray, rate: FloatArray, machines: float, rounds: int, first_step: float, enough: int | None
    ) -> FloatArray:
        """Return the best prices for a number of machines found from given ones, or the first that prove enough."""

        def evaluate(rate: FloatArray) -> tuple[float, FloatArray]:
            line, levels, paid = self.problem.evaluate(grid, rate)
            self.lines.append(line)
            return line.base + machines * line.slope, levels / machines - paid

        def is_enough(best: float) -> bool:
            return (enough is not None and best >= enough) or self.is_late()

        return ascend(evaluate, rate, rounds, ByHistory(first_step, rounds), is_enough)


def _on_grid(rate: FloatArray, grid: IntArray, finer: IntArray) -> FloatArray:
    """Return prices on another grid: those at the middle of its intervals."""
    middle = finer[:-1] + np.diff(finer) // 2
    return rate[:, np.searchsorted(grid, middle, side="right") - 1]
