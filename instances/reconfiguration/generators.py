"""Seeded generators of traces of jobs on rented machines.

Random columns of generated traces, and the checks of generators' parameters.

Only `integers` and `random` of `numpy.random.Generator(PCG64)` are used, whose streams are the same everywhere; each
column has a stream of its own, so that traces that differ in one parameter agree in the rest.

Traces like Eva's Alibaba trace, for users who do not have that.

The synthetic traces of Eva's sections 4.4 and 6.1.

The cluster that the first hours of a trace leave behind: machines bought for many tasks, of which some have ended.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any, Literal

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import derived_seed
from schedgap.instances.provisioning.ec2 import FAMILIES, CpuCapacity, ec2_types, eva_workloads
from schedgap.instances.provisioning.generators.snapshots import draw_demand, durations_h
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration.delays import workload_names
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance
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


def drawn_arrivals(generator: str, jobs: int, mean_gap_s: float, seed: int) -> IntArray:
    """Return Poisson arrivals, (J,) int64 seconds."""
    # Exponential gaps from uniforms: the stream of `random` is the same everywhere.
    gaps = -np.log1p(-column_rng(generator, "arrivals", seed).random(jobs))
    return arrivals(gaps, mean_gap_s)


def column_rng(generator: str, column: str, seed: int) -> np.random.Generator:
    """Return the stream of one column of a generator's trace."""
    return np.random.Generator(np.random.PCG64(derived_seed("reconfiguration", generator, column, seed)))


def check_jobs(generator: str, jobs: int) -> None:
    """Refuse a trace without jobs."""
    if jobs < 1:
        raise InstanceError(f"generator {generator}: jobs is {jobs}; it must be at least 1.")


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse a choice that there is not."""
    if value not in known:
        raise InstanceError(f"{what} is {' or '.join(known)}, not '{value:.60}'.")


def left_behind(trace: Trace, types: Mapping[str, Any], warm_s: int) -> tuple[Trace, Running]:
    """Return what is left of a trace after so many seconds, and the machines that run then.

    Tasks go to the first machine with room. Where there is none, the largest machine is rented of the family of the cheapest
    type that fits the task. None is ever moved, and all run as if alone; machines are given back when they are empty. Work is
    what is left of it, and second 0 of the new trace is `warm_s` of the old one.

    types : of `ProvisioningInstance`.

    Raises
    ------
    InstanceError
        if no job is left.
    """
    ends = trace.arrival_s + trace.work_s
    left = np.flatnonzero(ends > warm_s)
    if not left.size:
        raise InstanceError(f"all {ends.shape[0]} jobs have ended by {warm_s} s; give fewer warm_h, or more jobs.")
    cluster = _Cluster(trace, types)
    for j in np.flatnonzero(trace.arrival_s < warm_s).tolist():
        cluster.pass_to(int(trace.arrival_s[j]))
        cluster.place(j, int(ends[j]))
    cluster.pass_to(warm_s)
    rest = replace(
        trace,
        arrival_s=np.maximum(trace.arrival_s[left] - warm_s, 0),
        work_s=np.minimum(trace.work_s, ends - warm_s)[left],
        demand=trace.demand[left],
        workload=trace.workload[left],
        num_tasks=trace.num_tasks[left],
    )
    return rest, cluster.running(left)


class _Cluster:
    """Machines in the order of renting; one that is given back stays as a row without room.

    O(rows) for each task, compiled, and O(the job's machines) for each end of a job.
    """

    def __init__(self, trace: Trace, types: Mapping[str, Any]) -> None:
        self.trace = trace
        self.capacity, self.price = np.asarray(types["capacity"]), np.asarray(types["price"])
        self.family = np.asarray(types["type2family"])
        self.kind = np.zeros(0, np.int64)
        self.free = np.zeros((0, self.capacity.shape[1]), np.int64)
        self.number: list[int] = []
        # Of each job that runs, how many tasks are on which machine.
        self.held: dict[int, dict[int, int]] = {}
        self.ends: list[tuple[int, int]] = []

    def pass_to(self, now: int) -> None:
        """End jobs up to a second, and give back machines without tasks."""
        while self.ends and self.ends[0][0] <= now:
            job = heappop(self.ends)[1]
            for m, count in self.held.pop(job).items():
                self.number[m] -= count
                self.free[m] += count * self.trace.demand[job, self.family[self.kind[m]]]
                if not self.number[m]:
                    self.free[m] = -1

    def place(self, job: int, end: int) -> None:
        """Place the tasks of a job that ends at that second."""
        heappush(self.ends, (end, job))
        held = self.held[job] = {}
        for _ in range(int(self.trace.num_tasks[job])):
            demand = self.trace.demand[job, self.family[self.kind]]
            rooms = np.flatnonzero(((demand >= 0) & (demand <= self.free)).all(axis=1))
            m = int(rooms[0]) if rooms.size else self._rented(job)
            self.free[m] -= self.trace.demand[job, self.family[self.kind[m]]]
            self.number[m] += 1
            held[m] = held.get(m, 0) + 1

    def running(self, left: IntArray) -> Running:
        """Return the machines with tasks, of whose jobs the i-th is `left[i]`."""
        rows = np.flatnonzero(self.number)
        machine = {m: e for e, m in enumerate(rows.tolist())}
        job = {j: i for i, j in enumerate(left.tolist())}
        entries = sorted((machine[m], job[j], count) for j, held in self.held.items() for m, count in held.items())
        table = np.array(entries, np.int64).reshape(-1, 3)
        indptr = np.searchsorted(table[:, 0], np.arange(rows.size + 1))
        names = tuple(f"node-{e}" for e in range(rows.size))
        return Running(names, self.kind[rows], indptr, table[:, 1], table[:, 2])

    def _rented(self, job: int) -> int:
        demand = self.trace.demand[job, self.family]
        fits = np.flatnonzero(((demand >= 0) & (demand <= self.capacity)).all(axis=1))
        cheapest = fits[np.argmin(self.price[fits])]
        group = fits[self.family[fits] == self.family[cheapest]]
        kind = int(group[np.argmax(self.price[group])])
        self.kind = np.append(self.kind, kind)
        self.free = np.concatenate((self.free, self.capacity[kind][None]))
        self.number.append(0)
        return len(self.number) - 1


Durations = Literal["gavel", "alibaba"]


def alibaba_like(
    jobs: int = 6274,
    *,
    seed: int = 0,
    durations: Durations = "gavel",
    mean_gap_s: float = 1200.0,
    multi_gpu: float = AS_DRAWN,
    multi_task: float = 0.0,
    interference: str = "figure1",
    migration_delay: float = 1.0,
    cpu: CpuCapacity = "vcpu",
    warm_h: float = 0.0,
) -> ReconfigurationInstance:
    """Draw jobs after published statistics of Alibaba's GPU trace, with Poisson arrivals (section 6.1).

    Demands are those of provisioning's `alibaba-like`; each distinct one is given one of Figure 1's workloads.

    durations : `gavel`, 10^x minutes as section 6.1 says, or `alibaba`, with the quantiles of Table 9.
    multi_gpu : of all jobs, those with 2, 4 or 8 GPUs (section 6.6); -1 as drawn.
    multi_task : of all jobs, those whose task is there 2 or 4 times (section 6.7).
    interference : see `pairwise_throughput`. migration_delay : factor of all workload delays.
    warm_h : so many of the first hours have been played by first fit, and what they left behind runs at second 0.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    check_jobs("alibaba-like", jobs)
    check_choice("durations", durations, ("gavel", "alibaba"))
    if not 0 <= warm_h < MAX_TIME_S / 3600:
        raise InstanceError(f"warm_h is {warm_h:g}; give hours that are not negative, below {MAX_TIME_S // 3600}.")
    demand = draw_demand(column_rng("alibaba-like", "demand", seed), jobs, cpu)
    distinct, vector = np.unique(demand, axis=0, return_inverse=True)
    rng = column_rng("alibaba-like", "workloads", seed)
    drawn = rng.integers(0, len(workload_names()), int(distinct.shape[0]))
    rng = column_rng("alibaba-like", "durations", seed)
    work_s = durations_h(rng, jobs) * 3600 if durations == "alibaba" else _gavel_s(rng, jobs)
    demand = with_more_gpus(demand, multi_gpu, cpu, column_rng("alibaba-like", "multi-gpu", seed))
    trace = Trace(
        arrival_s=drawn_arrivals("alibaba-like", jobs, mean_gap_s, seed),
        work_s=np.maximum(1, work_s.astype(np.int64)),
        demand=np.repeat(demand[:, None], len(FAMILIES), axis=1),
        workload=drawn[vector.reshape(-1)],
        num_tasks=tasks_of_jobs(jobs, multi_task, column_rng("alibaba-like", "multi-task", seed)),
    )
    mixed = mix_parts(multi_gpu, multi_task)
    warm = (f"warm{warm_h:g}h",) if warm_h else ()
    parts = ("alibaba-like", f"{jobs}", durations, f"gap{mean_gap_s:g}", *mixed, *warm, f"s{seed}")
    rest, running = left_behind(trace, ec2_types(cpu), int(warm_h * 3600)) if warm_h else (trace, None)
    return on_ec2(parts, rest, interference=interference, migration_delay=migration_delay, cpu=cpu, running=running)


def _gavel_s(rng: np.random.Generator, jobs: int) -> FloatArray:
    short = rng.random(jobs) < GAVEL_SHORT_SHARE
    least = np.where(short, GAVEL_SHORT[0], GAVEL_LONG[0])
    most = np.where(short, GAVEL_SHORT[1], GAVEL_LONG[1])
    return 60 * 10 ** (least + (most - least) * rng.random(jobs))


Mix = Literal["uniform", "authors", "fitted"]
Spread = Literal["uniform", "log-uniform"]
# 32 jobs, as the authors' generator lists them beside the paper's workloads.
AUTHORS_MIX = {
    "vit": 2,
    "resnet18-2": 3,
    "graphsage": 3,
    "cyclegan": 5,
    "gpt2": 1,
    "a3c": 4,
    "diamond": 4,
    "gcn": 4,
    "openfoam": 6,
}
# 120 jobs: of all that give the No-Packing row of Table 10 in the mean (dollars within 0.2%, machines, three allocations
# within half a point; physical cores), those closest to equal numbers of Table 7's workloads. With hardware threads none do.
FITTED_MIX = {
    "resnet18-2": 6,
    "vit": 11,
    "cyclegan": 12,
    "gpt2": 2,
    "gcn": 15,
    "a3c": 34,
    "diamond": 27,
    "openfoam": 13,
}
HANDS = {"authors": AUTHORS_MIX, "fitted": FITTED_MIX}


def eva_synthetic(
    jobs: int = 32,
    *,
    seed: int = 0,
    mean_gap_s: float = 1200.0,
    min_hours: float = 0.5,
    max_hours: float = 3.0,
    durations: Spread = "uniform",
    mix: Mix = "uniform",
    tasks_per_job: int = 0,
    interference: str = "figure1",
    migration_delay: float = 1.0,
    cpu: CpuCapacity = "physical",
) -> ReconfigurationInstance:
    """Draw jobs of Table 7's workloads with Poisson arrivals: the 32- and 120-job traces of section 6.1.

    durations : between min_hours and max_hours, `uniform` (section 6.1) or `log-uniform` (Table 6: 100 jobs of 4 tasks,
        0.5 to 16 hours; the job completion times that it reports are those of the latter).
    mix : `uniform` over the ten workloads; `authors`, shuffled multiples of the 32 jobs in the authors' generator; or
        `fitted`, of 120 jobs that were fitted to the published cost and allocations of No-Packing.
    tasks_per_job : 0 as Table 7 says, where resnet18-2 and resnet18-4 have 2 and 4; else of every job.
    interference : see `pairwise_throughput`. migration_delay : factor of all workload delays.
    cpu : capacities; Table 11's allocations of No-Packing are those of physical cores.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    check_jobs("eva-synthetic", jobs)
    if not 0 < min_hours <= max_hours < MAX_TIME_S / 3600:
        raise InstanceError(
            f"min_hours is {min_hours:g} and max_hours {max_hours:g}; give positive hours, the fewer first, below "
            f"{MAX_TIME_S // 3600}."
        )
    if tasks_per_job < 0:
        raise InstanceError(f"tasks_per_job is {tasks_per_job}; give a positive number, or 0 for that of Table 7.")
    check_choice("durations", durations, ("uniform", "log-uniform"))
    check_choice("mix", mix, ("uniform", *HANDS))
    table = eva_workloads()
    drawn = _mixed(table["names"], mix, jobs, seed)
    least, most = (math.log(min_hours), math.log(max_hours)) if durations == "log-uniform" else (min_hours, max_hours)
    hours = least + (most - least) * column_rng("eva-synthetic", "durations", seed).random(jobs)
    if durations == "log-uniform":
        hours = np.exp(hours)
    base = np.array([workload_names().index(name.removesuffix("-2").removesuffix("-4")) for name in table["names"]])
    trace = Trace(
        arrival_s=drawn_arrivals("eva-synthetic", jobs, mean_gap_s, seed),
        work_s=np.maximum(1, (hours * 3600).astype(np.int64)),
        demand=np.moveaxis(table["demand"][:, drawn], 0, 1),
        workload=base[drawn],
        num_tasks=np.full(jobs, tasks_per_job) if tasks_per_job else table["tasks_per_job"][drawn],
    )
    tasks = (f"{tasks_per_job}tasks",) if tasks_per_job else ()
    hours_part = f"{'log' if durations == 'log-uniform' else ''}{min_hours:g}to{max_hours:g}h"
    parts = ("eva-synthetic", f"{jobs}", mix, f"gap{mean_gap_s:g}", hours_part, *tasks, f"s{seed}")
    return on_ec2(parts, trace, interference=interference, migration_delay=migration_delay, cpu=cpu)


def _mixed(names: tuple[str, ...], mix: str, jobs: int, seed: int) -> IntArray:
    rng = column_rng("eva-synthetic", "workloads", seed)
    if mix == "uniform":
        return rng.integers(0, len(names), jobs)
    hand = np.array([names.index(name) for name, number in HANDS[mix].items() for _ in range(number)])
    hands = [hand[np.argsort(rng.random(hand.size), kind="stable")] for _ in range(-(-jobs // hand.size))]
    return np.concatenate(hands)[:jobs]
