"""Other mixes of a trace's jobs (Eva, sections 6.6 and 6.7): more GPUs a task, more tasks a job.

The jobs come in a random order of which a larger share takes a longer beginning: a mix of 30% contains that of 20%.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import CpuCapacity, ec2_types

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

AS_DRAWN = -1.0
# 5:4:1 and 1:1, so that every beginning has them as nearly as whole jobs can.
GPUS = np.array([2, 4, 2, 4, 2, 8, 4, 2, 4, 2])
TASKS = np.array([2, 4])


def with_more_gpus(demand: IntArray, share: float, cpu: CpuCapacity, rng: np.random.Generator) -> IntArray:
    """Return demands, (J, R), of which a share of all jobs asks for 2, 4 or 8 GPUs at 5:4:1; -1 changes nothing.

    The jobs without GPUs stay as they are, the others have one GPU. Cores and GiB go with the GPUs, up to what the
    largest type with GPUs has: the paper does not say what becomes of them.

    Raises
    ------
    InstanceError
        if the share is neither -1 nor in [0, the share of jobs with GPUs].
    """
    if share == AS_DRAWN:
        return demand
    with_gpu = np.flatnonzero(demand[:, 0] > 0)
    most = with_gpu.size / demand.shape[0]
    if not 0 <= share <= most:
        raise InstanceError(
            f"multi_gpu is {share:g}; give a share in [0, {most:.4g}], that of the jobs with GPUs, or -1 for the "
            "trace as it is."
        )
    chosen = _chosen(with_gpu.size, round(share * demand.shape[0]), rng)
    gpus = np.ones(with_gpu.size, np.int64)
    gpus[chosen] = np.resize(GPUS, chosen.size)
    changed = demand.copy()
    old = demand[with_gpu]
    # Whole cores and GiB, rounded up, as the trace's own demands are.
    unit = np.array([1000, 1000, 1024])
    scaled = -(-old * gpus[:, None] // (old[:, :1] // 1000 * unit)) * unit
    largest = np.array([row for row in ec2_types(cpu)["capacity"] if row[0] > 0]).max(axis=0)
    changed[with_gpu] = np.where(gpus[:, None] * 1000 == old[:, :1], old, np.minimum(scaled, largest))
    return changed


def tasks_of_jobs(num_jobs: int, share: float, rng: np.random.Generator) -> IntArray:
    """Return tasks of each job, (J,): a share of the jobs has 2 or 4, as many the one as the other, the others one.

    Raises
    ------
    InstanceError
        if the share is not in [0, 1].
    """
    if not 0 <= share <= 1:
        raise InstanceError(f"multi_task is {share:g}; give the share of jobs with 2 or 4 tasks, in [0, 1].")
    chosen = _chosen(num_jobs, round(share * num_jobs), rng)
    tasks = np.ones(num_jobs, np.int64)
    tasks[chosen] = np.resize(TASKS, chosen.size)
    return tasks


def mix_parts(gpu_share: float, task_share: float) -> tuple[str, ...]:
    """Return what an instance's name says of its mix: nothing where it is the trace's own."""
    gpu = () if gpu_share == AS_DRAWN else (f"multigpu{gpu_share:g}",)
    return gpu if task_share == 0 else (*gpu, f"multitask{task_share:g}")


def _chosen(number: int, wanted: int, rng: np.random.Generator) -> IntArray:
    return np.argsort(rng.random(number), kind="stable")[:wanted]
