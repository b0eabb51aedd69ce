"""A data centre whose on-demand VMs come and go: the cores that they leave on each server, over days.

The paper's traces of harvest VMs are Microsoft's own. What stands for them is what makes them: batches of on-demand VMs with
sizes and lifetimes as in Azure's public data of 2017 arrive, by day and night, at servers of 40 SMT cores, some of which
long-lived VMs hold; the next VM of a batch mostly goes to the same server, else the fullest of a few is taken; one server in
twenty is a buffer and stays nearly empty. The parameters of a `Preset` are fitted to what the paper says of its clusters.

The presets are the eight clusters of the paper's Figure 1. Of the sizes of changes the paper says only that their means are 5
to 13 cores, and of servers not how far they differ. Where that decides, a cluster has further presets, which fit what is
published as well: C2-9, C2-13 and C8-10 with changes of so many cores (VMs of two and four times the cores), C2-servers with
servers whose VMs change very unevenly. They were fitted after results with the first ones had been seen.

Servers on wind power (SlackSched, section 4.5): what a supply that varies leaves of their free cores.

The paper replays ELIA's measurements; a series of one's own can be read. What stands for it is drawn: the logit of the
power is the sum of two Gaussian processes that forget within 16 hours and within ten days, fitted to a year of three-hourly
wind (mean 0.24 of the maximum; deciles within 0.05, autocorrelations of up to four days within 0.06).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, lock, locked_bools, locked_ints
from schedgap.instances.csv_table import read_rows
from schedgap.instances.draws import lognormal, shuffled
from schedgap.instances.errors import InstanceError, did_you_mean
from schedgap.instances.harvest.generators.vms import Batches, bootstrapped, drawn_batches
from schedgap.instances.harvest.generators.workloads import check_ranges, unusual
from schedgap.instances.method import derived_seed
from schedgap.instances.on_use import ModuleOnUse
from schedgap.instances.units import DAY_S, HOUR_MS, HOUR_S, SECOND_MS

Profiles = tuple[IntArray, IntArray, IntArray]

kernels_replay = ModuleOnUse("schedgap.instances.harvest.generators.kernels_replay")

SERVER_CORES = 40
BUFFER_SHARE = 0.05
# Cores in use of a server that is nearly empty, and how seldom VMs come there if it is no buffer, in parts.
EMPTY_CORES, QUIET_WEIGHT = 2, 0.1
MAX_SERVERS, MAX_DAYS = 100_000, 366

# The rate of arrivals follows the day, and differs from hour to hour: assumed, like the mean of seconds that VMs are late.
DAY_AMPLITUDE, HOUR_SIGMA = 0.4, 0.35
LATE_S = 25.0
OVERSAMPLED = 15


def moments(rng: np.random.Generator, per_day: float, length_s: int) -> IntArray:
    """Return seconds, in order, of a Poisson process whose rate follows the day and differs from hour to hour."""
    hours = -(-length_s // HOUR_S)
    noise = lognormal(rng, HOUR_SIGMA, hours) * math.exp(-(HOUR_SIGMA**2) / 2)
    rate = (1 + DAY_AMPLITUDE * np.sin(2 * np.pi * (np.arange(hours) % 24) / 24)) * noise * per_day / 24
    total = np.concatenate(([0.0], np.cumsum(rate)))
    parts = []
    reached = 0.0
    while reached < total[-1]:
        steps = reached - np.cumsum(np.log1p(-rng.random(1024 + int(total[-1] / 8))))
        parts.append(steps)
        reached = float(steps[-1])
    seconds = np.interp(np.concatenate(parts), total, HOUR_S * np.arange(hours + 1), right=np.inf)
    return seconds[seconds < length_s].astype(np.int64)


def late_s(rng: np.random.Generator, share: float, number: int) -> IntArray:
    """Draw seconds: 0, but for some share of them exponential ones."""
    late = rng.random(number) < share
    return np.where(late, -LATE_S * np.log1p(-rng.random(number)), 0.0).astype(np.int64)


def lognormal_weights(rng: np.random.Generator, sigma: float, number: int) -> FloatArray:
    """Return the middles of so many equal parts of the lognormal distribution with median 1, in random order.

    The largest of weights drawn one by one, to which most VMs go, would make each cluster another.
    """
    normal = NormalDist()
    values = np.array([math.exp(sigma * normal.inv_cdf((k + 0.5) / number)) for k in range(number)])
    return values[np.argsort(rng.random(number), kind="stable")]


def betas(rng: np.random.Generator, shape: FloatArray, number: int) -> FloatArray:
    """Return about the middles of so many equal parts of the Beta distribution with two shapes, in random order.

    Found among OVERSAMPLED times as many draws by Joehnk's rejection, which is quick for shapes up to about 2.
    """
    values = np.zeros(OVERSAMPLED * number)
    left = np.arange(values.size)
    while left.size:
        powers = rng.random((left.size, 2)) ** (1 / shape)
        total = powers.sum(axis=1)
        good = (total <= 1) & (total > 0)
        values[left[good]] = powers[good, 0] / total[good]
        left = left[~good]
    middles = np.sort(values)[OVERSAMPLED // 2 :: OVERSAMPLED]
    return middles[np.argsort(rng.random(number), kind="stable")]


@dataclass(frozen=True, slots=True)
class Preset:
    """How on-demand VMs come to a cluster, and where they are placed.

    batches : of VMs that are asked for on a day, per server. most_vms : larger batches are cut to that many. doubled : share of
    the batches whose VMs have twice the cores (VMs have grown since Azure's data of 2017). lifetime_scale : times the lifetimes
    of 2017. longest_days : none lives longer. spread : share of the starts, and of the ends, that come some seconds after those
    of the rest of their batch. same_server : the chance that the next VM of a batch goes where the one before went, if it fits.
    choices : else so many servers with room are drawn, and the fullest is taken. server_sigma : servers are drawn in proportion
    to weights that are lognormal with this sigma. base_mean, base_alpha : what VMs use that never end, as a share of a server:
    Beta, with alpha + beta = 2 base_alpha. quiet : the share of servers, beside the buffer, that hold as little as it does and
    seldom get VMs. larger : all VMs have so many times the cores, up to `most_cores`.
    """

    batches: float
    most_vms: int
    doubled: float
    lifetime_scale: float
    longest_days: float
    spread: float
    same_server: float
    choices: int
    server_sigma: float
    base_mean: float
    base_alpha: float
    quiet: float = 0.0
    larger: int = 1
    most_cores: int = 40


PRESETS = {
    "C1": Preset(10.6, 21, 1.0, 0.5, 0.4, 0.0149, 0.85, 2, 3.0, 0.4, 2.0, 0.08),
    "C2": Preset(4.44, 69, 1.0, 1.2, 0.634, 0.392, 0.556, 1, 0.654, 0.386, 3.0, 0.0478),
    "C2-servers": Preset(3.27, 67, 1.0, 2.66, 0.54, 0.4, 0.392, 1, 2.5, 0.386, 2.27),
    "C2-9": Preset(3.29, 225, 1.0, 0.868, 0.643, 0.37, 0.805, 3, 0.461, 0.334, 3.49, 0.0228, 2, 20),
    "C2-13": Preset(3.86, 164, 1.0, 1.024, 0.444, 1.0, 0.812, 1, 0.36, 0.257, 2.27, 0.2, 4, 40),
    "C2h": Preset(5.11, 159, 1.0, 0.25, 6.88, 0.105, 0.952, 3, 0.472, 0.466, 1.01),
    "C3": Preset(2.85, 17, 1.0, 2.43, 0.335, 0.46, 0.349, 1, 3.5, 0.54, 3.0, 0.04),
    "C4": Preset(1.49, 14, 0.978, 0.798, 0.475, 0.285, 0.646, 1, 3.44, 0.578, 2.63, 0.0456),
    "C5": Preset(1.0, 18, 0.779, 0.706, 0.3, 0.173, 0.922, 1, 2.85, 0.648, 2.96, 0.0937),
    "C6": Preset(0.305, 16, 0.947, 0.65, 0.407, 0.261, 0.956, 1, 3.4, 0.66, 2.2, 0.12),
    "C7": Preset(0.064, 66, 0.4, 0.4, 1.46, 0.036, 1.0, 3, 3.07, 0.567, 1.08),
    "C8": Preset(0.248, 40, 0.944, 0.309, 5.81, 0.254, 0.98, 1, 1.08, 0.623, 1.1),
    "C8-10": Preset(0.165, 71, 0.944, 0.132, 9.09, 0.131, 0.999, 1, 1.43, 0.623, 1.9, 0.041, 2, 20),
}


def find_preset(name: str) -> Preset:
    """Return the parameters of a cluster. Raises `InstanceError` naming the known clusters."""
    if name not in PRESETS:
        raise InstanceError(
            f"there is no cluster '{name}'; {did_you_mean(name, PRESETS)}known are {', '.join(PRESETS)}."
        )
    return PRESETS[name]


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

    preset : a name of `PRESETS`, or parameters. days : how long the cluster is watched.
    arrivals : batches of a trace, of which whole ones are drawn; else they are drawn as Azure's were in 2017.

    Raises `InstanceError` for an unknown name, or numbers of servers or days that make no sense.
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


LOGIT_MEAN, LOGIT_SIGMA = -1.49, 1.26
FAST_HOURS, SLOW_HOURS, FAST_SHARE = 16.0, 240.0, 0.68
DRAWN_STEP_HOURS = 3.0
# ELIA's measurements are of quarters of an hour.
STEP_MS = HOUR_MS // 4


@dataclass(frozen=True, slots=True)
class WindOptions:
    """wind : the share of the servers' power that is wind.

    By the letter of section 4.5 it is 1, and then regular VMs use all that there is most of the time; with 0.3 of drawn wind,
    C2's harvest VMs have half of their cores on average. wind_csv : a file with a column `wind`, a row for every `wind_step_h`
    hours; else the wind is drawn.
    """

    wind: float = 0.0
    wind_csv: str = ""
    wind_step_h: float = DRAWN_STEP_HOURS

    def __post_init__(self) -> None:
        check_ranges(("wind", self.wind, 0, 1))

    def applied(self, free: FreeCores, days: float, seed: int) -> FreeCores:
        """Return the free cores of so many days that have power."""
        if not self.wind:
            return free
        hours = 24 * days
        if self.wind_csv:
            blows, step_h = read_wind(Path(self.wind_csv), hours, self.wind_step_h, seed), self.wind_step_h
        else:
            blows, step_h = drawn_wind(hours, seed), DRAWN_STEP_HOURS
        return powered(free, blows, step_h, self.wind, seed)

    def unusual(self) -> list[str]:
        """Return parts of a name."""
        return unusual({"wind": (self.wind, 0.0)})


WIND = WindOptions()


def drawn_wind(hours: float, seed: int) -> FloatArray:
    """(N,) float64 in (0, 1): a wind farm's power every three hours, for so many hours at least."""
    rng = np.random.Generator(np.random.PCG64(derived_seed("harvest", "wind", seed)))
    number = int(np.ceil(hours / DRAWN_STEP_HOURS)) + 2
    total = np.zeros(number)
    for share, memory_hours in ((FAST_SHARE, FAST_HOURS), (1 - FAST_SHARE, SLOW_HOURS)):
        kept = float(np.exp(-DRAWN_STEP_HOURS / memory_hours))
        # A lognormal number's logarithm is normal.
        noise = np.log(lognormal(rng, 1.0, number))
        value = float(noise[0])
        for k in range(number):
            value = value if k == 0 else kept * value + (1 - kept**2) ** 0.5 * float(noise[k])
            total[k] += share**0.5 * value
    return 1 / (1 + np.exp(-(LOGIT_MEAN + LOGIT_SIGMA * total)))


def read_wind(path: Path, hours: float, step_hours: float, seed: int) -> FloatArray:
    """Return so many hours of the column `wind` of a CSV file, from a row on that the seed chooses.

    step_hours : from row to row. The unit of the power does not matter.

    Raises `InstanceError` for a malformed file, a negative power, or a series that is too short.
    """
    if step_hours <= 0:
        raise InstanceError(f"wind_step_h is {step_hours:g}; give a positive number of hours.")
    values = [_power(path, line, row["wind"]) for line, row in read_rows(path, ("wind",), "series of wind power")]
    number = int(np.ceil(hours / step_hours)) + 2
    if number > len(values):
        raise InstanceError(
            f"{path.name}: {len(values)} rows of {step_hours:g} h, and {hours:g} hours need {number}; give a longer series."
        )
    start = derived_seed("harvest", "wind rows", seed) % (len(values) - number + 1)
    return np.array(values[start : start + number])


def powered(free: FreeCores, wind: FloatArray, step_hours: float, share: float, seed: int) -> FreeCores:
    """Return the free cores that have power, when a share of the power is wind.

    The most wind of the series powers everything. Power that lacks is looked at every quarter of an hour: a drop takes free
    cores, of servers in random order, and a rise gives them back, in random order. Regular VMs keep their servers and their
    power; only when nothing free is left to take would some be moved out, and harvest VMs then have no cores anyway.

    wind : (N,) float64, not negative, every `step_hours` from moment 0 on.

    Raises `InstanceError` if there is no wind at all.
    """
    if not wind.max() > 0:
        raise InstanceError("the wind power is 0 all the time; give a series with some wind, or choose another seed.")
    moments = np.arange(0, free.end_ms, STEP_MS)
    supply = 1 - share * (1 - np.interp(moments / HOUR_MS, np.arange(wind.size) * step_hours, wind / wind.max()))
    wanted = np.rint((1 - supply) * free.num_servers * SERVER_CORES).astype(np.int64)
    servers = np.arange(free.num_servers)
    rng = np.random.Generator(np.random.PCG64(derived_seed("harvest", "power", seed)))
    dark = np.zeros((moments.size, servers.size), np.int64)
    now = np.zeros(servers.size, np.int64)
    for k, ms in enumerate(moments.tolist()):
        there = _cores_at(free, servers, np.full(servers.size, ms))
        # A regular VM that has come since needs power, which other servers then lack.
        now = np.minimum(now, there)
        order = shuffled(rng, servers)
        lacking = int(wanted[k] - now.sum())
        room = (there - now if lacking > 0 else now)[order]
        taken = np.diff(np.minimum(np.cumsum(room), abs(lacking)), prepend=0)
        now[order] += taken if lacking > 0 else -taken
        dark[k] = now
    changed = np.vstack((np.ones(servers.size, np.bool_), dark[1:] != dark[:-1]))
    step, server = np.nonzero(changed)
    times = np.concatenate((free.event_ms, moments[step]))
    owner = np.concatenate((free.event2server(), server))
    order = np.lexsort((times, owner))
    times, owner = times[order], owner[order]
    once = np.concatenate(([True], (times[1:] != times[:-1]) | (owner[1:] != owner[:-1])))
    times, owner = times[once], owner[once]
    cores = np.maximum(0, _cores_at(free, owner, times) - dark[times // STEP_MS, owner])
    kept = np.concatenate(([True], (owner[1:] != owner[:-1]) | (cores[1:] != cores[:-1])))
    first = np.searchsorted(owner[kept], np.arange(servers.size + 1))
    return FreeCores(free.end_ms, first, times[kept], cores[kept], free.buffer)


def _cores_at(free: FreeCores, server: IntArray, ms: IntArray) -> IntArray:
    """Return the free cores of servers at moments, one each."""
    span = free.end_ms + 1
    found = np.searchsorted(free.event2server() * span + free.event_ms, server * span + ms, side="right") - 1
    return free.cores[found]


def _power(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        raise InstanceError(f"{path.name} line {line}: wind is '{text:.60}'; give a number, 0 or above.")
    return value
