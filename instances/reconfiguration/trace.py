"""From a trace of jobs to an instance on EC2 machine types, with the published delays and throughputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import CpuCapacity, ec2_delays, ec2_types
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.delays import (
    pairwise_throughput,
    shown_interference,
    stored_sets,
    workload_delays,
    workload_names,
)
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

# Gavel's durations (section 6.1): 10^x minutes, x uniform in the short range for four of five jobs, else in the long.
GAVEL_SHORT_SHARE, GAVEL_SHORT, GAVEL_LONG = 0.8, (1.5, 3.0), (3.0, 4.0)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Jobs in order of arrival.

    arrival_s, work_s, num_tasks : (J,) int64. demand : (J, F, R) int64, integer units of one task on each family of
    `ec2.FAMILIES`. workload : (J,) int64, index into `delays.workload_names`.
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
    parts: tuple[str, ...], trace: Trace, *, interference: str, migration_delay: float, cpu: CpuCapacity
) -> ReconfigurationInstance:
    """Return the instance of a trace.

    Jobs of one demand and workload have one class: `gcn[0]`, `gcn[1]`, ... in the order of their first jobs, as in the
    authors' traces. parts : of the instance's name, before what this function adds.
    """
    types = ec2_types(cpu)
    labels = np.hstack((trace.workload[:, None], trace.demand.reshape(trace.demand.shape[0], -1)))
    _, first, inverse = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    job2class = np.argsort(order)[inverse.reshape(-1)]
    kept = first[order]
    used, class2workload = np.unique(trace.workload[kept], return_inverse=True)
    names = workload_names()
    class_names: list[str] = []
    seen = dict.fromkeys(names, 0)
    for w in trace.workload[kept]:
        class_names.append(f"{names[w]}[{seen[names[w]]}]")
        seen[names[w]] += 1
    throughput, sets = pairwise_throughput(interference), stored_sets(interference)
    delay = () if migration_delay == 1 else (f"delay{migration_delay:g}",)
    name = "-".join((*parts, shown_interference(interference), *delay, cpu))
    catalogue = ProvisioningInstance(
        name=name,
        **types,
        demand=np.moveaxis(trace.demand[kept], 0, 1),
        counts=np.ones(kept.size, np.int64),
        class_names=tuple(class_names),
        workloads=tuple(names[w] for w in used),
        class2workload=class2workload.reshape(-1),
        throughput=None if throughput is None else throughput[np.ix_(used, used)],
    )
    return ReconfigurationInstance(
        name=name,
        catalogue=catalogue,
        **ec2_delays(),
        **{phase: seconds[used] for phase, seconds in workload_delays(migration_delay).items()},
        arrival_s=trace.arrival_s,
        work_s=trace.work_s,
        job2class=job2class,
        num_tasks=trace.num_tasks,
        stored_sets=None if sets is None else sets.of_workloads(used),
    )
