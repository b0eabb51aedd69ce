import numpy as np
import pytest

from schedgap.instances.harvest import HarvestInstance, HarvestSchedule
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.model import NO_CHECKPOINTS


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


@pytest.fixture
def tiny():
    """Draw a tiny pool in which much happens at once: `tiny(seed)`."""

    def tiny(seed, **changes):
        """Draw an instance in which much happens at one moment: VMs of 0 to 6 cores, times of 0 to 40 ms."""
        rng = np.random.default_rng(seed)
        vms, jobs = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        cores = rng.integers(1, 5, jobs)
        memory = rng.integers(0, 5, jobs)
        first, moments, amounts = [0], [], []
        for v in range(vms):
            times = np.unique(
                np.append(rng.integers(0, 40, int(rng.integers(1, 9))), 0 if rng.integers(2) else 40)
            ).tolist()
            sizes = rng.choice([0, 0, 1, 2, 3, 4, 5, 6], len(times)).tolist()
            if v == 0:
                # Where every task fits in the end.
                times, sizes = [*times, 50], [*sizes, 6]
            kept = [k for k in range(len(sizes)) if sizes[k] != ([0, *sizes])[k]]
            moments += [times[k] for k in kept] or [40]
            amounts += [sizes[k] for k in kept] or [1]
            first.append(len(moments))
        count = rng.integers(1, 5, jobs)
        up = [v for v in range(vms) if moments[first[v]] == 0 and amounts[first[v]] > 0]
        dynamic = bool(rng.integers(2)) and bool(up)
        leased = np.isin(np.arange(vms), up[: int(rng.integers(1, 4))]) if dynamic else np.ones(vms, bool)
        runtime = rng.integers(1, 12, int(count.sum()))
        given = {
            "name": f"tiny-{seed}",
            "objective": str(rng.choice(["jobs", "tasks", "makespan"])),
            "kills": str(rng.choice(["oldest", "newest"])),
            "allocation": str(rng.choice(["random", "balancing", "packing"])) if dynamic else "fixed",
            "max_leases": int(leased.sum() + rng.integers(0, 3)) if dynamic else 0,
            "base_price": 1,
            "extra_price": 1,
            "first_event": first,
            "event_ms": moments,
            "event_cores": amounts,
            "min_cores": np.ones(vms, int),
            "memory_mib": np.concatenate(([10], rng.integers(1, 10, vms - 1))),
            "leased": leased,
            "buffer": np.zeros(vms, bool),
            "arrival_ms": np.sort(rng.integers(0, 30, jobs)),
            "cores": cores,
            "task_memory_mib": memory,
            "checkpoint_ms": rng.choice([NO_CHECKPOINTS, 0, 1, 2], jobs),
            "restore_ms": rng.integers(0, 3, jobs),
            "first_task": np.concatenate(([0], np.cumsum(count))),
            "runtime_ms": runtime,
            "estimate_ms": np.maximum(runtime + rng.integers(-4, 5, runtime.size), 1),
        }
        return HarvestInstance(**given | changes)

    return tiny
