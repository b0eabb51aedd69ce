"""What a schedule costs, in exact integers.

    objective = fixed machines x price x time that they are paid
              + sum over rented jobs of the rent of the job x its runtime
              + wait_price x time that jobs wait

Fixed machines are paid from 0 to the horizon, or to the end of the last job on one of them if that is later: else a
schedule could put its work off until nobody pays any more. The sum is rounded up to a whole micro-dollar once, so a
bound on it that is rounded up likewise stays a bound.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting.solution import RENTED, WaitingSchedule

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.waiting.model import WaitingInstance


@dataclass(frozen=True, slots=True)
class Costs:
    """Parts of the objective, in micro-dollars x microseconds an hour: divide by `HOUR_US` for micro-dollars."""

    fixed: int
    rented: int
    waiting: int

    @property
    def objective(self) -> int:
        """The sum in micro-dollars, rounded up."""
        return rounded_up(self.fixed + self.rented + self.waiting)


def rounded_up(amount: int) -> int:
    """Return an amount of micro-dollars x microseconds an hour in whole micro-dollars."""
    return -(-amount // HOUR_US)


def costs(instance: WaitingInstance, schedule: WaitingSchedule) -> Costs:
    """Return what a schedule costs; it is not verified here. O(J)."""
    rented = schedule.machine == RENTED
    wait_us = schedule.start_us - instance.submit_us
    # All factors are Python's integers, whose products do not wrap.
    return Costs(
        schedule.num_machines * instance.fixed_price * paid_us(instance, schedule),
        rent_of(instance.rent()[rented], instance.runtime_us[rented]),
        instance.wait_price * exact_sum(wait_us),
    )


def paid_us(instance: WaitingInstance, schedule: WaitingSchedule) -> int:
    """Return for how long fixed machines are paid."""
    fixed = schedule.machine != RENTED
    ends = (schedule.start_us + instance.runtime_us)[fixed]
    return max(instance.horizon_us, int(ends.max(initial=0)))


def exact_sum(values: IntArray) -> int:
    """Return a sum of 62-bit values that may have more bits, such as years of waiting by many jobs."""
    return (int((values >> 31).sum()) << 31) + int((values & 0x7FFFFFFF).sum())


def rent_of(rent: IntArray, runtime_us: IntArray) -> int:
    """Return the sum of the products, exactly, though it may have more than 64 bits: the runtimes go by parts."""
    if not rent.size:
        return 0
    bits = 62 - int(rent.max()).bit_length() - rent.size.bit_length()
    if bits < 1:
        return sum(map(operator.mul, rent.tolist(), runtime_us.tolist()))
    total, shift = 0, 0
    while (left := runtime_us >> shift).any():
        total += int(rent @ (left & ((1 << bits) - 1))) << shift
        shift += bits
    return total
