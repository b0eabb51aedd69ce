"""Bounds from prices on the time of fixed machines: Lagrangian relaxation of their capacity, exact in integers.

Let y(t) >= 0 be a price for a unit of machine size (a core, or a MiB) and time, S the size of a machine, p its price,
T the horizon, and P >= T for how long machines are paid. If y(t) <= p / S after T, then for every schedule with s
machines, whose fixed jobs never use more than s S at a moment,

    s p P >= s (p T - S Y) + s S integral of y up to P      with Y = integral of y up to T
          >= s (p T - S Y) + sum over fixed jobs of size x integral of y while the job runs

so its cost is at least

    s (p T - S Y) + sum over jobs of min(rent, min over waits w of wait_price w + size x integral of y while it runs).

The jobs' part does not depend on s. Its factor is put at s = k, which holds for all s >= k where p T >= S Y, and for
all s <= k where p T <= S Y. Maximised over y this is the bound of the time-indexed linear program, whose columns are
the starts of each job, in continuous time: jobs stay whole and uninterrupted, only their shapes inside the machines
are relaxed. y is constant between the points of a grid and a whole multiple of 2^-q micro-dollars per hour; every sum
is one of integers: of one job below 2^61, since y is, times the longest runtime, and larger rents are cut to that; of all
jobs in Python's integers. So what is proven holds at every size.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.kernels_prices import Cheapest, PricedJobs, Prices, cheapest_starts
from schedgap.instances.waiting.objective import exact_sum

if TYPE_CHECKING:
    from schedgap.formulations.waiting.scaled import Scaled
    from schedgap.instances.arrays import FloatArray, IntArray

# Amounts of one job stay below 2^61, and are multiples of at least 2^-20 of their unit.
AMOUNT_BITS, MOST_FRACTION_BITS = 61, 20


class Side(Enum):
    """For which numbers of machines a bound is to hold."""

    AT_LEAST = 1
    AT_MOST = -1


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """What prices come to.

    amount : lower bound for schedules on the chosen side of `machines`, in the amounts of `Scaled`, rounded down.
    levels : (G,) float64, machines that the jobs at their cheapest would use between two grid points.
    """

    amount: int
    levels: FloatArray


class MachineTime:
    """The jobs of an instance against a grid of moments at which prices may change.

    grid : (G + 1,) int64, ascending, from 0 to the horizon. by_memory : a job's size is its memory, not its cores.
    """

    def __init__(self, scaled: Scaled, grid: IntArray, *, by_memory: bool) -> None:
        instance = scaled.instance
        self.scaled, self.grid = scaled, grid
        self.lengths = np.diff(grid)
        # A job without memory costs nothing by memory, and adds nothing to the bound.
        sizes = (instance.memory_mib if by_memory else instance.cores)[scaled.jobs]
        self.used = np.flatnonzero(sizes)
        self.size = sizes[self.used]
        self.machine = instance.machine_memory_mib if by_memory else instance.machine_cores
        self.submit, self.runtime = scaled.submit[self.used], scaled.runtime[self.used]
        rent = scaled.rent[self.used]
        most = int(rent.max(initial=1)) * int(self.runtime.max(initial=1))
        self.bits = min(MOST_FRACTION_BITS, max(0, AMOUNT_BITS - most.bit_length()))
        cap = 1 << (AMOUNT_BITS - self.bits)
        payable = self.runtime <= cap // np.maximum(rent, 1)
        self.rent = np.where(payable, rent * np.where(payable, self.runtime, 0), cap) << self.bits
        # At a price above every rent nobody waits, whatever it is.
        self.wait_price = min(instance.wait_price << self.bits, 2 << AMOUNT_BITS)
        # After the horizon prices never change: no start there beats the first one.
        self.longest = np.maximum(scaled.horizon - self.submit, 0)
        limit = scaled.longest[self.used]
        self.longest = np.where(limit >= 0, np.minimum(limit, self.longest), self.longest)
        if instance.wait_price:
            self.longest = np.minimum(self.longest, self.rent // self.wait_price)
        self.budget = (instance.fixed_price * scaled.horizon) << self.bits
        self.afterwards = (instance.fixed_price << self.bits) // self.machine
        self.highest = (1 << AMOUNT_BITS) // max(1, int(self.runtime.max(initial=1)))
        self._value = np.empty_like(self.rent)
        self._wait = np.empty_like(self.rent)

    def whole_prices(self, shares: FloatArray, side: Side) -> IntArray:
        """Return whole prices that spend about the given shares of a machine's price, within what `side` demands.

        shares : (G,) float64, of the budget, not negative.
        """
        rate = shares * (float(self.budget) / self.machine) / self.lengths
        price = np.minimum(np.floor(rate), float(min(self.highest, 2**62))).astype(np.int64)
        spent = self.spent(price)
        if side is Side.AT_LEAST and spent > self.budget:
            # Rounding of the shares' sum: a few units too many.
            excess = (spent - self.budget) / spent
            price = np.floor(price * (1 - 2 * excess - 1e-15)).astype(np.int64)
        elif side is Side.AT_MOST and spent < self.budget:
            missing = self.budget - spent
            k = int(np.argmax(self.lengths))
            price[k] = min(self.highest, int(price[k]) - (-missing // (int(self.lengths[k]) * self.machine)))
        return price

    def spent(self, price: IntArray) -> int:
        """Return S Y, exactly."""
        return self.machine * sum(map(int.__mul__, price.tolist(), self.lengths.tolist()))

    def evaluate(self, price: IntArray, machines: int, side: Side) -> Priced | None:
        """Return the bound of whole prices, or None where they prove nothing for that side. Deterministic."""
        slack = self.budget - self.spent(price)
        if slack * side.value < 0 or (price > self.highest).any():
            return None
        prices = np.append(price, min(self.afterwards, self.highest))
        with np.errstate(over="ignore"):
            sums = np.concatenate(([0], np.cumsum(price * self.lengths)))
        found = Cheapest(self._value, self._wait, np.zeros(self.grid.shape[0]))
        jobs = PricedJobs(self.submit, self.runtime, self.size, self.rent, self.longest)
        cheapest_starts(jobs, self.wait_price, Prices(self.grid, prices, sums), found)
        total = exact_sum(self._value) + machines * slack
        amount = (total >> self.bits) + self.scaled.always_rented
        return Priced(amount, found.load[:-1] / (self.machine * self.lengths.astype(np.float64)))
