"""The synthetic traces of Eva's sections 4.4 and 6.1, and one like its Alibaba trace for users who do not have that.

Only `integers` and `random` of `numpy.random.Generator(PCG64)` are used, whose streams are the same everywhere; each
column has a stream of its own, so that traces that differ in one parameter agree in the rest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.alibaba_like import draw_demand, durations_h
from schedgap.instances.provisioning.ec2 import FAMILIES, CpuCapacity, eva_workloads
from schedgap.instances.reconfiguration.delays import workload_names
from schedgap.instances.reconfiguration.mix import AS_DRAWN, mix_parts, tasks_of_jobs, with_more_gpus
from schedgap.instances.reconfiguration.model import MAX_TIME_S
from schedgap.instances.reconfiguration.trace import GAVEL_LONG, GAVEL_SHORT, GAVEL_SHORT_SHARE, Trace, arrivals, on_ec2
from schedgap.instances.seeds import derived_seed

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

Mix = Literal["uniform", "authors"]
Spread = Literal["uniform", "log-uniform"]
Durations = Literal["gavel", "alibaba"]
# 32 jobs, as the authors' generator lists them beside the paper's workloads.
AUTHORS_MIX = {
    "vit": 2,
    "resnet18-2": 3,
    "graphsage": 3,
    "cyclegan": 5,
    "gpt2": 1,
    "a3c": 4,
    "diamond": 4,
    "gcn": 4,
    "openfoam": 6,
}


def eva_synthetic(
    jobs: int = 32,
    *,
    seed: int = 0,
    mean_gap_s: float = 1200.0,
    min_hours: float = 0.5,
    max_hours: float = 3.0,
    durations: Spread = "uniform",
    mix: Mix = "uniform",
    tasks_per_job: int = 0,
    interference: str = "figure1",
    migration_delay: float = 1.0,
    cpu: CpuCapacity = "physical",
) -> ReconfigurationInstance:
    """Draw jobs of Table 7's workloads with Poisson arrivals: the 32- and 120-job traces of section 6.1.

    durations : between min_hours and max_hours, `uniform` (section 6.1) or `log-uniform` (Table 6: 100 jobs of 4 tasks,
        0.5 to 16 hours; the job completion times that it reports are those of the latter).
    mix : `uniform` over the ten workloads, or `authors`, shuffled multiples of the 32 jobs in the authors' generator.
    tasks_per_job : 0 as Table 7 says, where resnet18-2 and resnet18-4 have 2 and 4; else of every job.
    interference : see `pairwise_throughput`. migration_delay : factor of all workload delays.
    cpu : capacities; Table 11's allocations of No-Packing are those of physical cores.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    _check("eva-synthetic", jobs)
    if not 0 < min_hours <= max_hours < MAX_TIME_S / 3600:
        raise InstanceError(
            f"min_hours is {min_hours:g} and max_hours {max_hours:g}; give positive hours, the fewer first, below "
            f"{MAX_TIME_S // 3600}."
        )
    if tasks_per_job < 0:
        raise InstanceError(f"tasks_per_job is {tasks_per_job}; give a positive number, or 0 for that of Table 7.")
    _check_choice("durations", durations, ("uniform", "log-uniform"))
    _check_choice("mix", mix, ("uniform", "authors"))
    table = eva_workloads()
    drawn = _mixed(table["names"], mix, jobs, seed)
    least, most = (math.log(min_hours), math.log(max_hours)) if durations == "log-uniform" else (min_hours, max_hours)
    hours = least + (most - least) * _rng("eva-synthetic", "durations", seed).random(jobs)
    if durations == "log-uniform":
        hours = np.exp(hours)
    base = np.array([workload_names().index(name.removesuffix("-2").removesuffix("-4")) for name in table["names"]])
    trace = Trace(
        arrival_s=_arrivals("eva-synthetic", jobs, mean_gap_s, seed),
        work_s=np.maximum(1, (hours * 3600).astype(np.int64)),
        demand=np.moveaxis(table["demand"][:, drawn], 0, 1),
        workload=base[drawn],
        num_tasks=np.full(jobs, tasks_per_job) if tasks_per_job else table["tasks_per_job"][drawn],
    )
    tasks = (f"{tasks_per_job}tasks",) if tasks_per_job else ()
    hours_part = f"{'log' if durations == 'log-uniform' else ''}{min_hours:g}to{max_hours:g}h"
    parts = ("eva-synthetic", f"{jobs}", mix, f"gap{mean_gap_s:g}", hours_part, *tasks, f"s{seed}")
    return on_ec2(parts, trace, interference=interference, migration_delay=migration_delay, cpu=cpu)


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
) -> ReconfigurationInstance:
    """Draw jobs after published statistics of Alibaba's GPU trace, with Poisson arrivals (section 6.1).

    Demands are those of provisioning's `alibaba-like`; each distinct one is given one of Figure 1's workloads.

    durations : `gavel`, 10^x minutes as section 6.1 says, or `alibaba`, with the quantiles of Table 9.
    multi_gpu : of all jobs, those with 2, 4 or 8 GPUs (section 6.6); -1 as drawn.
    multi_task : of all jobs, those whose task is there 2 or 4 times (section 6.7).
    interference : see `pairwise_throughput`. migration_delay : factor of all workload delays.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    _check("alibaba-like", jobs)
    _check_choice("durations", durations, ("gavel", "alibaba"))
    demand = draw_demand(_rng("alibaba-like", "demand", seed), jobs, cpu)
    distinct, vector = np.unique(demand, axis=0, return_inverse=True)
    rng = _rng("alibaba-like", "workloads", seed)
    drawn = rng.integers(0, len(workload_names()), int(distinct.shape[0]))
    rng = _rng("alibaba-like", "durations", seed)
    work_s = durations_h(rng, jobs) * 3600 if durations == "alibaba" else _gavel_s(rng, jobs)
    demand = with_more_gpus(demand, multi_gpu, cpu, _rng("alibaba-like", "multi-gpu", seed))
    trace = Trace(
        arrival_s=_arrivals("alibaba-like", jobs, mean_gap_s, seed),
        work_s=np.maximum(1, work_s.astype(np.int64)),
        demand=np.repeat(demand[:, None], len(FAMILIES), axis=1),
        workload=drawn[vector.reshape(-1)],
        num_tasks=tasks_of_jobs(jobs, multi_task, _rng("alibaba-like", "multi-task", seed)),
    )
    mixed = mix_parts(multi_gpu, multi_task)
    parts = ("alibaba-like", f"{jobs}", durations, f"gap{mean_gap_s:g}", *mixed, f"s{seed}")
    return on_ec2(parts, trace, interference=interference, migration_delay=migration_delay, cpu=cpu)


def _mixed(names: tuple[str, ...], mix: str, jobs: int, seed: int) -> IntArray:
    rng = _rng("eva-synthetic", "workloads", seed)
    if mix == "uniform":
        return rng.integers(0, len(names), jobs)
    hand = np.array([names.index(name) for name, number in AUTHORS_MIX.items() for _ in range(number)])
    hands = [hand[np.argsort(rng.random(hand.size), kind="stable")] for _ in range(-(-jobs // hand.size))]
    return np.concatenate(hands)[:jobs]


def _gavel_s(rng: np.random.Generator, jobs: int) -> FloatArray:
    short = rng.random(jobs) < GAVEL_SHORT_SHARE
    least = np.where(short, GAVEL_SHORT[0], GAVEL_LONG[0])
    most = np.where(short, GAVEL_SHORT[1], GAVEL_LONG[1])
    seconds: FloatArray = 60 * 10 ** (least + (most - least) * rng.random(jobs))
    return seconds


def _arrivals(generator: str, jobs: int, mean_gap_s: float, seed: int) -> IntArray:
    # Exponential gaps from uniforms: the stream of `random` is the same everywhere.
    gaps = -np.log1p(-_rng(generator, "arrivals", seed).random(jobs))
    return arrivals(gaps, mean_gap_s)


def _rng(generator: str, column: str, seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(derived_seed("reconfiguration", generator, column, seed)))


def _check(generator: str, jobs: int) -> None:
    if jobs < 1:
        raise InstanceError(f"generator {generator}: jobs is {jobs}; it must be at least 1.")


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InstanceError(f"{what} is {' or '.join(known)}, not '{value:.60}'.")
