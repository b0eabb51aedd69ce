"""The whole problem for CP-SAT: optional intervals for the jobs that may run fixed, and how many machines to buy.

Variables   present[j] whether job j runs fixed;  start[j] in its window;  machines, or which machine
Minimise    price x machines x time paid + rents of the others + wait_price x waits
Rows        cumulative: jobs in slots of all machines, or cores and memory of each machine
            start[j] = submit[j] where job j is rented;  time paid >= horizon and every end of a fixed job

Exact in whole multiples of the greatest common divisor of all times; for windows of some tens to hundreds of jobs.

CP-SAT computes in 64-bit integers, and tells its bound as a float. So amounts, in steps of their common divisor, must add
up to at most `windows.MAX_AMOUNT`, and sizes and the price of waiting x times, in units of theirs, to at most `MAX_WORK`;
beyond that the instance is unsupported. Up to there every claim is a proof.

What the paper's selective policies cost and how long jobs wait: short jobs rent, long ones wait (section IV).

Short jobs, those that run for at most t, are on demand whatever the state of the fixed machines. The others arrive in a
Poisson stream of rate lambda e^(-mu t) and run for t plus an exponential time (Equations 16 to 19): their mean is
t + 1 / mu, their coefficient of variation CV = (1 / mu) / (t + 1 / mu). Conventions are those of `models`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from schedgap.formulations.backends.scheduling import IntervalProblem, solve_intervals
from schedgap.formulations.waiting.models import (
    Prediction,
    checked,
    erlang_b,
    erlang_c,
    price_of,
    scaled_phi,
    scaled_psi,
)
from schedgap.formulations.waiting.time_indexed import Windows, schedule_of, sizes_of, windows
from schedgap.instances.arrays import FloatArray
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance

# Choices of a machine for a job: beyond so many, building the model takes minutes.
MAX_CHOICES = 200_000
# CP-SAT sums the sizes of intervals times their lengths.
MAX_WORK = 2**60


@method("interval-model", version=2, family=FAMILY, exact=True)
def interval_model(instance: WaitingInstance, *, time_limit_s: float | None = None, threads: int = 1) -> Outcome:
    """Find the clairvoyant optimum by CP-SAT over starts, fixed or rented, and the number of machines."""
    begun = time.perf_counter()
    found = windows(instance)
    if isinstance(found, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": found})
    scaled = found.scaled
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome(status=Status.NO_SOLUTION)
    choices = scaled.num_jobs * (1 if found.slots else max(1, found.max_machines))
    if choices > MAX_CHOICES:
        reason = f"has {choices} choices of a machine for a job, more than {MAX_CHOICES}; use bound-fluid"
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    if not found.max_machines:
        nobody, nothing = np.zeros(scaled.num_jobs, np.bool_), np.zeros(scaled.num_jobs, np.int64)
        return Outcome(
            schedule_of(found, nobody, nothing, None),
            scaled.objective(scaled.all_rented),
            Status.OPTIMAL,
            backend="cp-sat",
            details={"jobs": scaled.num_jobs, "max_machines": 0, "slots": found.slots or 0},
        )
    problem = _problem(found)
    if isinstance(problem, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": problem})
    if time_limit_s is not None and time.perf_counter() - begun >= time_limit_s:
        return Outcome(status=Status.NO_SOLUTION)
    built = time.perf_counter()
    left_s = None if time_limit_s is None else time_limit_s - (built - begun)
    result = solve_intervals(problem, time_limit_s=left_s, threads=threads)
    solution = None
    if result.present is not None and result.start is not None:
        solution = schedule_of(found, result.present.astype(np.bool_), result.start, result.machine)
    bound = None
    if result.bound is not None:
        bound = scaled.objective(result.bound * found.step + scaled.always_rented)
    return Outcome(
        solution,
        bound,
        result.status,
        build_s=built - begun,
        solve_s=result.solve_s,
        backend="cp-sat",
        details={"jobs": scaled.num_jobs, "max_machines": found.max_machines, "slots": found.slots or 0},
    )


def _problem(found: Windows) -> IntervalProblem | str:
    """Return the problem in its largest exact units, or what of it leaves the whole numbers in which CP-SAT counts."""
    scaled = found.scaled
    last_end = max(scaled.horizon, int((found.latest + scaled.runtime).max(initial=0)))
    sizes = sizes_of(scaled)
    work = last_end * max(max(room, sum(each.tolist())) for each, room in sizes)
    # Waits are priced as starts less submissions.
    work = max(work, found.wait_price * last_end * scaled.num_jobs)
    if work > MAX_WORK:
        return (
            f"has sizes or prices x times up to {work:.3g}, more than {MAX_WORK:.3g}; use bound-fluid, or coarser units"
        )
    return IntervalProblem(
        scaled.instance.name,
        scaled.submit,
        found.latest,
        scaled.runtime,
        found.rents,
        found.wait_price,
        np.stack([each for each, _ in sizes]),
        np.array([room for _, room in sizes]),
        found.slots,
        found.max_machines,
        found.price,
        scaled.horizon,
    )


@dataclass(frozen=True, slots=True, eq=False)
class LongJobs:
    """The stream of long jobs: share of all jobs, rate, mean runtime, load, share of all work, (1 + CV^2) / 2."""

    share: FloatArray
    rate: FloatArray
    mean_s: FloatArray
    load: FloatArray
    work_share: FloatArray
    variability: FloatArray


def long_jobs(arrival_rate: FloatArray, service_rate: FloatArray, short_s: FloatArray) -> LongJobs:
    """Return the stream of jobs that run for more than `short_s` (Equations 16 to 20)."""
    share: FloatArray = np.exp(-service_rate * short_s)
    mean_s = short_s + 1 / service_rate
    rate = arrival_rate * share
    cv = 1 / (service_rate * mean_s)
    return LongJobs(share, rate, mean_s, rate * mean_s, share * service_rate * mean_s, (1 + cv**2) / 2)


def ljw(
    machines: ArrayLike,
    arrival_rate: ArrayLike,
    service_rate: ArrayLike,
    discount: ArrayLike,
    short_s: ArrayLike,
) -> Prediction:
    """Long Jobs Wait: an M/G/s of the long jobs (Equations 14 to 22); infinite wait where s <= their load.

    Shares and price are exact; the wait is Equation 22's approximation, exact for t = 0 and for s = 1.
    """
    s, rate, mu, d, short = checked(machines, arrival_rate, service_rate, discount, short_s)
    jobs = long_jobs(rate, mu, short)
    stable = s > jobs.load
    spare = np.where(stable, s / jobs.mean_s - jobs.rate, 1.0)
    wait = jobs.share * jobs.variability * erlang_c(s, jobs.load) / spare
    rented_work = 1 - jobs.work_share
    return Prediction(
        np.where(stable, wait, np.inf),
        1 - jobs.share,
        rented_work,
        np.where(stable, price_of(s, rate / mu, d, rented_work), np.nan),
    )


def compound(
    machines: ArrayLike,
    arrival_rate: ArrayLike,
    service_rate: ArrayLike,
    discount: ArrayLike,
    wait_limit_s: ArrayLike,
    short_s: ArrayLike,
) -> Prediction:
    """Short jobs rent; long ones wait for at most b, and rent at once if they would wait longer (section IV-C).

    An M/G/s with balking. The paper's Equation 25 multiplies the wait of an M/M/s with balking by (1 + CV^2) / 2, and
    by 1 - r_short only if read with Equation 15. That factor is right for queues that empty often, but under overload
    the wait is close to b whatever the runtimes: 400 s instead of the 527 s of simulation for b = 900, t = 180, s = 85.

    Here the factor acts where it belongs, on the rate at which the density of the virtual wait decays in heavy
    traffic. With long jobs of rate l, mean m, delta = s / m - l:

        density of V on (0, b)     c e^(-theta x),    theta = delta 2 / (1 + CV^2)
        at 0+                      c = P(V = 0) l B(s - 1, l m) 2 / (1 + CV^2),   so P(V > 0) is Erlang's C for b = inf
        served = machines busy     l m (P(V = 0) + P(0 < V <= b)) = s - P(V = 0) (s - n)
        busy, given some idle      n = l m (1 - B(s - 1, l m)), exact for the loss system, whatever the runtimes

    The third row gives P(V = 0) = s / (l m (1 + c' b phi(theta b)) + s - n), c' = c / P(V = 0), and from it r. It is
    exact for t = 0, for b = 0 and has Equation 22 as its limit for large b. Simulated (lambda 0.2, mu 0.002; mean wait
    of all jobs, seconds, standard errors in brackets; six runs of 400,000 jobs):

        b    t    s    simulated        this   Equation 25, without and with 1 - r_short
        900  180   85  526.7 (0.3)     529.4   573.6  400.2
        900  180   90  520.2 (1.8)     524.7   556.5  388.3
        900  180   97  107.4 (9.2)     117.5   151.5  105.7
        900  180  105    7.6 (0.5)       8.0    11.5    8.0
        300  180   80  153.3 (0.1)     155.8   165.3  115.3
        900  600   60  210.3 (0.6)     216.6   397.2  119.6
        100  180   95   18.7 (0.3)      20.2    19.8   13.8
    """
    s, rate, mu, d, limit, short = checked(machines, arrival_rate, service_rate, discount, wait_limit_s, short_s)
    jobs = long_jobs(rate, mu, short)
    some = np.maximum(s, 1.0)
    loss = erlang_b(some - 1, jobs.load)
    onset = jobs.rate * loss / jobs.variability
    exponent = (some / jobs.mean_s - jobs.rate) / jobs.variability * limit
    shrink = np.exp(np.minimum(exponent, 0.0))
    waiting = onset * limit * scaled_phi(exponent)
    total = jobs.load * (shrink + waiting) + shrink * (some - jobs.load * (1 - loss))
    none = s == 0
    # The difference may fall below 0 by rounding where nobody balks.
    gone = np.where(none, 1.0, np.clip(1 - some * (shrink + waiting) / total, 0.0, 1.0))
    waited = np.where(none, 0.0, some * onset * limit**2 * scaled_psi(exponent) / total)
    rented_work = 1 - jobs.work_share * (1 - gone)
    return Prediction(
        jobs.share * waited,
        1 - jobs.share * (1 - gone),
        rented_work,
        price_of(s, rate / mu, d, rented_work),
    )
