"""Reader of Alibaba's cluster-trace-gpu-v2023 pod list: one pod is one task, placed on EC2 machine types.

Format: https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023 (Weng et al., ATC 2023). Demands are
rounded up to whole GPUs, cores and GiB as Eva's trace generator does; a pod that shares a GPU counts as a whole one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from schedgap.instances.arrays import IntArray, grouped
from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import derived_seed
from schedgap.instances.provisioning.ec2 import CpuCapacity, ec2_types, fits_ec2
from schedgap.instances.provisioning.model import ProvisioningInstance

Pods = Literal["not-failed", "all"]
NUMBERS = ("cpu_milli", "memory_mib", "num_gpu", "creation_time", "deletion_time")
COLUMNS = ("name", *NUMBERS, "pod_phase", "scheduled_time")
NOT_SCHEDULED = -1


@dataclass(frozen=True, slots=True, eq=False)
class PodList:
    """The columns of a pod list that matter here: names, phases and (N,) int64 arrays.

    demand : (N, 3) int64, milli-GPU, milli-CPU, MiB, rounded up to whole units. scheduled_s : -1 where never scheduled.
    """

    names: tuple[str, ...]
    phases: tuple[str, ...]
    demand: IntArray
    scheduled_s: IntArray
    creation_s: IntArray
    deletion_s: IntArray


def read_pods(path: Path | str) -> PodList:
    """Read a pod CSV.

    Raises
    ------
    InstanceError
        naming the line and field: a missing column, a short or long line, a number that is none, a negative value, a
        pod named twice, a file without pods.
    """
    path = Path(path)
    rows = [_pod(path, line, row) for line, row in read_rows(path, COLUMNS, "pod list")]
    if not rows:
        raise InstanceError(f"{path.name}: no pods after the header; the trace is empty.")
    names = tuple(row[0] for row in rows)
    if len(set(names)) < len(names):
        seen: dict[str, int] = {}
        for index, name in enumerate(names):
            if seen.setdefault(name, index) != index:
                raise InstanceError(
                    f"{path.name}: pod {name} is listed twice (pods {seen[name] + 1} and {index + 1}); remove one."
                )
    numbers = np.array([row[2] for row in rows], dtype=np.int64)
    milli_gpu = numbers[:, 2] * 1000
    milli_cpu = -(-numbers[:, 0] // 1000) * 1000
    mib = -(-numbers[:, 1] // 1024) * 1024
    return PodList(
        names,
        tuple(row[1] for row in rows),
        np.stack((milli_gpu, milli_cpu, mib), axis=1),
        numbers[:, 5],
        numbers[:, 3],
        numbers[:, 4],
    )


def alibaba(
    path: Path | str,
    *,
    pods: Pods = "not-failed",
    cpu: CpuCapacity = "vcpu",
    tasks: int = 0,
    at_s: int = -1,
    seed: int = 0,
) -> ProvisioningInstance:
    """Read a pod list as one snapshot.

    pods : `not-failed` drops pods whose phase is Failed (6,274 tasks of 94 classes with vCPU capacities, the count of
        Eva's section 6.1); `all` keeps them (8,111 tasks, the population of its Table 8). Pods that fit no machine type
        are dropped under either.
    tasks : take a uniform random subset of that size, in file order; 0 takes all.
    at_s : take only pods that run at that second (scheduled at or before it, deleted after it); -1 takes all.

    Raises
    ------
    InstanceError
        for a malformed file, or if no pods are left or fewer than `tasks`.
    """
    if pods not in ("not-failed", "all"):
        raise InstanceError(f"pods is 'not-failed' or 'all', not '{pods}'.")
    if tasks < 0 or at_s < -1:
        what, value, rest = ("tasks", tasks, "0 takes all") if tasks < 0 else ("at_s", at_s, "-1 takes every time")
        raise InstanceError(f"{what} is {value}; it must not be negative ({rest}).")
    types = ec2_types(cpu)
    trace = read_pods(path)
    keep = fits = fits_ec2(trace.demand, cpu)
    if pods == "not-failed":
        keep = keep & np.array([phase != "Failed" for phase in trace.phases])
    if at_s >= 0:
        keep = keep & (trace.scheduled_s != NOT_SCHEDULED) & (trace.scheduled_s <= at_s) & (at_s < trace.deletion_s)
    kept = np.flatnonzero(keep)
    if kept.shape[0] == 0:
        raise InstanceError(
            f"{Path(path).name}: of {len(trace.names)} pods {int(fits.sum())} fit a machine type, and none of these "
            f"is left with pods={pods} and at_s={at_s}; choose others."
        )
    if tasks > kept.shape[0]:
        raise InstanceError(f"{Path(path).name}: {tasks} tasks asked for, {kept.shape[0]} are there; ask for fewer.")
    parts = ["alibaba", pods, cpu]
    if at_s >= 0:
        parts.append(f"at{at_s}")
    if tasks > 0:
        rng = np.random.Generator(np.random.PCG64(derived_seed("provisioning", "alibaba", tasks, seed)))
        kept = np.sort(kept[np.argsort(rng.random(kept.shape[0]), kind="stable")[:tasks]])
        parts.append(f"{tasks}-s{seed}")
    made = snapshot("-".join(parts), types, trace.demand[kept], tuple(trace.names[i] for i in kept))
    said = (
        (int(np.count_nonzero(~fits)), "fit no machine type"),
        (int(np.count_nonzero(fits & ~keep)), "have failed, or run at another second"),
        (int(np.count_nonzero(keep)) - kept.size, "are not in the sample"),
    )
    notes = [f"Left out: {number} pods that {why}." for number, why in said if number]
    return made.replace(notes=(*notes, "CPUs and memory are rounded up to whole cores and GiB, as in Eva."))


def snapshot(
    name: str, types: dict[str, object], demand: IntArray, task_names: tuple[str, ...] | None
) -> ProvisioningInstance:
    """Build an instance of single tasks whose demand, (T, R), is the same on every family; equal ones form a class."""
    task2class, first = grouped(demand)
    rows = demand[first]
    families = types["families"]
    assert isinstance(families, tuple)
    return ProvisioningInstance(
        name=name,
        **types,  # type: ignore[arg-type]
        demand=np.repeat(rows[None], len(families), axis=0),
        counts=np.bincount(task2class, minlength=rows.shape[0]),
        class_names=tuple(f"{g // 1000}gpu-{c // 1000}cpu-{m // 1024}gib" for g, c, m in rows.tolist()),
        task2class=task2class,
        task_names=task_names,
    )


def _pod(path: Path, line: int, row: dict[str, str]) -> tuple[str, str, list[int]]:
    values = []
    for column in (*NUMBERS, "scheduled_time"):
        text = row[column].strip()
        if column == "scheduled_time" and not text:
            values.append(NOT_SCHEDULED)
            continue
        values.append(whole_number(path, line, column, text))
    return row["name"], row["pod_phase"], values
