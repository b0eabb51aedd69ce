"""Harvest VMs drawn one by one, without the data centre that makes them grow and shrink: quick, for tests and sweeps.

Times between changes are a mixture fitted to what section 2.1 of the SlackSched paper says of cluster C2 (16 % within a
minute, 40 % within ten, 84 % within an hour): a short part, exponential, and a long one with a Lomax tail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.instances.draws import derived_seed
from schedgap.instances.units import SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

SHORT_SHARE, SHORT_MS = 0.127, 25 * SECOND_MS
LOMAX_INDEX, LOMAX_MS = 2.5, 61.8 * 60 * SECOND_MS
# VMs differ in stability: the long times of one are so many times those of another, lognormally (section 2.1). Unstable ones
# have more of the changes, by which the median would be so many sigmas too low.
FRAILTY_SIGMA = 0.5
# A shrink follows a shrink more often than a growth: regular VMs come in batches. Of 40 cores, about 6 come or go.
SHRINK_AFTER_GROWTH, SHRINK_AFTER_SHRINK = 0.45, 0.55
CHANGE_SHARE = 0.14
# Minimum sizes of 2, 4 and 8 cores have 16, 32 and 64 GiB (section 2.1).
MEMORY_MIB_PER_CORE = 8 * 1024
_BLOCK = 32


class Vms(NamedTuple):
    """The VMs' fields of a `HarvestInstance`: events, minimum sizes and memory."""

    first_event: IntArray
    event_ms: IntArray
    event_cores: IntArray
    min_cores: IntArray
    memory_mib: IntArray

    def only(self, kept: BoolArray) -> Vms:
        """Return some of the VMs. kept : (V,) bool."""
        counts = np.diff(self.first_event)
        events = np.repeat(kept, counts)
        return Vms(
            first_event=np.concatenate(([0], np.cumsum(counts[kept]))),
            event_ms=self.event_ms[events],
            event_cores=self.event_cores[events],
            min_cores=self.min_cores[kept],
            memory_mib=self.memory_mib[kept],
        )


def draw_vms(
    stability: FloatArray,
    seed: int,
    *,
    until_ms: int,
    most_cores: int,
    min_sizes: tuple[int, ...],
    frailty: float = FRAILTY_SIGMA,
    grid_ms: int = 1,
) -> Vms:
    """Draw VMs that are there from the start, each with a random number of cores, and change until a moment.

    stability : (V,) float64, multiplies the times between changes, save the short ones. frailty : how much VMs differ
    beside. grid_ms : of which all times are multiples. Every VM has a stream of its own: the first VMs of a seed are the
    same however many there are.
    """
    vms = stability.shape[0]
    streams = [np.random.Generator(np.random.PCG64(derived_seed("harvest", "quick", seed, v))) for v in range(vms)]
    least_ms = max(SECOND_MS, grid_ms)
    min_cores, times, sizes = [], [], []
    for rng, usual in zip(streams, stability.tolist(), strict=True):
        first = rng.random(4)
        least = min_sizes[int(first[0] * len(min_sizes))]
        normal = np.sqrt(-2 * np.log1p(-first[1])) * np.cos(2 * np.pi * first[2])
        scale = usual * float(np.exp(frailty * (frailty + normal)))
        moments, draws = _moments(rng, until_ms, scale, least_ms, grid_ms)
        start = least + int(first[3] * (most_cores - least + 1))
        min_cores.append(least)
        times.append(moments)
        sizes.append(_sizes(draws, start, least, most_cores))
    least_cores = np.array(min_cores, np.int64)
    return Vms(
        first_event=np.concatenate(([0], np.cumsum([len(part) for part in sizes]))),
        event_ms=np.concatenate(times),
        event_cores=np.concatenate(sizes),
        min_cores=least_cores,
        memory_mib=least_cores * MEMORY_MIB_PER_CORE,
    )


def _moments(
    rng: np.random.Generator, until_ms: int, scale: float, least_ms: int, grid_ms: int
) -> tuple[IntArray, FloatArray]:
    """Return the moments of changes, from 0 to before `until_ms`, and two uniform numbers for each."""
    gaps, draws, passed = [np.zeros(1)], [rng.random((2, 1))], 0.0
    while passed < until_ms:
        uniform = rng.random((4, _BLOCK))
        short = -np.log1p(-uniform[1]) * SHORT_MS
        long = scale * LOMAX_MS * np.expm1(-np.log1p(-uniform[1]) / LOMAX_INDEX)
        gap = np.where(uniform[0] < SHORT_SHARE, short, long)
        gap = np.ceil(np.maximum(gap, least_ms) / grid_ms) * grid_ms
        gaps.append(gap)
        draws.append(uniform[2:])
        passed += float(gap.sum())
    moments = np.cumsum(np.concatenate(gaps)).astype(np.int64)
    inside = max(1, int(np.searchsorted(moments, until_ms)))
    return moments[:inside], np.concatenate(draws, axis=1)[:, :inside]


def _sizes(draws: FloatArray, start: int, least: int, most: int) -> IntArray:
    """Return the cores after each change: a walk between 0 and `most`, where fewer than `least` are none."""
    changes = (1 - np.log1p(-draws[1]) * CHANGE_SHARE * most).astype(np.int64).tolist()
    cores, shrank = start, False
    found = [start]
    for uniform, change in zip(draws[0].tolist()[1:], changes[1:], strict=True):
        shrinks = uniform < (SHRINK_AFTER_SHRINK if shrank else SHRINK_AFTER_GROWTH)
        shrank = cores > 0 and (shrinks or cores == most)
        # A VM of which the minimum size is all that there is can only come and go.
        cores = cores - change if shrank else min(most, max(cores + change, least))
        if cores < least:
            cores = 0
        found.append(cores)
    return np.array(found, np.int64)
