import numpy as np
import pytest

from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.model import HarvestInstance

MINUTE_MS = 60_000


@pytest.fixture
def busy():
    """Make a small instance on a grid of ten minutes, in which much happens at once and much is killed: `busy(3)`."""

    def busy(seed, **changes):
        rng = np.random.default_rng(seed)
        options = {
            "vms": int(rng.integers(2, 7)),
            "jobs": int(rng.integers(2, 7)),
            "tasks": "1-8",
            "cores": "1,2,4",
            "most_cores": 8,
            "min_sizes": "1,2",
            "grid_s": 600.0,
            "stability": float(rng.choice([0.3, 1.0])),
            "history_h": 1.0,
            "kills": str(rng.choice(["oldest", "newest"])),
        }
        return quick(seed=seed, **options | changes)

    return busy


@pytest.fixture
def by_hand():
    """Make an instance from a list of (minute, cores) for each VM and of (minute, cores, runtimes in minutes) for each job."""

    def by_hand(vms, jobs, **changes):
        given = {
            "name": "by-hand",
            "objective": "jobs",
            "kills": "oldest",
            "allocation": "fixed",
            "max_leases": 0,
            "base_price": 1,
            "extra_price": 1,
            "first_event": np.cumsum([0, *(len(events) for events in vms)]),
            "event_ms": [minute * MINUTE_MS for events in vms for minute, _ in events],
            "event_cores": [cores for events in vms for _, cores in events],
            "min_cores": [1] * len(vms),
            "memory_mib": [1024] * len(vms),
            "leased": [True] * len(vms),
            "buffer": [False] * len(vms),
            "arrival_ms": [minute * MINUTE_MS for minute, _, _ in jobs],
            "cores": [cores for _, cores, _ in jobs],
            "task_memory_mib": [1] * len(jobs),
            "checkpoint_ms": [-1] * len(jobs),
            "restore_ms": [0] * len(jobs),
            "first_task": np.cumsum([0, *(len(runtimes) for *_, runtimes in jobs)]),
            "runtime_ms": [minutes * MINUTE_MS for *_, runtimes in jobs for minutes in runtimes],
            "estimate_ms": [minutes * MINUTE_MS for *_, runtimes in jobs for minutes in runtimes],
        }
        return HarvestInstance(**given | changes)

    return by_hand


@pytest.fixture
def first_fit():
    """A policy in Python."""

    def first_fit(observation):
        free, free_memory, starts = observation.free.copy(), observation.free_memory.copy(), []
        for task, job in zip(observation.task, observation.task_job, strict=True):
            fits = np.flatnonzero((free >= observation.job_cores[job]) & (free_memory >= observation.job_memory[job]))
            if fits.size:
                free[fits[0]] -= observation.job_cores[job]
                free_memory[fits[0]] -= observation.job_memory[job]
                starts.append((task, observation.vm[fits[0]]))
        return starts

    return first_fit
