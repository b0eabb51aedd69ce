"""Harvest by trying everything, millisecond by millisecond: slow, and too simple to be wrong."""

import functools
import itertools

import numpy as np
import pytest

from schedgap.instances.harvest.model import HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.verify import verify

HORIZON_MS = 80


def cores_at(instance):
    """Return (V, HORIZON_MS) cores of each VM at each moment."""
    grid = np.zeros((instance.num_vms, HORIZON_MS), int)
    for v, ms, cores in zip(instance.event2vm(), instance.event_ms, instance.event_cores, strict=True):
        grid[v, ms:] = cores
    return grid


def whole_runs(instance):
    """Return the least objective of runs that are never killed: some order with each task as early as it fits."""
    job, cores = instance.task2job(), cores_at(instance)
    most = instance.max_leases or instance.num_vms
    tasks = range(instance.num_tasks)
    best = None
    for vms in itertools.product(range(instance.num_vms), repeat=instance.num_tasks):
        for order in itertools.permutations(tasks):
            free, memory = cores.copy(), np.repeat(instance.memory_mib[:, None], HORIZON_MS, axis=1)
            starts = [0] * instance.num_tasks
            for t in order:
                starts[t] = start = first_start(
                    instance, job[t], vms[t], instance.runtime_ms[t], free, memory, most, cores
                )
                if start is None:
                    break
                free[vms[t], start : start + instance.runtime_ms[t]] -= instance.cores[job[t]]
                memory[vms[t], start : start + instance.runtime_ms[t]] -= instance.task_memory_mib[job[t]]
            else:
                ends = np.array(starts) + instance.runtime_ms
                found = objective(instance, ends)
                if best is None or found < best[0]:
                    best = found, HarvestSchedule(tasks, vms, starts, ends, [0] * instance.num_tasks)
    if instance.is_fixed:
        assert verify(instance, best[1]) == best[0]
    return best[0]


def first_start(instance, job, vm, length, free, memory, most, cores):
    """Return the first start of a task of a job on a VM beside what is there, or None."""
    used = free < cores
    used[vm] = True
    there = (free[vm] >= instance.cores[job]) & (memory[vm] >= instance.task_memory_mib[job])
    there &= used.sum(axis=0) <= most
    there[: instance.arrival_ms[job]] = False
    starts = (start for start in np.flatnonzero(there) if start + length < HORIZON_MS)
    return next((int(start) for start in starts if there[start : start + length].all()), None)


def interruptible_runs(instance):
    """Return the least objective if all tasks may go on elsewhere from any millisecond on, at no cost."""
    job, cores = instance.task2job().tolist(), cores_at(instance)
    most = instance.max_leases or instance.num_vms
    begun = int(instance.arrival_ms[0])

    @functools.cache
    def placeable(at, tasks):
        room = [int(each) for each in cores[:, at]]
        for vms in itertools.product(range(instance.num_vms), repeat=len(tasks)):
            used = [0] * instance.num_vms
            for t, v in zip(tasks, vms, strict=True):
                used[v] += int(instance.cores[job[t]])
            if all(u <= r for u, r in zip(used, room, strict=True)) and sum(u > 0 for u in used) <= most:
                return True
        return False

    @functools.cache
    def least(at, left):
        if not any(left):
            return 0
        if at == HORIZON_MS:
            return 10**9
        open_tasks = [t for t, each in enumerate(left) if each]
        ready = [t for t in open_tasks if instance.arrival_ms[job[t]] <= at]
        if instance.objective == "tasks":
            price = len(ready)
        else:
            price = len({job[t] for t in ready}) if instance.objective == "jobs" else int(at >= begun)
        placed, following = [], []
        for size in range(len(ready), -1, -1):
            for chosen in itertools.combinations(ready, size):
                # Less work at a moment is never better.
                if not any(more.issuperset(chosen) for more in placed) and placeable(at, chosen):
                    placed.append(set(chosen))
                    following.append(least(at + 1, tuple(each - (t in chosen) for t, each in enumerate(left))))
        return price + min(following)

    return least(0, tuple(instance.runtime_ms.tolist()))


def objective(instance, ends):
    """Return the objective of tasks that end then."""
    if instance.objective == "makespan":
        return int(ends.max() - instance.arrival_ms[0])
    times = ends - instance.arrival_ms[instance.task2job()]
    return int(
        times.sum() if instance.objective == "tasks" else np.maximum.reduceat(times, instance.first_task[:-1]).sum()
    )


def tiny_instance(seed, interruptible=False):
    """Draw up to 3 jobs of up to 4 tasks together on 1 to 3 VMs, of a fixed or a dynamic pool."""
    rng = np.random.default_rng(seed)
    sizes = [[1, 1], [2, 1], [1, 2], [1, 1, 1], [2, 2], [3]][int(rng.integers(6))]
    vms = int(rng.integers(1, 4 if sum(sizes) < 4 else 3))
    dynamic = vms > 1 and rng.random() < 0.3
    jobs, events = len(sizes), []
    for v in range(vms):
        moments = np.sort(rng.choice(np.arange(1, 16), int(rng.integers(0, 4)), replace=False)).tolist()
        cores = rng.integers(0, 6, len(moments) + 1).tolist()
        cores[0] = max(cores[0], 1)
        cores[-1] = 5 if v == 0 else cores[-1]
        kept = [(0, cores[0])]
        for ms, each in zip(moments, cores[1:], strict=True):
            if each != kept[-1][1]:
                kept.append((ms, each))
        events.append(kept)
    choices = [[1, 2, 3, 4], [2], [2, 4], [3]][int(rng.integers(4))]
    return HarvestInstance(
        name=f"tiny-{seed}",
        objective=("jobs", "tasks", "makespan")[int(rng.integers(3))],
        kills="oldest",
        allocation="random" if dynamic else "fixed",
        max_leases=1 if dynamic else 0,
        base_price=0,
        extra_price=0,
        first_event=np.cumsum([0, *map(len, events)]),
        event_ms=[ms for each in events for ms, _ in each],
        event_cores=[cores for each in events for _, cores in each],
        min_cores=np.ones(vms, int),
        memory_mib=np.concatenate(([8], rng.integers(4, 9, vms - 1))),
        leased=np.arange(vms) == 0 if dynamic else np.ones(vms, bool),
        buffer=np.zeros(vms, bool),
        arrival_ms=np.sort(rng.integers(0, 8, jobs)),
        cores=rng.choice(choices, jobs),
        task_memory_mib=np.zeros(jobs, int) if interruptible else rng.integers(0, 6, jobs),
        checkpoint_ms=np.full(jobs, 0 if interruptible else -1),
        restore_ms=np.zeros(jobs, int),
        first_task=np.cumsum([0, *sizes]),
        runtime_ms=rng.integers(1, 7, sum(sizes)),
        estimate_ms=np.ones(sum(sizes), int),
    )


@functools.cache
def tiny_optima():
    """Return instances, each with its least objective: most with whole runs, some with interruptible ones."""
    whole = [tiny_instance(seed) for seed in range(80)]
    parts = [tiny_instance(seed, interruptible=True) for seed in range(25)]
    return [(each, whole_runs(each)) for each in whole] + [(each, interruptible_runs(each)) for each in parts]


@pytest.fixture(name="optima", scope="session")
def optima_fixture():
    """Return tiny instances, each with its least objective."""
    return tiny_optima()


@pytest.fixture
def make():
    """Make an instance: `make([[(0, 4), (10, 0)], [(0, 2)]], tasks=[[3, 1], [2]])`, one core a task."""

    def make(events, tasks, arrival=None, cores=1, **changes):
        vms, jobs = len(events), len(tasks)
        fields = {
            "objective": "jobs",
            "allocation": "fixed",
            "max_leases": 0,
            "memory_mib": np.full(vms, 100),
            "leased": np.ones(vms, bool),
            "task_memory_mib": np.zeros(jobs, int),
            "checkpoint_ms": np.full(jobs, -1),
            "restore_ms": np.zeros(jobs, int),
        } | changes
        return HarvestInstance(
            name="made",
            kills="oldest",
            base_price=0,
            extra_price=0,
            first_event=np.cumsum([0, *map(len, events)]),
            event_ms=[ms for each in events for ms, _ in each],
            event_cores=[each for every in events for _, each in every],
            min_cores=np.ones(vms, int),
            buffer=np.zeros(vms, bool),
            arrival_ms=np.zeros(jobs, int) if arrival is None else arrival,
            cores=np.broadcast_to(cores, jobs),
            first_task=np.cumsum([0, *map(len, tasks)]),
            runtime_ms=np.concatenate(tasks),
            estimate_ms=np.concatenate(tasks),
            **fields,
        )

    return make
