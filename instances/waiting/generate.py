"""Seeded generators of job traces: the paper's queueing baseline, and one as bursty and heavy-tailed as its real trace.

Only uniform draws of `numpy.random.Generator(PCG64)` are used, whose stream is the same everywhere; a logarithm that
another machine rounds otherwise can move a time by a microsecond.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.seeds import derived_seed
from schedgap.instances.waiting.model import DOLLAR, SECOND_US, WaitingInstance
from schedgap.instances.waiting.prices import DISCOUNT, MIB_PER_CORE, check_discount, m5, waiting

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

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
) -> WaitingInstance:
    """Draw Poisson arrivals and exponential runtimes, one job a machine: the paper's M/M/s baseline (section III-A).

    arrival_rate, service_rate : jobs a second. rent : dollars an hour. discount : the fixed price as a share of it.
    wait_price : dollars for an hour of waiting. max_wait_h : hours, below 0 for no limit. step_s : times are rounded to
    multiples of it, 0 for none: exact formulations need coarse times.
    """
    _check_positive(jobs=jobs, arrival_rate=arrival_rate, service_rate=service_rate, rent=rent)
    check_discount(discount)
    rng = _rng("mms", jobs, seed)
    gaps = -np.log1p(-rng.random(jobs)) / arrival_rate
    runtimes = -np.log1p(-rng.random(jobs)) / service_rate
    submit_us = _stepped(_microseconds(np.cumsum(gaps)), step_s)
    price = round(rent * DOLLAR)
    return WaitingInstance(
        name=f"mms-{jobs}-s{seed}",
        submit_us=submit_us,
        runtime_us=_stepped(np.maximum(1, _microseconds(runtimes)), step_s),
        cores=np.ones(jobs, np.int64),
        memory_mib=np.full(jobs, MIB_PER_CORE),
        machine_cores=1,
        machine_memory_mib=MIB_PER_CORE,
        fixed_price=round(price * discount),
        rented_cores=np.array([1]),
        rented_memory_mib=np.array([MIB_PER_CORE]),
        rented_price=np.array([price]),
        horizon_us=max(1, int(submit_us[-1])),
        **waiting(wait_price, max_wait_h),
    )


def bursty(
    jobs: int = 20_000,
    *,
    seed: int = 0,
    machine_cores: int = 64,
    discount: float = DISCOUNT,
    wait_price: float = 0.0,
    max_wait_h: float = -1.0,
    step_s: float = 0.0,
) -> WaitingInstance:
    """Draw a trace with the statistics that the paper gives of its own (Figure 10): bursts, heavy heads and tails.

    Gaps: nine of ten uniform below a second, the others bounded Pareto up to 50 hours. Runtimes: six of ten log-uniform
    below 3 minutes, the others bounded Pareto up to 30 days. Both tails are fitted to the means. Cores and memory of a
    job are independent of its runtime. step_s : as for `mms`.
    """
    _check_positive(jobs=jobs)
    rng = _rng("bursty", jobs, seed)
    short_gap_s = 0.5
    tail_gap_s = (GAP_MEAN_S - GAP_SHORT_SHARE * short_gap_s) / (1 - GAP_SHORT_SHARE)
    gaps = np.where(
        rng.random(jobs) < GAP_SHORT_SHARE, rng.random(jobs), _pareto(rng.random(jobs), 1.0, GAP_MAX_S, tail_gap_s)
    )
    log_short = math.log(RUNTIME_SHORT_S)
    short_s = (RUNTIME_SHORT_S - 1) / log_short
    tail_s = (RUNTIME_MEAN_S - RUNTIME_SHORT_SHARE * short_s) / (1 - RUNTIME_SHORT_SHARE)
    runtimes = np.where(
        rng.random(jobs) < RUNTIME_SHORT_SHARE,
        np.exp(log_short * rng.random(jobs)),
        _pareto(rng.random(jobs), RUNTIME_SHORT_S, RUNTIME_MAX_S, tail_s),
    )
    cores = CORES[np.searchsorted(np.cumsum(CORES_SHARE)[:-1], rng.random(jobs), side="right")]
    per_core = MEMORY_PER_CORE_MIB[np.searchsorted(np.cumsum(MEMORY_SHARE)[:-1], rng.random(jobs), side="right")]
    submit_us = _stepped(_microseconds(np.cumsum(gaps)), step_s)
    return WaitingInstance(
        name=f"bursty-{jobs}-s{seed}",
        submit_us=submit_us,
        # Whole seconds, as batch systems log them.
        runtime_us=_stepped(np.ceil(runtimes).astype(np.int64) * SECOND_US, step_s),
        cores=cores,
        memory_mib=np.minimum(cores * per_core, machine_cores * MIB_PER_CORE),
        horizon_us=max(1, int(submit_us[-1])),
        **m5(machine_cores, discount),
        **waiting(wait_price, max_wait_h),
    )


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


def _stepped(times_us: IntArray, step_s: float) -> IntArray:
    """Round up to multiples of a step, so that what was positive stays so."""
    if step_s < 0:
        raise InstanceError(f"step_s is {step_s:g}; give seconds, or 0 for times as they are drawn.")
    step_us = round(step_s * SECOND_US)
    return times_us if step_us == 0 else -(-times_us // step_us) * step_us


def _microseconds(seconds: FloatArray) -> IntArray:
    return np.rint(seconds * SECOND_US).astype(np.int64)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if value <= 0:
            raise InstanceError(f"{name} is {value:g}; give a positive number.")


def _rng(kind: str, jobs: int, seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(derived_seed("waiting", kind, jobs, seed)))
