"""All VMs of a pool as one machine that does as much work as they could together, if tasks could be cut up.

Exact in 64 bits up to 2^61 units of cores x ms until all tasks could have run one after the other; beyond, there is no machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.kernels_work import leased_levels, most_used

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance

# Up to so many cores, it is worth knowing which sums of sizes there are.
MAX_SUMS = 1_000_000
# What a machine does, and what it has to do, in units and milliseconds.
MAX_WORK = 2**61


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """What can be done by when. Letters: P pieces of time.

    unit : cores, the greatest common divisor of all tasks'. moment : (P,) int64, ms, ascending from 0. level : (P,) int64,
    units that can be used from then on, the last for ever. before : (P,) int64, units x ms that can be used until then.
    """

    unit: int
    moment: IntArray
    level: IntArray
    before: IntArray

    def done_by(self, time: IntArray) -> IntArray:
        """Return what can be done until some moments, (N,) int64 both."""
        k = np.searchsorted(self.moment, time, side="right") - 1
        return self.before[k] + self.level[k] * (time - self.moment[k])

    def done_at(self, work: int) -> int:
        """Return the first moment by which so much can be done; work > 0."""
        k = int(np.searchsorted(self.before, work, side="left")) - 1
        return int(self.moment[k]) - (int(self.before[k]) - work) // int(self.level[k])


def usable_units(instance: HarvestInstance, cores: IntArray) -> IntArray:
    """Return (N,) int64, of so many cores of a VM, the most that tasks can use at once, in units. cores : (N,) int64."""
    unit = int(np.gcd.reduce(instance.cores))
    units = cores // unit
    most = int(units.max(initial=0))
    if most > MAX_SUMS:
        return np.where(cores >= instance.cores.min(), units, 0)
    usable = np.empty(most + 1, np.int64)
    most_used(np.unique(instance.cores // unit), usable)
    return usable[units]


def machine_of(instance: HarvestInstance) -> Machine | None:
    """Return the machine, or None if its work or that of all tasks is more than integers hold. O(E (log E + sizes) + T)."""
    if float(instance.cores[instance.task2job()].astype(np.float64) @ instance.runtime_ms) > MAX_WORK:
        return None
    units = usable_units(instance, instance.event_cores)
    units[instance.memory_mib[instance.event2vm()] < instance.task_memory_mib.min()] = 0
    before = np.concatenate(([0], units[:-1]))
    before[instance.first_event[:-1]] = 0
    order = np.argsort(instance.event_ms, kind="stable")
    if instance.is_fixed:
        level = np.cumsum((units - before)[order])
    else:
        amounts = np.unique(np.concatenate(([0], units)))
        level = np.empty_like(units)
        index = (np.searchsorted(amounts, before[order]), np.searchsorted(amounts, units[order]))
        leased_levels(*index, amounts, instance.max_leases, level)
    moment = instance.event_ms[order]
    last = np.flatnonzero(np.append(np.diff(moment) > 0, True))
    moment, level = np.concatenate(([-1], moment[last])), np.concatenate(([0], level[last]))
    lengths = np.diff(moment)
    # No task alone needs more than the machine has in the end, so nobody asks for later moments than this.
    latest = max(int(moment[-1]), int(instance.arrival_ms[-1])) + sum(instance.runtime_ms.tolist())
    if float(level[:-1].astype(np.float64) @ lengths) + float(level[-1]) * (latest - int(moment[-1])) > MAX_WORK:
        return None
    sums = np.concatenate(([0], np.cumsum(level[:-1] * lengths)))
    return Machine(int(np.gcd.reduce(instance.cores)), moment, level, sums)
