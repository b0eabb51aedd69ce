"""The cluster that the first hours of a trace leave behind: machines bought for many tasks, of which some have ended."""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.running import Running

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.trace import Trace


def left_behind(trace: Trace, types: Mapping[str, Any], warm_s: int) -> tuple[Trace, Running]:
    """Return what is left of a trace after so many seconds, and the machines that run then.

    Tasks go to the first machine with room. Where there is none, the largest machine is rented of the family of the cheapest
    type that fits the task. None is ever moved, and all run as if alone; machines are given back when they are empty. Work is
    what is left of it, and second 0 of the new trace is `warm_s` of the old one.

    types : of `ProvisioningInstance`.

    Raises
    ------
    InstanceError
        if no job is left.
    """
    ends = trace.arrival_s + trace.work_s
    left = np.flatnonzero(ends > warm_s)
    if not left.size:
        raise InstanceError(f"all {ends.shape[0]} jobs have ended by {warm_s} s; give fewer warm_h, or more jobs.")
    cluster = _Cluster(trace, types)
    for j in np.flatnonzero(trace.arrival_s < warm_s).tolist():
        cluster.pass_to(int(trace.arrival_s[j]))
        cluster.place(j, int(ends[j]))
    cluster.pass_to(warm_s)
    rest = replace(
        trace,
        arrival_s=np.maximum(trace.arrival_s[left] - warm_s, 0),
        work_s=np.minimum(trace.work_s, ends - warm_s)[left],
        demand=trace.demand[left],
        workload=trace.workload[left],
        num_tasks=trace.num_tasks[left],
    )
    return rest, cluster.running(left)


class _Cluster:
    """Machines in the order of renting; one that is given back stays as a row without room.

    O(rows) for each task, compiled, and O(the job's machines) for each end of a job.
    """

    def __init__(self, trace: Trace, types: Mapping[str, Any]) -> None:
        self.trace = trace
        self.capacity, self.price = np.asarray(types["capacity"]), np.asarray(types["price"])
        self.family = np.asarray(types["type2family"])
        self.kind = np.zeros(0, np.int64)
        self.free = np.zeros((0, self.capacity.shape[1]), np.int64)
        self.number: list[int] = []
        # Of each job that runs, how many tasks are on which machine.
        self.held: dict[int, dict[int, int]] = {}
        self.ends: list[tuple[int, int]] = []

    def pass_to(self, now: int) -> None:
        """End jobs up to a second, and give back machines without tasks."""
        while self.ends and self.ends[0][0] <= now:
            job = heappop(self.ends)[1]
            for m, count in self.held.pop(job).items():
                self.number[m] -= count
                self.free[m] += count * self.trace.demand[job, self.family[self.kind[m]]]
                if not self.number[m]:
                    self.free[m] = -1

    def place(self, job: int, end: int) -> None:
        """Place the tasks of a job that ends at that second."""
        heappush(self.ends, (end, job))
        held = self.held[job] = {}
        for _ in range(int(self.trace.num_tasks[job])):
            demand = self.trace.demand[job, self.family[self.kind]]
            rooms = np.flatnonzero(((demand >= 0) & (demand <= self.free)).all(axis=1))
            m = int(rooms[0]) if rooms.size else self._rented(job)
            self.free[m] -= self.trace.demand[job, self.family[self.kind[m]]]
            self.number[m] += 1
            held[m] = held.get(m, 0) + 1

    def running(self, left: IntArray) -> Running:
        """Return the machines with tasks, of whose jobs the i-th is `left[i]`."""
        rows = np.flatnonzero(self.number)
        machine = {m: e for e, m in enumerate(rows.tolist())}
        job = {j: i for i, j in enumerate(left.tolist())}
        entries = sorted((machine[m], job[j], count) for j, held in self.held.items() for m, count in held.items())
        table = np.array(entries, np.int64).reshape(-1, 3)
        indptr = np.searchsorted(table[:, 0], np.arange(rows.size + 1))
        names = tuple(f"node-{e}" for e in range(rows.size))
        return Running(names, self.kind[rows], indptr, table[:, 1], table[:, 2])

    def _rented(self, job: int) -> int:
        demand = self.trace.demand[job, self.family]
        fits = np.flatnonzero(((demand >= 0) & (demand <= self.capacity)).all(axis=1))
        cheapest = fits[np.argmin(self.price[fits])]
        group = fits[self.family[fits] == self.family[cheapest]]
        kind = int(group[np.argmax(self.price[group])])
        self.kind = np.append(self.kind, kind)
        self.free = np.concatenate((self.free, self.capacity[kind][None]))
        self.number.append(0)
        return len(self.number) - 1
