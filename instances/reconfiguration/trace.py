"""From a trace of jobs to an instance on machine types; on those of EC2, with the published delays and throughputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray, grouped
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
    from collections.abc import Mapping, Sequence

    from schedgap.instances.provisioning.running import Running

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
