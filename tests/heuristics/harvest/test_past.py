"""What comes changes nothing that came: two instances with the same past are played alike until they differ."""

import numpy as np
import pytest

import schedgap.heuristics.harvest.rules
import schedgap.heuristics.harvest.slacksched.slacksched  # noqa: F401
from schedgap.instances.harvest import two_kinds
from schedgap.instances.method import REGISTRY
from schedgap.instances.units import HOUR_MS

POLICIES = sorted(
    name
    for (family, name), method in REGISTRY.items()
    if family == "harvest" and method.func.__module__.startswith("schedgap.heuristics.") and name != "oracle"
)


def changed_after(instance, ms):
    """Leave out the events after a moment, save that each VM grows to 41 cores a day after the last one, and later jobs."""
    kept = instance.event_ms <= ms
    first = instance.first_event[:-1]
    kept[first] = True
    count = np.add.reduceat(kept, first)
    at = np.cumsum(count)
    jobs = int((instance.arrival_ms <= ms).sum())
    tasks = int(instance.first_task[jobs])
    cut = {key: getattr(instance, key)[:jobs] for key in ("arrival_ms", "cores", "task_memory_mib")}
    cut |= {key: getattr(instance, key)[:jobs] for key in ("checkpoint_ms", "restore_ms")}
    return instance.replace(
        first_event=np.concatenate(([0], at + np.arange(1, at.size + 1))),
        event_ms=np.insert(instance.event_ms[kept], at, instance.event_ms.max() + 24 * HOUR_MS),
        event_cores=np.insert(instance.event_cores[kept], at, 41),
        first_task=instance.first_task[: jobs + 1],
        runtime_ms=instance.runtime_ms[:tasks],
        estimate_ms=instance.estimate_ms[:tasks],
        job_names=None if instance.job_names is None else instance.job_names[:jobs],
        **cut,
    )


def done_by(schedule, ms):
    """Return the runs and leases that began by a moment, and when those ended that did not last longer."""
    runs = schedule.start_ms <= ms
    leases = schedule.lease_start_ms <= ms
    return (
        schedule.task[runs].tolist(),
        schedule.vm[runs].tolist(),
        schedule.start_ms[runs].tolist(),
        np.minimum(schedule.end_ms[runs], ms + 1).tolist(),
        schedule.lease_vm[leases].tolist(),
        schedule.lease_start_ms[leases].tolist(),
        np.minimum(schedule.lease_end_ms[leases], ms + 1).tolist(),
    )


@pytest.mark.parametrize("acquirer", ["keep", "recent", "reservation"])
@pytest.mark.parametrize("name", POLICIES)
def test_the_same_past_is_played_alike(name, acquirer):
    method = REGISTRY["harvest", name]
    instance = two_kinds(servers=30, vms=8, jobs=8, seed=3)
    instance = instance.replace(checkpoint_ms=np.where(np.arange(8) % 2, 60_000, -1))
    moment = int(instance.arrival_ms[5])
    other = changed_after(instance, moment)
    assert other.num_jobs == 6
    ours, theirs = (method.run(one, seed=5, parameters={"acquirer": acquirer}).solution for one in (instance, other))
    assert len(set(done_by(ours, moment)[5])) > 3, "VMs came from the provider"
    assert done_by(ours, moment) == done_by(theirs, moment)
    assert done_by(ours, int(instance.event_ms.max())) != done_by(theirs, int(instance.event_ms.max()))
