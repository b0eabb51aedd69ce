"""Seeded generators of job traces.

A logarithm that another machine rounds otherwise can move a time by a microsecond.
"""

from __future__ import annotations

import math

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DOLLAR, HOUR_US, SECOND_US
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.verify import (
    DISCOUNT,
    MIB_PER_CORE,
    SPOT_PRICE,
    check_discount,
    m5,
    waiting,
    with_history,
)


def microseconds(seconds: FloatArray) -> IntArray:
    """Return the nearest whole microseconds."""
    return np.rint(seconds * SECOND_US).astype(np.int64)


def stepped(times_us: IntArray, step_s: float) -> IntArray:
    """Round up to multiples of a step, so that what was positive stays so.

    Raises `InstanceError` for a negative step; 0 is for times as they are drawn.
    """
    if step_s < 0:
        raise InstanceError(f"step_s is {step_s:g}; give seconds, or 0 for times as they are drawn.")
    step_us = round(step_s * SECOND_US)
    return times_us if step_us == 0 else -(-times_us // step_us) * step_us


def check_positive(**values: float) -> None:
    """Refuse parameters that are not positive. Raises `InstanceError` naming the first."""
    for name, value in values.items():
        if value <= 0:
            raise InstanceError(f"{name} is {value:g}; give a positive number.")


def mms(
    jobs: int = 20_000,
    *,
    seed: int = 0,
    arrival_rate: float = 0.2,
    service_rate: float = 0.002,
    rent: float = 0.096,
    discount: float = DISCOUNT,
    wait_price: float = 0.0,
    max_wait_h: float = -1.0,
    step_s: float = 0.0,
    spot_share: float = 0.0,
    spot_price: float = SPOT_PRICE,
    split: float = 0.0,
) -> WaitingInstance:
    """Draw Poisson arrivals and exponential runtimes, one job a machine: the paper's M/M/s baseline (section III-A).

    arrival_rate, service_rate : jobs a second. rent : dollars an hour. discount : the fixed price as a share of it.
    wait_price : dollars for an hour of waiting. max_wait_h : hours, below 0 for no limit. step_s : times are rounded to
    multiples of it, 0 for none: exact formulations need coarse times. split : the share of the jobs
    that become the history of an instance of the others.

    spot_share : the share of jobs that can run on spot machines and so do, at once and whatever the policy (section IV-D);
    spot_price : of such a machine as a share of the rent. So that nothing else holds them, these jobs are of another shape:
    a core with the memory of two machines, where a machine, fixed or on demand, and any other job have two cores.
    """
    if not 0 <= spot_share < 1:
        raise InstanceError(f"spot_share is {spot_share:g}; give a share from 0 to less than 1.")
    check_positive(jobs=jobs, arrival_rate=arrival_rate, service_rate=service_rate, rent=rent, spot_price=spot_price)
    check_discount(discount)
    rng = generator(FAMILY, "mms", jobs, seed)
    gaps = -np.log1p(-rng.random(jobs)) / arrival_rate
    runtimes = -np.log1p(-rng.random(jobs)) / service_rate
    submit_us = stepped(microseconds(np.cumsum(gaps)), step_s)
    price = round(rent * DOLLAR)
    # On demand, and spot where there are jobs for it.
    shapes, prices, spot = [(1, MIB_PER_CORE)], [price], np.zeros(jobs, np.int64)
    if spot_share:
        shapes, prices = [(2, MIB_PER_CORE), (1, 2 * MIB_PER_CORE)], [price, round(price * spot_price)]
        spot = (rng.random(jobs) < spot_share).astype(np.int64)
    cores, memory_mib = np.array(shapes).T
    instance = WaitingInstance(
        name=f"mms-{jobs}-s{seed}",
        submit_us=submit_us,
        runtime_us=stepped(np.maximum(1, microseconds(runtimes)), step_s),
        cores=cores[spot],
        memory_mib=memory_mib[spot],
        machine_cores=int(cores[0]),
        machine_memory_mib=MIB_PER_CORE,
        fixed_price=round(price * discount),
        rented_cores=cores,
        rented_memory_mib=memory_mib,
        rented_price=np.array(prices),
        horizon_us=max(1, int(submit_us[-1])),
        **waiting(wait_price, max_wait_h),
    )
    return with_history(instance, split)


# Figure 10 and section VI: 0.4527 jobs a second, nine of ten gaps below 1 s, the longest 50 hours; runtimes of 6,225 s
# on average, six of ten below 3 minutes. The cluster of 14,376 cores has a normalised price of 0.6, so two thirds of
# it are used: 9,600 cores, 3.4 a job.
GAP_MEAN_S, GAP_SHORT_SHARE, GAP_MAX_S = 1 / 0.4527, 0.9, 50 * 3600.0
RUNTIME_MEAN_S, RUNTIME_SHORT_SHARE, RUNTIME_SHORT_S, RUNTIME_MAX_S = 6225.0, 0.6, 180.0, 30 * 86400.0
CORES = np.array([1, 2, 4, 8, 16, 32, 64])
CORES_SHARE = np.array([0.62, 0.11, 0.12, 0.095, 0.038, 0.0135, 0.0035])
# Assumed: the paper shows its scatter plot without figures.
MEMORY_PER_CORE_MIB = np.array([1024, 2048, 4096, 8192])
MEMORY_SHARE = np.array([0.4, 0.3, 0.25, 0.05])


def bursty(
    jobs: int = 20_000,
    *,
    seed: int = 0,
    machine_cores: int = 64,
    discount: float = DISCOUNT,
    wait_price: float = 0.0,
    max_wait_h: float = -1.0,
    step_s: float = 0.0,
    campaign_jobs: int = 0,
    horizon_h: float = 0.0,
    split: float = 0.0,
) -> WaitingInstance:
    """Draw a trace with the statistics that the paper gives of its own (Figure 10): bursts, heavy heads and tails.

    Gaps: nine of ten uniform below a second, the others bounded Pareto up to 50 hours. Runtimes: six of ten log-uniform
    below 3 minutes, the others bounded Pareto up to 30 days. Both tails are fitted to the means. Cores and memory of a
    job are independent of its runtime. step_s, split : as for `mms`.

    campaign_jobs : jobs come in campaigns of so many, one after the other, that are alike in cores, memory and runtime: the
    same jobs in another order. 0 for jobs in any order. horizon_h : the log ends after so many hours; jobs that would come
    later are left out, and those that would run longer from when they come are cut. 0 for a log up to the last job.
    """
    check_positive(jobs=jobs)
    if campaign_jobs < 0 or horizon_h < 0:
        raise InstanceError(
            f"campaign_jobs is {campaign_jobs} and horizon_h is {horizon_h:g}; give numbers that are not negative, 0 for none."
        )
    rng = generator(FAMILY, "bursty", jobs, seed)
    gaps, runtimes = _gaps(rng, jobs), _runtimes(rng, jobs)
    cores = CORES[np.searchsorted(np.cumsum(CORES_SHARE)[:-1], rng.random(jobs), side="right")]
    per_core = MEMORY_PER_CORE_MIB[np.searchsorted(np.cumsum(MEMORY_SHARE)[:-1], rng.random(jobs), side="right")]
    memory_mib = np.minimum(cores * per_core, machine_cores * MIB_PER_CORE)
    submit_us = stepped(microseconds(np.cumsum(gaps)), step_s)
    # Whole seconds, as batch systems log them.
    runtime_us = stepped(np.ceil(runtimes).astype(np.int64) * SECOND_US, step_s)
    if campaign_jobs:
        order = _campaigns(rng, np.lexsort((runtime_us, memory_mib, cores)), campaign_jobs)
        runtime_us, cores, memory_mib = runtime_us[order], cores[order], memory_mib[order]
    horizon_us, kept = max(1, int(submit_us[-1])), slice(None)
    if horizon_h:
        horizon_us = round(horizon_h * HOUR_US)
        kept = slice(int(np.searchsorted(submit_us, horizon_us - SECOND_US, side="right")))
        runtime_us = np.minimum(runtime_us, (horizon_us - submit_us) // SECOND_US * SECOND_US)
    if not submit_us[kept].size:
        raise InstanceError(
            f"horizon_h is {horizon_h:g}; no job comes before, the first after {submit_us[0] / HOUR_US:g} h."
        )
    instance = WaitingInstance(
        name=f"bursty-{jobs}-s{seed}",
        submit_us=submit_us[kept],
        runtime_us=runtime_us[kept],
        cores=cores[kept],
        memory_mib=memory_mib[kept],
        horizon_us=horizon_us,
        **m5(machine_cores, discount),
        **waiting(wait_price, max_wait_h),
    )
    return with_history(instance, split)


def _gaps(rng: np.random.Generator, jobs: int) -> FloatArray:
    """Return the seconds before each job."""
    short_gap_s = 0.5
    tail_gap_s = (GAP_MEAN_S - GAP_SHORT_SHARE * short_gap_s) / (1 - GAP_SHORT_SHARE)
    return np.where(
        rng.random(jobs) < GAP_SHORT_SHARE, rng.random(jobs), _pareto(rng.random(jobs), 1.0, GAP_MAX_S, tail_gap_s)
    )


def _runtimes(rng: np.random.Generator, jobs: int) -> FloatArray:
    """Return the seconds that each job runs."""
    log_short = math.log(RUNTIME_SHORT_S)
    short_s = (RUNTIME_SHORT_S - 1) / log_short
    tail_s = (RUNTIME_MEAN_S - RUNTIME_SHORT_SHARE * short_s) / (1 - RUNTIME_SHORT_SHARE)
    return np.where(
        rng.random(jobs) < RUNTIME_SHORT_SHARE,
        np.exp(log_short * rng.random(jobs)),
        _pareto(rng.random(jobs), RUNTIME_SHORT_S, RUNTIME_MAX_S, tail_s),
    )


def _campaigns(rng: np.random.Generator, alike: IntArray, size: int) -> IntArray:
    """Return jobs in blocks of `size` that are next to each other in `alike`, the blocks in any order."""
    campaign = np.arange(alike.shape[0]) // size
    place = rng.permutation(int(campaign[-1]) + 1)[campaign]
    return alike[np.argsort(place, kind="stable")]


def _pareto(uniform: FloatArray, least: float, most: float, mean: float) -> FloatArray:
    """Return bounded Pareto values of a given mean: the shape is what makes the mean right."""
    # Here, since it takes a tenth of a second to import and `schedgap list` needs none of it.
    from scipy.optimize import brentq

    def off(shape: float) -> float:
        ratio = least / most
        if abs(shape - 1) < 1e-9:
            return float(least * math.log(1 / ratio) / (1 - ratio)) - mean
        return float(shape / (shape - 1) * least * (1 - ratio ** (shape - 1)) / (1 - ratio**shape)) - mean

    shape = brentq(off, 0.01, 10)
    values: FloatArray = least * (1 - uniform * (1 - (least / most) ** shape)) ** (-1 / shape)
    return values
