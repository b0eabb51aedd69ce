"""Harvest VMs drawn one by one, without the data centre that makes them grow and shrink: quick, for tests and sweeps.

Times between changes are a mixture fitted to what section 2.1 of the SlackSched paper says of cluster C2 (16 % within a
minute, 40 % within ten, 84 % within an hour): a short part, exponential, and a long one with a Lomax tail.

Fitted to the 259,159 VMs of Azure's public data set V1 of 2017 (Cortez et al., SOSP 2017; CC-BY 4.0) of which lifetimes
are known, over three and a half days: shares of batch sizes, of cores and of lifetimes by batch size, and how often the
next VM of a batch is like the one before. VMs that outlived the data are taken to live on as Pareto's law of shape 1 has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, lock, locked_bools, locked_ints
from schedgap.instances.draws import drawn
from schedgap.instances.method import derived_seed
from schedgap.instances.units import SECOND_MS

# So many of 10,000 batches have more VMs than the entry before, and up to so many.
BATCH_VMS = (1, 2, 3, 4, 5, 7, 10, 15, 25, 50, 100, 200, 400)
BATCH_SHARE = (5792, 1850, 622, 383, 226, 249, 237, 207, 152, 140, 63, 43, 36)
# Batches of one VM, of 2 to 5, of 6 to 25 and of more differ.
CLASS_VMS = (2, 6, 26)
VM_CORES = (1, 2, 4, 8)
CORES_SHARE = ((699, 200, 64, 37), (589, 249, 91, 71), (301, 401, 140, 158), (729, 82, 95, 94))
# Chances that the next VM of a batch takes its cores, and its lifetime, from the one before instead of drawing anew.
SAME_CORES, SAME_LIFETIME = (0.0, 0.84, 0.79, 0.955), (0.0, 0.61, 0.58, 0.75)
LIFETIME_MIN = (0, 5, 10, 15, 20, 25, 30, 40, 50, 60, 120, 180, 300, 480, 720, 1440, 2880, 5760, 14400, 28800, 57600)
# Of 1,000 VMs, by class of the batch, then by cores: so many live between two entries of LIFETIME_MIN.
LIFETIME_SHARE = (
    (
        (106, 71, 46, 37, 29, 20, 32, 25, 19, 87, 48, 82, 86, 99, 127, 44, 21, 12, 5, 5),
        (41, 60, 86, 61, 68, 45, 61, 35, 24, 91, 46, 65, 67, 61, 86, 42, 30, 17, 6, 8),
        (28, 25, 27, 70, 127, 98, 65, 44, 22, 86, 53, 63, 31, 28, 71, 64, 47, 32, 11, 9),
        (111, 74, 80, 46, 60, 67, 89, 30, 18, 106, 29, 39, 16, 24, 76, 39, 40, 34, 16, 5),
    ),
    (
        (118, 69, 46, 36, 26, 17, 27, 18, 19, 75, 37, 78, 102, 119, 138, 46, 14, 8, 3, 3),
        (61, 89, 87, 71, 77, 64, 65, 29, 26, 81, 33, 48, 54, 65, 72, 32, 20, 15, 5, 5),
        (22, 33, 51, 63, 61, 43, 71, 109, 65, 115, 35, 48, 29, 32, 96, 58, 30, 22, 9, 9),
        (90, 85, 93, 49, 75, 55, 78, 32, 33, 135, 43, 28, 23, 18, 94, 25, 21, 14, 5, 5),
    ),
    (
        (177, 84, 80, 92, 95, 42, 48, 23, 11, 33, 24, 42, 62, 52, 81, 30, 14, 6, 2, 3),
        (267, 136, 102, 92, 69, 38, 35, 38, 16, 39, 14, 17, 25, 26, 31, 17, 15, 14, 5, 5),
        (57, 39, 84, 152, 111, 38, 36, 40, 28, 115, 43, 30, 28, 26, 50, 42, 38, 24, 10, 11),
        (99, 90, 76, 68, 58, 58, 58, 35, 22, 181, 85, 60, 13, 18, 30, 19, 15, 10, 3, 2),
    ),
    (
        (98, 153, 162, 180, 126, 61, 83, 40, 20, 30, 13, 9, 11, 3, 4, 3, 2, 1, 0, 0),
        (211, 88, 72, 62, 44, 29, 42, 44, 8, 172, 48, 32, 15, 5, 44, 31, 26, 15, 6, 5),
        (42, 216, 184, 41, 72, 55, 80, 45, 45, 80, 12, 15, 16, 7, 34, 16, 16, 13, 4, 5),
        (104, 80, 64, 33, 28, 24, 30, 17, 7, 360, 122, 70, 17, 7, 22, 6, 4, 2, 1, 1),
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Batches of VMs, in any order. Letters: B batches, N VMs of all batches together.

    first_vm : (B + 1,) int64; batch b has the VMs first_vm[b] to first_vm[b + 1] - 1, at least one.
    cores : (N,) int64, positive. shortest_s, longest_s : (N,) int64: the VM lives longer than the one, up to the other.
    is_censored : (N,) bool: that long it was seen, and it lived on.
    """

    first_vm: IntArray
    cores: IntArray
    shortest_s: IntArray
    longest_s: IntArray
    is_censored: BoolArray

    def __post_init__(self) -> None:
        lock(self, ("first_vm", "cores", "shortest_s", "longest_s"))
        object.__setattr__(self, "is_censored", locked_bools(self.is_censored))

    @property
    def num_batches(self) -> int:
        """Number of batches."""
        return int(self.first_vm.shape[0]) - 1


def drawn_batches(rng: np.random.Generator, number: int, most_vms: int) -> Batches:
    """Draw batches as Azure's were in 2017, of which those of more than `most_vms` VMs are cut to that many."""
    up_to = locked_ints(drawn(rng, np.arange(len(BATCH_VMS)), BATCH_SHARE, number))
    above = np.concatenate(([0], BATCH_VMS))[up_to]
    size = above + 1 + (rng.random(number) * (np.array(BATCH_VMS)[up_to] - above)).astype(np.int64)
    kind = np.searchsorted(CLASS_VMS, size, side="right")
    first_vm = np.concatenate(([0], np.cumsum(np.minimum(size, most_vms))))
    kind = np.repeat(kind, np.diff(first_vm))
    total = int(first_vm[-1])

    cores = _rows(np.cumsum(CORES_SHARE, axis=1)[kind], rng.random(total))
    cores = cores[_last_drawn(rng.random(total) >= np.array(SAME_CORES)[kind], first_vm)]
    span = _rows(np.cumsum(LIFETIME_SHARE, axis=2)[kind, cores], rng.random(total))
    span = span[_last_drawn(rng.random(total) >= np.array(SAME_LIFETIME)[kind], first_vm)]
    edges_s = 60 * np.array(LIFETIME_MIN)
    return Batches(first_vm, np.array(VM_CORES)[cores], edges_s[span], edges_s[span + 1], np.zeros(total, np.bool_))


def bootstrapped(rng: np.random.Generator, trace: Batches, number: int, most_vms: int) -> Batches:
    """Draw whole batches of a trace, of which those of more than `most_vms` VMs are cut to that many."""
    batch = (rng.random(number) * trace.num_batches).astype(np.int64)
    size = np.minimum(np.diff(trace.first_vm)[batch], most_vms)
    first_vm = np.concatenate(([0], np.cumsum(size)))
    vm = np.arange(first_vm[-1]) + np.repeat(trace.first_vm[batch] - first_vm[:-1], size)
    return Batches(first_vm, trace.cores[vm], trace.shortest_s[vm], trace.longest_s[vm], trace.is_censored[vm])


def _rows(bounds: IntArray, uniform: FloatArray) -> IntArray:
    """Return a draw of each row of cumulative shares, (N, K)."""
    found: IntArray = (bounds[:, :-1] <= (uniform * bounds[:, -1])[:, np.newaxis]).sum(axis=1)
    return found


def _last_drawn(is_new: BoolArray, first_vm: IntArray) -> IntArray:
    """Return the VM itself where it draws anew, else the last before it that does; the first of a batch always does."""
    own = np.arange(is_new.shape[0])
    is_new[first_vm[:-1]] = True
    return np.maximum.accumulate(np.where(is_new, own, 0))


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
