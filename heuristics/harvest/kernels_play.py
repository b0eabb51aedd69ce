"""Playing a rule: time passes to the next moment, the pool is looked after, and the rule places what it will.

Each rule's pass is a kernel of its own, that looks at nothing but the present and what was logged. Rules with arrays of their
own have a loop like `play` of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.heuristics.harvest.kernels_acquire import on_epoch, on_eviction
from schedgap.heuristics.harvest.kernels_replication import replication_pass
from schedgap.instances.harvest.kernels_events import HAPPENED, advance
from schedgap.instances.harvest.kernels_plain import plain_pass
from schedgap.instances.harvest.kernels_state import EPOCH, NEVER, NOW, WAITING, State
from schedgap.instances.jit import lean_kernel

if TYPE_CHECKING:
    from schedgap.heuristics.harvest.kernels_acquire import Acquire
    from schedgap.instances.arrays import FloatArray

CAPACITY, REPLICATION = 0, 1

# Entries of `parameter` that all rules have: after how many ms of work tasks take checkpoints that cost them nothing, and
# those that cost them time; 0 for never. A rule's own entries are from OWN on.
FREE_EVERY, COSTLY_EVERY, OWN = 0, 1, 2


@lean_kernel
def play(s: State, rule: int, acquire: Acquire, parameter: FloatArray) -> int:
    """Play a rule until all tasks are complete or nothing happens any more; return the status of `advance`.

    parameter : (P,) float64, as above.
    """
    free_every, costly_every = int(parameter[FREE_EVERY]), int(parameter[COSTLY_EVERY])
    while True:
        status = next_moment(s, acquire)
        if status != HAPPENED:
            return status
        if s.clock[WAITING] == 0:
            continue
        if rule == CAPACITY:
            plain_pass(s, free_every, costly_every)
        elif rule == REPLICATION:
            replication_pass(s, free_every)


@lean_kernel
def next_moment(s: State, acquire: Acquire) -> int:
    """Go to the next moment, look after the pool if it is not fixed, and return the status of `advance`."""
    status = advance(s)
    if status == HAPPENED and s.clock[EPOCH] != NEVER:
        on_eviction(s, acquire)
        if s.clock[EPOCH] == s.clock[NOW]:
            on_epoch(s, acquire)
    return status
