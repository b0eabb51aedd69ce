"""Alibaba's cluster-trace-gpu-v2023 as the jobs of Eva's simulations (section 6.1).

The recipe is that of the authors' trace generator, bit for bit: legacy NumPy exponentials for the arrivals, Python's
generator for durations and workloads, both seeded alike. With the defaults it is the trace of Table 14. With the pods' own
durations, dealt anew with seed 2, the default of the authors' generator, No-Packing costs what Table 13 says: it is likely,
but published nowhere, that its jobs are these.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import FAMILIES, CpuCapacity, fits_ec2
from schedgap.instances.provisioning.readers.alibaba import PodList, read_pods
from schedgap.instances.reconfiguration.delays import in_whole_iterations, trace_names, workload_names
from schedgap.instances.reconfiguration.generators.jobs import column_rng
from schedgap.instances.reconfiguration.trace import (
    AS_DRAWN,
    GAVEL_LONG,
    GAVEL_SHORT,
    GAVEL_SHORT_SHARE,
    Trace,
    arrivals,
    mix_parts,
    on_ec2,
    tasks_of_jobs,
    with_more_gpus,
)

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

Durations = Literal["gavel", "trace"]
UNSHUFFLED = -1
# The order in which the authors' generator chooses from them.
RECIPE_WORKLOADS = ("a3c", "cyclegan", "gcn", "gpt2", "openfoam", "sage", "seq", "resnet18", "vit")


def openb(
    path: Path | str,
    *,
    durations: Durations = "gavel",
    shuffle_seed: int = UNSHUFFLED,
    mean_gap_s: float = 1200.0,
    jobs: int = 0,
    whole_iterations: bool = True,
    multi_gpu: float = AS_DRAWN,
    multi_task: float = 0.0,
    interference: str = "artifact",
    migration_delay: float = 1.0,
    cpu: CpuCapacity = "vcpu",
    seed: int = 3,
) -> ReconfigurationInstance:
    """Read the pod list: pods that did not fail and fit a machine type, in the file's order, are jobs of one task.

    durations : `gavel` (Table 14), or `trace`, from a pod's creation to its deletion (Table 13).
    shuffle_seed : durations are dealt to the pods anew, by `random.Random(shuffle_seed).shuffle`; -1, each has its own.
    whole_iterations : a job ends with its last whole iteration, as in the authors' simulations.
    mean_gap_s : of the Poisson arrivals (section 6.8). migration_delay : factor of all workload delays (section 6.5).
    jobs : the first so many; 0 for all.
    multi_gpu, multi_task : shares of jobs with 2, 4 or 8 GPUs (section 6.6; -1 for the trace's own) and with 2 or 4
        tasks (section 6.7), chosen by a random stream of their own.
    interference : see `pairwise_throughput` and `stored_sets`; the default `artifact` has what the authors' simulations
        used for pairs, and takes larger sets as their products, `artifact-sets` has also what they used for those.
    cpu : capacities of the machine types. The recipe is for the 6,274 pods that fit with `vcpu`; with `physical`, which
        the authors' simulations of the first 200 jobs used, the three that do not fit are left out.

    Raises
    ------
    InstanceError
        for a malformed file, or a parameter out of range.
    """
    _check(durations, shuffle_seed, seed)
    path, pods = Path(path), read_pods(path)
    kept = np.flatnonzero(fits_ec2(pods.demand, "vcpu") & np.array([phase != "Failed" for phase in pods.phases]))
    if not 0 <= jobs <= kept.size:
        raise InstanceError(f"{path.name}: jobs is {jobs}; give 0 for all, or one of 1..{kept.size}.")
    demand = pods.demand[kept]
    arrival_s = arrivals(np.random.RandomState(seed).standard_exponential(kept.size), mean_gap_s)
    drawn_s, workload = _recipe(demand, seed)
    work_s = _dealt(drawn_s if durations == "gavel" else _lived_s(path, pods, kept), shuffle_seed)
    if whole_iterations:
        work_s = in_whole_iterations(work_s, workload)
    taken = np.flatnonzero(fits_ec2(demand[: jobs or kept.size], cpu))
    if taken.size == 0:
        raise InstanceError(f"{path.name}: no pod is left that did not fail and fits a machine type with {cpu}.")
    demand = with_more_gpus(demand[taken], multi_gpu, cpu, column_rng("openb", "multi-gpu", seed))
    trace = Trace(
        arrival_s=arrival_s[taken],
        work_s=work_s[taken],
        demand=np.repeat(demand[:, None], len(FAMILIES), axis=1),
        workload=workload[taken],
        num_tasks=tasks_of_jobs(demand.shape[0], multi_task, column_rng("openb", "multi-task", seed)),
    )
    shown = durations if shuffle_seed == UNSHUFFLED else f"{durations}-shuffled{shuffle_seed}"
    parts = ("openb", shown, *(("iterations",) if whole_iterations else ()), *((f"{jobs}",) if jobs else ()))
    parts += (f"gap{mean_gap_s:g}", *mix_parts(multi_gpu, multi_task), f"s{seed}")
    return on_ec2(parts, trace, interference=interference, migration_delay=migration_delay, cpu=cpu)


def _lived_s(path: Path, pods: PodList, kept: IntArray) -> IntArray:
    """Return the seconds from a pod's creation to its deletion, (J,), at least one: the trace's times are whole."""
    lived_s = pods.deletion_s[kept] - pods.creation_s[kept]
    if (lived_s < 0).any():
        pod = kept[np.argmax(lived_s < 0)]
        raise InstanceError(
            f"{path.name}: pod {pods.names[pod]} is deleted at {pods.deletion_s[pod]} s, before its creation at "
            f"{pods.creation_s[pod]} s; mend or remove it."
        )
    seconds: IntArray = np.maximum(1, lived_s)
    return seconds


def _check(durations: str, shuffle_seed: int, seed: int) -> None:
    if durations not in ("gavel", "trace"):
        raise InstanceError(f"durations is 'gavel' or 'trace', not '{durations:.60}'.")
    if shuffle_seed < UNSHUFFLED:
        raise InstanceError(
            f"shuffle_seed is {shuffle_seed}; give a seed that is not negative, or -1 to leave durations."
        )
    if not 0 <= seed < 2**32:
        raise InstanceError(f"seed is {seed}; the recipe's generators take 0..{2**32 - 1}.")


def _dealt(seconds: IntArray, seed: int) -> IntArray:
    """Return the seconds, (J,), in another order, or as they are if the seed is -1."""
    dealt = seconds.tolist()
    if seed != UNSHUFFLED:
        random.Random(seed).shuffle(dealt)
    return np.array(dealt, np.int64)


def _recipe(demand: IntArray, seed: int) -> tuple[IntArray, IntArray]:
    """Return the drawn seconds, (J,), and the workloads, (J,): one for each distinct demand, in order of appearance."""
    rng = random.Random(seed)
    seconds = []
    for _ in range(demand.shape[0]):
        least, most = GAVEL_SHORT if rng.random() <= GAVEL_SHORT_SHARE else GAVEL_LONG
        seconds.append(int(10 ** rng.uniform(least, most) * 60))
    names = workload_names()
    choices = [names.index(trace_names()[name]) for name in RECIPE_WORKLOADS]
    chosen: dict[tuple[int, ...], int] = {}
    for vector in map(tuple, demand.tolist()):
        if vector not in chosen:
            chosen[vector] = rng.choice(choices)
    return np.array(seconds, np.int64), np.array([chosen[tuple(v)] for v in demand.tolist()], np.int64)
