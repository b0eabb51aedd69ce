"""The demand curve: marginal analysis (Waiting Game, section II and Figure 1), also for work that may wait.

With D(t) the cores that the jobs would use if none of them waited, s machines of C cores, and nobody waiting,

    cost(s) = s x price x horizon + rent of a core x integral of max(0, D(t) - s C)

is a lower bound over all schedules with s machines, were every job free to be split at every moment; it is convex in
s, and its least value is where the s-th machine's utilisation falls below price / (C x rent of a core). If every moment
of a job's work may come late by up to b, then what machines serve between t and u + b covers the work of t to u
alone, so the work that overflows a queue of s C b (`kernels_fluid`) must be rented. Cores are what is counted, and
the least rent per core of any job; memory and jobs' shapes are left out.

Work is summed in 63 bits, and an instance with more than `MAX_WORK` of it is refused; amounts are Python's integers and
fractions. So the bound is a proof at every size that is not refused. The linear program is solved in floats, and only
its duals are taken, whose bound is computed anew in fractions: it is a proof whatever they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedgap.formulations.backends import BACKENDS, LP_BACKENDS, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.formulations.waiting.kernels_fluid import overflow
from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import DOLLAR, HOUR_US
from schedgap.instances.waiting.model import FAMILY, WaitingInstance

# Work is summed in 63 bits.
MAX_WORK = 2**61
# Beyond that back ends refuse numbers, or take them for infinite.
MAX_FLOAT = 1e14


@dataclass(frozen=True, slots=True, eq=False)
class DemandCurve:
    """Cores in use over time if nobody waits, and what they cost.

    moments : (G + 1,) int64. cores : (G,) int64, between two moments. longest : wait of any job that can pay.
    rent : least rent of a core for an hour, micro-dollars.
    """

    scaled: Scaled
    moments: IntArray
    cores: IntArray
    longest: int
    rent: Fraction

    def cost(self, machines: int) -> Fraction:
        """Return the least amount with so many machines; convex in them."""
        congested = np.empty_like(self.cores)
        instance = self.scaled.instance
        lost, _ = overflow(self.moments, self.cores, self._served(machines), self.longest, congested)
        return machines * instance.fixed_price * self.scaled.horizon + self.rent * int(lost)

    def congested(self, machines: int) -> IntArray:
        """Return for how much of each interval so many machines are short."""
        times = np.empty_like(self.cores)
        overflow(self.moments, self.cores, self._served(machines), self.longest, times)
        return times

    def _served(self, machines: int) -> int:
        """Return the cores of so many machines, as far as anybody asks for them: all may be too many for 64 bits."""
        return min(machines * self.scaled.instance.machine_cores, int(self.cores.max(initial=0)))

    def best_machines(self) -> int:
        """Return the least number of machines at which one more does not pay."""
        low, high = 0, -(-int(self.cores.max(initial=0)) // self.scaled.instance.machine_cores)
        while low < high:
            middle = (low + high) // 2
            if self.cost(middle + 1) < self.cost(middle):
                low = middle + 1
            else:
                high = middle
        return low


def demand_curve(scaled: Scaled) -> DemandCurve | str:
    """Return the demand curve of the jobs that fit fixed machines, or why there is none. O(N log N)."""
    if (scaled.longest < 0).any():
        return "lets jobs wait for ever, which leaves no curve; use bound-work"
    longest = int(scaled.longest.max(initial=0))
    cores = scaled.instance.cores[scaled.jobs]
    most = float(cores.sum(dtype=np.float64)) * (float((scaled.submit + scaled.runtime).max(initial=0)) + longest)
    if most > MAX_WORK:
        return f"has up to {most:.3g} units of work, more than {MAX_WORK}; cut it into shorter traces"
    times = np.concatenate(([0], scaled.submit, scaled.submit + scaled.runtime))
    changes = np.concatenate(([0], cores, -cores))
    moments, which = np.unique(times, return_inverse=True)
    steps = np.zeros(moments.shape[0], np.int64)
    np.add.at(steps, which, changes)
    rent = min((Fraction(int(r), int(c)) for r, c in {*zip(scaled.rent, cores, strict=True)}), default=Fraction(0))
    return DemandCurve(scaled, moments, np.cumsum(steps)[:-1], longest, rent)


@method("bound-demand-curve", family=FAMILY, bounds=True)
def bound_demand_curve(instance: WaitingInstance) -> Outcome:
    """Bound the cost by marginal analysis of the demand curve, waits included; exact integers."""
    scaled = scale(instance)
    curve = demand_curve(scaled)
    if isinstance(curve, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": curve})
    machines = curve.best_machines()
    amount = curve.cost(machines) + scaled.always_rented
    return Outcome(
        bound=scaled.objective(-(-amount.numerator // amount.denominator)),
        status=Status.NO_SOLUTION,
        details={"machines": machines},
    )


def nobody_waits(instance: WaitingInstance) -> str | None:
    """Return None, or that jobs may wait."""
    return None if instance.max_wait_us == 0 else "lets jobs wait; this program is for max_wait_us = 0"


@model_builder("demand-curve-lp", family=FAMILY)
def build(instance: WaitingInstance) -> LinearModel:
    """Build the linear program of the demand curve; dollars and machines.

    Sets        l distinct levels of demand, in use for time[l]
    Variables   S machines;  U[l] >= 0 cores rented at level l
    Minimise    price x horizon x S + sum_l rent x time[l] U[l]
    Rows        U[l] + C S >= level[l]
    """
    scaled = scale(instance)
    curve = demand_curve(scaled)
    if isinstance(curve, str):
        raise MethodError(f"{instance.name} {curve}.")
    if not scaled.num_jobs:
        raise MethodError(f"{instance.name} has no job that fits a fixed machine, so there is no such curve.")
    levels, time = _levels(curve)
    number = np.arange(levels.shape[0])
    rows = Rows(levels.shape[0] + 1)
    fixed = np.zeros_like(number)
    rows.add("level", (number, number + 1, 1.0), (number, fixed, instance.machine_cores), lower=levels)
    dollars = scaled.unit_us / HOUR_US / DOLLAR
    return rows.model(
        f"demand-curve-{instance.name}",
        np.concatenate(([instance.fixed_price * scaled.horizon], float(curve.rent) * time)) * dollars,
        # Finite, so that any duals give a bound.
        np.concatenate(([-(-levels[-1] // instance.machine_cores)], levels)),
        DOLLAR,
        integral=np.arange(rows.num_variables) == 0,
    )


@method(
    "demand-curve-lp",
    family=FAMILY,
    supports=nobody_waits,
    bounds=True,
    choices={"backend": tuple(name for name in LP_BACKENDS if BACKENDS[name].duals)},
)
def demand_curve_lp(
    instance: WaitingInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Bound the cost by the demand curve as a linear program: a second way to what `bound-demand-curve` finds."""
    scaled = scale(instance)
    curve = demand_curve(scaled)
    if isinstance(curve, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": curve})
    if not scaled.num_jobs:
        return Outcome(bound=scaled.objective(scaled.always_rented), status=Status.NO_SOLUTION, backend=backend)
    model = build(instance)
    largest = max(float(np.abs(values).max(initial=0)) for values in (model.cost, model.row_lower, model.matrix.data))
    if largest > MAX_FLOAT:
        reason = f"has numbers up to {largest:.3g}, which floats do not tell apart; use bound-demand-curve"
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    found = solve(model, backend, time_limit_s=time_limit_s, threads=threads, relax=True)
    details: dict[str, float | str] = {} if found.x is None else {"machines": float(found.x[0])}
    if found.unproven is not None:
        details["reason"] = found.unproven
    bound = None
    if found.row_duals is not None:
        amount = bound_of_duals(curve, found.row_duals)
        # Rounded down, since the duals are rounded; the other part is rounded up.
        bound = amount.numerator * scaled.unit_us // (amount.denominator * HOUR_US)
        bound += scaled.objective(scaled.always_rented)
    return Outcome(
        bound=bound,
        status=Status.NO_SOLUTION,
        solve_s=found.solve_s,
        backend=backend,
        details=details,
    )


def bound_of_duals(curve: DemandCurve, duals: FloatArray) -> Fraction:
    """Return the amount that duals of the program's rows, in dollars, prove: in fractions, whatever they are.

    With 0 <= y[l] <= rent x time[l], every S >= 0 costs at least

        sum_l y[l] level[l] + S (price x horizon - C sum_l y[l])

    and where the last part is negative, no more than all machines that are ever needed are worth buying. No cost is below 0.
    """
    instance = curve.scaled.instance
    levels, time = _levels(curve)
    dollars = Fraction(curve.scaled.unit_us, HOUR_US * DOLLAR)
    prices = [
        max(Fraction(0), min(Fraction(dual) / dollars, curve.rent * length))
        for dual, length in zip(duals.tolist(), time.tolist(), strict=True)
    ]
    worth = sum((price * level for price, level in zip(prices, levels.tolist(), strict=True)), Fraction(0))
    left: Fraction = instance.fixed_price * curve.scaled.horizon - instance.machine_cores * sum(prices)
    return max(Fraction(0), worth + min(Fraction(0), left) * -(-int(levels[-1]) // instance.machine_cores))


def _levels(curve: DemandCurve) -> tuple[IntArray, IntArray]:
    """Return the distinct levels of demand, ascending, and for how long each is asked for."""
    levels, which = np.unique(curve.cores, return_inverse=True)
    time = np.zeros(levels.shape[0], np.int64)
    np.add.at(time, which.reshape(-1), np.diff(curve.moments))
    return levels, time
