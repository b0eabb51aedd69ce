"""Eunomia's micro-benchmark."""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError
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
