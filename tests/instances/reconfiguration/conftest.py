"""Small instances and schedules, and throughputs of sets in plain Python."""

import numpy as np
import pytest

from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.delays import StoredSets
from schedgap.instances.reconfiguration.model import ReconfigurationInstance, ReconfigurationSchedule


def made(seed, jobs=5, period_s=20, **changes):
    """A random instance of two families, three types, a few classes; short delays, so that much happens at once."""
    rng = np.random.default_rng(seed)
    classes, workloads = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    job2class = np.concatenate((np.arange(classes), rng.integers(0, classes, max(jobs - classes, 0))))
    cpu = rng.integers(1, 5, (2, classes, 1)) * 1000
    demand = np.concatenate((cpu, rng.integers(0, 4, (2, classes, 1)) * 1024), axis=2)
    if rng.random() < 0.3:
        demand[1, 0] = -1
    class2workload = rng.integers(0, workloads, classes)
    present, class2workload = np.unique(class2workload, return_inverse=True)
    workloads = present.shape[0]
    catalogue = ProvisioningInstance(
        name="random",
        resources=("cpu", "ram_gib"),
        families=("small", "large"),
        type_names=("s4", "l6", "l9"),
        type2family=[0, 1, 1],
        capacity=[[5000, 4096], [7000, 6144], [11000, 9216]],
        price=[1_000_000, 1_700_000, 2_500_000],
        demand=demand,
        counts=np.ones(classes),
        workloads=tuple(f"w{w}" for w in range(workloads)),
        class2workload=class2workload,
        throughput=rng.integers(500, 1001, (workloads, workloads)),
    )
    delays = {key: rng.integers(0, 6, workloads) for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    fields = {
        "name": f"random-{seed}",
        "catalogue": catalogue,
        "acquire_s": rng.integers(0, 8, 3),
        "setup_s": rng.integers(0, 30, 3),
        **delays,
        "arrival_s": np.sort(rng.integers(0, 150, job2class.shape[0])),
        "work_s": rng.integers(1, 120, job2class.shape[0]),
        "job2class": job2class,
        "num_tasks": rng.choice([1, 1, 2, 3], job2class.shape[0]),
        "period_s": period_s,
        "terminate_s": int(rng.integers(0, 3)),
    }
    return ReconfigurationInstance(**{**fields, **changes})


def product(throughput, together, own):
    """Of a workload among those of a set, itself one, factor by factor."""
    others = sorted(together)
    others.remove(own)
    value = 10**9
    for other in others:
        value = value * int(throughput[own, other]) // 1000
    return value


def looked_up(sets, together):
    """A stored set's rates by workload, as the authors' simulator looks them up; empty for a set that is not stored."""
    if sets is None or not 3 <= len(together) <= sets.most_long:
        return {}
    rank = sets.listed_rank if len(together) <= sets.most else sets.long_rank
    if min(rank[w] for w in together) < 0:
        return {}
    values = [product(sets.throughput, together, w) for w in sorted(together, key=lambda w: rank[w])]
    return dict(zip(sorted(together, key=lambda w: sets.sorted_rank[w]), values, strict=True))


def sets(seed, workloads):
    """Random stored sets; long ones of some of the workloads."""
    rng = np.random.default_rng(seed)
    long_rank = np.where(rng.random(workloads) < 0.6, rng.permutation(workloads), -1)
    most = int(rng.integers(3, 8))
    return StoredSets(
        throughput=rng.integers(500, 1001, (workloads, workloads)),
        sorted_rank=rng.permutation(workloads),
        listed_rank=rng.permutation(workloads),
        long_rank=long_rank,
        most=most,
        most_long=most + int(rng.integers(0, 4)),
    )


def two_jobs(**changes):
    """One type of 4 cores at $3.60 an hour, which is a tenth of a cent a second; jobs of 100 and 50 seconds."""
    catalogue = ProvisioningInstance(
        name="two-jobs",
        resources=("cpu",),
        families=("x",),
        type_names=("four",),
        type2family=[0],
        capacity=[[4000]],
        price=[3_600_000],
        demand=[[[2000], [1000]]],
        counts=[1, 1],
        workloads=("a", "b"),
        class2workload=[0, 1],
        throughput=[[1000, 500], [800, 1000]],
    )
    fields = {
        "name": "two-jobs",
        "catalogue": catalogue,
        "acquire_s": [3],
        "setup_s": [7],
        "fetch_s": [1, 2],
        "build_s": [4, 0],
        "kill_s": [1, 1],
        "upload_s": [2, 2],
        "init_s": [5, 0],
        "arrival_s": [0, 1],
        "work_s": [100, 50],
        "job2class": [0, 1],
        "num_tasks": [1, 1],
        "period_s": 60,
    }
    return ReconfigurationInstance(**{**fields, **changes})


def schedule_of(machines, moves):
    machine = np.array(machines, np.int64).reshape(-1, 3).T
    move = np.array(moves, np.int64).reshape(-1, 3).T
    return ReconfigurationSchedule(machine[0], machine[1], machine[2], move[0], move[1], move[2])


@pytest.fixture(name="two_jobs")
def two_jobs_fixture():
    return two_jobs


@pytest.fixture(name="schedule_of")
def schedule_of_fixture():
    return schedule_of


@pytest.fixture(name="made")
def made_fixture():
    return made


@pytest.fixture
def wide():
    """An instance of as many workloads as asked for, with products of pairs of their own, and stored sets."""

    def build(workloads):
        base, rng = two_jobs(), np.random.default_rng(workloads)
        every = np.arange(workloads)
        catalogue = base.catalogue.replace(
            demand=[[[1000]] * workloads],
            counts=np.ones(workloads),
            workloads=tuple(f"w{w}" for w in every),
            class_names=None,
            class2workload=every,
            class2job=None,
            tasks_per_job=None,
            throughput=rng.integers(500, 1001, (workloads, workloads)),
        )
        delays = {key: every + 1 for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
        jobs = {"arrival_s": every, "work_s": every + 50, "job2class": every, "num_tasks": every * 0 + 1}
        return base.replace(catalogue=catalogue, stored_sets=sets(workloads, workloads), **delays, **jobs)

    return build


@pytest.fixture
def swapped():
    """Names b, a and values a, b; sets of three, and of four of workload a alone."""
    return StoredSets(
        throughput=[[700, 900], [600, 500]],
        sorted_rank=[1, 0],
        listed_rank=[0, 1],
        long_rank=[0, -1],
        most=3,
        most_long=4,
    )


@pytest.fixture(name="sets")
def sets_fixture():
    return sets


@pytest.fixture(name="looked_up")
def looked_up_fixture():
    return looked_up


@pytest.fixture(name="product")
def product_fixture():
    return product
