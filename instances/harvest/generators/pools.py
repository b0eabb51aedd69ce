"""Pools of VMs: which of a data centre's servers' VMs are there or leased at the start, of which kind, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.draws import shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.parameters import check_ranges, unusual
from schedgap.instances.harvest.generators.replay import FreeCores, harvest_vms, regular_vms, spot_vms
from schedgap.instances.harvest.generators.vms import MEMORY_MIB_PER_CORE, Vms
from schedgap.instances.harvest.model import ALLOCATIONS, MAX_CORES
from schedgap.instances.method import derived_seed

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
    times the VMs of the start, as far as there are VMs. buffer : `balancing` never places VMs on buffer servers
    (section 4.3).
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
