"""Placing tasks where they start first, against a plain version that looks at every moment at which anything changes."""

import numpy as np
import pytest

from schedgap.formulations.harvest.clairvoyant import Future
from schedgap.instances.harvest.generators.datacentre import quick


def slowly(instance, order):
    """Return VMs and starts: of the first starts, where the task fits the shortest time, of these the first VM."""
    job = instance.task2job()
    runs = [[] for _ in range(instance.num_vms)]
    placed = np.empty((2, instance.num_tasks), np.int64)

    def fits(v, t, moment):
        at = slice(*instance.first_event[v : v + 2])
        index = np.searchsorted(instance.event_ms[at], moment, side="right") - 1
        now = [job[other] for other, start, end in runs[v] if start <= moment < end]
        cores = (instance.event_cores[at][index] if index >= 0 else 0) - instance.cores[now].sum()
        memory = instance.memory_mib[v] - instance.task_memory_mib[now].sum()
        return cores >= instance.cores[job[t]] and memory >= instance.task_memory_mib[job[t]]

    for t in order.tolist():
        ready, length, options = int(instance.arrival_ms[job[t]]), int(instance.runtime_ms[t]), []
        for v in range(instance.num_vms):
            changes = instance.event_ms[slice(*instance.first_event[v : v + 2])].tolist()
            moments = {ready, *changes, *(ms for run in runs[v] for ms in run[1:])}
            moments = sorted(moment for moment in moments if moment >= ready)
            bad = [moment for moment in moments if not fits(v, t, moment)]
            until = {start: min((ms for ms in bad if ms >= start), default=np.inf) for start in moments}
            options += [(start, until[start], v) for start in moments if until[start] - start >= length]
        start, _, v = min(options)
        runs[v].append((t, start, start + length))
        placed[:, t] = v, start
    return placed


@pytest.fixture(name="instances", scope="module")
def instances_fixture(optima):
    """Return instances of fixed pools: tiny ones with memory, and crowded ones of several sizes."""
    crowded = [
        quick(vms=5, jobs=6, tasks="4-9", most_cores=8, min_sizes="2,4", grid_s=300.0, load=2.0, seed=seed)
        for seed in range(4)
    ]
    return [each for each, _ in optima if each.is_fixed] + crowded


def test_each_task_where_it_starts_first(instances):
    rng = np.random.default_rng(1)
    for instance in instances:
        order = rng.permutation(instance.num_tasks)
        assert np.array_equal(Future(instance).place(order), slowly(instance, order))
