"""Where on-demand VMs are placed, compiled: VMs come and go in order of time, and each takes cores of one server.

A VM costs O(log N) for its end and, where cores are plentiful, O(d log S) for its server: servers are drawn until one has
room. After TRIES in vain one is drawn of those with room, in O(S).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

NOWHERE = -1
TRIES = 64


@kernel
def place(
    start_s: IntArray,
    end_s: IntArray,
    cores: IntArray,
    batch: IntArray,
    last_server: IntArray,
    weight: FloatArray,
    free: IntArray,
    choices: int,
    same_server: float,
    random: IntArray,
    until_s: int,
    heap_s: IntArray,
    heap_vm: IntArray,
    server: IntArray,
    event_s: IntArray,
    event_server: IntArray,
    event_free: IntArray,
) -> int:
    """Place VMs in order of their starts; return how many events there are, in order of time.

    Letters: N VMs, B batches, S servers.

    start_s, end_s, cores, batch : (N,) int64. last_server : (B,) int64, NOWHERE, where a batch's last VM went.
    weight : (S,) float64, not negative: servers are drawn in proportion to it. random : (1,) uint64, the stream's state.
    until_s : ends after the last start up to this second count.
    free : (S,) int64, changed in place. heap_s, heap_vm : (N,) work. server : (N,) int64: where each went, or NOWHERE.
    event_s, event_server, event_free : (2 N,) int64, given back: cores free on a server from that second on; ends come
    before starts of the same second.
    """
    bound = np.cumsum(weight)
    ends = 0
    events = 0
    vms = start_s.shape[0]
    for vm in range(vms + 1):
        now = start_s[vm] if vm < vms else until_s
        while ends and heap_s[0] <= now:
            gone = heap_vm[0]
            events = _note(heap_s[0], server[gone], cores[gone], free, events, event_s, event_server, event_free)
            ends = _pop(heap_s, heap_vm, ends)
        if vm == vms:
            break
        s = last_server[batch[vm]]
        if s == NOWHERE or free[s] < cores[vm] or _uniform(random) >= same_server:
            s = _drawn(bound, weight, free, cores[vm], choices, random)
        server[vm] = s
        last_server[batch[vm]] = s
        if s != NOWHERE:
            events = _note(start_s[vm], s, -cores[vm], free, events, event_s, event_server, event_free)
            ends = _push(heap_s, heap_vm, ends, end_s[vm], vm)
    return events


@kernel
def _note(
    now: int,
    s: int,
    more: int,
    free: IntArray,
    events: int,
    event_s: IntArray,
    event_server: IntArray,
    event_free: IntArray,
) -> int:
    free[s] += more
    event_s[events], event_server[events], event_free[events] = now, s, free[s]
    return events + 1


@kernel
def _drawn(bound: FloatArray, weight: FloatArray, free: IntArray, cores: int, choices: int, random: IntArray) -> int:
    """Draw servers with room, and return the fullest, the first of equals; NOWHERE if none has room."""
    best = NOWHERE
    for _ in range(choices):
        s = NOWHERE
        for _ in range(TRIES):
            s = np.searchsorted(bound, _uniform(random) * bound[-1], side="right")
            if free[s] >= cores:
                break
            s = NOWHERE
        if s == NOWHERE:
            s = _scanned(weight, free, cores, random)
        if s == NOWHERE:
            return NOWHERE
        if best == NOWHERE or free[s] < free[best]:
            best = s
    return best


@kernel
def _scanned(weight: FloatArray, free: IntArray, cores: int, random: IntArray) -> int:
    total = 0.0
    for s in range(free.shape[0]):
        if free[s] >= cores:
            total += weight[s]
    left = _uniform(random) * total
    last = NOWHERE
    for s in range(free.shape[0]):
        if free[s] >= cores and weight[s] > 0:
            last = s
            left -= weight[s]
            if left < 0:
                break
    return last


@kernel
def _uniform(random: IntArray) -> float:
    """Draw a number in [0, 1) (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    x = random[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@kernel
def _push(heap_s: IntArray, heap_vm: IntArray, ends: int, end: int, vm: int) -> int:
    """Add an end; of equal ones the VM that started first comes first."""
    i = ends
    while i:
        up = (i - 1) // 2
        if heap_s[up] < end or (heap_s[up] == end and heap_vm[up] < vm):
            break
        heap_s[i], heap_vm[i] = heap_s[up], heap_vm[up]
        i = up
    heap_s[i], heap_vm[i] = end, vm
    return ends + 1


@kernel
def _pop(heap_s: IntArray, heap_vm: IntArray, ends: int) -> int:
    ends -= 1
    end, vm = heap_s[ends], heap_vm[ends]
    i = 0
    while 2 * i + 1 < ends:
        low = 2 * i + 1
        if low + 1 < ends and (heap_s[low + 1], heap_vm[low + 1]) < (heap_s[low], heap_vm[low]):
            low += 1
        if (end, vm) <= (heap_s[low], heap_vm[low]):
            break
        heap_s[i], heap_vm[i] = heap_s[low], heap_vm[low]
        i = low
    heap_s[i], heap_vm[i] = end, vm
    return ends
