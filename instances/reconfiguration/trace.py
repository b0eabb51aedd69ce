"""From a trace of jobs to an instance on machine types; on those of EC2, with the published delays and throughputs.

Other mixes of a trace's jobs (Eva, sections 6.6 and 6.7): more GPUs a task, more tasks a job.

The jobs come in a random order of which a larger share takes a longer beginning: a mix of 30% contains that of 20%.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray, grouped
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import CpuCapacity, ec2_delays, ec2_types
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration.delays import (
    pairwise_throughput,
    shown_interference,
    stored_sets,
    workload_delays,
    workload_names,
)
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance

# Gavel's durations (section 6.1): 10^x minutes, x uniform in the short range for four of five jobs, else in the long.
GAVEL_SHORT_SHARE, GAVEL_SHORT, GAVEL_LONG = 0.8, (1.5, 3.0), (3.0, 4.0)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Jobs in order of arrival.

    arrival_s, work_s, num_tasks : (J,) int64. demand : (J, F, R) int64, integer units of one task on each
    family of the machine types. workload : (J,) int64, index into the names of workloads.
    """

    arrival_s: IntArray
    work_s: IntArray
    demand: IntArray
    workload: IntArray
    num_tasks: IntArray


def arrivals(gaps: FloatArray, mean_gap_s: float) -> IntArray:
    """Return arrivals, (J,) int64, after gaps given in means.

    Raises
    ------
    InstanceError
        if the mean is not positive, or so long that the last arrival is beyond an instance's times.
    """
    if not 0 < mean_gap_s < MAX_TIME_S:
        raise InstanceError(f"mean_gap_s is {mean_gap_s:g}; give a positive number of seconds, below {MAX_TIME_S}.")
    return np.floor(np.cumsum(gaps * mean_gap_s)).astype(np.int64)


def on_ec2(
    parts: tuple[str, ...],
    trace: Trace,
    *,
    interference: str,
    migration_delay: float,
    cpu: CpuCapacity,
    running: Running | None = None,
) -> ReconfigurationInstance:
    """Return the instance of a trace. parts : of the instance's name, before what this function adds."""
    throughput, sets = pairwise_throughput(interference), stored_sets(interference)
    used = np.unique(trace.workload)
    delay = () if migration_delay == 1 else (f"delay{migration_delay:g}",)
    delays = {phase: seconds[used] for phase, seconds in workload_delays(migration_delay).items()}
    return on_types(
        "-".join((*parts, shown_interference(interference), *delay, cpu)),
        trace,
        ec2_types(cpu),
        workload_names(),
        None if throughput is None else throughput[np.ix_(used, used)],
        **ec2_delays(),
        **delays,
        stored_sets=None if sets is None else sets.of_workloads(used),
        running=running,
    )


def on_types(
    name: str,
    trace: Trace,
    types: Mapping[str, Any],
    workloads: Sequence[str],
    throughput: IntArray | None,
    **fields: Any,
) -> ReconfigurationInstance:
    """Return the instance of a trace on machine types.

    Jobs of one demand and workload have one class: `gcn[0]`, `gcn[1]`, ... in the order of their first jobs, as in the
    authors' traces. types : of `ProvisioningInstance`. workloads : that the trace means; throughput, and those fields
    that are per workload, are of the ones that it has, in this order. fields : the rest of the instance.
    """
    labels = np.hstack((trace.workload[:, None], trace.demand.reshape(trace.demand.shape[0], -1)))
    job2class, kept = grouped(labels)
    used, class2workload = np.unique(trace.workload[kept], return_inverse=True)
    class_names: list[str] = []
    seen = dict.fromkeys(workloads, 0)
    for w in trace.workload[kept]:
        class_names.append(f"{workloads[w]}[{seen[workloads[w]]}]")
        seen[workloads[w]] += 1
    catalogue = ProvisioningInstance(
        name=name,
        **types,
        demand=np.moveaxis(trace.demand[kept], 0, 1),
        counts=np.ones(kept.size, np.int64),
        class_names=tuple(class_names),
        workloads=tuple(workloads[w] for w in used),
        class2workload=class2workload.reshape(-1),
        throughput=throughput,
    )
    return ReconfigurationInstance(
        name=name,
        catalogue=catalogue,
        arrival_s=trace.arrival_s,
        work_s=trace.work_s,
        job2class=job2class,
        num_tasks=trace.num_tasks,
        **fields,
    )


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
