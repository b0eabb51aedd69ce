"""Seeded generators of harvest instances: of SlackSched's experiments, of VMs drawn one by one, of two kinds of servers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.draws import shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.replay import (
    MAX_DAYS,
    SERVER_CORES,
    WIND,
    FreeCores,
    WindOptions,
    harvest_vms,
    regular_vms,
    replay,
    spot_vms,
)
from schedgap.instances.harvest.generators.vms import MEMORY_MIB_PER_CORE, Batches, Vms, draw_vms
from schedgap.instances.harvest.generators.workloads import (
    CHANGES,
    GOAL,
    Goal,
    Jobs,
    Workload,
    WorkloadChanges,
    check_ranges,
    draw_jobs,
    end_ms_of,
    ending_large,
    loaded,
    named_workload,
    unusual,
    vm_sizes,
)
from schedgap.instances.harvest.model import ALLOCATIONS, MAX_CORES, HarvestInstance
from schedgap.instances.method import derived_seed, flattened
from schedgap.instances.units import DAY_MS, DAY_S, HOUR_MS, SECOND_MS

POOLS = ("harvest", "spot", "regular")
# Of a regular core's price: spot VMs and harvest VMs' minimum size, such that harvest VMs are 4 times cheaper than regular
# ones and 1.67 times cheaper than spot VMs (section 4.4); a harvested core costs half as much again.
SPOT_PRICE, HARVESTED_PRICE = 0.4175, 0.5
# So many times the VMs of the start may be leased at one moment: the rate of arrivals goes up to 4 times the base (4.4).
LEASES_FACTOR = 4
# An hour of a core of Azure's D2s v3 in 2021, which has two for 0.096 dollars.
CORE_HOUR_USD = 0.048


@dataclass(frozen=True, slots=True)
class PoolParameters:
    """The VMs that there are, and how they are leased.

    min_sizes : of the VMs. allocation : as in `HarvestInstance`. pool : `harvest`, `spot` or `regular`. max_leases : 0 for four
    times the VMs of the start, as far as there are VMs. buffer : `balancing` never places VMs on buffer servers (section 4.3).
    core_hour_usd : what a regular core costs.

    Raises `InstanceError` for a parameter out of range.
    """

    min_sizes: str = "2,4,8"
    allocation: str = "fixed"
    pool: str = "harvest"
    max_leases: int = 0
    buffer: bool = True
    core_hour_usd: float = CORE_HOUR_USD

    def __post_init__(self) -> None:
        check_ranges(("max_leases", self.max_leases, 0, MAX_CORES), ("core_hour_usd", self.core_hour_usd, 0, 1e6))
        for name, value, choices in (("pool", self.pool, POOLS), ("allocation", self.allocation, ALLOCATIONS)):
            if value not in choices:
                raise InstanceError(f"{name} is '{value:.60}'; choose one of {', '.join(choices)}.")
        if self.allocation == "fixed" and self.max_leases:
            raise InstanceError(
                f"max_leases is {self.max_leases} and the pool is fixed; give 0, or another allocation."
            )

    def unlike(self, usual: PoolParameters) -> list[str]:
        """Return parts of a name that tell these parameters from others."""
        pairs = {f.name: (getattr(self, f.name), getattr(usual, f.name)) for f in fields(self)}
        return unusual({"usd" if name == "core_hour_usd" else name: pair for name, pair in pairs.items()})


POOL = PoolParameters()


class Pool(NamedTuple):
    """The fields of a `HarvestInstance` that say which VMs there are, and how they are leased; (V,) int64 servers of the VMs."""

    vms: Vms
    server: IntArray
    allocation: str
    leased: BoolArray
    buffer: BoolArray
    max_leases: int
    base_price: int
    extra_price: int


def draw_pool(
    free: FreeCores, full: FreeCores, vms: int, seed: int, parameters: PoolParameters, min_sizes: tuple[int, ...]
) -> Pool:
    """Draw a pool that begins with as many cores as `vms` harvest VMs on random servers have: for `random` and fixed ones these.

    One VM at most is on a server, of a minimum size drawn for it; spot and regular VMs have that size. Those of a fixed pool
    are on random servers that have cores at the start; of another, all servers' VMs can be leased. `packing` takes more VMs
    for as many cores, and `balancing` fewer: the paper compares pools with 64 harvest VMs' worth of resources (section 4.3).

    free, full : the cores that can be had, and those that could if all servers had power.

    Raises `InstanceError` if there are not enough servers.
    """
    kind, allocation, servers = parameters.pool, parameters.allocation, free.num_servers
    rng = np.random.Generator(np.random.PCG64(derived_seed("harvest", "pool", seed)))
    sizes = np.array(min_sizes)[(rng.random(servers) * len(min_sizes)).astype(np.int64)]
    order = shuffled(rng, np.arange(servers))
    is_shut = parameters.buffer and allocation == "balancing"
    shut = free.buffer & is_shut
    # Fixed VMs may be without power when it starts: they come to be where there is room.
    source = full if allocation == "fixed" else free
    cores = source.cores[source.first_event[:-1]]
    order = order[(cores >= sizes)[order] & ~shut[order]]
    if order.size < vms:
        raise _too_few(vms, "harvest", order.size, servers)
    wanted = int(cores[order[:vms]].sum())
    if kind == "regular":
        # They have their place anywhere, so that every server stands for one.
        shut[:] = False
        order = shuffled(rng, np.arange(servers))
        profiles = regular_vms(sizes)
    else:
        order = _preferred(allocation, order, cores)
        profiles = harvest_vms(free, sizes) if kind == "harvest" else spot_vms(free, sizes)
    totals = np.cumsum((cores if kind == "harvest" else sizes)[order])
    number = int(np.searchsorted(totals, wanted)) + 1
    if number > order.size:
        raise _too_few(number, kind, order.size, servers)
    leased = np.zeros(servers, np.bool_)
    leased[order[:number]] = True
    return _pool(Vms(*profiles, sizes, sizes * MEMORY_MIB_PER_CORE), leased, shut, parameters)


def _pool(vms: Vms, leased: BoolArray, shut: BoolArray, parameters: PoolParameters) -> Pool:
    """Return the pool of VMs, one a server, of which some are leased at the start. leased, shut : (S,) bool."""
    kind, is_fixed = parameters.pool, parameters.allocation == "fixed"
    # A VM that never has cores is none.
    kept = (np.diff(vms.first_event) > 0) & (leased | (not is_fixed))
    base = parameters.core_hour_usd * 1_000_000 * (1.0 if kind == "regular" else SPOT_PRICE)
    most = parameters.max_leases or LEASES_FACTOR * int(leased.sum())
    return Pool(
        vms=vms.only(kept),
        server=np.flatnonzero(kept),
        allocation=parameters.allocation,
        leased=leased[kept],
        buffer=shut[kept],
        max_leases=0 if is_fixed else min(int(kept.sum()), most),
        base_price=round(base),
        extra_price=round(base * HARVESTED_PRICE) if kind == "harvest" else 0,
    )


def _preferred(allocation: str, order: IntArray, cores: IntArray) -> IntArray:
    """Return the servers in the order in which the provider would take them, at random where it does not care."""
    sign = {"balancing": -1, "packing": 1}.get(allocation, 0)
    return order[np.argsort(sign * cores[order], kind="stable")]


def _too_few(number: int, kind: str, found: int, servers: int) -> InstanceError:
    return InstanceError(
        f"the pool begins with at least {number} {kind} VMs, and {found} of {servers} servers have one at the start; give "
        "more servers, or fewer vms."
    )


# Enough for 64 harvest VMs, or as many cores of spot VMs, of which only one is on a server.
SERVERS = 500
# Whole days, and not fewer: so the VMs of a seed are the same for most workloads.
LEAST_DAYS = 3


@flattened()
def datacentre(
    preset: str = "C2",
    vms: int = 64,
    *,
    seed: int = 0,
    servers: int = SERVERS,
    days: float = 0.0,
    workload: str = "light",
    changes: WorkloadChanges = CHANGES,
    pool: PoolParameters = POOL,
    wind: WindOptions = WIND,
    goal: Goal = GOAL,
) -> HarvestInstance:
    """Draw SlackSched's experiments: what on-demand VMs leave of a data centre's servers, and jobs of tasks for it.

    preset : the cluster, such as C2. vms : at the start. servers : of the cluster. days : that VMs change, after which they stay
    as they are; if 0, at least 3, and until the jobs must long be done. workload : `light` or `heavy`.

    Raises `InstanceError` for a parameter out of range.
    """
    return replayed(preset, preset, vms, seed, servers, days, workload, changes, pool, wind, goal)


def replayed(
    name: str,
    preset: str,
    vms: int,
    seed: int,
    servers: int,
    days: float,
    workload: str,
    changes: WorkloadChanges,
    pool: PoolParameters,
    wind: WindOptions,
    goal: Goal,
    arrivals: Batches | None = None,
) -> HarvestInstance:
    """Draw what `datacentre` says. name : begins the instance's. arrivals : batches of a trace, else drawn ones."""
    usual = named_workload(workload)
    chosen = changes.applied(usual)
    sizes = vm_sizes(pool.min_sizes, SERVER_CORES, chosen.core_sizes())
    check_ranges(("servers", servers, 1, 1_000_000), ("vms", vms, 1, servers), ("days", days, 0, MAX_DAYS))
    jobs = draw_jobs(chosen, seed)
    length = days or max(LEAST_DAYS, -(-end_ms_of(jobs, vms, SERVER_CORES, chosen.load) // DAY_MS))
    if length > MAX_DAYS:
        raise InstanceError(
            f"the jobs need {length:g} days to be sure to be done, and {MAX_DAYS} are the most; give shorter or fewer tasks, "
            "more vms, or days after which no VM changes."
        )
    full = replay(preset, servers=servers, days=length, seed=seed, arrivals=arrivals)
    free = wind.applied(full, length, seed)
    found = draw_pool(free, full, vms, seed, pool, sizes)
    parts = unusual({"servers": (servers, SERVERS), "days": (days, 0.0), "load": (chosen.load, usual.load)})
    parts += [*pool.unlike(POOL), *wind.unusual(), *goal.unusual()]
    parts += [Path(wind.wind_csv).stem] if wind.wind and wind.wind_csv else []
    name = "-".join([name, str(vms), workload, *chosen.unlike(usual), *parts, f"s{seed}"])
    return on_pool(name, found, jobs, free.end_ms, chosen.load, goal)


def on_pool(
    name: str, pool: Pool, jobs: Jobs, end_ms: int, load: float, goal: Goal, vm_names: tuple[str, ...] | None = None
) -> HarvestInstance:
    """Return the instance of a pool and jobs, which offer a load if it is above 0. end_ms : of the VMs' changes."""
    peak = np.maximum.reduceat(pool.vms.event_cores, pool.vms.first_event[:-1])
    vms = ending_large(pool.vms, jobs, end_ms, peak)
    return HarvestInstance(
        name=name,
        allocation=pool.allocation,
        max_leases=pool.max_leases,
        base_price=pool.base_price,
        extra_price=pool.extra_price,
        leased=pool.leased,
        buffer=pool.buffer,
        vm_names=vm_names,
        **asdict(goal),
        **vms._asdict(),
        **(loaded(jobs, vms.only(pool.leased), load) if load else jobs)._asdict(),
    )


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
