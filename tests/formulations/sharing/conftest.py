"""Sharing by trying everything: slow, and too simple to be wrong."""

import itertools

import numpy as np
import pytest

from schedgap.instances.sharing.model import SharingInstance, SharingSchedule
from schedgap.instances.sharing.verify import verify


def earliest(instance, placed, job, machine, length):
    """Return the first moment from which a task of a job fits on a machine beside (job, machine, start, end) tuples."""
    capacity = instance.capacity[instance.machine2class()[machine]]
    here = [(j, s, e) for j, m, s, e in placed if m == machine]
    for start in sorted({int(instance.arrival_ms[job]), *(e for _, _, e in here)}):
        if start < instance.arrival_ms[job]:
            continue
        moments = {start, *(s for _, s, _ in here if start < s < start + length)}
        used = [sum((instance.demand[j] for j, s, e in here if s <= at < e), np.zeros(2, int)) for at in moments]
        if all((instance.demand[job] + each <= capacity).all() for each in used):
            return start
    raise AssertionError("a task fits once all others have ended")


def optimum(instance):
    """Return the least objective: some order in which each task takes its earliest start is optimal."""
    job, classes, serves = instance.task2job(), instance.machine2class(), instance.serves()
    places = [np.flatnonzero(serves[j, classes]).tolist() for j in job]
    best = None
    for machines in itertools.product(*places):
        length = instance.duration_ms(np.arange(instance.num_tasks), classes[list(machines)]).tolist()
        for order in itertools.permutations(range(instance.num_tasks)):
            placed, starts = [], [0] * instance.num_tasks
            for t in order:
                starts[t] = earliest(instance, placed, job[t], machines[t], length[t])
                placed.append((job[t], machines[t], starts[t], starts[t] + length[t]))
            objective = verify(instance, SharingSchedule(machines, starts))
            best = objective if best is None else min(best, objective)
    return best


def tiny_instance(seed):
    """Draw 2 or 3 jobs of 2 to 4 tasks together, on 1 or 2 machines of 1 or 2 classes."""
    rng = np.random.default_rng(seed)
    sizes = [[1, 1], [2, 1], [1, 1, 1], [2, 1, 1], [3, 1]][int(rng.integers(5))]
    jobs, classes = len(sizes), int(rng.integers(1, 3))
    allowed = rng.random((jobs, classes)) < 0.7
    allowed[:, 0] |= ~allowed.any(axis=1)
    return SharingInstance(
        name=f"tiny-{seed}",
        notion="eunomia",
        resources=("cpu", "ram_gib"),
        machine_names=tuple("ab"[:classes]),
        machine_count=np.full(classes, 2 if classes == 1 and rng.random() < 0.5 else 1),
        capacity=rng.integers(3, 6, (classes, 2)),
        arrival_ms=np.sort(rng.integers(0, 6, jobs)),
        demand=rng.integers(1, 4, (jobs, 2)),
        weight=np.ones(jobs, int),
        performance=rng.choice([500, 700, 1000, 2000], (jobs, classes)),
        allowed=allowed,
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        work_ms=rng.integers(1, 8, sum(sizes)),
    )


def nasty_instance(seed):
    """Draw a tiny instance at an end of what the format admits: late, long, large, fast or slow, or all equal."""
    rng, tiny = np.random.default_rng(seed), tiny_instance(seed)
    jobs, classes, tasks = tiny.num_jobs, len(tiny.machine_names), tiny.num_tasks

    def upto(shape, low, high):
        """Return whole numbers, evenly spread in bits."""
        return np.rint(2.0 ** rng.uniform(low, high, shape)).astype(np.int64)

    kind = ("late", "long", "large", "fast", "slow", "equal")[int(rng.integers(6))]
    changes = {
        "late": {"arrival_ms": tiny.arrival_ms + 2**40 - 10},
        "long": {"work_ms": upto(tasks, 0, 48), "arrival_ms": np.sort(upto(jobs, 0, 40))},
        "large": {
            "capacity": upto((classes, 2), 36, 40),
            "demand": upto((jobs, 2), 30, 36),
            "weight": upto(jobs, 0, 40),
        },
        "fast": {"performance": upto((jobs, classes), 30, 40), "work_ms": upto(tasks, 0, 49)},
        "slow": {"performance": upto((jobs, classes), 0, 12), "work_ms": upto(tasks, 0, 30)},
        "equal": {"arrival_ms": np.zeros(jobs, int), "work_ms": np.ones(tasks, int), "demand": np.ones((jobs, 2), int)},
    }
    return tiny.replace(name=f"{kind}-{seed}", **changes[kind])


@pytest.fixture(name="nasty_instance", scope="session")
def nasty_instance_fixture():
    """Return the function that draws a tiny instance at an end of the format."""
    return nasty_instance


@pytest.fixture(name="optimum", scope="session")
def optimum_fixture():
    """Return the function that finds an optimal objective by brute force."""
    return optimum


@pytest.fixture(name="tiny_instance", scope="session")
def tiny_instance_fixture():
    """Return the function that draws a tiny instance."""
    return tiny_instance


@pytest.fixture
def make():
    """Make an instance: `make(work=[[3, 1], [2]], count=[1, 2], speed=[1, 2])`, one core a task, one a machine."""

    def make(work, count=(1,), speed=1, capacity=None, demand=None, arrival=None, **changes):
        jobs, classes = len(work), len(count)
        fields = {
            "performance": np.broadcast_to(np.array(speed) * 1000, (jobs, classes)),
            "allowed": np.ones((jobs, classes), bool),
        } | changes
        return SharingInstance(
            name="made",
            notion="eunomia",
            resources=("cpu",),
            machine_names=tuple(f"class-{k}" for k in range(classes)),
            machine_count=count,
            capacity=np.ones((classes, 1), int) if capacity is None else np.array(capacity)[:, None],
            arrival_ms=np.zeros(jobs, int) if arrival is None else arrival,
            demand=np.ones((jobs, 1), int) if demand is None else np.array(demand)[:, None],
            weight=np.ones(jobs, int),
            first_task=np.cumsum([0, *map(len, work)]),
            work_ms=np.concatenate(work),
            **fields,
        )

    return make
