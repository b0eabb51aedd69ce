"""VMs whose free cores over time are known: where a task fits, and what is left when it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schedgap.instances.jit import kernel
from schedgap.instances.units import NEVER

if TYPE_CHECKING:
    import numpy as np

FULL = -1


class Profile(NamedTuple):
    """moment, free, room : (V, W) int64. pieces : (V,) int64.

    VM v has free[v, k] cores and room[v, k] MiB from moment[v, k] until moment[v, k + 1] for k < pieces[v], the last of them for
    ever.
    """

    moment: np.ndarray
    free: np.ndarray
    room: np.ndarray
    pieces: np.ndarray


@kernel
def piece_at(p: Profile, vm: int, time: int) -> int:
    """Return the last piece of a VM that begins no later; 0 if none does. O(log W)."""
    low, high = 0, p.pieces[vm] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if p.moment[vm, middle] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def first_fit(
    p: Profile,
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
    k = piece_at(p, vm, ready)
    start = -1
    while k < p.pieces[vm]:
        if start >= 0 and p.moment[vm, k] - start >= length:
            return start
        if p.free[vm, k] < cores or p.room[vm, k] < memory:
            start = -1
            if p.moment[vm, k] > latest:
                return NEVER
        elif start < 0:
            start = max(ready, p.moment[vm, k])
            if start > latest:
                return NEVER
        k += 1
    return start if start >= 0 else NEVER


@kernel
def fits_until(
    p: Profile,
    vm: int,
    since: int,
    cores: int,
    memory: int,
) -> int:
    """Return when a VM has too little for a task for the first time; NEVER if it always has enough. O(log W + pieces)."""
    k = piece_at(p, vm, since)
    while k < p.pieces[vm]:
        if p.free[vm, k] < cores or p.room[vm, k] < memory:
            until: int = p.moment[vm, k]
            return until
        k += 1
    return NEVER


@kernel
def occupy(
    p: Profile,
    vm: int,
    start: int,
    end: int,
    cores: int,
    memory: int,
) -> int:
    """Take cores and memory of a VM from start to end; return FULL if W pieces are too few, or 0. O(W)."""
    if p.pieces[vm] + 2 > p.moment.shape[1]:
        return FULL
    first = _split(p, vm, start)
    last = _split(p, vm, end)
    for k in range(first, last):
        p.free[vm, k] -= cores
        p.room[vm, k] -= memory
    _joined(p, vm, last)
    _joined(p, vm, first)
    return 0


@kernel
def _split(p: Profile, vm: int, time: int) -> int:
    """Return the piece that begins at a moment, made if there was none."""
    k = piece_at(p, vm, time)
    if p.moment[vm, k] == time:
        return k
    for i in range(p.pieces[vm], k + 1, -1):
        p.moment[vm, i] = p.moment[vm, i - 1]
        p.free[vm, i] = p.free[vm, i - 1]
        p.room[vm, i] = p.room[vm, i - 1]
    p.moment[vm, k + 1] = time
    p.free[vm, k + 1] = p.free[vm, k]
    p.room[vm, k + 1] = p.room[vm, k]
    p.pieces[vm] += 1
    return k + 1


@kernel
def _joined(p: Profile, vm: int, k: int) -> None:
    """Join a piece with the one before it if both have the same left."""
    if k == 0 or p.free[vm, k] != p.free[vm, k - 1] or p.room[vm, k] != p.room[vm, k - 1]:
        return
    for i in range(k + 1, p.pieces[vm]):
        p.moment[vm, i - 1] = p.moment[vm, i]
        p.free[vm, i - 1] = p.free[vm, i]
        p.room[vm, i - 1] = p.room[vm, i]
    p.pieces[vm] -= 1
