"""An instance as the bounds see it: jobs that fit a fixed machine, in the largest unit of time that is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting.model import MAX_END_US, WaitingInstance
from schedgap.instances.waiting.objective import rent_of

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Jobs that may run on a fixed machine. Letters: N such jobs.

    Times are multiples of `unit_us`; amounts are micro-dollars per hour x that unit.

    jobs : (N,) int64, their numbers in the instance. submit, runtime, rent : (N,) int64; rent per hour.
    horizon : how long fixed machines are paid at least. longest : (N,) int64, the longest wait that can pay: that of
    the instance, and no more than what the price of waiting makes dearer than renting. -1 stands for no limit.
    always_rented : amount that the other jobs rent for.

    Every number is exact at any size that an instance may have, and submit + longest + runtime is below 2^62.
    """

    instance: WaitingInstance
    jobs: IntArray
    submit: IntArray
    runtime: IntArray
    rent: IntArray
    longest: IntArray
    horizon: int
    unit_us: int
    always_rented: int

    @property
    def num_jobs(self) -> int:
        """Number of jobs that fit a fixed machine."""
        return int(self.jobs.shape[0])

    @property
    def all_rented(self) -> int:
        """Amount when every job is rented."""
        return self.always_rented + rent_of(self.rent, self.runtime)

    def objective(self, amount: int) -> int:
        """Return an amount in whole micro-dollars, rounded up as objectives are: a bound stays one.

        No cost is below 0, where an amount may be that is what floats prove (`trusted`).
        """
        return -(-max(0, amount) * self.unit_us // HOUR_US)


def scale(instance: WaitingInstance) -> Scaled:
    """Return the scaled view of an instance."""
    fits = np.flatnonzero(instance.fits_fixed())
    others = np.flatnonzero(~instance.fits_fixed())
    rent = instance.rent()
    unit = math.gcd(
        int(np.gcd.reduce(instance.submit_us, initial=0)),
        int(np.gcd.reduce(instance.runtime_us, initial=0)),
        instance.horizon_us,
        instance.max_wait_us or 0,
    )
    submit, runtime = instance.submit_us[fits] // unit, instance.runtime_us[fits] // unit
    return Scaled(
        instance,
        fits,
        submit,
        runtime,
        rent[fits],
        _longest_waits(instance, rent[fits], submit, runtime, unit),
        instance.horizon_us // unit,
        unit,
        rent_of(rent[others], instance.runtime_us[others] // unit),
    )


def _longest_waits(
    instance: WaitingInstance, rent: IntArray, submit: IntArray, runtime: IntArray, unit: int
) -> IntArray:
    """Return the limits: waiting costs its price, and a job for which that is its rent does no worse to rent at once.

    No schedule ends after `MAX_END_US`, which is a limit too where there is another one.
    """
    longest = np.full(rent.shape[0], -1, np.int64)
    latest = MAX_END_US // unit - submit - runtime
    if instance.max_wait_us is not None:
        longest = np.minimum(instance.max_wait_us // unit, latest)
    if instance.wait_price:
        if int(rent.max(initial=0)) * int(runtime.max(initial=0)) < 2**62:
            worth = -(-rent * runtime // instance.wait_price)
        else:
            given = zip(rent.tolist(), runtime.tolist(), latest.tolist(), strict=True)
            worth = np.array([min(-(-r * t // instance.wait_price), last) for r, t, last in given], np.int64)
        worth = np.minimum(worth, latest)
        tighter = (longest < 0) | (worth < longest)
        longest[tighter] = worth[tighter]
    return longest
