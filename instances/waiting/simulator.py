"""Fixed machines and the jobs that wait for them, moment by moment: somebody else decides who starts, and who rents.

At a moment jobs that end make room first, then all jobs of that moment arrive; one larger than a fixed machine rents for
itself at once. A job that still waits when its limit has come rents then. Plain Python, O(log R) an event with R running.
"""

from __future__ import annotations

import heapq

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.waiting.model import RENTED, WaitingInstance, WaitingSchedule

UNDECIDED = -2


class Simulator:
    """The state of machines and jobs at one moment.

    now_us : the moment. free : (s, 2) int64, cores and MiB on each machine. machine, start_us : (J,) int64, where each job
    runs and from when, as far as it is decided.
    """

    def __init__(self, instance: WaitingInstance, num_machines: int, limit_us: int | None) -> None:
        """Begin before the first job. limit_us : the longest wait of any job, None for none."""
        self.instance = instance
        self.limit_us = limit_us
        self.now_us = 0
        self.free = np.tile([instance.machine_cores, instance.machine_memory_mib], (num_machines, 1)).astype(np.int64)
        self.machine = np.full(instance.num_jobs, UNDECIDED)
        self.start_us = instance.submit_us.copy()
        self._size = np.column_stack((instance.cores, instance.memory_mib))
        self._fits_fixed = instance.fits_fixed()
        self._running: list[tuple[int, int]] = []
        # In order of submission: a dictionary keeps it, and forgets a job in O(1).
        self._waiting: dict[int, None] = {}
        self._arrived = 0

    @property
    def waiting(self) -> IntArray:
        """(N,) int64, ascending: the jobs that wait."""
        return np.fromiter(self._waiting, np.int64, len(self._waiting))

    def waits(self, job: int) -> bool:
        """Whether a job waits."""
        return job in self._waiting

    def advance(self) -> bool:
        """Go to the next moment at which a job ends, arrives or has waited to its limit; return False after the last."""
        upcoming = self._next_us()
        if upcoming is None:
            return False
        self.now_us = upcoming
        while self._running and self._running[0][0] <= upcoming:
            _, job = heapq.heappop(self._running)
            self.free[self.machine[job]] += self._size[job]
        submit_us = self.instance.submit_us
        while self._arrived < self.instance.num_jobs and submit_us[self._arrived] == upcoming:
            job = self._arrived
            self._arrived += 1
            if self._fits_fixed[job]:
                self._waiting[job] = None
            else:
                self.machine[job] = RENTED
        return True

    def start(self, job: int, machine: int) -> None:
        """Start a waiting job on a machine with room for it, now."""
        self._place(job, machine)
        self.free[machine] -= self._size[job]
        heapq.heappush(self._running, (self.now_us + int(self.instance.runtime_us[job]), job))

    def rent(self, job: int) -> None:
        """Start a waiting job on a machine rented for it, now."""
        self._place(job, RENTED)

    def rent_overdue(self) -> bool:
        """Rent for the first waiting job, if its limit has come; return whether it had."""
        first = next(iter(self._waiting), None)
        if first is None or self._leaves_us(first) != self.now_us:
            return False
        self.rent(first)
        return True

    def schedule(self) -> WaitingSchedule:
        """Return what has been decided; to be asked when no job waits and none is to come."""
        return WaitingSchedule(self.free.shape[0], self.machine, self.start_us)

    def _place(self, job: int, machine: int) -> None:
        del self._waiting[job]
        self.machine[job] = machine
        self.start_us[job] = self.now_us

    def _leaves_us(self, job: int) -> int | None:
        return None if self.limit_us is None else int(self.instance.submit_us[job]) + self.limit_us

    def _next_us(self) -> int | None:
        times = [end for end, _ in self._running[:1]]
        if self._arrived < self.instance.num_jobs:
            times.append(int(self.instance.submit_us[self._arrived]))
        # One limit for all: the job that came first reaches it first.
        first = next(iter(self._waiting), None)
        if first is not None and (leaves := self._leaves_us(first)) is not None:
            times.append(leaves)
        return min(times, default=None)
