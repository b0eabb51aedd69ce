"""Leases of harvest VMs, and the provider that chooses which VM a request gets (SlackSched, section 4.3), compiled.

The provider's random choices are hashes of all that VMs have done until now, leased or not, of the moment, of how many leases
have begun at it, and of the VM; of nothing that comes. So the same request at the same moment gets the same VM in every
experiment on the same VMs, whatever else was drawn, unless that VM is taken.

The tasks that wait, in order of job and task: a tree of bits, 64 to a word.

The lowest level has a bit for each task; a bit of a level above says whether a word below has any. The levels lie one after
another in `State.waiting`, the lowest first. Each kernel is O(log64 T).
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.harvest.simulator.state import (
    BALANCING,
    DRAINING,
    GREW,
    LEASED,
    NOBODY,
    NOT_LEASED,
    PACKING,
    State,
)
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import mixed
from schedgap.instances.units import NEVER


@inner_kernel
def note(s: State, vm: int) -> None:
    """Note that a VM, or what runs on it, has changed."""
    s.noted[vm >> 6] |= np.uint64(1) << np.uint64(vm & 63)


@lean_kernel
def begin_lease(s: State, vm: int) -> None:
    """Lease a VM that is up and not leased, now. There must be room for a lease more."""
    note(s, vm)
    lease = s.clock[0].leases
    s.clock[0].leases = lease + 1
    s.leases[lease].vm, s.leases[lease].start, s.leases[lease].end = vm, s.clock[0].now, NEVER
    s.vms[vm].current_lease, s.vms[vm].lease = lease, LEASED
    s.vms[vm].cores, s.vms[vm].changed, s.vms[vm].direction = s.vms[vm].up, s.clock[0].now, GREW


@lean_kernel
def end_lease(s: State, vm: int) -> None:
    """End the lease of a VM on which nothing runs, now."""
    note(s, vm)
    s.leases[s.vms[vm].current_lease].end = s.clock[0].now
    s.vms[vm].current_lease, s.vms[vm].lease, s.vms[vm].cores = NOBODY, NOT_LEASED, 0


@lean_kernel
def decommission(s: State, vm: int) -> None:
    """Let a leased VM get no new tasks; without any running it is released at once, else when the last one ends."""
    note(s, vm)
    if s.vms[vm].oldest == NOBODY:
        end_lease(s, vm)
    else:
        s.vms[vm].lease = DRAINING


@lean_kernel
def num_leased(s: State) -> int:
    """Return how many VMs are leased, draining ones too. O(V)."""
    count = 0
    for vm in range(s.vms.shape[0]):
        count += s.vms[vm].current_lease != NOBODY
    return count


@lean_kernel
def request(s: State, count: int) -> int:
    """Request VMs of the provider, and return how many it gave: fewer if it has no more, or at `max_leases` leases.

    Each is the VM that the allocation prefers of those that are up, not leased, and not on a buffer server (only `PACKING` places
    VMs there). The VMs differ in minimum size, and a server has one VM, so enough cores for it is being up. There must be room
    for as many leases more as `count` and `max_leases` allow. O(V) a VM.
    """
    most = min(count, s.rules.max_leases - num_leased(s))
    for given in range(most):
        vm = _offer(s)
        if vm == NOBODY:
            return given
        begin_lease(s, vm)
    return int(max(most, 0))


@inner_kernel
def _offer(s: State) -> int:
    """Return the VM that the next request gets, NOBODY if there is none."""
    before = s.clock[0].leases
    while before > 0 and s.leases[before - 1].start == s.clock[0].now:
        before -= 1
    nth = s.clock[0].leases - before
    key = mixed(mixed(s.clock[0].past ^ np.uint64(s.clock[0].now)) ^ np.uint64(nth))
    best, best_rank, best_hash = NOBODY, 0, np.uint64(0)
    for vm in range(s.vms.shape[0]):
        if s.vms[vm].lease != NOT_LEASED or s.vms[vm].up == 0 or s.vms[vm].up < s.vms[vm].min_cores:
            continue
        if s.vms[vm].buffer and s.rules.allocation != PACKING:
            continue
        rank = 0
        if s.rules.allocation == BALANCING:
            rank = s.vms[vm].up
        elif s.rules.allocation == PACKING:
            rank = -s.vms[vm].up
        # Ties are broken at random too: the order of the VMs may mean something.
        drawn = mixed(key ^ np.uint64(vm))
        if best == NOBODY or rank > best_rank or (rank == best_rank and drawn > best_hash):
            best, best_rank, best_hash = vm, rank, drawn
    return best


def num_words(num_tasks: int) -> int:
    """Return the length of `State.waiting`."""
    total, level = 0, num_tasks
    while True:
        level = (level + 63) // 64
        total += level
        if level <= 1:
            return total


@inner_kernel
def add_waiting(s: State, task: int) -> None:
    """Let a task wait that does not."""
    s.clock[0].waiting += 1
    words, start, at = (s.tasks.shape[0] + 63) >> 6, 0, task
    while True:
        word = s.waiting[start + (at >> 6)]
        s.waiting[start + (at >> 6)] = word | (np.uint64(1) << np.uint64(at & 63))
        if word != np.uint64(0) or words == 1:
            return
        start += words
        words, at = (words + 63) >> 6, at >> 6


@inner_kernel
def remove_waiting(s: State, task: int) -> None:
    """Let a waiting task wait no more."""
    s.clock[0].waiting -= 1
    words, start, at = (s.tasks.shape[0] + 63) >> 6, 0, task
    while True:
        word = s.waiting[start + (at >> 6)] & ~(np.uint64(1) << np.uint64(at & 63))
        s.waiting[start + (at >> 6)] = word
        if word != np.uint64(0) or words == 1:
            return
        start += words
        words, at = (words + 63) >> 6, at >> 6


@lean_kernel
def next_waiting(s: State, task: int) -> int:
    """Return the first waiting task from `task` on, itself included; NOBODY if there is none."""
    words, start, at, level = (s.tasks.shape[0] + 63) >> 6, 0, task, 0
    while True:
        if at >> 6 >= words:
            return NOBODY
        # A shift by 64 would be none: at & 63 is at most 63.
        word = s.waiting[start + (at >> 6)] >> np.uint64(at & 63)
        if word != np.uint64(0):
            at += _lowest_bit(word)
            break
        if words == 1:
            return NOBODY
        start += words
        words, at, level = (words + 63) >> 6, (at >> 6) + 1, level + 1
    while level > 0:
        level -= 1
        words, start = (s.tasks.shape[0] + 63) >> 6, 0
        for _ in range(level):
            start += words
            words = (words + 63) >> 6
        at = (at << 6) + _lowest_bit(s.waiting[start + at])
    return at


@inner_kernel
def _lowest_bit(word: np.uint64) -> int:
    """Return the place of the lowest bit of a word that has one."""
    place = 0
    for half in (32, 16, 8, 4, 2, 1):
        if word & ((np.uint64(1) << np.uint64(half)) - np.uint64(1)) == np.uint64(0):
            word = word >> np.uint64(half)
            place += half
    return place
