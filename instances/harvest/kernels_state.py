"""What the rules of a pool of harvest VMs work on: VMs, runs, waiting tasks and what has been seen, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from schedgap.instances.arrays import IntArray

    WordArray = NDArray[np.uint64]

NEVER = 1 << 62
NOBODY = -1

# Entries of `State.clock`. EVENT and JOB are the next of each to come. Of the runs RUNS have begun and RUNNING have not
# ended; HEAP entries are in the heap of ends. WAITING tasks wait and DONE are complete. CHANGES are in the log, LEASES
# have begun. EPOCH is the next moment at which the pool is looked at, or the present one; NEVER if it is fixed. WAKE, if it is
# later than NOW, is when the rule wants to be asked though nothing else happens. STIRRED is when something else happened last.
NOW, EVENT, JOB, RUNS, RUNNING, HEAP, WAITING, DONE, CHANGES, LEASES, EPOCH, WAKE, STIRRED = range(13)
CLOCK_ENTRIES = 13

# Entries of `State.option`, which are rules of the place and do not change. Values of ALLOCATION follow the model's. A rule
# starts at most COPIES runs of a task in a pass. No task needs less than LEAST_CORES and LEAST_MEMORY.
NEWEST_FIRST, ALLOCATION, MAX_LEASES, EPOCH_MS, COPIES, LEAST_CORES, LEAST_MEMORY = 0, 1, 2, 3, 4, 5, 6
OPTION_ENTRIES = 7
FIXED, RANDOM, BALANCING, PACKING = 0, 1, 2, 3

# Values of `State.lease`. A draining VM gets no new tasks, and is released when its last one ends.
NOT_LEASED, LEASED, DRAINING = 0, 1, 2
# Values of `State.direction` and of `log_before`, `log_after`. A VM that has just come to be has grown.
GREW, SHRANK = 0, 1
# Values of `State.stage`.
TO_ARRIVE, WAITS, RUNS_NOW, IS_DONE = 0, 1, 2, 3


class State(NamedTuple):
    """Everything that rules need. First what is given, then what changes. All int64 unless it says otherwise.

    Letters: V VMs, E events, J jobs, T tasks; N runs and L leases that there is room for.

    event_ms, event_cores, event_vm : (E,), of all VMs in order of time. min_cores, vm_memory, buffer : (V,).
    arrival, cores, memory, checkpoint, restore : (J,). first_task : (J + 1,). task2job, runtime, estimate : (T,).
    option : as above.

    clock : as above. random : (1,) uint64, for what a rule draws. past : (1,) uint64, a hash of all events of VMs until now.
    up : (V,), cores of the VM that the provider would give there; size : (V,), of the VM that is leased, 0 if none is.
    used, used_memory : (V,), by runs. changed : (V,), the moment of the last change of `size`. direction, lease : (V,).
    vm_lease : (V,), the current lease, or NOBODY. oldest, newest : (V,), first and last of the runs on the VM, in order of
    their start; before, after : (N,), neighbours in that order.
    stage, live, saved, kills : (T,); live: runs that have not ended; saved: ms of work that need not be done again; kills:
    runs that a VM killed; last_run: the one placed last, or NOBODY. waiting : (W,) uint64, the waiting tasks as a tree of
    bits; ask `kernels_waiting`.
    run_task, run_vm, run_start, run_end, run_every : (N,), as in a schedule; run_end is when it would complete until it
    has ended. run_guess : (N,), when it would complete if the estimate were true. run_before : (N,), the run of the same task
    that was placed before it, or NOBODY. is_live : (N,), 1 until the run has ended. heap, heap_ms : (N,), runs and when they
    would complete, the first on top; runs that ended otherwise stay until they come up.
    log_ms, log_vm, log_gap, log_before, log_after, log_cores : (E,), changes of leased VMs that were seen: when, where, ms
    since the change before, its direction, the direction of this one, by how many cores.
    lease_vm, lease_start, lease_end : (L,); lease_end is NEVER until it has ended.
    fitting : (V,), refused : (R, 2): work space of a pass.
    """

    event_ms: IntArray
    event_cores: IntArray
    event_vm: IntArray
    min_cores: IntArray
    vm_memory: IntArray
    buffer: IntArray
    arrival: IntArray
    cores: IntArray
    memory: IntArray
    checkpoint: IntArray
    restore: IntArray
    first_task: IntArray
    task2job: IntArray
    runtime: IntArray
    estimate: IntArray
    option: IntArray
    clock: IntArray
    random: WordArray
    past: WordArray
    up: IntArray
    size: IntArray
    used: IntArray
    used_memory: IntArray
    changed: IntArray
    direction: IntArray
    lease: IntArray
    vm_lease: IntArray
    oldest: IntArray
    newest: IntArray
    before: IntArray
    after: IntArray
    stage: IntArray
    live: IntArray
    saved: IntArray
    kills: IntArray
    last_run: IntArray
    waiting: WordArray
    run_task: IntArray
    run_vm: IntArray
    run_start: IntArray
    run_end: IntArray
    run_every: IntArray
    run_guess: IntArray
    run_before: IntArray
    is_live: IntArray
    heap: IntArray
    heap_ms: IntArray
    log_ms: IntArray
    log_vm: IntArray
    log_gap: IntArray
    log_before: IntArray
    log_after: IntArray
    log_cores: IntArray
    lease_vm: IntArray
    lease_start: IntArray
    lease_end: IntArray
    fitting: IntArray
    refused: IntArray
