"""What the rules of a pool of harvest VMs work on: one named tuple of arrays of records, by what a record is of.

Letters: V VMs, E events, J jobs, T tasks; N runs and L leases that there is room for. Fields are int64 or uint64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uint64
from numpy.typing import NDArray

from schedgap.instances.arrays import IntArray, Records

WordArray = NDArray[np.uint64]

NOBODY = -1

# Values of `Rules.allocation`, as the model's.
FIXED, RANDOM, BALANCING, PACKING = 0, 1, 2, 3
# Values of `Vm.lease`. A draining VM gets no new tasks, and is released when its last one ends.
NOT_LEASED, LEASED, DRAINING = 0, 1, 2
# Values of `Vm.direction`, `Change.before` and `Change.after`. A VM that has just come to be has grown.
GREW, SHRANK = 0, 1
# Values of `Task.stage`.
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
    """The moment, and how far everything is.

    next_event, next_job : that are to come. runs : that have begun, of which `running` have not ended; `ends` entries are in the
    heap of ends. waiting, done : tasks that wait, and that are complete. changes : in the log. leases : that have begun.
    epoch : the next moment at which the pool is looked at, or the present one; NEVER if it is fixed. wake : if later than now,
    when the policy wants to be asked though nothing else happens. last_event : when something else happened last. random : for
    what a policy draws. past : a hash of all events of VMs until now.
    """

    now: int
    next_event: int
    next_job: int
    runs: int
    running: int
    ends: int
    waiting: int
    done: int
    changes: int
    leases: int
    epoch: int
    wake: int
    last_event: int
    random: uint64
    past: uint64


class Event:
    """A VM gets so many cores."""

    ms: int
    cores: int
    vm: int


class Vm:
    """What is given and what changes.

    up : cores of the VM that the provider would give there. cores : of the VM that is leased, 0 if none is. used, used_memory :
    by runs. changed : the moment of the last change of `cores`. current_lease : or NOBODY. oldest, newest : first and last of
    the runs on the VM, in order of their start.
    """

    min_cores: int
    memory: int
    buffer: int
    up: int
    cores: int
    used: int
    used_memory: int
    changed: int
    direction: int
    lease: int
    current_lease: int
    oldest: int
    newest: int


class Job:
    """As in an instance; after the last one comes one that never arrives, whose first task would be after all."""

    arrival: int
    cores: int
    memory: int
    checkpoint: int
    restore: int
    first_task: int


class Task:
    """live : runs that have not ended. saved : ms of work that need not be done again. kills : runs that a VM killed.

    last_run : the one placed last, or NOBODY.
    """

    job: int
    runtime: int
    estimate: int
    stage: int
    live: int
    saved: int
    kills: int
    last_run: int


class Run:
    """task, vm, start, end and every as in a schedule.

    end : when it would complete until it has ended. guess : when it would complete if the estimate were true. previous : the
    run of the same task that was placed before it, or NOBODY. is_live : 1 until the run has ended. before, after : neighbours
    on the VM.
    """

    task: int
    vm: int
    start: int
    end: int
    every: int
    guess: int
    previous: int
    is_live: int
    before: int
    after: int


class End:
    """When a run would complete."""

    ms: int
    run: int


class Change:
    """A change of a leased VM that was seen.

    When, where, ms since the change before, its direction, the direction of this one, by how many cores.
    """

    ms: int
    vm: int
    gap: int
    before: int
    after: int
    cores: int


class Lease:
    """end is NEVER until it has ended."""

    vm: int
    start: int
    end: int


class Demand:
    """What did not fit in a pass."""

    cores: int
    memory: int


class State(NamedTuple):
    """Everything that the rules need.

    clock : (1,). events : (E,), of all VMs in order of time. vms : (V,). jobs : (J + 1,). tasks : (T,). runs : (N,), in order of
    their start. ends : (N,), a heap, the first on top; runs that ended otherwise stay until they come up. log : (E,).
    leases : (L,). waiting : (W,), the waiting tasks as a tree of bits; ask `leases`. noted : (V / 64,), a bit for each
    VM, set when it changes, for policies to clear. fitting : (V,), refused : (R,): work space of a pass.
    """

    rules: Rules
    clock: Records[Clock]
    events: Records[Event]
    vms: Records[Vm]
    jobs: Records[Job]
    tasks: Records[Task]
    runs: Records[Run]
    ends: Records[End]
    log: Records[Change]
    leases: Records[Lease]
    waiting: WordArray
    noted: WordArray
    fitting: IntArray
    refused: Records[Demand]
