"""The paper's queueing baseline: Poisson arrivals, exponential runtimes."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DOLLAR
from schedgap.instances.waiting.generators.times import check_positive, microseconds, stepped
from schedgap.instances.waiting.history import with_history
from schedgap.instances.waiting.model import FAMILY, WaitingInstance
from schedgap.instances.waiting.prices import DISCOUNT, MIB_PER_CORE, SPOT_PRICE, check_discount, waiting


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
