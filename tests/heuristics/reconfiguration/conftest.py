"""Observations made by hand, and small random instances."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.actions import Market
from schedgap.heuristics.reconfiguration.observation import EXECUTING, QUEUED, Observation
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.model import ReconfigurationInstance

# Type "big" has 10 CPUs for $10 an hour, "small" 5 for $6.
BIG, SMALL = 0, 1


def observation_of(
    demand,
    tasks,
    machines=(),
    *,
    capacity=((10,), (5,)),
    price=(10, 6),
    family=None,
    sizes=None,
    phase=None,
    held=None,
    rate=None,
    running=None,
    now_s=600,
    **fields,
):
    """An observation. demand : one tuple a class (or one such list a family). tasks : (class, machine or -1), a job each.

    sizes : number of tasks of each job, neighbours in `tasks`, instead. machines : their types. Tasks that are on a
    machine run there, unhindered, unless `phase`, `held`, `rate` and `running` say otherwise.
    """
    rows = np.array(demand, np.int64)
    rows = rows[None] if rows.ndim == 2 else rows
    family = np.zeros(len(price), np.int64) if family is None else np.array(family)
    capacity, price = np.array(capacity, np.int64), np.array(price, np.int64) * 1_000_000
    task_class = np.array([c for c, _ in tasks], np.int64)
    place = np.array([m for _, m in tasks], np.int64)
    sizes = np.ones(len(tasks), np.int64) if sizes is None else np.array(sizes)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    kmin = [
        min(
            (
                k
                for k in range(len(price))
                if (rows[family[k], c] >= 0).all() and (rows[family[k], c] <= capacity[k]).all()
            ),
            key=lambda k: price[k],
        )
        for c in range(rows.shape[1])
    ]
    market = Market(
        resources=tuple(f"cpu{r}" for r in range(capacity.shape[1])),
        families=tuple(f"f{f}" for f in range(rows.shape[0])),
        type_names=tuple(f"t{k}" for k in range(len(price))),
        type2family=family,
        capacity=capacity,
        price=price,
        acquire_s=np.zeros(len(price), np.int64),
        setup_s=np.zeros(len(price), np.int64),
        period_s=300,
    )
    num_classes = rows.shape[1]
    values = {
        "now_s": now_s,
        "market": market,
        "demand": rows,
        "reservation_type": np.array(kmin, np.int64),
        "class_names": tuple(f"c{c}" for c in range(num_classes)),
        "class2workload": np.arange(num_classes),
        "delays_s": np.tile(np.array([1, 10, 1, 20, 80]), (num_classes, 1)),
        "job": np.arange(sizes.size),
        "job_class": task_class[first],
        "job_tasks": sizes,
        "job_arrival_s": np.zeros(sizes.size, np.int64),
        "job_phase": np.where(place[first] < 0, QUEUED, EXECUTING) if phase is None else np.array(phase),
        "job_attained_s": np.zeros(sizes.size),
        "num_ended": 0,
        "ended": np.empty(0, np.int64),
        "ended_s": np.empty(0, np.int64),
        "job_duration_s": None,
        "task": np.arange(len(tasks)),
        "task_job": np.repeat(np.arange(sizes.size), sizes),
        "task_class": task_class,
        "task_machine": place,
        "task_held_on": place.copy() if held is None else np.array(held),
        "task_rate": np.where(place < 0, -1.0, 1.0) if rate is None else np.array(rate, np.float64),
        "machine": np.arange(len(machines)),
        "machine_type": np.array(machines, np.int64),
        "machine_running": np.ones(len(machines), np.bool_) if running is None else np.array(running),
        "stock_left": None,
        "throughput": None,
        "upkeep": None,
        "memory": {},
    }
    values.update({key: np.array(value) if isinstance(value, list) else value for key, value in fields.items()})
    for holder in (values, {"a": capacity, "b": price, "c": family}):
        for value in holder.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
    return Observation(**values)


def instance_of(seed, jobs=12, **changes):
    """A random instance of two families, four types and a few classes, whose throughputs are exact in binary."""
    rng = np.random.default_rng(seed)
    classes, workloads = 4, 3
    job2class = np.concatenate((np.arange(classes), rng.integers(0, classes, jobs - classes)))
    cpu = rng.integers(1, 5, (2, classes, 1)) * 1000
    demand = np.concatenate((cpu, rng.integers(0, 4, (2, classes, 1)) * 1024), axis=2)
    if seed % 3 == 0:
        demand[1, 0] = -1
    catalogue = ProvisioningInstance(
        name="random",
        resources=("cpu", "ram_gib"),
        families=("narrow", "wide"),
        type_names=("n5", "n10", "w7", "w14"),
        type2family=[0, 0, 1, 1],
        capacity=[[5000, 4096], [10000, 8192], [7000, 6144], [14000, 12288]],
        price=[1_000_000, 1_750_000, 1_500_000, 2_500_000],
        demand=demand,
        counts=np.ones(classes),
        workloads=tuple(f"w{w}" for w in range(workloads)),
        class2workload=np.arange(classes) % workloads,
        throughput=rng.choice([500, 750, 875, 1000], (workloads, workloads)),
    )
    delays = {key: rng.integers(0, 6, workloads) for key in ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")}
    fields = {
        "name": f"random-{seed}",
        "catalogue": catalogue,
        "acquire_s": rng.integers(0, 8, 4),
        "setup_s": rng.integers(0, 30, 4),
        **delays,
        "arrival_s": np.sort(rng.integers(0, 400, jobs)),
        "work_s": rng.integers(1, 400, jobs),
        "job2class": job2class,
        "num_tasks": rng.choice([1, 1, 2, 3], jobs),
        "period_s": 20,
    }
    return ReconfigurationInstance(**{**fields, **changes})


@pytest.fixture(scope="session")
def make_observation():
    return observation_of


@pytest.fixture(scope="session")
def make_instance():
    return instance_of
