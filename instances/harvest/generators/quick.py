"""A seeded generator of harvest instances of any size: VMs are drawn one by one, without a data centre behind them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from schedgap.instances.harvest.generators.load import loaded
from schedgap.instances.harvest.generators.parameters import GOAL, Goal, check_ranges, unusual, vm_sizes
from schedgap.instances.harvest.generators.trace_end import end_ms_of, ending_large
from schedgap.instances.harvest.generators.vms import Vms, draw_vms
from schedgap.instances.harvest.generators.workloads import Jobs, Workload, draw_jobs
from schedgap.instances.harvest.model import HarvestInstance
from schedgap.instances.option_groups import flattened
from schedgap.instances.units import HOUR_MS, SECOND_MS

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

    Raises
    ------
    InstanceError
        for a parameter out of range.
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
