"""A pool of harvest VMs that plays by the rules of `kernels_events`, moment by moment or all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.harvest import kernels_events, kernels_plain, kernels_state, kernels_waiting
from schedgap.instances.harvest.kernels_state import LEASED, NEVER, NOBODY, NOT_LEASED, State
from schedgap.instances.harvest.model import ALLOCATIONS, HOUR_MS, KILL_ORDERS
from schedgap.instances.harvest.schedule import HarvestSchedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.harvest.model import HarvestInstance

MINUTE_MS = 60_000
# So many different demands that did not fit are remembered in a pass.
REFUSED = 16
_OF_RUNS = (
    *("before", "after", "run_task", "run_vm", "run_start", "run_end", "run_every", "run_guess", "run_before"),
    *("is_live", "heap", "heap_ms"),
)
_OF_LEASES = ("lease_vm", "lease_start", "lease_end")


class Cluster:
    """The state of VMs, runs and tasks at one moment; `state` is what the kernels work on, and is replaced as it grows."""

    def __init__(self, instance: HarvestInstance, *, seed: int = 0, copies: int = 1, epoch_ms: int = HOUR_MS) -> None:
        """Begin at moment 0, before anything has happened.

        seed : of what is random. copies : so many runs of a task may be placed at one moment. epoch_ms : how often a pool
        that is not fixed is looked at.
        """
        self.instance = instance
        num_vms, num_tasks, num_events = instance.num_vms, instance.num_tasks, instance.event_ms.shape[0]
        vm = instance.event2vm()
        order = np.lexsort((vm, instance.event_ms))
        leased = np.flatnonzero(instance.leased)
        option = np.zeros(kernels_state.OPTION_ENTRIES, np.int64)
        option[kernels_state.NEWEST_FIRST] = KILL_ORDERS.index(instance.kills)
        option[kernels_state.ALLOCATION] = ALLOCATIONS.index(instance.allocation)
        option[kernels_state.MAX_LEASES] = instance.max_leases
        option[kernels_state.EPOCH_MS] = epoch_ms
        option[kernels_state.COPIES] = copies
        option[kernels_state.LEAST_CORES] = instance.cores.min()
        option[kernels_state.LEAST_MEMORY] = instance.task_memory_mib.min()
        clock = np.zeros(kernels_state.CLOCK_ENTRIES, np.int64)
        clock[kernels_state.EPOCH] = NEVER if instance.is_fixed else epoch_ms
        num_leases = 0 if instance.is_fixed else leased.shape[0]
        clock[kernels_state.LEASES] = num_leases
        vm_lease = np.full(num_vms, NOBODY)
        vm_lease[leased[:num_leases]] = np.arange(num_leases)
        runs = copies * num_tasks + num_tasks // 4 + 64
        leases = 2 * instance.max_leases + num_leases
        self.state = State(
            # Copies, since compiled code is specialised to arrays that it may write.
            event_ms=instance.event_ms[order],
            event_cores=instance.event_cores[order],
            event_vm=vm[order],
            min_cores=instance.min_cores.copy(),
            vm_memory=instance.memory_mib.copy(),
            buffer=instance.buffer.astype(np.int64),
            arrival=instance.arrival_ms.copy(),
            cores=instance.cores.copy(),
            memory=instance.task_memory_mib.copy(),
            checkpoint=instance.checkpoint_ms.copy(),
            restore=instance.restore_ms.copy(),
            first_task=instance.first_task.copy(),
            task2job=instance.task2job(),
            runtime=instance.runtime_ms.copy(),
            estimate=instance.estimate_ms.copy(),
            option=option,
            clock=clock,
            random=np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64),
            past=np.zeros(1, np.uint64),
            **{
                key: np.zeros(num_vms, np.int64)
                for key in ("up", "size", "used", "used_memory", "changed", "direction")
            },
            lease=np.where(instance.leased, LEASED, NOT_LEASED),
            vm_lease=vm_lease,
            oldest=np.full(num_vms, NOBODY),
            newest=np.full(num_vms, NOBODY),
            **{key: np.zeros(num_tasks, np.int64) for key in ("stage", "live", "saved", "kills")},
            last_run=np.full(num_tasks, NOBODY),
            waiting=np.zeros(kernels_waiting.num_words(num_tasks), np.uint64),
            **{key: np.zeros(runs, np.int64) for key in _OF_RUNS},
            **{key: np.zeros(num_events, np.int64) for key in _LOG},
            lease_vm=_longer(leased[:num_leases], leases),
            lease_start=np.zeros(leases, np.int64),
            lease_end=np.full(leases, NEVER),
            fitting=np.zeros(num_vms, np.int64),
            refused=np.zeros((REFUSED, 2), np.int64),
        )

    @property
    def now_ms(self) -> int:
        """The moment to which time has passed."""
        return int(self.state.clock[kernels_state.NOW])

    @property
    def is_complete(self) -> bool:
        """Whether all tasks are complete."""
        return bool(self.state.clock[kernels_state.DONE] == self.instance.num_tasks)

    def advance(self) -> bool:
        """Go to the next moment at which something happens; False if nothing will any more."""
        return self.run(kernels_events.advance)

    def run(self, kernel: Callable[[State], int]) -> bool:
        """Call a kernel that returns the status of `advance` until it has room enough; False if nothing will happen any more."""
        while (status := kernel(self.state)) == kernels_events.GROW:
            self.grow()
        return bool(status == kernels_events.HAPPENED)

    def grow(self) -> None:
        """Make room for half as many runs and leases more, and for all that may be placed at one moment."""
        state, clock = self.state, self.state.clock
        to_do = self.instance.num_tasks - int(clock[kernels_state.DONE])
        runs = int(clock[kernels_state.RUNS]) + int(state.option[kernels_state.COPIES]) * to_do
        leases = int(clock[kernels_state.LEASES]) + self.instance.max_leases
        longer = {key: _longer(getattr(state, key), runs + runs // 2) for key in _OF_RUNS}
        longer |= {key: _longer(getattr(state, key), leases + leases // 2) for key in _OF_LEASES}
        self.state = state._replace(**longer)  # type: ignore[arg-type]

    def place(self, task: int, vm: int, every_ms: int = 0) -> int:
        """Start a run of a waiting task on a VM that it fits on, now, and return the run."""
        return int(kernels_events.place(self.state, task, vm, every_ms))

    def run_plain(self, every_ms: int = MINUTE_MS) -> bool:
        """Play the plain rule (`kernels_plain`) to the end, and return whether all tasks are complete.

        A pool that is not fixed is kept at the number of VMs that it starts with. every_ms : how often tasks take checkpoints
        that cost them nothing.
        """
        num_vms = int(self.instance.leased.sum())
        self.run(lambda state: kernels_plain.play_plain(state, num_vms, every_ms))
        return self.is_complete

    def first_waiting(self) -> int:
        """Return the first task that waits, in order of job and task; NOBODY if none does."""
        return int(kernels_waiting.next_waiting(self.state, 0))

    def schedule(self) -> HarvestSchedule:
        """Return what has been decided until now; what goes on ends now."""
        state, clock, now = self.state, self.state.clock, self.now_ms
        runs = slice(0, int(clock[kernels_state.RUNS]))
        leases = slice(0, int(clock[kernels_state.LEASES]))
        lease_end = np.minimum(state.lease_end[leases], now)
        kept = np.flatnonzero(lease_end > state.lease_start[leases])
        return HarvestSchedule(
            task=state.run_task[runs],
            vm=state.run_vm[runs],
            start_ms=state.run_start[runs],
            end_ms=np.minimum(state.run_end[runs], now),
            checkpoint_every_ms=state.run_every[runs],
            lease_vm=state.lease_vm[leases][kept],
            lease_start_ms=state.lease_start[leases][kept],
            lease_end_ms=lease_end[kept],
        )


_LOG = ("log_ms", "log_vm", "log_gap", "log_before", "log_after", "log_cores")


def _longer(values: IntArray, length: int) -> IntArray:
    """Return a copy that is so long, or as long as it was."""
    longer = np.zeros(max(length, values.shape[0]), np.int64)
    longer[: values.shape[0]] = values
    return longer
