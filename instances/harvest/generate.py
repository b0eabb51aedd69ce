"""A seeded generator of harvest instances of any size: VMs are drawn one by one, without a data centre behind them."""

from __future__ import annotations

import numpy as np

from schedgap.instances.harvest.endings import end_ms_of, ending_large
from schedgap.instances.harvest.load import loaded
from schedgap.instances.harvest.model import HOUR_MS, SECOND_MS, HarvestInstance
from schedgap.instances.harvest.parameters import check_ranges, unusual, vm_sizes
from schedgap.instances.harvest.quick_vms import draw_vms
from schedgap.instances.harvest.workloads import Workload, draw_jobs

QUICK = Workload(jobs=5, tasks="2-8", interarrival_min=10.0)


def quick(
    vms: int = 8,
    jobs: int = 5,
    tasks: str = "2-8",
    *,
    seed: int = 0,
    cores: str = "2",
    runtimes: str = "uniform",
    runtime_min: float = 75.0,
    interarrival_min: float = 10.0,
    load: float = 0.0,
    error: float = 0.0,
    interruptible: float = 0.0,
    checkpoint_s: float = -1.0,
    restore_s: float = 0.0,
    memory_mib_per_core: int = 256,
    most_cores: int = 40,
    min_sizes: str = "2,4,8",
    stability: float = 1.0,
    history_h: float = 24.0,
    grid_s: float = 0.0,
    objective: str = "jobs",
    kills: str = "oldest",
) -> HarvestInstance:
    """Draw harvest VMs one by one, without a data centre, and jobs of tasks for them.

    tasks, cores, runtimes, runtime_min, interarrival_min, error, interruptible, checkpoint_s, restore_s,
        memory_mib_per_core : of the jobs, as in `Workload`.
    load : above 0, the time between arrivals is such that the jobs' core-time is this share of what the VMs have while
        jobs arrive. most_cores, min_sizes : of a VM. stability : multiplies the times between changes; cluster C2's are 1.
    history_h : hours before the first arrival. grid_s : all times are multiples of it, for exact methods; 0 for 1 ms.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    workload = Workload(
        jobs=jobs,
        tasks=str(tasks),
        cores=str(cores),
        runtimes=runtimes,
        runtime_min=runtime_min,
        interarrival_min=interarrival_min,
        error=error,
        interruptible=interruptible,
        checkpoint_s=checkpoint_s,
        restore_s=restore_s,
        memory_mib_per_core=memory_mib_per_core,
    )
    sizes = vm_sizes(min_sizes, most_cores, workload.core_sizes())
    check_ranges(
        ("vms", vms, 1, 10_000_000),
        ("load", load, 0, 1000),
        ("stability", stability, 1e-3, 1e3),
        ("history_h", history_h, 0, 1e6),
        ("grid_s", grid_s, 0, 1e6),
    )
    grid_ms = max(1, round(grid_s * SECOND_MS))
    history_ms = int(np.ceil(history_h * HOUR_MS / grid_ms)) * grid_ms
    drawn = draw_jobs(workload, seed, history_ms=history_ms, grid_ms=grid_ms)
    end_ms = -(-end_ms_of(drawn, vms, most_cores, load) // grid_ms) * grid_ms
    trace = draw_vms(
        np.full(vms, stability), seed, until_ms=end_ms, most_cores=most_cores, min_sizes=sizes, grid_ms=grid_ms
    )
    trace = ending_large(trace, drawn, end_ms, np.full(vms, most_cores))
    parts = unusual(
        {
            "load": (load, 0.0),
            "most_cores": (most_cores, 40),
            "min_sizes": (min_sizes, "2,4,8"),
            "stability": (stability, 1.0),
            "history_h": (history_h, 24.0),
            "grid_s": (grid_s, 0.0),
            "objective": (objective, "jobs"),
            "kills": (kills, "oldest"),
        }
    )
    return HarvestInstance(
        name="-".join(
            ["quick", str(vms), str(jobs), *workload.replace(jobs=QUICK.jobs).unlike(QUICK), *parts, f"s{seed}"]
        ),
        objective=objective,
        kills=kills,
        allocation="fixed",
        max_leases=0,
        base_price=0,
        extra_price=0,
        leased=np.ones(vms, np.bool_),
        buffer=np.zeros(vms, np.bool_),
        **trace._asdict(),
        **(loaded(drawn, trace, load, grid_ms) if load else drawn)._asdict(),
    )
