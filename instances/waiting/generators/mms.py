"""The paper's queueing baseline: Poisson arrivals, exponential runtimes."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.units import DOLLAR
from schedgap.instances.waiting.generators.times import check_positive, microseconds, stepped
from schedgap.instances.waiting.history import with_history
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.prices import DISCOUNT, MIB_PER_CORE, check_discount, waiting


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
    split: float = 0.0,
) -> WaitingInstance:
    """Draw Poisson arrivals and exponential runtimes, one job a machine: the paper's M/M/s baseline (section III-A).

    arrival_rate, service_rate : jobs a second. rent : dollars an hour. discount : the fixed price as a share of it.
    wait_price : dollars for an hour of waiting. max_wait_h : hours, below 0 for no limit. step_s : times are rounded to
    multiples of it, 0 for none: exact formulations need coarse times. split : the share of the jobs
    that become the history of an instance of the others.
    """
    check_positive(jobs=jobs, arrival_rate=arrival_rate, service_rate=service_rate, rent=rent)
    check_discount(discount)
    rng = generator(FAMILY, "mms", jobs, seed)
    gaps = -np.log1p(-rng.random(jobs)) / arrival_rate
    runtimes = -np.log1p(-rng.random(jobs)) / service_rate
    submit_us = stepped(microseconds(np.cumsum(gaps)), step_s)
    price = round(rent * DOLLAR)
    instance = WaitingInstance(
        name=f"mms-{jobs}-s{seed}",
        submit_us=submit_us,
        runtime_us=stepped(np.maximum(1, microseconds(runtimes)), step_s),
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
    return with_history(instance, split)
