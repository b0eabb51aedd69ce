"""The whole problem for CP-SAT: where each task runs, and from when, on VMs whose cores come and go.

Variables   on[t, v] whether task t runs on VM v;  start[t];  end[p] of a part: a task, a job, or all (see the objective)
Minimise    sum of end[p] - arrival[p]
Rows        sum_v on[t, v] = 1;  end[p] >= start[t] + runtime[t] for the tasks t of part p
            cumulative: the tasks of a VM, and intervals of the cores that it lacks, within the most cores that it has;
            likewise memory;  equal tasks start in their order

Exact in whole multiples of the greatest common divisor of all times (see `time_indexed.grid` for why that loses nothing);
for some tens of tasks. No part ends later than it would if the others ended as early as they could alone, and all together
as late as in a known schedule: this bounds all times.

Whole numbers throughout. The claim is a proof while CP-SAT's own sums are: up to ends of 2^52 units in all, and cores or memory
times time of 2^60; beyond, instances are refused.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends.cp_sat import MAX_OBJECTIVE
from schedgap.formulations.backends.scheduling import Missing, PlacementProblem, solve_placement, twins
from schedgap.formulations.harvest.time_indexed.bracket import OrderSearch
from schedgap.formulations.harvest.time_indexed.grid import Grid, grid_of, not_exact
from schedgap.formulations.harvest.work_bound import alone_ends, bound_work, objective_of_ends
from schedgap.instances.arrays import IntArray
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method

# Choices of a VM for a task: beyond so many, building the model takes minutes.
MAX_CHOICES = 100_000
# Cores or MiB times units of time, all added up: what CP-SAT adds up itself stays below 2^63.
MAX_HELD = 2**60


def not_for_intervals(instance: HarvestInstance) -> str | None:
    """Return None, or why the model would not be exact, or take minutes to build."""
    choices = instance.num_tasks * instance.num_vms
    if choices > MAX_CHOICES:
        return f"has {choices} choices of a VM for a task, more than {MAX_CHOICES}; use bound-work"
    return not_exact(instance)


@method("interval-model", family=FAMILY, supports=not_for_intervals, exact=True)
def interval_model(instance: HarvestInstance, *, time_limit_s: float | None = None, threads: int = 1) -> Outcome:
    """Find the clairvoyant optimum by CP-SAT over VMs and starts of all tasks, in milliseconds."""
    begun = time.perf_counter()
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome(status=Status.NO_SOLUTION)
    grid, search = grid_of(instance), OrderSearch(instance)
    cheap = bound_work(instance).bound
    assert cheap is not None
    if (reason := _too_large(grid, search)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    problem = _problem(grid, search, cheap)
    built = time.perf_counter()
    left_s = None if time_limit_s is None else time_limit_s - (built - begun)
    result = solve_placement(problem, time_limit_s=left_s, threads=threads)
    solution = None
    if result.pool is not None and result.start is not None:
        solution = grid.schedule(grid.group, result.pool, result.start)
    bound = None
    if result.bound is not None:
        bound = max(cheap, grid.objective_ms(result.bound - _counted_from(grid)))
    return Outcome(
        solution,
        bound,
        result.status,
        build_s=built - begun,
        solve_s=result.solve_s,
        backend="cp-sat",
        details={"unit_ms": grid.unit_ms},
    )


def _parts(instance: HarvestInstance) -> IntArray:
    """Return (T,) int64: of which part each task is, whose end counts."""
    if instance.objective == "tasks":
        return np.arange(instance.num_tasks)
    return instance.task2job() if instance.objective == "jobs" else np.zeros(instance.num_tasks, np.int64)


def _counted_from(grid: Grid) -> int:
    """Return the sum of the moments, in units, from which the parts' times count."""
    if grid.instance.objective == "makespan":
        return 0
    # In Python's integers: thousands of times of 2^52 ms do not fit into 64 bits.
    if grid.part_release.size:
        return sum(grid.part_release.tolist())
    return sum(map(int.__mul__, grid.release.tolist(), grid.count.tolist()))


def _ends(grid: Grid, search: OrderSearch) -> tuple[IntArray, int]:
    """Return (P,) int64, when the parts end at the earliest, and how much later any may end, in units."""
    instance, unit = grid.instance, grid.unit_ms
    assert search.objective is not None
    alone = alone_ends(instance)
    part = _parts(instance)
    earliest = np.zeros(int(part.max()) + 1, np.int64)
    np.maximum.at(earliest, part, -((grid.origin_ms - alone) // unit))
    return earliest, (search.objective - objective_of_ends(instance, alone)) // unit


def _too_large(grid: Grid, search: OrderSearch) -> str | None:
    """Return None, or why CP-SAT would prove nothing: its whole numbers are of 64 bits, sums and products included."""
    instance = grid.instance
    earliest, slack = _ends(grid, search)
    ends = sum(earliest.tolist()) + slack * earliest.shape[0]
    sizes = np.maximum(instance.cores, instance.task_memory_mib)[search.job].tolist()
    room = max(int(instance.event_cores.max()), int(instance.memory_mib.max()))
    held = sum(map(int.__mul__, sizes, grid.length[grid.group].tolist())) + room * (int(earliest.max()) + slack)
    for what, most, limit in (("ends", ends, MAX_OBJECTIVE), ("cores and memory times runtimes", held, MAX_HELD)):
        if most > limit:
            return (
                f"has {what} that sum up to {float(most):.3g} in units of {grid.unit_ms} ms, more than {limit:.3g}, beyond "
                "which CP-SAT proves nothing; round its times to multiples of a longer unit, or use bound-work"
            )
    return None


def _problem(grid: Grid, search: OrderSearch, cheap: int) -> PlacementProblem:
    """Return the problem, in the grid's units of time from its origin."""
    instance = grid.instance
    part = _parts(instance)
    earliest, slack = _ends(grid, search)
    latest = earliest + slack
    capacity, missing = _capacity(grid, int(latest.max()))
    group = grid.group
    fits = (capacity[:, 0] >= instance.cores[search.job][:, None]) & (
        capacity[:, 1] >= instance.task_memory_mib[search.job][:, None]
    )
    vm, start = _in_order(grid, search)
    return PlacementProblem(
        name=instance.name,
        job=part,
        twin=twins(np.argsort(group, kind="stable"), group),
        release=grid.release[group],
        earliest_end=earliest,
        latest_end=latest,
        length=np.where(fits, grid.length[group][:, None], 0),
        sizes=np.column_stack((instance.cores, instance.task_memory_mib))[search.job],
        capacity=capacity,
        bound=grid.slots(cheap) + _counted_from(grid),
        pool=vm,
        start=start,
        missing=missing,
    )


def _capacity(grid: Grid, horizon: int) -> tuple[IntArray, Missing]:
    """Return (V, 2) int64, the most cores that VMs have before the horizon, and memory; and when they lack cores."""
    instance = grid.instance
    at = np.maximum(-((grid.origin_ms - instance.event_ms) // grid.unit_ms), 0)
    most = np.zeros(instance.num_vms, np.int64)
    vms, starts, lengths, cores = [], [], [], []
    for v in range(instance.num_vms):
        events = slice(int(instance.first_event[v]), int(instance.first_event[v + 1]))
        begin = np.concatenate(([0], at[events]))
        length = np.minimum(np.append(begin[1:], horizon), horizon) - begin
        size = np.concatenate(([0], instance.event_cores[events]))
        begin, length, size = begin[length > 0], length[length > 0], size[length > 0]
        most[v] = size.max()
        lacks = size < most[v]
        vms.append(np.full(int(lacks.sum()), v))
        starts.append(begin[lacks])
        lengths.append(length[lacks])
        cores.append(most[v] - size[lacks])
    lack = np.concatenate(cores)
    sizes = np.column_stack((lack, np.zeros_like(lack)))
    missing = Missing(np.concatenate(vms), np.concatenate(starts), np.concatenate(lengths), sizes)
    return np.column_stack((most, instance.memory_mib)), missing


def _in_order(grid: Grid, search: OrderSearch) -> tuple[IntArray, IntArray]:
    """Return (T,) int64 VMs and starts, in units, of the known schedule, equal tasks in the order of their starts."""
    task, order = np.argsort(grid.group, kind="stable"), np.lexsort((search.start, grid.group))
    vm, start = np.empty_like(search.vm), np.empty_like(search.start)
    vm[task], start[task] = search.vm[order], (search.start[order] - grid.origin_ms) // grid.unit_ms
    return vm, start
