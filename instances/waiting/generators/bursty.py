"""A trace as bursty and heavy-tailed as the paper's real one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.generators.times import check_positive, microseconds, stepped
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.prices import DISCOUNT, MIB_PER_CORE, m5, waiting

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray

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
) -> WaitingInstance:
    """Draw a trace with the statistics that the paper gives of its own (Figure 10): bursts, heavy heads and tails.

    Gaps: nine of ten uniform below a second, the others bounded Pareto up to 50 hours. Runtimes: six of ten log-uniform
    below 3 minutes, the others bounded Pareto up to 30 days. Both tails are fitted to the means. Cores and memory of a
    job are independent of its runtime. step_s : as for `mms`.
    """
    check_positive(jobs=jobs)
    rng = generator(FAMILY, "bursty", jobs, seed)
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
    submit_us = stepped(microseconds(np.cumsum(gaps)), step_s)
    return WaitingInstance(
        name=f"bursty-{jobs}-s{seed}",
        submit_us=submit_us,
        # Whole seconds, as batch systems log them.
        runtime_us=stepped(np.ceil(runtimes).astype(np.int64) * SECOND_US, step_s),
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
