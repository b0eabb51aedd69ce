"""Eunomia's macro-benchmark (section IV-C), synthesized: the machines and jobs of `fairness.macro_draws`, over 5,000 s.

Given by the paper: the span and the warm-up. All other numbers here are assumed, the load above all, which it does not give.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.draws import generator, lognormal
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.macro_draws import JOBS, MACHINES, draw_macro
from schedgap.instances.fairness.model import ONE
from schedgap.instances.sharing.model import FAMILY, SharingInstance
from schedgap.instances.units import SECOND_MS

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
