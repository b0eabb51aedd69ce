"""The time-indexed program: how many tasks of each group start in each slot, on each VM or on all of them together.

Sets        g groups of equal tasks (see `Grid`); t slots before a horizon H; n places: single VMs, or the
            whole pool as one; p parts (jobs) whose last ends count, unless ends count one by one
Variables   x[n, g, t]  tasks of g that start in slot t at n, whole;  late[g]  tasks of g that end after H
            F[g, t]     tasks of g that have ended by t;  z[p, t] whether p has not ended by t
Minimise    sum over g of (t + length(g) - release(g)) x[n, g, t] + (H + 1 - release(g)) late[g],  or  sum of z[p, t]
Rows        sum_nt x[n, g, t] + late[g] = count(g)
            F[g, t] = F[g, t - 1] + sum_n x[n, g, t - length(g)];  F[g, t] + count(g) z[p, t] >= count(g)
            on each VM n and slot:  sum of sizes of what runs <= units of cores of n there;  likewise memory

Tasks that end after H use no capacity here and end at H + 1, so that the program is a relaxation whatever H is; a solution
without such tasks is a schedule. With the pool as one place, the rows of capacity are these, for sets of slots t to t':

            sum floor(size(g) / b) of what runs throughout  <=  sum_n floor(least capacity of n in these slots / b)

for b = 1 and each size b. They hold since a task stays on one VM, which has room for no more than that many tasks of size b
or more throughout. That relaxation has as many times fewer columns as there are VMs. If at most k VMs may be leased at a
moment, the k largest terms of the sum on the right are as many as count.

A slot is as long as the greatest common divisor of all times. Starts on the grid lose nothing. Take any schedule of runs that
complete their tasks, and move each start back to the grid's moment at or before it. Arrivals are on the grid, so no start moves
before one; runtimes are, so ends move back likewise and no end gets later. A run that is in slot k = [k q, (k + 1) q)
afterwards has started before (k + 1) q and ended no earlier than that: all of slot k's runs ran together just before (k + 1) q,
on the same VMs, when these had what they have in slot k. Runs that a VM killed, and replicas that did not complete, may be left
out of a schedule whose tasks take no checkpoints.

Amounts of cores are divided by the greatest common divisor of the tasks' sizes, a VM's rounded down: sums of sizes lose
nothing by that, and linear programs over them become tighter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from schedgap.formulations.harvest.kernels_work import covering
from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, first_true
from schedgap.instances.harvest.model import NO_CHECKPOINTS, HarvestInstance, HarvestSchedule

# A part of a task that completes with its group alone: its end counts by itself.
ALONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Tasks that are equal in all that matters are one group. Slot 0 begins with the first arrival.

    Letters: G groups, V VMs, T tasks.

    unit_ms, origin_ms : a slot's length, and when the first one begins. unit_cores : cores in one unit of size. release,
    length, size, memory, count : (G,) int64: slots, slots, units of cores, MiB, tasks in the group. part : (G,) int64: of which
    part a group is whose last end counts: its job, the whole for `makespan`, or ALONE. part_release : (P,) int64, from when a
    part's time counts, in slots. group : (T,) int64, of each task. last_event : in slots, from which on nothing changes.
    """

    instance: HarvestInstance
    unit_ms: int
    origin_ms: int
    unit_cores: int
    release: IntArray
    length: IntArray
    size: IntArray
    memory: IntArray
    count: IntArray
    part: IntArray
    part_release: IntArray
    group: IntArray
    last_event: int

    @property
    def num_groups(self) -> int:
        """Number of groups of equal tasks."""
        return int(self.count.shape[0])

    @property
    def full_horizon(self) -> int:
        """Slots within which tasks that run one after the other end, wherever they may begin."""
        work = int((self.count * self.length).sum())
        return max(self.last_event, int(self.release.max())) + work

    def capacity(self, horizon: int) -> IntArray:
        """(V, horizon) int64: units of cores of each VM in each slot."""
        instance = self.instance
        room = np.zeros((instance.num_vms, horizon), np.int64)
        at = (instance.event_ms - self.origin_ms) // self.unit_ms
        for v in range(instance.num_vms):
            events = np.arange(instance.first_event[v], instance.first_event[v + 1])
            now = np.searchsorted(at[events], np.arange(horizon), side="right") - 1
            cores = np.where(now >= 0, instance.event_cores[events[np.maximum(now, 0)]], 0)
            room[v] = cores // self.unit_cores
        return room

    def objective_ms(self, slots: int) -> int:
        """Return the objective in milliseconds of one in slots."""
        return slots * self.unit_ms

    def slots(self, objective_ms: int) -> int:
        """Return the least objective in slots that is no less than one in milliseconds."""
        return -(-objective_ms // self.unit_ms)

    def schedule(self, group: IntArray, vm: IntArray, start: IntArray) -> HarvestSchedule:
        """Return the schedule of runs of the groups' tasks. group, vm, start : (T,) int64, in any order; start in slots."""
        order = np.lexsort((start, group))
        task = np.argsort(self.group, kind="stable")
        begin = self.origin_ms + start[order] * self.unit_ms
        none = np.zeros_like(begin)
        return HarvestSchedule(task, vm[order], begin, begin + self.instance.runtime_ms[task], none)


def grid_of(instance: HarvestInstance) -> Grid:
    """Return an instance on its grid. O(T log T + E)."""
    job = instance.task2job()
    origin = int(instance.arrival_ms[0])
    later = instance.event_ms[instance.event_ms > origin] - origin
    unit = int(np.gcd.reduce(np.concatenate((instance.arrival_ms - origin, instance.runtime_ms, later))))
    unit_cores = int(np.gcd.reduce(instance.cores))
    release = (instance.arrival_ms - origin) // unit
    if instance.objective == "jobs":
        part, part_release = job, release
    elif instance.objective == "makespan":
        part, part_release = np.zeros_like(job), np.zeros(1, np.int64)
    else:
        part, part_release = np.full_like(job, ALONE), np.zeros(0, np.int64)
    columns = (part, release[job], instance.runtime_ms // unit, instance.cores[job] // unit_cores)
    tasks = np.column_stack((*columns, instance.task_memory_mib[job]))
    kinds, group, count = np.unique(tasks, axis=0, return_inverse=True, return_counts=True)
    return Grid(
        instance=instance,
        unit_ms=unit,
        origin_ms=origin,
        unit_cores=unit_cores,
        part=kinds[:, 0].copy(),
        release=kinds[:, 1].copy(),
        length=kinds[:, 2].copy(),
        size=kinds[:, 3].copy(),
        memory=kinds[:, 4].copy(),
        count=count.astype(np.int64),
        part_release=part_release,
        group=group.reshape(-1).astype(np.int64),
        last_event=int(later.max(initial=0)) // unit,
    )


def not_exact(instance: HarvestInstance) -> str | None:
    """Return None, or why an optimum over runs on given VMs would be none: interruptions and leases may do better."""
    if not instance.is_fixed:
        return (
            f"leases its VMs ({instance.allocation}, {instance.max_leases} at most); an optimum is found for fixed pools "
            "only, so fix the pool or use bound-alone"
        )
    if (able := first_true(instance.checkpoint_ms > NO_CHECKPOINTS)) is not None:
        return (
            f"has tasks that can take checkpoints (job {instance.job_name(able)}, in {instance.checkpoint_ms[able]} ms), which "
            "may do better by interruptions that this does not consider; set checkpoint_ms to -1 or use bound-alone"
        )
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A program and what its columns are: starts first, then late[g] for each group, then F and z.

    num_places : VMs, or 1. place, group, start : (N,) int64, of the starts. horizon : H.
    earliest : (P,) int64, slots, no part ends before.
    """

    grid: Grid
    model: LinearModel
    horizon: int
    num_places: int
    place: IntArray
    group: IntArray
    start: IntArray
    earliest: IntArray

    @property
    def num_starts(self) -> int:
        """Number of columns that are starts."""
        return int(self.group.shape[0])

    def late(self, x: FloatArray) -> int:
        """Return how many tasks end after the horizon."""
        return round(float(x[self.num_starts : self.num_starts + self.grid.num_groups].sum()))

    def values(self, group: IntArray, place: IntArray, start: IntArray) -> FloatArray | None:
        """Return the columns' values of a schedule, or None if it has a start that is no column."""
        grid, horizon = self.grid, self.horizon
        keys = (self.place * grid.num_groups + self.group) * horizon + self.start
        wanted = (place * grid.num_groups + group) * horizon + start
        order = np.argsort(keys)
        at = np.minimum(np.searchsorted(keys[order], wanted), keys.shape[0] - 1)
        if (keys[order][at] != wanted).any():
            return None
        x = np.zeros(self.model.cost.shape[0])
        np.add.at(x, order[at], 1)
        if not self.earliest.size:
            return x
        done = np.zeros((grid.num_groups, horizon + 1))
        np.add.at(done, (group, start + grid.length[group]), 1)
        done = done.cumsum(axis=1)
        firsts, f, z = _layout(grid, self.earliest, horizon, self.num_starts + grid.num_groups)
        for g in range(grid.num_groups):
            x[f[g] : f[g + 1]] = done[g, firsts[g] :]
            p = grid.part[g]
            open_ = done[g, firsts[g] :] < grid.count[g]
            x[z[p] : z[p + 1]] = np.maximum(x[z[p] : z[p + 1]], open_)
        return x


def windows(grid: Grid, room: IntArray) -> BoolArray:
    """(V, G, H) bool: whether a task of the group may start in the slot on the VM and end by H. O(V H lengths)."""
    num_vms, horizon = room.shape
    fits = np.zeros((num_vms, grid.num_groups, horizon), np.bool_)
    memory = grid.instance.memory_mib
    for length in np.unique(grid.length).tolist():
        if length > horizon:
            continue
        # (V, H - length + 1): the least room in so many slots from each on.
        least = np.lib.stride_tricks.sliding_window_view(room, length, axis=1).min(axis=2)
        for g in np.flatnonzero(grid.length == length).tolist():
            fits[:, g, : horizon - length + 1] = (least >= grid.size[g]) & (memory >= grid.memory[g])[:, None]
            fits[:, g, : grid.release[g]] = False
    return fits


def pool_program(grid: Grid, horizon: int) -> Program:
    """Return the relaxation with the pool as one place."""
    room = grid.capacity(horizon)
    allowed: BoolArray = np.logical_or.reduce(windows(grid, room), axis=0, keepdims=True)
    weight, begin, end, kind, limit = _pool_rows(grid, room)
    place = np.zeros_like(begin)
    return _program(grid, "pool", horizon, allowed, weight, (place, begin, end, kind), limit)


def vm_program(grid: Grid, horizon: int, kept: BoolArray | None = None) -> Program:
    """Return the program with VMs as places. kept : (V or 1, G, H) bool, starts to leave in; None for all."""
    room = grid.capacity(horizon)
    allowed = windows(grid, room)
    if kept is not None:
        allowed &= kept
    weight, place, begin, limit = [grid.size], [], [], []
    kinds = []
    vm, slot = np.nonzero(np.logical_or.reduce(allowed, axis=(1, 2))[:, None] & (room > 0))
    place.append(vm)
    begin.append(slot)
    limit.append(room[vm, slot])
    kinds.append(np.zeros_like(vm))
    memory = grid.instance.memory_mib
    # Where what fits by cores fits by memory too, no row is needed.
    scarce = room.max(axis=1) * (grid.memory / grid.size).max() > memory
    if scarce.any():
        weight.append(grid.memory)
        vm, slot = np.nonzero(scarce[:, None] & (room > 0))
        place.append(vm)
        begin.append(slot)
        limit.append(memory[vm])
        kinds.append(np.ones_like(vm))
    begins = np.concatenate(begin)
    rows = (np.concatenate(place), begins, begins + 1, np.concatenate(kinds))
    return _program(grid, "vms", horizon, allowed, np.stack(weight), rows, np.concatenate(limit))


def _pool_rows(grid: Grid, room: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return weights (K, G), and the first slot, end, weights' index and limit of each row that no other implies."""
    bases = np.unique(np.concatenate(([1], grid.size)))
    weight = grid.size // bases[:, None]
    instance = grid.instance
    most = instance.num_vms if instance.is_fixed else min(instance.num_vms, instance.max_leases)
    begins, ends, kinds, limits = [], [], [], []
    longest = min(int(grid.length.max()), room.shape[1])
    for k, base in enumerate(bases.tolist()):
        least = room
        before = None
        for length in range(1, longest + 1):
            if length > 1:
                least = np.minimum(least[:, :-1], room[:, length - 1 :])
            limit = np.sort(least // base, axis=0)[-most:].sum(axis=0)
            long_enough = grid.length >= length
            reach = int((weight[k] * grid.count)[long_enough].sum())
            needed = limit < reach
            if before is not None:
                needed &= limit < np.minimum(before[:-1], before[1:])
            at = np.flatnonzero(needed)
            begins.append(at)
            ends.append(at + length)
            kinds.append(np.full(at.shape[0], k))
            limits.append(limit[at])
            before = limit
    return weight, *(np.concatenate(each).astype(np.int64) for each in (begins, ends, kinds, limits))


def _layout(grid: Grid, earliest: IntArray, horizon: int, first: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first slot of each group's F, where each group's F and each part's z begin, and where they end."""
    firsts = earliest[grid.part]
    f = first + np.concatenate(([0], np.cumsum(horizon + 1 - firsts)))
    z = f[-1] + np.concatenate(([0], np.cumsum(horizon + 1 - earliest)))
    return firsts, f, z


def _program(
    grid: Grid,
    kind: str,
    horizon: int,
    allowed: BoolArray,
    weight: IntArray,
    rows_at: tuple[IntArray, IntArray, IntArray, IntArray],
    limit: IntArray,
) -> Program:
    place, group, start = np.nonzero(allowed)
    number, groups = group.shape[0], grid.num_groups
    column = np.full(allowed.shape, -1)
    column[allowed] = np.arange(number)
    end = start + grid.length[group]
    alone = bool((grid.part == ALONE).all())
    earliest = np.zeros(0, np.int64)
    if not alone:
        first_end = np.full(groups, horizon + 1)
        np.minimum.at(first_end, group, end)
        earliest = np.zeros(grid.part_release.shape[0], np.int64)
        np.maximum.at(earliest, grid.part, np.minimum(first_end, horizon))
    firsts, f, z = _layout(grid, earliest, horizon, number + groups) if not alone else (earliest, earliest, earliest)
    width = number + groups if alone else int(z[-1])
    rows = Rows(width)
    count = grid.count.astype(np.float64)
    once = np.concatenate((group, np.arange(groups)))
    rows.add("once", (once, np.arange(number + groups), 1.0), lower=count, upper=count)
    _add_room(rows, grid, column, weight, rows_at, limit)
    cost, upper = np.zeros(width), np.empty(width)
    upper[:number], upper[number : number + groups] = count[group], count
    offset = 0
    if alone:
        cost[:number] = end - grid.release[group]
        cost[number:] = horizon + 1 - grid.release
    else:
        _add_parts(rows, grid, (group, end), (firsts, f, z))
        cost[f[-1] :] = 1
        upper[number + groups : f[-1]] = np.repeat(count, np.diff(f))
        upper[f[-1] :] = 1
        offset = int((earliest - grid.part_release).sum())
    if horizon >= grid.full_horizon:
        upper[number : number + groups] = 0
    name = f"time-indexed-{kind}-{grid.instance.name}"
    model = rows.model(name, cost, upper, 1)
    return Program(grid, replace(model, offset=float(offset)), horizon, allowed.shape[0], place, group, start, earliest)


def _add_room(
    rows: Rows,
    grid: Grid,
    column: IntArray,
    weight: IntArray,
    at: tuple[IntArray, IntArray, IntArray, IntArray],
    limit: IntArray,
) -> None:
    """Add the rows of capacity."""
    none = np.zeros(0, np.int64)
    place, begin, end, kind = at
    size = covering(column, grid.length, weight, place, begin, end, kind, none, none, none)
    row, which, value = (np.empty(size, np.int64) for _ in range(3))
    covering(column, grid.length, weight, place, begin, end, kind, row, which, value)
    rows.add("room", (row, which, value), upper=limit)


def _add_parts(
    rows: Rows, grid: Grid, ends: tuple[IntArray, IntArray], layout: tuple[IntArray, IntArray, IntArray]
) -> None:
    """Add the rows that say when groups and parts have ended."""
    group, end = ends
    firsts, f, z = layout
    each = np.arange(f[0], f[-1])
    number = each - f[0]
    owner = np.repeat(np.arange(grid.num_groups), np.diff(f))
    is_first = np.zeros(each.shape[0], np.bool_)
    is_first[f[:-1] - f[0]] = True
    follows = np.flatnonzero(~is_first)
    ended = f[group] - f[0] + np.maximum(end - firsts[group], 0)
    rows.add(
        "ended",
        (number, each, 1.0),
        (follows, each[follows] - 1, -1.0),
        (ended, np.arange(group.shape[0]), -1.0),
        lower=np.zeros(each.shape[0]),
        upper=0.0,
    )
    count = grid.count[owner]
    part_z = z[grid.part[owner]] + each - f[owner]
    rows.add("part", (number, each, 1.0), (number, part_z, count), lower=count)
