"""Erlang's loss and delay formulas by recursion on the loss itself, which neither overflows nor needs factorials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import MethodError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from schedgap.instances.arrays import FloatArray


def erlang_b(servers: ArrayLike, load: ArrayLike) -> FloatArray:
    """Return the share of arrivals that find all of `servers` busy in M/G/s/s (Waiting Game, below Equation 3).

    servers : whole numbers, not negative. load : arrival rate x mean service time, not negative. They broadcast.
    B(0) = 1, B(k) = a B(k - 1) / (k + a B(k - 1)): all terms are positive, so errors stay relative.
    O(largest servers x distinct loads).

    Raises
    ------
    MethodError
        for a negative or fractional number of servers or a negative load.
    """
    counts, loads = np.broadcast_arrays(np.asarray(servers, np.float64), np.asarray(load, np.float64))
    if (counts < 0).any() or (counts != np.rint(counts)).any() or not np.isfinite(counts).all():
        raise MethodError("servers must be whole numbers that are not negative.")
    if not (np.isfinite(loads) & (loads >= 0)).all():
        raise MethodError("loads must be finite and not negative.")
    distinct, which = np.unique(loads, return_inverse=True)
    which = which.ravel()
    order = np.argsort(counts, axis=None, kind="stable")
    first = np.searchsorted(counts.ravel()[order], np.arange(counts.max(initial=0) + 2))
    loss, blocked = np.empty(counts.size), np.ones(distinct.shape[0])
    for k in range(first.shape[0] - 1):
        wanted = order[first[k] : first[k + 1]]
        loss[wanted] = blocked[which[wanted]]
        blocked = distinct * blocked
        blocked /= k + 1 + blocked
    return loss.reshape(counts.shape)


def erlang_c(servers: ArrayLike, load: ArrayLike) -> FloatArray:
    """Return the share of arrivals that wait in M/M/s (Waiting Game, below Equation 1); 1 where servers <= load.

    C = B / (1 - (a / s) (1 - B)), from the loss B.
    """
    counts, loads = np.broadcast_arrays(np.asarray(servers, np.float64), np.asarray(load, np.float64))
    loss = erlang_b(counts, loads)
    stable = counts > loads
    busy = np.divide(loads, counts, out=np.ones(counts.shape), where=stable)
    delayed: FloatArray = np.where(stable, loss / np.where(stable, 1 - busy * (1 - loss), 1.0), 1.0)
    return delayed
