"""Where on-demand VMs are placed, compiled: VMs come and go in order of time, and each takes cores of one server.

A VM costs O(log N) for its end and, where cores are plentiful, O(d log S) for its server: servers are drawn until one has
room. After TRIES in vain one is drawn of those with room, in O(S).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.jit import kernel
from schedgap.instances.kernels.heap import heap_pop, heap_push
from schedgap.instances.kernels.random_numbers import uniform

NOWHERE = -1
TRIES = 64


class Requests(NamedTuple):
    """(N,) int64, VMs in order of their starts. batch : numbers below B."""

    start_s: IntArray
    end_s: IntArray
    cores: IntArray
    batch: IntArray


class Servers(NamedTuple):
    """weight, bound : (S,) float64, not negative, and its running sum: servers are drawn in proportion to it.

    free : (S,) int64, changed. random : (1,) uint64, the stream's state.
    """

    weight: FloatArray
    bound: FloatArray
    free: IntArray
    random: NDArray[np.uint64]


class Changes(NamedTuple):
    """(2 N,) int64, given back: cores free on a server from a second on; ends come before starts of the same second."""

    second: IntArray
    server: IntArray
    free: IntArray


class Ends(NamedTuple):
    """(N,) int64, a heap of ends. Of equal ones the VM that started first comes first."""

    second: IntArray
    vm: IntArray


@kernel
def place(
    vms: Requests, servers: Servers, choices: int, same_server: float, until_s: int, server: IntArray, changes: Changes
) -> int:
    """Place VMs in order of their starts; return how many changes there are, in order of time.

    Letters: N VMs, B batches, S servers. choices, same_server : as in `Preset`. until_s : ends after the last start up to this
    second count. server : (N,) int64, given back: where each went, or NOWHERE.
    """
    number = vms.start_s.shape[0]
    ends = Ends(np.zeros(number, np.int64), np.zeros(number, np.int64))
    last_server = np.full(vms.batch.max() + 1 if number else 0, NOWHERE)
    count, num_ends = 0, 0
    for vm in range(number + 1):
        now = vms.start_s[vm] if vm < number else until_s
        while num_ends and ends.second[0] <= now:
            gone = ends.vm[0]
            _change(servers, changes, count, ends.second[0], server[gone], vms.cores[gone])
            count += 1
            heap_pop(ends.second, ends.vm, num_ends)
            num_ends -= 1
        if vm == number:
            break
        s = last_server[vms.batch[vm]]
        if s == NOWHERE or servers.free[s] < vms.cores[vm] or uniform(servers.random) >= same_server:
            s = _drawn(servers, vms.cores[vm], choices)
        server[vm] = s
        last_server[vms.batch[vm]] = s
        if s != NOWHERE:
            _change(servers, changes, count, now, s, -vms.cores[vm])
            count += 1
            heap_push(ends.second, ends.vm, num_ends, vms.end_s[vm], vm)
            num_ends += 1
    return count


@kernel
def _change(servers: Servers, changes: Changes, at: int, second: int, s: int, more: int) -> None:
    servers.free[s] += more
    changes.second[at], changes.server[at], changes.free[at] = second, s, servers.free[s]


@kernel
def _drawn(servers: Servers, cores: int, choices: int) -> int:
    """Draw servers with room, and return the fullest, the first of equals; NOWHERE if none has room."""
    free, bound = servers.free, servers.bound
    best = NOWHERE
    for _ in range(choices):
        s = NOWHERE
        for _ in range(TRIES):
            s = np.searchsorted(bound, uniform(servers.random) * bound[-1], side="right")
            if free[s] >= cores:
                break
            s = NOWHERE
        if s == NOWHERE:
            s = _scanned(servers, cores)
        if s == NOWHERE:
            return NOWHERE
        if best == NOWHERE or free[s] < free[best]:
            best = s
    return best


@kernel
def _scanned(servers: Servers, cores: int) -> int:
    free, weight = servers.free, servers.weight
    total = 0.0
    for s in range(free.shape[0]):
        if free[s] >= cores:
            total += weight[s]
    left = uniform(servers.random) * total
    last = NOWHERE
    for s in range(free.shape[0]):
        if free[s] >= cores and weight[s] > 0:
            last = s
            left -= weight[s]
            if left < 0:
                break
    return last
