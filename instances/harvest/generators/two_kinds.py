"""A seeded generator of servers of which half are hot (SlackSched, appendix B.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.draws import derived_seed, shuffled
from schedgap.instances.harvest.generators.datacentre import on_pool
from schedgap.instances.harvest.generators.parameters import GOAL, Goal, check_ranges, unusual, vm_sizes
from schedgap.instances.harvest.generators.pools import PoolParameters, draw_pool
from schedgap.instances.harvest.generators.replay import MAX_DAYS, SERVER_CORES, FreeCores
from schedgap.instances.harvest.generators.vms import draw_vms
from schedgap.instances.harvest.generators.workloads import draw_jobs, named_workload
from schedgap.instances.option_groups import flattened
from schedgap.instances.units import DAY_S, SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance

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

    Raises
    ------
    InstanceError
        for a parameter out of range.
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
