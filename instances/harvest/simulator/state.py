"""What the rules of a pool of harvest VMs work on: named tuples of arrays, by concern.

Letters: V VMs, E events, J jobs, T tasks; N runs and L leases that there is room for. All int64 unless it says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from schedgap.instances.arrays import IntArray

    WordArray = NDArray[np.uint64]

NOBODY = -1

# Values of `Rules.allocation`, as the model's.
FIXED, RANDOM, BALANCING, PACKING = 0, 1, 2, 3
# Values of `Vms.lease`. A draining VM gets no new tasks, and is released when its last one ends.
NOT_LEASED, LEASED, DRAINING = 0, 1, 2
# Values of `Vms.direction`, `Log.before` and `Log.after`. A VM that has just come to be has grown.
GREW, SHRANK = 0, 1
# Values of `Tasks.stage`.
TO_ARRIVE, WAITS, RUNS_NOW, IS_DONE = 0, 1, 2, 3


class Rules(NamedTuple):
    """Rules of the place. A policy starts at most `copies` runs of a task in a pass; no task needs less than the least."""

    newest_first: int
    allocation: int
    max_leases: int
    epoch_ms: int
    copies: int
    least_cores: int
    least_memory: int


class Clock:
    """Fields of `State.clock`: the moment, and how far everything is.

    next_event, next_job : that are to come. runs : that have begun, of which `running` have not ended; `heap` entries are in the
    heap of ends. waiting, done : tasks that wait, and that are complete. changes : in the log. leases : that have begun.
    epoch : the next moment at which the pool is looked at, or the present one; NEVER if it is fixed. wake : if later than now,
    when the policy wants to be asked though nothing else happens. last_event : when something else happened last.
    """

    now: int
    next_event: int
    next_job: int
    runs: int
    running: int
    heap: int
    waiting: int
    done: int
    changes: int
    leases: int
    epoch: int
    wake: int
    last_event: int


class Events(NamedTuple):
    """(E,), of all VMs in order of time."""

    ms: IntArray
    cores: IntArray
    vm: IntArray


class Vms(NamedTuple):
    """(V,), what is given and what changes.

    up : cores of the VM that the provider would give there. size : of the VM that is leased, 0 if none is. used, used_memory :
    by runs. changed : the moment of the last change of `size`. current_lease : or NOBODY. oldest, newest : first and last of
    the runs on the VM, in order of their start.
    """

    min_cores: IntArray
    memory: IntArray
    buffer: IntArray
    up: IntArray
    size: IntArray
    used: IntArray
    used_memory: IntArray
    changed: IntArray
    direction: IntArray
    lease: IntArray
    current_lease: IntArray
    oldest: IntArray
    newest: IntArray


class Jobs(NamedTuple):
    """(J,), and first_task : (J + 1,), as in an instance."""

    arrival: IntArray
    cores: IntArray
    memory: IntArray
    checkpoint: IntArray
    restore: IntArray
    first_task: IntArray


class Tasks(NamedTuple):
    """(T,). live : runs that have not ended. saved : ms of work that need not be done again. kills : runs that a VM killed.

    last_run : the one placed last, or NOBODY.
    """

    job: IntArray
    runtime: IntArray
    estimate: IntArray
    stage: IntArray
    live: IntArray
    saved: IntArray
    kills: IntArray
    last_run: IntArray


class Runs(NamedTuple):
    """(N,), in order of their start; task, vm, start, end and every as in a schedule.

    end : when it would complete until it has ended. guess : when it would complete if the estimate were true. previous : the
    run of the same task that was placed before it, or NOBODY. is_live : 1 until the run has ended. before, after : neighbours
    on the VM. heap, heap_ms : runs and when they would complete, the first on top; runs that ended otherwise stay until they
    come up.
    """

    task: IntArray
    vm: IntArray
    start: IntArray
    end: IntArray
    every: IntArray
    guess: IntArray
    previous: IntArray
    is_live: IntArray
    before: IntArray
    after: IntArray
    heap: IntArray
    heap_ms: IntArray


class Log(NamedTuple):
    """(E,), changes of leased VMs that were seen.

    When, where, ms since the change before, its direction, the direction of this one, by how many cores.
    """

    ms: IntArray
    vm: IntArray
    gap: IntArray
    before: IntArray
    after: IntArray
    cores: IntArray


class Leases(NamedTuple):
    """(L,). end is NEVER until it has ended."""

    vm: IntArray
    start: IntArray
    end: IntArray


class Work(NamedTuple):
    """Work space of a pass. fitting : (V,). refused : (R, 2), demands that did not fit."""

    fitting: IntArray
    refused: IntArray


class State(NamedTuple):
    """Everything that the rules need.

    random : (1,) uint64, for what a policy draws. past : (1,) uint64, a hash of all events of VMs until now. waiting : (W,)
    uint64, the waiting tasks as a tree of bits; ask `simulator.waiting`.
    """

    rules: Rules
    clock: Sequence[Clock]
    events: Events
    vms: Vms
    jobs: Jobs
    tasks: Tasks
    runs: Runs
    log: Log
    leases: Leases
    work: Work
    waiting: WordArray
    random: WordArray
    past: WordArray
