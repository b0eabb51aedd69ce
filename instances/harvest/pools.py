"""Pools of VMs: which of a data centre's servers' VMs are there or leased at the start, of which kind, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.datacentre import harvest_vms, regular_vms, spot_vms
from schedgap.instances.harvest.model import ALLOCATIONS
from schedgap.instances.harvest.quick_vms import MEMORY_MIB_PER_CORE, Vms
from schedgap.instances.seeds import derived_seed
from schedgap.instances.sharing.draws import shuffled

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.harvest.datacentre import FreeCores

POOLS = ("harvest", "spot", "regular")
# Of a regular core's price: spot VMs and harvest VMs' minimum size, such that harvest VMs are 4 times cheaper than regular
# ones and 1.67 times cheaper than spot VMs (section 4.4); a harvested core costs half as much again.
SPOT_PRICE, HARVESTED_PRICE = 0.4175, 0.5
# So many times the VMs of the start may be leased at one moment: the rate of arrivals goes up to 4 times the base (4.4).
LEASES_FACTOR = 4


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
    free: FreeCores,
    full: FreeCores,
    vms: int,
    seed: int,
    *,
    kind: str,
    allocation: str,
    max_leases: int,
    buffer: bool,
    min_sizes: tuple[int, ...],
    core_hour_usd: float,
) -> Pool:
    """Draw a pool that begins with as many cores as `vms` harvest VMs on random servers have: for `random` and fixed ones these.

    One VM at most is on a server, of a minimum size drawn for it; spot and regular VMs have that size. Those of a fixed pool
    are on random servers that have cores at the start; of another, all servers' VMs can be leased. `packing` takes more VMs
    for as many cores, and `balancing` fewer: the paper compares pools with 64 harvest VMs' worth of resources (section 4.3).

    free, full : the cores that can be had, and those that could if all servers had power.
    kind : `harvest`, `spot` or `regular`. max_leases : 0 for four times the VMs of the start, as far as there are VMs.
    buffer : `random` and `balancing` never place VMs on buffer servers. core_hour_usd : what a regular core costs.

    Raises
    ------
    InstanceError
        if there are not enough servers, for an unknown kind or allocation, or a limit to the leases of a fixed pool.
    """
    for name, value, choices in (("pool", kind, POOLS), ("allocation", allocation, ALLOCATIONS)):
        if value not in choices:
            raise InstanceError(f"{name} is '{value:.60}'; choose one of {', '.join(choices)}.")
    if allocation == "fixed" and max_leases:
        raise InstanceError(f"max_leases is {max_leases} and the pool is fixed; give 0, or another allocation.")
    rng = np.random.Generator(np.random.PCG64(derived_seed("harvest", "pool", seed)))
    sizes = np.array(min_sizes)[(rng.random(free.num_servers) * len(min_sizes)).astype(np.int64)]
    order = shuffled(rng, np.arange(free.num_servers))
    shut = free.buffer & (allocation in ("random", "balancing")) if buffer else np.zeros(free.num_servers, np.bool_)
    # Fixed VMs may be without power when it starts: they come to be where there is room.
    source = full if allocation == "fixed" else free
    cores = source.cores[source.first_event[:-1]]
    order = order[(cores >= sizes)[order] & ~shut[order]]
    if order.size < vms:
        raise _too_few(vms, "harvest", order.size, free.num_servers)
    wanted = int(cores[order[:vms]].sum())
    if kind == "regular":
        # They have their place anywhere, so that every server stands for one.
        shut[:] = False
        order = shuffled(rng, np.arange(free.num_servers))
        profiles = regular_vms(sizes)
    else:
        order = _preferred(allocation, order, cores)
        profiles = harvest_vms(free, sizes) if kind == "harvest" else spot_vms(free, sizes)
    totals = np.cumsum((cores if kind == "harvest" else sizes)[order])
    number = int(np.searchsorted(totals, wanted)) + 1
    if number > order.size:
        raise _too_few(number, kind, order.size, free.num_servers)
    chosen = order[:number]
    leased = np.zeros(free.num_servers, np.bool_)
    leased[chosen] = True
    first, event_ms, event_cores = profiles
    # A VM that never has cores is none.
    kept = (np.diff(first) > 0) & (leased | (allocation != "fixed"))
    base = core_hour_usd * 1_000_000
    discount = 1.0 if kind == "regular" else SPOT_PRICE
    count = int(kept.sum())
    leases = 0 if allocation == "fixed" else min(count, max_leases or LEASES_FACTOR * chosen.size)
    return Pool(
        vms=Vms(first, event_ms, event_cores, sizes, sizes * MEMORY_MIB_PER_CORE).only(kept),
        server=np.flatnonzero(kept),
        allocation=allocation,
        leased=leased[kept],
        buffer=shut[kept],
        max_leases=leases,
        base_price=round(base * discount),
        extra_price=round(base * discount * HARVESTED_PRICE) if kind == "harvest" else 0,
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
