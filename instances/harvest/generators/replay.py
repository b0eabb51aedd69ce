"""A data centre whose on-demand VMs come and go: the cores that they leave on each server, over days.

The paper's traces of harvest VMs are Microsoft's own. What stands for them is what makes them: batches of on-demand VMs with
sizes and lifetimes as in Azure's public data of 2017 arrive, by day and night, at servers of 40 SMT cores, some of which
long-lived VMs hold; the next VM of a batch mostly goes to the same server, else the fullest of a few is taken; one server in
twenty is a buffer and stays nearly empty. The parameters of a `Preset` are fitted to what the paper says of its clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, lock, locked_bools, locked_ints
from schedgap.instances.draws import derived_seed
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.batches import Batches, bootstrapped, drawn_batches
from schedgap.instances.harvest.generators.presets import Preset, find_preset
from schedgap.instances.harvest.generators.replay_draws import betas, late_s, lognormal_weights, moments
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.units import DAY_S, SECOND_MS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    # First event of each VM (V + 1,), then time and cores of the events (E,), as in `HarvestInstance`. A VM that never has
    # cores has no events.
    Profiles = tuple[IntArray, IntArray, IntArray]

kernels_replay = ModuleOnUse("schedgap.instances.harvest.generators.kernels_replay")

SERVER_CORES = 40
BUFFER_SHARE = 0.05
# Cores in use of a server that is nearly empty, and how seldom VMs come there if it is no buffer, in parts.
EMPTY_CORES, QUIET_WEIGHT = 2, 0.1
MAX_SERVERS, MAX_DAYS = 100_000, 366


@dataclass(frozen=True, slots=True, eq=False)
class FreeCores:
    """Unallocated cores of servers, as step functions up to `end_ms`. Letters: S servers, E events of all together.

    first_event : (S + 1,) int64; server s has the events first_event[s] to first_event[s + 1] - 1, the first at 0.
    event_ms, cores : (E,) int64, whole seconds; from event_ms on there are so many cores, until the next event.
    buffer : (S,) bool: a buffer server.
    """

    end_ms: int
    first_event: IntArray
    event_ms: IntArray
    cores: IntArray
    buffer: BoolArray

    def __post_init__(self) -> None:
        lock(self, ("first_event", "event_ms", "cores"))
        object.__setattr__(self, "buffer", locked_bools(self.buffer))

    @property
    def num_servers(self) -> int:
        """Number of servers."""
        return int(self.buffer.shape[0])

    def event2server(self) -> IntArray:
        """(E,) int64: the server of each event."""
        return np.repeat(np.arange(self.num_servers), np.diff(self.first_event))


def replay(preset: str | Preset, *, servers: int, days: float, seed: int, arrivals: Batches | None = None) -> FreeCores:
    """Return the free cores of servers of a cluster, from a moment on at which it has long been running.

    preset : a name of `presets.PRESETS`, or parameters. days : how long the cluster is watched.
    arrivals : batches of a trace, of which whole ones are drawn; else they are drawn as Azure's were in 2017.

    Raises
    ------
    InstanceError
        for an unknown name, or numbers of servers or days that make no sense.
    """
    if not 1 <= servers <= MAX_SERVERS:
        raise InstanceError(f"servers is {servers}; give 1 to {MAX_SERVERS}.")
    if not 0 < days <= MAX_DAYS:
        raise InstanceError(f"days is {days:g}; give a positive number, up to {MAX_DAYS}.")
    chosen = find_preset(preset) if isinstance(preset, str) else preset
    rng = np.random.Generator(np.random.PCG64(derived_seed("harvest", "datacentre", seed)))
    place = np.argsort(rng.random(servers), kind="stable")
    buffer = place < int(BUFFER_SHARE * servers)
    empty = place < round((BUFFER_SHARE + chosen.quiet) * servers)
    share = betas(rng, 2 * chosen.base_alpha * np.array([chosen.base_mean, 1 - chosen.base_mean]), servers)
    base = np.where(empty, (rng.random(servers) * (EMPTY_CORES + 1)).astype(np.int64), np.rint(SERVER_CORES * share))
    free = SERVER_CORES - base.astype(np.int64)
    weight = lognormal_weights(rng, chosen.server_sigma, servers) * np.where(empty, QUIET_WEIGHT, 1.0)
    weight[buffer] = 0.0
    end_s = round(days * DAY_S)
    event_s, server, cores = _placed(chosen, rng, free, weight, end_s, arrivals)
    return FreeCores(SECOND_MS * end_s, *_steps(event_s, server, cores, free, end_s), buffer)


def harvest_vms(free: FreeCores, min_cores: ArrayLike) -> Profiles:
    """Return the harvest VM of each server: all cores that are free, and none while they are fewer than its minimum.

    min_cores : a number, or (S,) of them.
    """
    least = _per_event(free, min_cores)
    return _changes(free, np.where(free.cores >= least, free.cores, 0))


def spot_vms(free: FreeCores, min_cores: ArrayLike) -> Profiles:
    """Return the spot VM of each server: its cores, while so many are free.

    min_cores : a number, or (S,) of them.
    """
    least = _per_event(free, min_cores)
    return _changes(free, np.where(free.cores >= least, least, 0))


def regular_vms(cores: ArrayLike) -> Profiles:
    """Return regular VMs, (V,) with so many cores each, for ever."""
    size = locked_ints(np.atleast_1d(cores))
    return locked_ints(np.arange(size.shape[0] + 1)), locked_ints(np.zeros(size.shape[0], np.int64)), size


def _per_event(free: FreeCores, min_cores: ArrayLike) -> IntArray:
    return np.broadcast_to(np.asarray(min_cores, np.int64), (free.num_servers,))[free.event2server()]


def _changes(free: FreeCores, cores: IntArray) -> Profiles:
    """Leave out what changes nothing, 0 cores at the start among it."""
    before = np.concatenate(([0], cores[:-1]))
    before[free.first_event[:-1]] = 0
    kept = cores != before
    first = np.concatenate(([0], np.cumsum(kept)))[free.first_event]
    return locked_ints(first), locked_ints(free.event_ms[kept]), locked_ints(cores[kept])


def _placed(
    preset: Preset, rng: np.random.Generator, free: IntArray, weight: FloatArray, end_s: int, trace: Batches | None
) -> Profiles:
    """Return seconds (below 0 as well), server and free cores of all events, in order of time; `free` is left as it is."""
    # Whoever lives at second 0 has come since; whole days, so that second 0 is always the same time of day.
    warm_up_s = DAY_S * int(np.ceil(preset.longest_days))
    asked = moments(rng, preset.batches * free.shape[0], warm_up_s + end_s)
    number = int(asked.shape[0])
    most = preset.most_vms
    batches = drawn_batches(rng, number, most) if trace is None else bootstrapped(rng, trace, number, most)
    batch = np.repeat(np.arange(number), np.diff(batches.first_vm))
    total = batch.shape[0]
    doubled = np.where(rng.random(number) < preset.doubled, 2, 1)[batch]
    cores = np.minimum(batches.cores * doubled * preset.larger, preset.most_cores)
    # VMs of a batch that live about as long end together.
    shared = rng.random(number)
    life = batches.shortest_s + shared[batch] * (batches.longest_s - batches.shortest_s)
    life = np.where(batches.is_censored, life / (1 - rng.random(total)), life)
    life = np.minimum(preset.lifetime_scale * life, preset.longest_days * DAY_S)
    start_s = asked[batch] + late_s(rng, preset.spread, total) - warm_up_s
    stop_s = asked[batch] + np.rint(life).astype(np.int64) + late_s(rng, preset.spread, total) - warm_up_s
    order = np.argsort(start_s, kind="stable")
    start_s, stop_s, cores, batch = start_s[order], stop_s[order], cores[order], batch[order]
    stop_s = np.maximum(stop_s, start_s + 1)

    changes = kernels_replay.Changes(*(np.zeros(2 * total, np.int64) for _ in range(3)))
    random = (rng.random(1) * 2**53).astype(np.uint64)
    count = kernels_replay.place(
        kernels_replay.Requests(start_s, stop_s, cores, batch),
        kernels_replay.Servers(weight, np.cumsum(weight), free.copy(), random),
        preset.choices,
        preset.same_server,
        end_s,
        np.zeros(total, np.int64),
        changes,
    )
    return changes.second[:count], changes.server[:count], changes.free[:count]


def _steps(event_s: IntArray, server: IntArray, cores: IntArray, free: IntArray, end_s: int) -> Profiles:
    """Return step functions from second 0 on; of several events of a server in one second the last counts."""
    servers = free.shape[0]
    at = np.concatenate((np.zeros(servers, np.int64), np.maximum(event_s, 0)))
    owner = np.concatenate((np.arange(servers), server))
    value = np.concatenate((free, cores))
    kept = at < end_s
    at, owner, value = at[kept], owner[kept], value[kept]
    order = np.lexsort((at, owner))
    at, owner, value = at[order], owner[order], value[order]
    last = np.concatenate(((at[1:] != at[:-1]) | (owner[1:] != owner[:-1]), [True]))
    at, owner, value = at[last], owner[last], value[last]
    change = np.concatenate(([True], (owner[1:] != owner[:-1]) | (value[1:] != value[:-1])))
    first = np.searchsorted(owner[change], np.arange(servers + 1))
    return first, SECOND_MS * at[change], value[change]
