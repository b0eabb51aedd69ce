"""Servers on wind power (SlackSched, section 4.5): what a supply that varies leaves of their free cores.

The paper replays ELIA's measurements; a series of one's own can be read. What stands for it is drawn: the logit of the
power is the sum of two Gaussian processes that forget within 16 hours and within ten days, fitted to a year of three-hourly
wind (mean 0.24 of the maximum; deciles within 0.05, autocorrelations of up to four days within 0.06).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.csv_table import read_rows
from schedgap.instances.draws import lognormal, shuffled
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.parameters import check_ranges, unusual
from schedgap.instances.harvest.generators.replay import SERVER_CORES, FreeCores
from schedgap.instances.method import derived_seed
from schedgap.instances.units import HOUR_MS

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
