import numpy as np
import pytest

from schedgap.instances.harvest import HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.generate import quick


@pytest.fixture
def trio():
    """Two VMs and three tasks; seconds are easy.

    VM a: 8 cores, 4 from 60 s, none from 120 s, 8 again from 180 s; 4 GiB, at least 2 cores. VM b: 4 cores, 2 GiB.
    Job x, from 0 s: two tasks of 40 s on 4 cores with 1 GiB, without checkpoints. Job y, from 10 s: a task of 50 s on 2
    cores with 1.5 GiB, that stands still for 2 s for a checkpoint and takes 3 s to restore.
    """
    return HarvestInstance(
        name="trio",
        objective="jobs",
        kills="oldest",
        allocation="fixed",
        max_leases=0,
        base_price=3_600_000,
        extra_price=1_800_000,
        first_event=[0, 4, 5],
        event_ms=[0, 60_000, 120_000, 180_000, 0],
        event_cores=[8, 4, 0, 8, 4],
        min_cores=[2, 4],
        memory_mib=[4096, 2048],
        leased=np.ones(2, np.bool_),
        buffer=np.zeros(2, np.bool_),
        arrival_ms=[0, 10_000],
        cores=[4, 2],
        task_memory_mib=[1024, 1536],
        checkpoint_ms=[-1, 2000],
        restore_ms=[0, 3000],
        first_task=[0, 2, 3],
        runtime_ms=[40_000, 40_000, 50_000],
        estimate_ms=[40_000, 40_000, 45_000],
        vm_names=("a", "b"),
        job_names=("x", "y"),
    )


@pytest.fixture
def runs():
    """Return a function that makes a schedule of runs (task, VM, start, end, seconds between checkpoints) and leases."""

    def make(*given, leases=()):
        table = np.array([(*run, 0)[:5] for run in given], float).reshape(-1, 5)
        lease = np.array(leases, float).reshape(-1, 3)
        return HarvestSchedule(
            task=table[:, 0],
            vm=table[:, 1],
            start_ms=np.rint(1000 * table[:, 2]),
            end_ms=np.rint(1000 * table[:, 3]),
            checkpoint_every_ms=np.rint(1000 * table[:, 4]),
            lease_vm=lease[:, 0],
            lease_start_ms=np.rint(1000 * lease[:, 1]),
            lease_end_ms=np.rint(1000 * lease[:, 2]),
        )

    return make


@pytest.fixture
def pool(trio):
    """The trio as a pool of one VM at a time, a leased at the start."""
    return trio.replace(allocation="random", max_leases=1, leased=np.array([True, False]))


@pytest.fixture
def drawn_pool():
    """Draw a pool that is chosen from: `drawn_pool(seed, allocation)`."""

    def drawn_pool(seed, allocation, *, vms=20, leased=5, most=12, buffers=3):
        """A pool of a few VMs, the last ones on buffer servers."""
        instance = quick(vms, jobs=4, seed=seed, history_h=6.0, stability=0.3)
        up = np.flatnonzero(instance.event_cores[instance.first_event[:-1]] > 0)
        return instance.replace(
            allocation=allocation,
            max_leases=most,
            leased=np.isin(np.arange(vms), up[:leased]),
            buffer=np.arange(vms) >= vms - buffers,
        )

    return drawn_pool
