"""Waiting by trying everything: slow, and too simple to be wrong."""

import itertools

import numpy as np
import pytest

from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingInstance, WaitingSchedule, verify
from schedgap.instances.waiting.verify import paid_us


def starts_of(instance):
    """Return each job's possible starts: a job starts when it is submitted or when others end, within its wait."""
    submit, runtime = instance.submit_us.tolist(), instance.runtime_us.tolist()
    sums = {0}
    for p in runtime:
        sums |= {total + p for total in sums}
    moments = sorted({r + total for r in submit for total in sums})
    limit = float("inf") if instance.max_wait_us is None else instance.max_wait_us
    return [[t for t in moments if r <= t <= r + limit] for r in submit]


def is_within_capacity(instance, placed):
    """Whether (job, machine, start) triples never overload a machine; loads only grow at starts."""
    for _, machine, moment in placed:
        jobs = [i for i, m, t in placed if m == machine and t <= moment < t + instance.runtime_us[i]]
        if sum(int(instance.cores[i]) for i in jobs) > instance.machine_cores:
            return False
        if sum(int(instance.memory_mib[i]) for i in jobs) > instance.machine_memory_mib:
            return False
    return True


def placements(instance, fits, starts, machines, placed, job):
    """Yield all ways to place jobs from `job` on, machines being taken in order."""
    if job == instance.num_jobs:
        yield placed
        return
    yield from placements(instance, fits, starts, machines, placed, job + 1)
    if not fits[job]:
        return
    used = max((m for _, m, _ in placed), default=-1)
    for machine, start in itertools.product(range(min(machines, used + 2)), starts[job]):
        cand = [*placed, (job, machine, start)]
        if is_within_capacity(instance, cand):
            yield from placements(instance, fits, starts, machines, cand, job + 1)


def optimum(instance, first_us=0, last_us=float("inf")):
    """Return the optimal objective in micro-dollars, of schedules whose machines are paid until a moment between two."""
    fits, starts = instance.fits_fixed(), starts_of(instance)
    best = None
    for placed in placements(instance, fits, starts, instance.num_jobs, [], 0):
        machine = np.full(instance.num_jobs, RENTED)
        start = instance.submit_us.copy()
        for job, where, moment in placed:
            machine[job], start[job] = where, moment
        schedule = WaitingSchedule(int(machine.max(initial=-1)) + 1, machine, start)
        if schedule.num_machines and not first_us <= paid_us(instance, schedule) <= last_us:
            continue
        objective = verify(instance, schedule)
        best = objective if best is None else min(best, objective)
    return best


def random_instance(seed, jobs=3, single_core=False, wait=None, mixed=False):
    """Draw up to `jobs` jobs of a few hours; fixed machines of 1 to 4 cores, sometimes too small for a job.

    wait : None draws the limit, 0 forbids waiting. mixed : machines of 4 cores that are cheap, small and large jobs.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, jobs + 1))
    cores = np.ones(count, np.int64) if single_core else rng.integers(1, 5, count)
    machine_cores = 1 if single_core else int(rng.integers(1, 5))
    if mixed:
        cores, machine_cores = rng.choice([1, 2, 3], count), 4
    unit = int(rng.choice([HOUR_US, HOUR_US // 4, HOUR_US // 7]))
    limit = int(rng.integers(0, 4)) * unit if rng.random() < 0.7 else None
    return WaitingInstance(
        name=f"random-{seed}",
        submit_us=np.sort(rng.integers(0, 5, count)) * unit,
        runtime_us=rng.integers(1, 5, count) * unit,
        cores=cores,
        memory_mib=rng.integers(0, 1 if single_core else 4, count),
        machine_cores=machine_cores,
        machine_memory_mib=int(rng.integers(1, 5)),
        fixed_price=int(rng.integers(1, 8 if mixed else 30)) * machine_cores * 1000,
        rented_cores=[1, 2, 4],
        rented_memory_mib=[2, 4, 8],
        rented_price=(np.array([1, 2, 4]) if rng.random() < 0.6 else np.array([1, 3, 4]))
        * int(rng.integers(10, 40))
        * 1000,
        horizon_us=int(rng.integers(1, 9)) * unit,
        wait_price=int(rng.choice([0, 0, 1, 7]) * 1000),
        max_wait_us=limit if wait is None else wait,
    )


@pytest.fixture(name="optimum", scope="session")
def optimum_fixture():
    """Return the function that finds an optimal objective by brute force."""
    return optimum


@pytest.fixture(name="random_instance", scope="session")
def random_instance_fixture():
    """Return the function that draws a tiny instance."""
    return random_instance
