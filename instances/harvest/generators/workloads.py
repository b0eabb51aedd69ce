"""Jobs of long tasks after SlackSched's Figure 4: how many, of which sizes and runtimes, arriving when.

Only uniform draws of `numpy.random.Generator(PCG64)` are used, whose stream is the same everywhere, and each aspect has a
stream of its own: workloads of one seed differ in nothing but what the parameters say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.vms import Vms
from schedgap.instances.harvest.model import MAX_CORES, NO_CHECKPOINTS
from schedgap.instances.harvest.stability import total_cores
from schedgap.instances.method import derived_seed
from schedgap.instances.units import HOUR_MS, MINUTE_MS, SECOND_MS


@dataclass(frozen=True, slots=True)
class Goal:
    """What is minimised, and which runs a VM kills first, as in `HarvestInstance`."""

    objective: str = "jobs"
    kills: str = "oldest"

    def unusual(self) -> list[str]:
        """Return parts of a name."""
        return unusual({"objective": (self.objective, GOAL.objective), "kills": (self.kills, GOAL.kills)})


GOAL = Goal()


def whole_numbers(what: str, text: object, separator: str = ",") -> tuple[int, ...]:
    """Return numbers written as `2,4,8`, or one number. Raises `InstanceError` for anything else."""
    try:
        return tuple(int(part) for part in str(text).split(separator))
    except ValueError:
        raise InstanceError(f"{what} is '{text!s:.60}'; give whole numbers such as 2 or 2{separator}8.") from None


def vm_sizes(text: object, most_cores: int, task_sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the minimum sizes of VMs that have up to `most_cores`.

    Raises `InstanceError` for anything else, or if a task or a minimum size has more cores than that.
    """
    sizes = whole_numbers("min_sizes", text)
    if min(sizes) < 1:
        raise InstanceError(f"min_sizes is '{text!s:.60}'; give positive numbers such as 2,4,8.")
    needed = max(*task_sizes, *sizes)
    if not needed <= most_cores <= MAX_CORES:
        raise InstanceError(
            f"VMs have up to {most_cores} cores, and tasks or minimum sizes up to {needed}; give smaller ones, or larger VMs "
            f"of up to {MAX_CORES}."
        )
    return sizes


def decimals(what: str, text: object) -> tuple[float, ...]:
    """Return numbers written as `1,2.5`, or one number. Raises `InstanceError` for anything else."""
    try:
        return tuple(float(part) for part in str(text).split(","))
    except ValueError:
        raise InstanceError(f"{what} is '{text!s:.60}'; give numbers such as 1 or 1,2.5.") from None


def check_ranges(*ranges: tuple[str, float, float, float]) -> None:
    """Check parameters, each given as its name, value, least and most. Raises `InstanceError` for one out of range."""
    for name, value, least, most in ranges:
        if not least <= value <= most:
            raise InstanceError(f"{name} is {value:g}; give {least:g} to {most:g}.")


def unusual(values: Mapping[str, tuple[object, object]]) -> list[str]:
    """Return parts of an instance's name, of parameters whose value differs from the usual one that is given with it."""
    return [f"{name.replace('_', '-')}-{_shown(value)}" for name, (value, usual) in values.items() if value != usual]


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


# The prediction engine looks one day back (section 3.1.1).
HISTORY_MS = 24 * HOUR_MS
RUNTIMES = ("uniform", "gaussian", "bounded-pareto")
MAX_TASKS, MAX_RATE = 20_000_000, 1e6
# In parts of X, the longest uniform runtime, so that all three distributions have the mean X / 2 (within 2 %). Gaussian:
# the jobs' own means and the tasks about them, cut off at X. Pareto of index 1: from X / 5 up to 2 X.
JOB_SIGMA, TASK_SIGMA = 1 / 6, 1 / 10
PARETO_LEAST, PARETO_MOST = 0.2, 2.0
_RANGES = (
    ("jobs", 1, 10_000_000),
    ("runtime_min", 1.0, 1e5),
    ("interarrival_min", 0.0, 1e5),
    ("load", 0.0, 1000.0),
    ("rate_hours", 0.01, 1e6),
    ("error", -0.99, 100.0),
    ("interruptible", 0.0, 1.0),
    ("checkpoint_s", -1.0, 1e6),
    ("restore_s", 0.0, 1e6),
    ("memory_mib_per_core", 0, 2**20),
)


@dataclass(frozen=True, slots=True)
class Workload:
    """What jobs are like. The paper gives the distributions' shapes only; sizes and loads are chosen here.

    jobs : how many. tasks : of each job, one number or a range such as `20-120`, evenly. cores : of each task, one number
        or several such as `2,4`, of which each job has one.
    runtimes : `uniform` from 1 to `runtime_min` minutes (Seismic A); `gaussian` (Seismic B), with ranges that differ
        between jobs; `bounded-pareto` (Genomics), from a fifth to twice `runtime_min`. All have the mean `runtime_min / 2`.
    interarrival_min : mean minutes from one job to the next, a Poisson process; 0 if all arrive at once.
    load : above 0, the time between arrivals is such that the jobs' core-time is this share of what the VMs have while
        jobs arrive.
    rates : multiples of the rate of arrivals, each for `rate_hours`, over and over: `1,4` (section 4.4).
    error : estimates are off by a uniform part of the runtime, from 0 to this; below 0 too short (Figure 15).
    interruptible : the share of jobs whose checkpoints cost nothing (appendix B.3).
    checkpoint_s, restore_s : what checkpoints and restoring cost the other jobs (B.1: 60 or 120 s, and 0); no checkpoints
        if below 0.
    memory_mib_per_core : of each task.

    Raises `InstanceError` for a parameter out of range.
    """

    jobs: int = 50
    tasks: str = "20-120"
    cores: str = "2"
    runtimes: str = "uniform"
    runtime_min: float = 75.0
    interarrival_min: float = 6.0
    load: float = 0.0
    rates: str = "1"
    rate_hours: float = 6.0
    error: float = 0.0
    interruptible: float = 0.0
    checkpoint_s: float = -1.0
    restore_s: float = 0.0
    memory_mib_per_core: int = 256

    def __post_init__(self) -> None:
        for key in ("tasks", "cores", "rates"):
            object.__setattr__(self, key, str(getattr(self, key)))
        if self.runtimes not in RUNTIMES:
            raise InstanceError(f"runtimes is '{self.runtimes!s:.60}'; choose one of {', '.join(RUNTIMES)}.")
        check_ranges(*((name, getattr(self, name), least, most) for name, least, most in _RANGES))
        least_tasks, most_tasks = self.task_range()
        if not 1 <= least_tasks <= most_tasks or most_tasks * self.jobs > MAX_TASKS:
            raise InstanceError(
                f"tasks is '{self.tasks}' for {self.jobs} jobs; give a number from 1 up, or a range such as 20-120, and at "
                f"most {MAX_TASKS} tasks in all."
            )
        if min(self.core_sizes()) < 1:
            raise InstanceError(f"cores is '{self.cores}'; give positive numbers such as 2,4.")
        if not all(0 < factor <= MAX_RATE for factor in self.rate_factors()):
            raise InstanceError(f"rates is '{self.rates}'; give positive numbers up to {MAX_RATE:g}, such as 1,4.")
        if self.load and set(self.rate_factors()) != {1.0}:
            raise InstanceError(
                f"load is {self.load:g} and rates is '{self.rates}'; give one of them, and interarrival_min."
            )

    def task_range(self) -> tuple[int, int]:
        """Return the least and the most tasks of a job."""
        parts = whole_numbers("tasks", self.tasks, "-")
        if len(parts) > 2:
            raise InstanceError(f"tasks is '{self.tasks!s:.60}'; give a number, or a range such as 20-120.")
        return parts[0], parts[-1]

    def core_sizes(self) -> tuple[int, ...]:
        """Return the numbers of cores that tasks may have."""
        return whole_numbers("cores", self.cores)

    def rate_factors(self) -> tuple[float, ...]:
        """Return the multiples of the rate of arrivals."""
        return decimals("rates", self.rates)

    def replace(self, **changes: object) -> Workload:
        """Return a copy with some parameters changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def unlike(self, other: Workload) -> list[str]:
        """Return parts of a name that tell this workload from another, but for the load."""
        names = [f.name for f in fields(self) if f.name != "load"]
        return unusual({name: (getattr(self, name), getattr(other, name)) for name in names})


# The load at which SlackSched's clusters hardly let tasks wait (sections 4.1 and 4.2.1), which is a job every 6 minutes if one
# every 3 minutes is all that they can do.
USUAL_LOAD = 0.5
# `heavy` has larger, longer tasks that are killed more often. Both were fixed before the seeds that results are reported of.
WORKLOADS = {
    "light": Workload(load=USUAL_LOAD),
    "heavy": Workload(cores="4", tasks="15-80", runtime_min=120.0, interarrival_min=9.0, load=USUAL_LOAD),
}


@dataclass(frozen=True, slots=True)
class WorkloadChanges:
    """Changes of a named workload, as `Workload` has them, where they are not empty, 0 or -1.

    With interarrival_min or rates jobs come as these say, at whatever load that is, unless one is given.
    """

    jobs: int = 50
    tasks: str = ""
    cores: str = ""
    runtimes: str = "uniform"
    runtime_min: float = 0.0
    interarrival_min: float = -1.0
    load: float = -1.0
    rates: str = "1"
    rate_hours: float = 6.0
    error: float = 0.0
    interruptible: float = 0.0
    checkpoint_s: float = -1.0
    restore_s: float = 0.0

    def applied(self, usual: Workload) -> Workload:
        """Return the changed workload."""
        changes = asdict(self)
        if self.load == -1 and (self.interarrival_min != -1 or self.rates != "1"):
            changes["load"] = 0.0
        for key, unset in (("tasks", ""), ("cores", ""), ("runtime_min", 0), ("interarrival_min", -1), ("load", -1)):
            if changes[key] == unset:
                del changes[key]
        return usual.replace(**changes)


CHANGES = WorkloadChanges()


class Jobs(NamedTuple):
    """The jobs' fields of a `HarvestInstance`, and what their names and units are there."""

    arrival_ms: IntArray
    cores: IntArray
    task_memory_mib: IntArray
    checkpoint_ms: IntArray
    restore_ms: IntArray
    first_task: IntArray
    runtime_ms: IntArray
    estimate_ms: IntArray

    def work(self) -> int:
        """Return the core-milliseconds of all tasks."""
        return int(np.repeat(self.cores, np.diff(self.first_task)) @ self.runtime_ms)


def named_workload(name: str) -> Workload:
    """Return the workload `light` or `heavy`. Raises `InstanceError` for another name."""
    if name not in WORKLOADS:
        raise InstanceError(f"workload is '{name:.60}'; choose one of {', '.join(WORKLOADS)}.")
    return WORKLOADS[name]


def draw_jobs(workload: Workload, seed: int, *, history_ms: int = HISTORY_MS, grid_ms: int = 1) -> Jobs:
    """Draw jobs, the first of which arrives after the history. All times are multiples of the grid, rounded up."""

    def uniform(aspect: str, *shape: int) -> FloatArray:
        bits = np.random.PCG64(derived_seed("harvest", "workload", aspect, seed))
        return np.random.Generator(bits).random(shape)

    def gridded(times: FloatArray | float) -> IntArray:
        return (np.ceil(np.rint(times) / grid_ms) * grid_ms).astype(np.int64)

    jobs = workload.jobs
    least, most = workload.task_range()
    sizes = least + (uniform("tasks", jobs) * (most - least + 1)).astype(np.int64)
    owner, count = np.repeat(np.arange(jobs), sizes), int(sizes.sum())
    choices = np.array(workload.core_sizes())
    cores = choices[(uniform("cores", jobs) * choices.size).astype(np.int64)]
    minutes = _minutes(workload, uniform("ranges", 2, jobs)[:, owner], uniform("runtimes", 2, count))
    runtime_ms = np.maximum(grid_ms, gridded(minutes * MINUTE_MS))
    wrong = 1 + workload.error * uniform("errors", count)
    checkpoint_ms = NO_CHECKPOINTS if workload.checkpoint_s < 0 else int(gridded(workload.checkpoint_s * SECOND_MS))
    order = np.argsort(uniform("interruptible", jobs), kind="stable")
    free = np.zeros(jobs, np.bool_)
    free[order[: round(workload.interruptible * jobs)]] = True
    return Jobs(
        arrival_ms=history_ms + gridded(_arrivals_ms(workload, uniform("arrivals", jobs))),
        cores=cores,
        task_memory_mib=cores * workload.memory_mib_per_core,
        checkpoint_ms=np.where(free, 0, checkpoint_ms),
        restore_ms=np.where(free, 0, gridded(workload.restore_s * SECOND_MS)),
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        runtime_ms=runtime_ms,
        estimate_ms=np.maximum(grid_ms, gridded(runtime_ms * wrong)),
    )


def _minutes(workload: Workload, of_job: FloatArray, of_task: FloatArray) -> FloatArray:
    """(T,) float64 from (2, T) uniform numbers, those of the job being the same for all its tasks."""
    most = workload.runtime_min
    if workload.runtimes == "uniform":
        even: FloatArray = 1 + of_task[0] * (most - 1)
        return even
    if workload.runtimes == "gaussian":
        normal = most * (0.5 + JOB_SIGMA * _normal(of_job) + TASK_SIGMA * _normal(of_task))
        clipped: FloatArray = np.clip(normal, 1, most)
        return clipped
    pareto: FloatArray = most * PARETO_LEAST / (1 - of_task[0] * (1 - PARETO_LEAST / PARETO_MOST))
    return pareto


def _normal(uniform: FloatArray) -> FloatArray:
    """(T,) float64 from (2, T) by Box and Muller's transform."""
    values: FloatArray = np.sqrt(-2 * np.log1p(-uniform[0])) * np.cos(2 * np.pi * uniform[1])
    return values


def _arrivals_ms(workload: Workload, uniform: FloatArray) -> FloatArray:
    """(J,) float64 since the end of the history: a Poisson process of rate 1, its time stretched where the rate differs."""
    unit = np.cumsum(-np.log1p(-uniform)) * workload.interarrival_min * MINUTE_MS
    factors = np.array(workload.rate_factors())
    if (factors == 1).all():
        return unit
    period = workload.rate_hours * HOUR_MS
    cycles = int(unit[-1] // (factors.sum() * period)) + 1
    passed = np.concatenate(([0.0], np.cumsum(np.tile(factors * period, cycles))))
    stretched: FloatArray = np.interp(unit, passed, np.arange(passed.size) * period)
    return stretched


def loaded(jobs: Jobs, vms: Vms, load: float, grid_ms: int = 1) -> Jobs:
    """Return the jobs with the times between arrivals stretched evenly so that the offered load is as given.

    Raises `InstanceError` if there are no times between arrivals.
    """
    count, first = jobs.arrival_ms.size, int(jobs.arrival_ms[0])
    if count == 1:
        raise InstanceError(
            f"load is {load:g} for a single job, which has no rate of arrivals; give more jobs, or no load."
        )
    times, cores = total_cores(vms.first_event, vms.event_ms, vms.event_cores)
    edges = np.append(np.maximum(times, first), max(int(times[-1]), first))
    have = np.concatenate(([0.0], np.cumsum(np.diff(edges) * cores.astype(np.float64))))
    need = jobs.work() * (count - 1) / (count * load)
    # Beyond the last event, the last sizes hold for ever.
    beyond = max(0.0, need - float(have[-1])) / max(1.0, float(cores[-1]))
    last = float(np.interp(need, have, edges)) + beyond
    gaps = jobs.arrival_ms - first
    if not gaps[-1]:
        raise InstanceError(f"load is {load:g} and all jobs arrive at once; let interarrival_min be positive.")
    stretched = np.ceil(np.rint(gaps * ((last - first) / float(gaps[-1]))) / grid_ms) * grid_ms
    return jobs._replace(arrival_ms=first + stretched.astype(np.int64))


# VMs change for as long as the work takes if so much of all possible cores is there for it, then for the time of so many of
# the longest tasks, and these hours more. Then their last sizes hold.
CORES_SHARE, LONGEST_TASKS, SLACK_HOURS = 0.3, 4, 12


def ending_large(vms: Vms, jobs: Jobs, end_ms: int, peak: IntArray) -> Vms:
    """Return VMs of which one fits every task in the end: if none does, one that ever can has its peak again from then on.

    peak : (V,) int64, the most cores that a VM can have. Without any that could, the VMs are returned as they are.
    """
    last = vms.event_cores[vms.first_event[1:] - 1]
    able = (vms.memory_mib >= jobs.task_memory_mib.max()) & (peak >= jobs.cores.max())
    if not able.any() or last[able].max() >= jobs.cores.max():
        return vms
    chosen = int(np.argmax(np.where(able, peak, -1)))
    at = int(vms.first_event[chosen + 1])
    return vms._replace(
        first_event=vms.first_event + (np.arange(vms.first_event.size) > chosen),
        event_ms=np.insert(vms.event_ms, at, end_ms),
        event_cores=np.insert(vms.event_cores, at, peak[chosen]),
    )


def end_ms_of(jobs: Jobs, vms: int, most_cores: int, load: float) -> int:
    """Return a moment at which the jobs are sure to be long done, unless they ask for more than the VMs have."""
    first, last = int(jobs.arrival_ms[0]), int(jobs.arrival_ms[-1])
    busy_ms = int(jobs.work() / (CORES_SHARE * most_cores * vms * min(1.0, load or 1.0)))
    longest_ms = LONGEST_TASKS * int(jobs.runtime_ms.max())
    return max(0 if load else last, first + busy_ms) + longest_ms + SLACK_HOURS * HOUR_MS
