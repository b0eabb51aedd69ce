"""The cheapest bound: work is done at a fixed machine's price at full use, or rented, whichever is less.

The demand curve: marginal analysis (Waiting Game, section II and Figure 1), also for work that may wait.

With D(t) the cores that the jobs would use if none of them waited, s machines of C cores, and nobody waiting,

    cost(s) = s x price x horizon + rent of a core x integral of max(0, D(t) - s C)

is a lower bound over all schedules with s machines, were every job free to be split at every moment; it is convex in
s, and its least value is where the s-th machine's utilisation falls below price / (C x rent of a core). If every moment
of a job's work may come late by up to b, then what machines serve between t and u + b covers the work of t to u
alone, so the work that overflows a queue of s C b (`kernels_fluid`) must be rented. Cores are what is counted, and
the least rent per core of any job; memory and jobs' shapes are left out.

Work is summed in 63 bits, and an instance with more than `MAX_WORK` of it is refused; amounts are Python's integers and
fractions. So the bound is a proof at every size that is not refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedgap.formulations.waiting.kernels_fluid import overflow
from schedgap.formulations.waiting.models import Scaled, scale
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance

# Weights of cores and of memory in a job's size, as (cores, memory).
WEIGHTS = ((1, 0), (0, 1), (1, 1))


def work_amount(scaled: Scaled) -> int:
    """Return a lower bound on the amount of every schedule, waits or none.

    s machines that are paid for P do at most s P of work, counting a job as its share of a machine's cores, of its
    memory, or as a weighted mean of both. So fixed jobs cost at least price x share x runtime each, and with any fixed
    job at least one machine is paid for the horizon. O(N log N).

    Runtimes add up to less than 2^62, and everything else is Python's integers: a proof at every size.
    """
    instance = scaled.instance
    cores, memory = instance.cores[scaled.jobs], instance.memory_mib[scaled.jobs]
    kinds, which = np.unique(np.stack((scaled.rent, cores, memory)), axis=1, return_inverse=True)
    runtimes = np.zeros(kinds.shape[1], np.int64)
    np.add.at(runtimes, which.reshape(-1), scaled.runtime)
    best = instance.fixed_price * scaled.horizon + scaled.always_rented
    for of_cores, of_memory in WEIGHTS:
        parts = (of_cores + of_memory) * instance.machine_cores * instance.machine_memory_mib
        total = 0
        for (rent, c, m), runtime in zip(kinds.T.tolist(), runtimes.tolist(), strict=True):
            size = of_cores * c * instance.machine_memory_mib + of_memory * m * instance.machine_cores
            total += runtime * min(rent * parts, instance.fixed_price * size)
        best = max(best, -(-total // parts) + scaled.always_rented)
    return min(best, scaled.all_rented)


@method("bound-work", family=FAMILY, bounds=True)
def bound_work(instance: WaitingInstance) -> Outcome:
    """Bound the cost by the work of the jobs at the lower of two prices; exact integers."""
    scaled = scale(instance)
    return Outcome(bound=scaled.objective(work_amount(scaled)), status=Status.NO_SOLUTION)


# Work is summed in 63 bits.
MAX_WORK = 2**61


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
