"""The loop behind the demand curve: work flows into machines that serve it late by a limited time, or overflows."""

from __future__ import annotations

import numpy as np

from schedgap.instances.jit import kernel


@kernel
def overflow(
    moments: np.ndarray, demand: np.ndarray, served: int, longest: int, congested: np.ndarray
) -> tuple[int, int]:
    """Return the work that cannot be served within `longest`, and the time for which more machines would serve more.

    moments : (G + 1,) int64, ascending. demand : (G,) int64, cores that the jobs ask for from moments[k] on.
    served : cores of all machines. congested : (G,) int64, written: for how much of each interval machines are short.

    A queue of unit service: what waits is at most served x longest, the rest overflows, and taking what fits is
    optimal since work is all alike. Short of machines are the times from when the queue last grew from nothing to the
    last overflow after that, plus `longest`. Such times end in order, so each interval is written once, and once more
    where they end within it: O(G).

    served x longest, and the work of all jobs together, must be below 2^62.
    """
    room = served * longest
    queue = 0
    lost = 0
    begins = 0
    ends = -1
    written = 0
    congested[:] = 0
    for k in range(demand.shape[0]):
        if queue == 0:
            begins = k
            ends = -1
        length = moments[k + 1] - moments[k]
        queue += (demand[k] - served) * length
        if queue > room:
            lost += queue - room
            queue = room
            ends = moments[k + 1] + longest
        if queue <= 0:
            queue = 0
        if ends >= 0 and (queue == 0 or k + 1 == demand.shape[0]):
            written = max(written, begins)
            while written < demand.shape[0] and moments[written + 1] <= ends:
                congested[written] = moments[written + 1] - moments[written]
                written += 1
            if written < demand.shape[0] and moments[written] < ends:
                congested[written] = ends - moments[written]
    total = 0
    for k in range(demand.shape[0]):
        total += congested[k]
    return lost, total
