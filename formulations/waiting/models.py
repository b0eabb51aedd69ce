"""What the paper's policies cost and how long jobs wait, in steady state: the policies that treat all jobs alike.

Jobs arrive in a Poisson stream of rate `lambda`, run for exponential times of mean 1 / `mu`, and each of s fixed
machines runs one at a time (Waiting Game, section III). a = lambda / mu is the load. All arguments broadcast; times
are seconds, rates per second, prices in units of the on-demand price.

Erlang's loss and delay formulas by recursion on the loss itself, which neither overflows nor needs factorials.

What the paper's selective policies cost and how long jobs wait: short jobs rent, long ones wait (section IV).

Short jobs, those that run for at most t, are on demand whatever the state of the fixed machines. The others arrive in a
Poisson stream of rate lambda e^(-mu t) and run for t plus an exponential time (Equations 16 to 19): their mean is
t + 1 / mu, their coefficient of variation CV = (1 / mu) / (t + 1 / mu).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting.model import MAX_END_US, WaitingInstance
from schedgap.instances.waiting.verify import rent_of


def erlang_b(servers: ArrayLike, load: ArrayLike) -> FloatArray:
    """Return the share of arrivals that find all of `servers` busy in M/G/s/s (Waiting Game, below Equation 3).

    servers : whole numbers, not negative. load : arrival rate x mean service time, not negative. They broadcast.
    B(0) = 1, B(k) = a B(k - 1) / (k + a B(k - 1)): all terms are positive, so errors stay relative.
    O(largest servers x distinct loads).

    Raises `MethodError` for a negative or fractional number of servers or a negative load.
    """
    counts, loads = np.broadcast_arrays(np.asarray(servers, np.float64), np.asarray(load, np.float64))
    if (counts < 0).any() or (counts != np.rint(counts)).any() or not np.isfinite(counts).all():
        raise MethodError("servers must be whole numbers that are not negative.")
    if not (np.isfinite(loads) & (loads >= 0)).all():
        raise MethodError("loads must be finite and not negative.")
    distinct, which = np.unique(loads, return_inverse=True)
    which = which.ravel()
    order = np.argsort(counts, axis=None, kind="stable")
    first = np.searchsorted(counts.ravel()[order], np.arange(counts.max(initial=0) + 2))
    loss, blocked = np.empty(counts.size), np.ones(distinct.shape[0])
    for k in range(first.shape[0] - 1):
        wanted = order[first[k] : first[k + 1]]
        loss[wanted] = blocked[which[wanted]]
        blocked = distinct * blocked
        blocked /= k + 1 + blocked
    return loss.reshape(counts.shape)


def erlang_c(servers: ArrayLike, load: ArrayLike) -> FloatArray:
    """Return the share of arrivals that wait in M/M/s (Waiting Game, below Equation 1); 1 where servers <= load.

    C = B / (1 - (a / s) (1 - B)), from the loss B.
    """
    counts, loads = np.broadcast_arrays(np.asarray(servers, np.float64), np.asarray(load, np.float64))
    loss = erlang_b(counts, loads)
    stable = counts > loads
    busy = np.divide(loads, counts, out=np.ones(counts.shape), where=stable)
    delayed: FloatArray = np.where(stable, loss / np.where(stable, 1 - busy * (1 - loss), 1.0), 1.0)
    return delayed


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
    machines: ArrayLike, arrival_rate: ArrayLike, service_rate: ArrayLike, discount: ArrayLike, short_s: ArrayLike
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
        jobs.share * waited, 1 - jobs.share * (1 - gone), rented_work, price_of(s, rate / mu, d, rented_work)
    )


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


# Below this size of their argument, the integrals are summed as series: the closed forms cancel.
SERIES_BELOW, SERIES_TERMS = 0.5, 18


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Steady state of a policy; arrays of one shape, broadcast from its arguments.

    mean_wait_s : of all jobs; infinite where the queue grows without end. on_demand_share : of jobs.
    on_demand_work_share : of the work that jobs bring. normalised_price : of a unit of work, in on-demand prices; NaN
    where the wait is infinite, since the work is then never done.
    """

    mean_wait_s: FloatArray
    on_demand_share: FloatArray
    on_demand_work_share: FloatArray
    normalised_price: FloatArray


def price_of(machines: FloatArray, load: FloatArray, discount: FloatArray, rented_work: FloatArray) -> FloatArray:
    """Return P = d s / a + share of work on demand: Equation 4 with its utilisation (1 - r) a / s put in."""
    price: FloatArray = discount * machines / load + rented_work
    return price


def ajw(machines: ArrayLike, arrival_rate: ArrayLike, service_rate: ArrayLike, discount: ArrayLike) -> Prediction:
    """All Jobs Wait: M/M/s (Equations 1 and 2). With s <= a there is no steady state, and the wait is infinite."""
    s, rate, mu, d = checked(machines, arrival_rate, service_rate, discount)
    load = rate / mu
    stable = s * mu > rate
    spare = np.where(stable, s * mu - rate, 1.0)
    zero = np.zeros(s.shape)
    return Prediction(
        np.where(stable, erlang_c(s, load) / spare, np.inf),
        zero,
        zero,
        np.where(stable, price_of(s, load, d, zero), np.nan),
    )


def njw(machines: ArrayLike, arrival_rate: ArrayLike, service_rate: ArrayLike, discount: ArrayLike) -> Prediction:
    """No Jobs Wait: M/G/s/s, whatever the distribution of runtimes (Equations 3 and 4)."""
    s, rate, mu, d = checked(machines, arrival_rate, service_rate, discount)
    lost = erlang_b(s, rate / mu)
    return Prediction(np.zeros(s.shape), lost, lost, price_of(s, rate / mu, d, lost))


def ajw_t(
    machines: ArrayLike, arrival_rate: ArrayLike, service_rate: ArrayLike, discount: ArrayLike, wait_limit_s: ArrayLike
) -> Prediction:
    """All Jobs Wait - Threshold: M/M/s with reneging after b seconds, which those on demand wait too (Equation 12)."""
    s, rate, mu, d, limit = checked(machines, arrival_rate, service_rate, discount, wait_limit_s)
    gone, waited = impatient(s, rate, mu, limit)
    return Prediction(waited + gone * limit, gone, gone, price_of(s, rate / mu, d, gone))


def sww(
    machines: ArrayLike, arrival_rate: ArrayLike, service_rate: ArrayLike, discount: ArrayLike, wait_limit_s: ArrayLike
) -> Prediction:
    """Short Waits Wait: M/M/s where a job that would wait for more than b seconds rents at once (Equation 13)."""
    s, rate, mu, d, limit = checked(machines, arrival_rate, service_rate, discount, wait_limit_s)
    gone, waited = impatient(s, rate, mu, limit)
    return Prediction(waited, gone, gone, price_of(s, rate / mu, d, gone))


def impatient(
    machines: FloatArray, arrival_rate: FloatArray, service_rate: FloatArray, wait_limit_s: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return r, the share of jobs that give up, and E[V; V <= b], the wait of the others averaged over all jobs.

    The virtual wait V has no arrivals to it beyond b, so its density is c e^(-delta x) up to b and c e^(-delta b)
    e^(-s mu (x - b)) beyond, delta = s mu - lambda, c = beta P(V = 0), beta = lambda B(s - 1, a): the rate at which
    the last idle machine is taken. With B the loss, beta = s mu B(s) / (1 - B(s)) as in Equation 8. All adds up to 1:

        alpha = P(V = 0) = 1 / (1 + beta (1 / delta - e^(-delta b) lambda / (delta s mu)))        for rho != 1
                         = lambda / (lambda + beta (lambda b + 1))                                 for rho = 1
        r = P(V > b) = alpha beta e^(-delta b) / (s mu)

    The paper's Equation 10 has e^(+delta b): with it, r is not B(s) for b = 0. Here both sides are divided by
    e^(-delta b) where delta < 0, and 1 / delta - ... is written b phi(delta b) + e^(-delta b) / (s mu) with
    phi(x) = (1 - e^(-x)) / x, so nothing overflows and nothing cancels near rho = 1.
    """
    s = np.maximum(machines, 1.0)
    beta = arrival_rate * erlang_b(s - 1, arrival_rate / service_rate)
    exponent = (s * service_rate - arrival_rate) * wait_limit_s
    # e^(-x), phi, psi are scaled by e^(min(x, 0)), which cancels in the quotients.
    shrink = np.exp(np.minimum(exponent, 0.0))
    survive = np.exp(-np.maximum(exponent, 0.0)) / (s * service_rate)
    total = shrink + beta * (wait_limit_s * scaled_phi(exponent) + survive)
    none = machines == 0
    gone: FloatArray = np.where(none, 1.0, beta * survive / total)
    waited: FloatArray = np.where(none, 0.0, beta * wait_limit_s**2 * scaled_psi(exponent) / total)
    return gone, waited


def scaled_phi(x: FloatArray) -> FloatArray:
    """Return e^(min(x, 0)) times the integral of e^(-x u) over u from 0 to 1, between 0 and 1 for every x."""
    size = np.abs(x)
    small = size < 1e-8
    safe = np.where(small, 1.0, size)
    phi: FloatArray = np.where(small, 1 - size / 2, -np.expm1(-safe) / safe)
    return phi


def scaled_psi(x: FloatArray) -> FloatArray:
    """Return e^(min(x, 0)) times the integral of u e^(-x u) over u from 0 to 1."""
    small = np.abs(x) < SERIES_BELOW
    near = np.where(small, x, 0.0)
    series, term = np.zeros(x.shape), np.ones(x.shape)
    for n in range(SERIES_TERMS):
        series += term / (n + 2)
        term = term * -near / (n + 1)
    far = np.where(small, 1.0, x)
    size = np.abs(far)
    tail = np.exp(-size)
    # For x < 0, substitute u = 1 - v: phi - psi of the other sign.
    falling = (1 - tail * (1 + size)) / size**2
    rising = (size - 1 + tail) / size**2
    psi: FloatArray = np.where(small, series * np.exp(np.minimum(near, 0.0)), np.where(far > 0, falling, rising))
    return psi


def checked(
    machines: ArrayLike, arrival_rate: ArrayLike, service_rate: ArrayLike, discount: ArrayLike, *others: ArrayLike
) -> tuple[FloatArray, ...]:
    """Return all arguments as float arrays of one shape.

    Raises `MethodError` for rates that are not positive, and for anything else that is negative or infinite.
    """
    arrays = np.broadcast_arrays(
        *(np.asarray(value, np.float64) for value in (machines, arrival_rate, service_rate, discount, *others))
    )
    if not all(np.isfinite(array).all() and (array >= 0).all() for array in arrays):
        raise MethodError("machines, rates, discounts and times of a model must be finite and not negative.")
    if (arrays[1] == 0).any() or (arrays[2] == 0).any():
        raise MethodError("a model needs positive arrival and service rates.")
    return tuple(arrays)
