"""A seeded generator of harvest instances of any size: VMs are drawn one by one, without a data centre behind them.

A seeded generator of servers of which half are hot (SlackSched, appendix B.4).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from schedgap.instances.draws import shuffled
from schedgap.instances.harvest.generators.datacentre import on_pool
from schedgap.instances.harvest.generators.parameters import GOAL, Goal, check_ranges, unusual, vm_sizes
from schedgap.instances.harvest.generators.pools import PoolParameters, draw_pool
from schedgap.instances.harvest.generators.replay import MAX_DAYS, SERVER_CORES, FreeCores
from schedgap.instances.harvest.generators.vms import Vms, draw_vms
from schedgap.instances.harvest.generators.workloads import (
    Jobs,
    Workload,
    draw_jobs,
    end_ms_of,
    ending_large,
    loaded,
    named_workload,
)
from schedgap.instances.harvest.model import HarvestInstance
from schedgap.instances.method import derived_seed, flattened
from schedgap.instances.units import DAY_S, HOUR_MS, SECOND_MS

QUICK = Workload(jobs=5, tasks="2-8", interarrival_min=10.0)


@dataclass(frozen=True, slots=True)
class VmOptions:
    """most_cores, min_sizes : of a VM. stability : multiplies the times between changes; cluster C2's are 1.

    history_h : hours before the first arrival. grid_s : all times are multiples of it, for exact methods; 0 for 1 ms.
    """

    most_cores: int = 40
    min_sizes: str = "2,4,8"
    stability: float = 1.0
    history_h: float = 24.0
    grid_s: float = 0.0

    def __post_init__(self) -> None:
        check_ranges(
            ("stability", self.stability, 1e-3, 1e3),
            ("history_h", self.history_h, 0, 1e6),
            ("grid_s", self.grid_s, 0, 1e6),
        )


VMS = VmOptions()


@flattened(without=["jobs", "tasks", "rates", "rate_hours"])
def quick(
    vms: int = 8,
    jobs: int = 5,
    tasks: str = "2-8",
    *,
    seed: int = 0,
    workload: Workload = QUICK,
    options: VmOptions = VMS,
    goal: Goal = GOAL,
) -> HarvestInstance:
    """Draw harvest VMs one by one, without a data centre, and jobs of tasks for them.

    Raises `InstanceError` for a parameter out of range.
    """
    workload = workload.replace(jobs=jobs, tasks=tasks)
    load, most_cores = workload.load, options.most_cores
    sizes = vm_sizes(options.min_sizes, most_cores, workload.core_sizes())
    check_ranges(("vms", vms, 1, 10_000_000))
    grid_ms = max(1, round(options.grid_s * SECOND_MS))
    history_ms = int(np.ceil(options.history_h * HOUR_MS / grid_ms)) * grid_ms
    drawn = draw_jobs(workload, seed, history_ms=history_ms, grid_ms=grid_ms)
    end_ms = -(-end_ms_of(drawn, vms, most_cores, load) // grid_ms) * grid_ms
    stability = np.full(vms, options.stability)
    trace = draw_vms(stability, seed, until_ms=end_ms, most_cores=most_cores, min_sizes=sizes, grid_ms=grid_ms)
    trace = ending_large(trace, drawn, end_ms, np.full(vms, most_cores))
    usual = asdict(VMS)
    parts = unusual({"load": (load, 0.0)} | {key: (value, usual[key]) for key, value in asdict(options).items()})
    changes = workload.replace(jobs=QUICK.jobs).unlike(QUICK)
    name = "-".join(["quick", str(vms), str(jobs), *changes, *parts, *goal.unusual(), f"s{seed}"])
    return fixed_pool(name, trace, loaded(drawn, trace, load, grid_ms) if load else drawn, goal)


def fixed_pool(name: str, vms: Vms, jobs: Jobs, goal: Goal, vm_names: tuple[str, ...] | None = None) -> HarvestInstance:
    """Return the instance of a fixed pool of VMs that cost nothing."""
    count = vms.min_cores.shape[0]
    return HarvestInstance(
        name=name,
        allocation="fixed",
        max_leases=0,
        base_price=0,
        extra_price=0,
        leased=np.ones(count, np.bool_),
        buffer=np.zeros(count, np.bool_),
        vm_names=vm_names,
        **asdict(goal),
        **vms._asdict(),
        **jobs._asdict(),
    )


# Of the hot half of the servers, a change in half an hour or so.
HOT_STABILITY = 0.75
RANDOM_POOL = PoolParameters(allocation="random", buffer=False)


@flattened(without=["pool", "buffer"])
def two_kinds(
    servers: int = 200,
    vms: int = 64,
    *,
    seed: int = 0,
    ratio: float = 20.0,
    days: float = 4.0,
    jobs: int = 400,
    interarrival_min: float = 6.0,
    pool: PoolParameters = RANDOM_POOL,
    goal: Goal = GOAL,
) -> HarvestInstance:
    """Draw servers of which half are hot, known by their names, to see whether a rule of acquisition finds the quiet half.

    A hot server's VM changes every half an hour or so, a quiet one's `ratio` times as seldom; in all else they are alike, with
    sizes drawn as for `quick`. days : that VMs change. jobs : of the workload `light`. The rest is as for the data centre.

    Raises `InstanceError` for a parameter out of range.
    """
    usual = named_workload("light")
    workload = usual.replace(jobs=jobs, interarrival_min=interarrival_min, load=0.0)
    sizes = vm_sizes(pool.min_sizes, SERVER_CORES, workload.core_sizes())
    check_ranges(
        ("servers", servers, 2, 1_000_000),
        ("vms", vms, 1, servers),
        ("ratio", ratio, 1e-3, 1e3),
        ("days", days, 0.01, MAX_DAYS),
    )
    rng = np.random.Generator(np.random.PCG64(derived_seed("harvest", "two-kinds", seed)))
    hot = shuffled(rng, np.arange(servers)) < servers // 2
    end_ms = round(days * DAY_S) * SECOND_MS
    trace = draw_vms(
        HOT_STABILITY * np.where(hot, 1.0, ratio),
        seed,
        until_ms=end_ms,
        most_cores=SERVER_CORES,
        min_sizes=(1,),
        frailty=0.0,
        grid_ms=SECOND_MS,
    )
    free = FreeCores(end_ms, trace.first_event, trace.event_ms, trace.event_cores, np.zeros(servers, np.bool_))
    found = draw_pool(free, free, vms, seed, pool, sizes)
    parts = unusual({"servers": (servers, 200), "ratio": (ratio, 20.0), "days": (days, 4.0)})
    parts += [*pool.unlike(RANDOM_POOL), *goal.unusual()]
    name = "-".join(["two-kinds", str(vms), *workload.unlike(usual), *parts, f"s{seed}"])
    kinds = np.where(hot, "hot", "quiet")
    names = tuple(f"{kinds[server]}-{server}" for server in found.server.tolist())
    return on_pool(name, found, draw_jobs(workload, seed), end_ms, 0.0, goal, names)
