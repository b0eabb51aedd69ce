"""Seeded generators of SlackSched's experiments: what a data centre's on-demand VMs leave of its servers, and jobs for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.datacentre import DAY_S, MAX_DAYS, SERVER_CORES, FreeCores, replay
from schedgap.instances.harvest.endings import end_ms_of, ending_large
from schedgap.instances.harvest.load import loaded
from schedgap.instances.harvest.model import MAX_CORES, SECOND_MS, HarvestInstance
from schedgap.instances.harvest.parameters import check_ranges, unusual, vm_sizes
from schedgap.instances.harvest.pools import draw_pool
from schedgap.instances.harvest.quick_vms import draw_vms
from schedgap.instances.harvest.wind import DRAWN_STEP_HOURS, drawn_wind, powered, read_wind
from schedgap.instances.harvest.workloads import draw_jobs, named_workload
from schedgap.instances.seeds import derived_seed
from schedgap.instances.sharing.draws import shuffled

if TYPE_CHECKING:
    from schedgap.instances.harvest.pools import Pool
    from schedgap.instances.harvest.workloads import Jobs

# Enough for 64 harvest VMs, or as many cores of spot VMs, of which only one is on a server.
SERVERS = 500
# Whole days, and not fewer: so the VMs of a seed are the same for most workloads.
LEAST_DAYS, DAY_MS = 3, DAY_S * SECOND_MS
# An hour of a core of Azure's D2s v3 in 2021, which has two for 0.096 dollars.
CORE_HOUR_USD = 0.048
# Of the hot half of the servers (appendix B.4), a change in half an hour or so.
HOT_STABILITY = 0.75


def datacentre(
    preset: str = "C2",
    vms: int = 64,
    *,
    seed: int = 0,
    servers: int = SERVERS,
    days: float = 0.0,
    workload: str = "light",
    jobs: int = 50,
    tasks: str = "",
    cores: str = "",
    runtimes: str = "uniform",
    runtime_min: float = 0.0,
    interarrival_min: float = -1.0,
    load: float = 0.0,
    rates: str = "1",
    rate_hours: float = 6.0,
    error: float = 0.0,
    interruptible: float = 0.0,
    checkpoint_s: float = -1.0,
    restore_s: float = 0.0,
    min_sizes: str = "2,4,8",
    allocation: str = "fixed",
    pool: str = "harvest",
    max_leases: int = 0,
    buffer: bool = True,
    core_hour_usd: float = CORE_HOUR_USD,
    wind: float = 0.0,
    wind_csv: str = "",
    wind_step_h: float = DRAWN_STEP_HOURS,
    objective: str = "jobs",
    kills: str = "oldest",
) -> HarvestInstance:
    """Draw SlackSched's experiments: what on-demand VMs leave of a data centre's servers, and jobs of tasks for it.

    preset : the cluster, such as C2. servers : of the cluster. days : that VMs change, after which they stay as they are; if
        0, at least 3, and until the jobs must long be done.
    workload : `light` or `heavy`; the following, to restore_s, change it, as in `Workload`, where they are not empty, 0 or
        -1. load : as for `quick`, of the VMs of the start.
    vms, allocation, pool, max_leases, buffer, core_hour_usd : of the pool, as in `draw_pool`, with VMs of `min_sizes`.
    wind : the share of the servers' power that is wind. By the letter of section 4.5 it is 1, and then regular VMs use all
        that there is most of the time; with 0.3 of drawn wind, C2's harvest VMs have half of their cores on average.
        wind_csv : a file with a column `wind`, a row for every `wind_step_h` hours; else the wind is drawn.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    usual = named_workload(workload)
    chosen = usual.replace(
        jobs=jobs,
        tasks=str(tasks) or usual.tasks,
        cores=str(cores) or usual.cores,
        runtimes=runtimes,
        runtime_min=runtime_min or usual.runtime_min,
        interarrival_min=usual.interarrival_min if interarrival_min == -1 else interarrival_min,
        rates=str(rates),
        rate_hours=rate_hours,
        error=error,
        interruptible=interruptible,
        checkpoint_s=checkpoint_s,
        restore_s=restore_s,
    )
    sizes = vm_sizes(min_sizes, SERVER_CORES, chosen.core_sizes())
    check_ranges(
        ("servers", servers, 1, 1_000_000),
        ("vms", vms, 1, servers),
        ("days", days, 0, MAX_DAYS),
        ("load", load, 0, 1000),
        ("wind", wind, 0, 1),
        ("max_leases", max_leases, 0, MAX_CORES),
        ("core_hour_usd", core_hour_usd, 0, 1e6),
    )
    if load and set(chosen.rate_factors()) != {1.0}:
        raise InstanceError(f"load is {load:g} and rates is '{rates}'; give one of them, and interarrival_min.")
    drawn = draw_jobs(chosen, seed)
    length = days or max(LEAST_DAYS, -(-end_ms_of(drawn, vms, SERVER_CORES, load) // DAY_MS))
    if length > MAX_DAYS:
        raise InstanceError(
            f"the jobs need {length:g} days to be sure to be done, and {MAX_DAYS} are the most; give shorter or fewer tasks, "
            "more vms, or days after which no VM changes."
        )
    free = full = replay(preset, servers=servers, days=length, seed=seed)
    if wind:
        hours = 24 * length
        step_h = wind_step_h if wind_csv else DRAWN_STEP_HOURS
        blows = read_wind(Path(wind_csv), hours, step_h, seed) if wind_csv else drawn_wind(hours, seed)
        free = powered(free, blows, step_h, wind, seed)
    found = draw_pool(
        free,
        full,
        vms,
        seed,
        kind=pool,
        allocation=allocation,
        max_leases=max_leases,
        buffer=buffer,
        min_sizes=sizes,
        core_hour_usd=core_hour_usd,
    )
    parts = unusual(
        {
            "servers": (servers, SERVERS),
            "days": (days, 0.0),
            "load": (load, 0.0),
            "min_sizes": (min_sizes, "2,4,8"),
            "allocation": (allocation, "fixed"),
            "pool": (pool, "harvest"),
            "max_leases": (max_leases, 0),
            "buffer": (buffer, True),
            "usd": (core_hour_usd, CORE_HOUR_USD),
            "wind": (wind, 0.0),
            "objective": (objective, "jobs"),
            "kills": (kills, "oldest"),
        }
    )
    parts += [Path(wind_csv).stem] if wind and wind_csv else []
    name = "-".join([preset, str(vms), workload, *chosen.unlike(usual), *parts, f"s{seed}"])
    return _instance(name, found, drawn, free.end_ms, load, objective, kills)


def two_kinds(
    servers: int = 200,
    vms: int = 64,
    *,
    seed: int = 0,
    ratio: float = 20.0,
    days: float = 4.0,
    jobs: int = 400,
    interarrival_min: float = 6.0,
    min_sizes: str = "2,4,8",
    allocation: str = "random",
    max_leases: int = 0,
    core_hour_usd: float = CORE_HOUR_USD,
    objective: str = "jobs",
    kills: str = "oldest",
) -> HarvestInstance:
    """Draw servers of which half are hot, known by their names, to see whether a rule of acquisition finds the quiet half.

    After appendix B.4. A hot server's VM changes every half an hour or so, a quiet one's `ratio` times as seldom; in all else
    they are alike, with sizes drawn as for `quick`. days : that VMs change. jobs : of the workload `light`. The rest is as
    for the data centre.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    usual = named_workload("light")
    workload = usual.replace(jobs=jobs, interarrival_min=interarrival_min)
    sizes = vm_sizes(min_sizes, SERVER_CORES, workload.core_sizes())
    check_ranges(
        ("servers", servers, 2, 1_000_000),
        ("vms", vms, 1, servers),
        ("ratio", ratio, 1e-3, 1e3),
        ("days", days, 0.01, MAX_DAYS),
        ("max_leases", max_leases, 0, MAX_CORES),
        ("core_hour_usd", core_hour_usd, 0, 1e6),
    )
    rng = np.random.Generator(np.random.PCG64(derived_seed("harvest", "two-kinds", seed)))
    hot = shuffled(rng, np.arange(servers)) < servers // 2
    drawn = draw_jobs(workload, seed)
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
    found = draw_pool(
        free,
        free,
        vms,
        seed,
        kind="harvest",
        allocation=allocation,
        max_leases=max_leases,
        buffer=False,
        min_sizes=sizes,
        core_hour_usd=core_hour_usd,
    )
    parts = unusual(
        {
            "servers": (servers, 200),
            "ratio": (ratio, 20.0),
            "days": (days, 4.0),
            "min_sizes": (min_sizes, "2,4,8"),
            "allocation": (allocation, "random"),
            "max_leases": (max_leases, 0),
            "usd": (core_hour_usd, CORE_HOUR_USD),
            "objective": (objective, "jobs"),
            "kills": (kills, "oldest"),
        }
    )
    name = "-".join(["two-kinds", str(vms), *workload.unlike(usual), *parts, f"s{seed}"])
    kinds = np.where(hot, "hot", "quiet")
    names = tuple(f"{kinds[server]}-{server}" for server in found.server.tolist())
    return _instance(name, found, drawn, free.end_ms, 0.0, objective, kills, names)


def _instance(
    name: str,
    pool: Pool,
    jobs: Jobs,
    end_ms: int,
    load: float,
    objective: str,
    kills: str,
    vm_names: tuple[str, ...] | None = None,
) -> HarvestInstance:
    peak = np.maximum.reduceat(pool.vms.event_cores, pool.vms.first_event[:-1])
    vms = ending_large(pool.vms, jobs, end_ms, peak)
    return HarvestInstance(
        name=name,
        objective=objective,
        kills=kills,
        allocation=pool.allocation,
        max_leases=pool.max_leases,
        base_price=pool.base_price,
        extra_price=pool.extra_price,
        leased=pool.leased,
        buffer=pool.buffer,
        vm_names=vm_names,
        **vms._asdict(),
        **(loaded(jobs, vms.only(pool.leased), load) if load else jobs)._asdict(),
    )
