"""Traces like Eva's Alibaba trace, for users who do not have that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import FAMILIES, CpuCapacity, ec2_types
from schedgap.instances.provisioning.generators.alibaba_like import draw_demand, durations_h
from schedgap.instances.reconfiguration.delays import workload_names
from schedgap.instances.reconfiguration.generators.columns import check_choice, check_jobs, column_rng, drawn_arrivals
from schedgap.instances.reconfiguration.generators.left_behind import left_behind
from schedgap.instances.reconfiguration.mix import AS_DRAWN, mix_parts, tasks_of_jobs, with_more_gpus
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance
from schedgap.instances.reconfiguration.trace import GAVEL_LONG, GAVEL_SHORT, GAVEL_SHORT_SHARE, Trace, on_ec2

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray

Durations = Literal["gavel", "alibaba"]


def alibaba_like(
    jobs: int = 6274,
    *,
    seed: int = 0,
    durations: Durations = "gavel",
    mean_gap_s: float = 1200.0,
    multi_gpu: float = AS_DRAWN,
    multi_task: float = 0.0,
    interference: str = "figure1",
    migration_delay: float = 1.0,
    cpu: CpuCapacity = "vcpu",
    warm_h: float = 0.0,
) -> ReconfigurationInstance:
    """Draw jobs after published statistics of Alibaba's GPU trace, with Poisson arrivals (section 6.1).

    Demands are those of provisioning's `alibaba-like`; each distinct one is given one of Figure 1's workloads.

    durations : `gavel`, 10^x minutes as section 6.1 says, or `alibaba`, with the quantiles of Table 9.
    multi_gpu : of all jobs, those with 2, 4 or 8 GPUs (section 6.6); -1 as drawn.
    multi_task : of all jobs, those whose task is there 2 or 4 times (section 6.7).
    interference : see `pairwise_throughput`. migration_delay : factor of all workload delays.
    warm_h : so many of the first hours have been played by first fit, and what they left behind runs at second 0.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    check_jobs("alibaba-like", jobs)
    check_choice("durations", durations, ("gavel", "alibaba"))
    if not 0 <= warm_h < MAX_TIME_S / 3600:
        raise InstanceError(f"warm_h is {warm_h:g}; give hours that are not negative, below {MAX_TIME_S // 3600}.")
    demand = draw_demand(column_rng("alibaba-like", "demand", seed), jobs, cpu)
    distinct, vector = np.unique(demand, axis=0, return_inverse=True)
    rng = column_rng("alibaba-like", "workloads", seed)
    drawn = rng.integers(0, len(workload_names()), int(distinct.shape[0]))
    rng = column_rng("alibaba-like", "durations", seed)
    work_s = durations_h(rng, jobs) * 3600 if durations == "alibaba" else _gavel_s(rng, jobs)
    demand = with_more_gpus(demand, multi_gpu, cpu, column_rng("alibaba-like", "multi-gpu", seed))
    trace = Trace(
        arrival_s=drawn_arrivals("alibaba-like", jobs, mean_gap_s, seed),
        work_s=np.maximum(1, work_s.astype(np.int64)),
        demand=np.repeat(demand[:, None], len(FAMILIES), axis=1),
        workload=drawn[vector.reshape(-1)],
        num_tasks=tasks_of_jobs(jobs, multi_task, column_rng("alibaba-like", "multi-task", seed)),
    )
    mixed = mix_parts(multi_gpu, multi_task)
    warm = (f"warm{warm_h:g}h",) if warm_h else ()
    parts = ("alibaba-like", f"{jobs}", durations, f"gap{mean_gap_s:g}", *mixed, *warm, f"s{seed}")
    rest, running = left_behind(trace, ec2_types(cpu), int(warm_h * 3600)) if warm_h else (trace, None)
    return on_ec2(parts, rest, interference=interference, migration_delay=migration_delay, cpu=cpu, running=running)


def _gavel_s(rng: np.random.Generator, jobs: int) -> FloatArray:
    short = rng.random(jobs) < GAVEL_SHORT_SHARE
    least = np.where(short, GAVEL_SHORT[0], GAVEL_LONG[0])
    most = np.where(short, GAVEL_SHORT[1], GAVEL_LONG[1])
    return 60 * 10 ** (least + (most - least) * rng.random(jobs))
