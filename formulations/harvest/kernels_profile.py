"""VMs whose free cores over time are known: where a task fits, and what is left when it is there.

A profile is moment, free, room : (V, W) int64 and count : (V,) int64. VM v has free[v, k] cores and room[v, k] MiB from
moment[v, k] until moment[v, k + 1] for k < count[v], the last of them for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np

NEVER = 1 << 62
FULL = -1


@kernel
def piece_at(moment: np.ndarray, count: np.ndarray, vm: int, time: int) -> int:
    """Return the last piece of a VM that begins no later; 0 if none does. O(log W)."""
    low, high = 0, count[vm] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if moment[vm, middle] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def first_fit(
    moment: np.ndarray,
    free: np.ndarray,
    room: np.ndarray,
    count: np.ndarray,
    vm: int,
    ready: int,
    length: int,
    cores: int,
    memory: int,
    latest: int,
) -> int:
    """Return the first start on a VM from which a task fits until its end.

    latest : later starts are not looked for; NEVER if there is none until then.
    O(log W + pieces until the task's end).
    """
    k = piece_at(moment, count, vm, ready)
    start = -1
    while k < count[vm]:
        if start >= 0 and moment[vm, k] - start >= length:
            return start
        if free[vm, k] < cores or room[vm, k] < memory:
            start = -1
            if moment[vm, k] > latest:
                return NEVER
        elif start < 0:
            start = max(ready, moment[vm, k])
            if start > latest:
                return NEVER
        k += 1
    return start if start >= 0 else NEVER


@kernel
def fits_until(
    moment: np.ndarray,
    free: np.ndarray,
    room: np.ndarray,
    count: np.ndarray,
    vm: int,
    since: int,
    cores: int,
    memory: int,
) -> int:
    """Return when a VM has too little for a task for the first time; NEVER if it always has enough. O(log W + pieces)."""
    k = piece_at(moment, count, vm, since)
    while k < count[vm]:
        if free[vm, k] < cores or room[vm, k] < memory:
            until: int = moment[vm, k]
            return until
        k += 1
    return NEVER


@kernel
def occupy(
    moment: np.ndarray,
    free: np.ndarray,
    room: np.ndarray,
    count: np.ndarray,
    vm: int,
    start: int,
    end: int,
    cores: int,
    memory: int,
) -> int:
    """Take cores and memory of a VM from start to end; return FULL if W pieces are too few, or 0. O(W)."""
    if count[vm] + 2 > moment.shape[1]:
        return FULL
    first = _split(moment, free, room, count, vm, start)
    last = _split(moment, free, room, count, vm, end)
    for k in range(first, last):
        free[vm, k] -= cores
        room[vm, k] -= memory
    _joined(moment, free, room, count, vm, last)
    _joined(moment, free, room, count, vm, first)
    return 0


@kernel
def _split(moment: np.ndarray, free: np.ndarray, room: np.ndarray, count: np.ndarray, vm: int, time: int) -> int:
    """Return the piece that begins at a moment, made if there was none."""
    k = piece_at(moment, count, vm, time)
    if moment[vm, k] == time:
        return k
    for i in range(count[vm], k + 1, -1):
        moment[vm, i] = moment[vm, i - 1]
        free[vm, i] = free[vm, i - 1]
        room[vm, i] = room[vm, i - 1]
    moment[vm, k + 1] = time
    free[vm, k + 1] = free[vm, k]
    room[vm, k + 1] = room[vm, k]
    count[vm] += 1
    return k + 1


@kernel
def _joined(moment: np.ndarray, free: np.ndarray, room: np.ndarray, count: np.ndarray, vm: int, k: int) -> None:
    """Join a piece with the one before it if both have the same left."""
    if k == 0 or free[vm, k] != free[vm, k - 1] or room[vm, k] != room[vm, k - 1]:
        return
    for i in range(k + 1, count[vm]):
        moment[vm, i - 1] = moment[vm, i]
        free[vm, i - 1] = free[vm, i]
        room[vm, i - 1] = room[vm, i]
    count[vm] -= 1
