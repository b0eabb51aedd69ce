"""The synthetic traces of Eva's sections 4.4 and 6.1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import CpuCapacity, eva_workloads
from schedgap.instances.reconfiguration.delays import workload_names
from schedgap.instances.reconfiguration.generators.columns import check_choice, check_jobs, column_rng, drawn_arrivals
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance
from schedgap.instances.reconfiguration.trace import Trace, on_ec2

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

Mix = Literal["uniform", "authors", "fitted"]
Spread = Literal["uniform", "log-uniform"]
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
# 120 jobs: of all that give the No-Packing row of Table 10 in the mean (dollars within 0.2%, machines, three allocations
# within half a point; physical cores), those closest to equal numbers of Table 7's workloads. With hardware threads none do.
FITTED_MIX = {
    "resnet18-2": 6,
    "vit": 11,
    "cyclegan": 12,
    "gpt2": 2,
    "gcn": 15,
    "a3c": 34,
    "diamond": 27,
    "openfoam": 13,
}
HANDS = {"authors": AUTHORS_MIX, "fitted": FITTED_MIX}


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
    mix : `uniform` over the ten workloads; `authors`, shuffled multiples of the 32 jobs in the authors' generator; or
        `fitted`, of 120 jobs that were fitted to the published cost and allocations of No-Packing.
    tasks_per_job : 0 as Table 7 says, where resnet18-2 and resnet18-4 have 2 and 4; else of every job.
    interference : see `pairwise_throughput`. migration_delay : factor of all workload delays.
    cpu : capacities; Table 11's allocations of No-Packing are those of physical cores.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    check_jobs("eva-synthetic", jobs)
    if not 0 < min_hours <= max_hours < MAX_TIME_S / 3600:
        raise InstanceError(
            f"min_hours is {min_hours:g} and max_hours {max_hours:g}; give positive hours, the fewer first, below "
            f"{MAX_TIME_S // 3600}."
        )
    if tasks_per_job < 0:
        raise InstanceError(f"tasks_per_job is {tasks_per_job}; give a positive number, or 0 for that of Table 7.")
    check_choice("durations", durations, ("uniform", "log-uniform"))
    check_choice("mix", mix, ("uniform", *HANDS))
    table = eva_workloads()
    drawn = _mixed(table["names"], mix, jobs, seed)
    least, most = (math.log(min_hours), math.log(max_hours)) if durations == "log-uniform" else (min_hours, max_hours)
    hours = least + (most - least) * column_rng("eva-synthetic", "durations", seed).random(jobs)
    if durations == "log-uniform":
        hours = np.exp(hours)
    base = np.array([workload_names().index(name.removesuffix("-2").removesuffix("-4")) for name in table["names"]])
    trace = Trace(
        arrival_s=drawn_arrivals("eva-synthetic", jobs, mean_gap_s, seed),
        work_s=np.maximum(1, (hours * 3600).astype(np.int64)),
        demand=np.moveaxis(table["demand"][:, drawn], 0, 1),
        workload=base[drawn],
        num_tasks=np.full(jobs, tasks_per_job) if tasks_per_job else table["tasks_per_job"][drawn],
    )
    tasks = (f"{tasks_per_job}tasks",) if tasks_per_job else ()
    hours_part = f"{'log' if durations == 'log-uniform' else ''}{min_hours:g}to{max_hours:g}h"
    parts = ("eva-synthetic", f"{jobs}", mix, f"gap{mean_gap_s:g}", hours_part, *tasks, f"s{seed}")
    return on_ec2(parts, trace, interference=interference, migration_delay=migration_delay, cpu=cpu)


def _mixed(names: tuple[str, ...], mix: str, jobs: int, seed: int) -> IntArray:
    rng = column_rng("eva-synthetic", "workloads", seed)
    if mix == "uniform":
        return rng.integers(0, len(names), jobs)
    hand = np.array([names.index(name) for name, number in HANDS[mix].items() for _ in range(number)])
    hands = [hand[np.argsort(rng.random(hand.size), kind="stable")] for _ in range(-(-jobs // hand.size))]
    return np.concatenate(hands)[:jobs]
