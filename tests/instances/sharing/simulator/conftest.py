"""The plain cluster that compiled ones are held against, and small instances."""

import numpy as np
import pytest

from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.kernels.rounding import rounded
from schedgap.instances.sharing import as_users, random_jobs


class Plain:
    """The rules as they are told, with lists and sorts.

    changes : (moment, gain, scale, base), in order. willing : (T, M), whether a task starts on a machine; all do by default.
    """

    def __init__(self, instance, simulator, nodes, offers, changes, willing=None):
        self.instance, self.nodes, self.batches = instance, nodes, offers == "batch"
        self.rank, self.random = simulator.state.jobs.tie_rank.tolist(), int(simulator.state.clock[0].random)
        self.changes, self.willing = list(changes), willing
        self.serves, self.machine2class = instance.serves(), instance.machine2class()
        self.free = np.repeat(instance.capacity, instance.machine_count, axis=0)
        self.left = [list(range(a, b)) for a, b in zip(instance.first_task, instance.first_task[1:], strict=False)]
        self.running = []
        self.arrived = 0
        self.machine = np.full(instance.num_tasks, -1)
        self.start = np.full(instance.num_tasks, -1)

    def run(self):
        instance = self.instance
        while self.running or self.arrived < instance.num_jobs:
            times = [end for end, *_ in self.running]
            if self.arrived < instance.num_jobs:
                times.append(int(instance.arrival_ms[self.arrived]))
            self.now = min(times)
            while self.changes and self.changes[0][0] <= self.now:
                _, self.gain, self.scale, self.base = self.changes.pop(0)
            ending = sorted(item for item in self.running if item[0] == self.now)
            touched = []
            for item in ending:
                self.running.remove(item)
                task, m = item[2:]
                self.free[m] += instance.demand[instance.task2job()[task]]
                if not self.batches:
                    self.offer(m)
                elif m not in touched:
                    touched.append(m)
            before = self.arrived
            while self.arrived < instance.num_jobs and instance.arrival_ms[self.arrived] == self.now:
                self.arrived += 1
            for m in touched if self.arrived == before else self.line(before):
                self.offer(m)
        return self.machine, self.start

    def line(self, job):
        machines = list(range(self.instance.num_machines))
        if self.nodes == "fastest":
            machines.sort(key=lambda m: -self.instance.performance[job, self.machine2class[m]])
        if self.nodes == "random":
            for i in range(len(machines) - 1, 0, -1):
                j = self.draw(i + 1)
                machines[i], machines[j] = machines[j], machines[i]
        return machines

    def draw(self, below):
        mask = 2**64 - 1
        self.random = x = (self.random + 0x9E3779B97F4A7C15) & mask
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return (x ^ (x >> 31)) % below

    def offer(self, m):
        instance, k = self.instance, self.machine2class[m]
        while True:
            waiting = [
                job
                for job in range(self.arrived)
                if self.left[job] and self.serves[job, k] and (instance.demand[job] <= self.free[m]).all()
            ]
            if not waiting:
                return
            job = min(waiting, key=lambda job: (self.key(job, k), self.rank[job]))
            if self.willing is not None and not self.willing[self.left[job][0], m]:
                return
            task = self.left[job].pop(0)
            self.machine[task], self.start[task] = m, self.now
            self.free[m] -= instance.demand[job]
            tie = m
            if self.nodes == "fastest":
                faster = instance.performance[job] > instance.performance[job, k]
                same = (instance.performance[job] == instance.performance[job, k])[:k]
                tie = (int(faster.sum() + same.sum()), m)
            elif self.nodes == "random":
                tie = self.draw(2**62)
            self.running.append((self.now + int(instance.duration_ms(task, k)), tie, task, m))

    def key(self, job, k):
        count = np.zeros(len(self.instance.machine_names), np.int64)
        for _, _, task, m in self.running:
            if self.instance.task2job()[task] == job:
                count[self.machine2class[m]] += 1
        return self.base[job] + rounded.py_func(float((count * self.gain[job]).sum()) / self.scale[job])


@pytest.fixture
def plain_cluster():
    """The class of plain clusters."""
    return Plain


@pytest.fixture
def keys_of():
    """Gains, scales and bases of a notion of fairness: `keys_of(instance, "drf")`."""

    def keys_of(instance, notion="eunomia"):
        users = as_users(instance, np.arange(instance.num_jobs), np.diff(instance.first_task))
        return (*value_and_scale(users, notion), np.zeros(instance.num_jobs))

    return keys_of


@pytest.fixture
def drawn():
    """Draw a small instance: `drawn(seed)`."""

    def drawn(seed):
        """Return a small instance in which much happens at once."""
        rng = np.random.default_rng(seed)
        return random_jobs(
            int(rng.integers(1, 7)),
            seed=seed,
            machine_classes=int(rng.integers(1, 4)),
            most_machines=int(rng.integers(1, 4)),
            most_tasks=int(rng.integers(1, 7)),
            own_performance=bool(rng.integers(2)),
        )

    return drawn
