"""Generators of sharing instances: Eunomia's two benchmarks, and small random ones.

Eunomia's macro-benchmark (section IV-C), synthesized: the machines and jobs of `fairness.constraints`, over 5,000 s.

Given by the paper: the span and the warm-up. All other numbers here are assumed, the load above all, which it does not give.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator, lognormal
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.generators import JOBS, MACHINES, draw_macro
from schedgap.instances.fairness.model import ONE
from schedgap.instances.sharing.model import FAMILY, SharingInstance
from schedgap.instances.units import GIB_MIB, SECOND_MS

# Tables III and IV: machine types of 5 machines with 4 cores and 4 GB each, jobs with tasks of 1 core and 1 GB.
MICRO_PERFORMANCE = (1000, 1500, 2000, 3000)
MICRO_MACHINES, MICRO_CORES, MICRO_JOBS, MICRO_TASKS, MICRO_WORK_MS = 5, 4, 4, 1000, 2 * SECOND_MS


def micro(
    *,
    seed: int = 0,
    tasks: int = MICRO_TASKS,
    constraint: bool = True,
    random_durations: bool = False,
    notion: str = "eunomia",
) -> SharingInstance:
    """Make Eunomia's micro-benchmark (Tables III and IV): 20 machines of 4 types, 4 equal jobs that arrive at once.

    tasks : of each job. constraint : the last job asks for the fastest machines. random_durations : the tasks' work is
    exponential with the table's mean of 2 s; else it is 2 s, and the seed has no effect. notion : of fairness.
    """
    if tasks < 1:
        raise InstanceError(f"tasks is {tasks}; give at least 1.")
    number = MICRO_JOBS * tasks
    work_ms = np.full(number, MICRO_WORK_MS)
    if random_durations:
        uniform = generator(FAMILY, "micro", tasks, seed).random(number)
        work_ms = np.maximum(1, np.rint(-np.log1p(-uniform) * MICRO_WORK_MS).astype(np.int64))
    allowed = np.ones((MICRO_JOBS, len(MICRO_PERFORMANCE)), np.bool_)
    if constraint:
        allowed[-1, :-1] = False
    size = f"-{tasks}" if tasks != MICRO_TASKS else ""
    kind = ("" if constraint else "-free") + (f"-random-s{seed}" if random_durations else "")
    return SharingInstance(
        name=f"micro{size}{kind}",
        notion=notion,
        resources=("cpu", "ram_gib"),
        machine_names=tuple(f"type-{k + 1}" for k in range(len(MICRO_PERFORMANCE))),
        machine_count=np.full(len(MICRO_PERFORMANCE), MICRO_MACHINES),
        capacity=np.tile([MICRO_CORES * ONE, MICRO_CORES * GIB_MIB], (len(MICRO_PERFORMANCE), 1)),
        arrival_ms=np.zeros(MICRO_JOBS, np.int64),
        demand=np.tile([ONE, GIB_MIB], (MICRO_JOBS, 1)),
        weight=np.full(MICRO_JOBS, ONE),
        performance=np.tile(MICRO_PERFORMANCE, (MICRO_JOBS, 1)),
        allowed=allowed,
        first_task=np.arange(MICRO_JOBS + 1) * tasks,
        work_ms=work_ms,
        job_names=tuple(f"job-{j + 1}" for j in range(MICRO_JOBS)),
    )


MAX_LOAD, SPAN_S, WARM_UP_SHARE = 1000, 5000, 0.1
JOB_SIGMA, TASK_SIGMA = 1.1, 0.35


def macro(
    *,
    seed: int = 0,
    load: float = 0.7,
    reading: str = "upper",
    jobs: int = JOBS,
    tasks: int = -1,
    machines: int = MACHINES,
    warm_up_jobs: int = -1,
    notion: str = "eunomia",
) -> SharingInstance:
    """Draw Eunomia's macro-benchmark: jobs of Google's sizes, with constraints, on 100 machines of 10 speeds.

    load : the jobs' work in cores, as a share of what all machines do within the 5,000 s in which jobs arrive.
    reading : of Figure 5b, `upper` for 35 % of the jobs that can run on half of the machines, `lower` for 65 %.
    tasks : below 0 for 63,976, or in proportion to the jobs. warm_up_jobs : below 0 for the first tenth.
    """
    if not 0 < load <= MAX_LOAD:
        raise InstanceError(f"load is {load:g}; give a positive number, up to {MAX_LOAD}.")
    rng = generator(FAMILY, "macro", jobs, tasks, machines, seed)
    fields, sizes = draw_macro(rng, reading=reading, jobs=jobs, tasks=tasks, machines=machines)
    work = np.repeat(lognormal(rng, JOB_SIGMA, jobs), sizes) * lognormal(rng, TASK_SIGMA, int(sizes.sum()))
    # What all machines do, one product for each machine in whole numbers.
    cores = fields["machine_count"] * fields["capacity"][:, 0] @ fields["performance"][0]
    offered = load * SPAN_S * SECOND_MS * float(cores) / ONE
    cpu = np.repeat(fields["demand"][:, 0], sizes)
    work_ms = np.rint(work * (offered / float(cpu @ work))).astype(np.int64)
    return SharingInstance(
        name=f"macro-{load:g}-{reading}-s{seed}" + (f"-{jobs}" if jobs != JOBS else ""),
        notion=notion,
        **fields,
        arrival_ms=np.sort((rng.random(jobs) * SPAN_S * SECOND_MS).astype(np.int64)),
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        work_ms=np.maximum(1, work_ms),
        warm_up_jobs=int(WARM_UP_SHARE * jobs) if warm_up_jobs < 0 else warm_up_jobs,
    )


def random_jobs(
    jobs: int = 4,
    *,
    seed: int = 0,
    machine_classes: int = 2,
    most_machines: int = 2,
    most_tasks: int = 3,
    step_s: float = 1.0,
    own_performance: bool = False,
    notion: str = "eunomia",
) -> SharingInstance:
    """Draw a few jobs of 1 to `most_tasks` tasks that arrive close together, for tests and exact methods.

    machine_classes : of 1 to `most_machines` machines with 1 to 4 cores and GiB, the first with 4 of each so that every
    task fits. step_s : arrivals are multiples of it and work too, of up to 6 steps. own_performance : each job has its
    own performance on each class, 0 on some; else that of a class is the same for all. It is 0.5, 1 or 2.
    """
    for name, value in (("jobs", jobs), ("machine_classes", machine_classes), ("most_machines", most_machines)):
        if value < 1:
            raise InstanceError(f"{name} is {value}; give at least 1.")
    if most_tasks < 1 or step_s <= 0:
        raise InstanceError(f"most_tasks is {most_tasks}, step_s {step_s:g}; give at least 1, and a positive step.")
    rng = generator(FAMILY, "random-jobs", jobs, machine_classes, most_machines, most_tasks, own_performance, seed)

    def upto(most: int, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        """Return whole numbers from 1 to `most`."""
        return 1 + (rng.random(shape) * most).astype(np.int64)

    step_ms = max(1, round(step_s * SECOND_MS))
    capacity = upto(4, machine_classes, 2)
    capacity[0] = 4
    rows = jobs if own_performance else 1
    performance = 250 * 2 ** upto(3, rows, machine_classes)
    allowed = rng.random((jobs, machine_classes)) < 0.7
    allowed[:, 0] |= ~allowed[:, 1:].any(axis=1)
    demand = upto(3, jobs, 2)
    if own_performance:
        performance = np.where(rng.random(performance.shape) < 0.1, 0, performance)
    performance = np.broadcast_to(performance, allowed.shape).copy()
    fits = (demand[:, None, :] <= capacity).all(axis=2) & (performance > 0)
    unserved = ~(fits & allowed).any(axis=1)
    allowed[unserved, 0] = True
    performance[unserved, 0] = np.where(performance[unserved, 0] > 0, performance[unserved, 0], ONE)
    sizes = upto(most_tasks, jobs)
    return SharingInstance(
        name=f"random-jobs-{jobs}-s{seed}",
        notion=notion,
        resources=("cpu", "ram_gib"),
        machine_names=tuple(f"class-{k}" for k in range(machine_classes)),
        machine_count=upto(most_machines, machine_classes),
        capacity=capacity * np.array([ONE, GIB_MIB]),
        arrival_ms=np.cumsum(upto(4, jobs) - 1) * step_ms,
        demand=demand * np.array([ONE, GIB_MIB]),
        weight=upto(2, jobs) * ONE,
        performance=performance,
        allowed=allowed,
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        work_ms=upto(6, int(sizes.sum())) * step_ms,
    )
