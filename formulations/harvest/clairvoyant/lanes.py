"""A schedule's tasks in lanes, and what exchanges between these make of it.

Each VM is divided into lanes, room for one task of a kind at a time, so that the schedule given is one of those that lanes
allow: cores that come free become lanes of the kind that has most work, and a lane that stands idle is closed where the VM
shrinks, or where a task of another kind needs its cores.

What a clairvoyant scheduler knows of a pool: the cores of each VM at every moment to come.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from schedgap.formulations.harvest.clairvoyant.kernels_exchange import (
    NONE,
    Lanes,
    Moved,
    Needs,
    Plan,
    Profile,
    Soft,
    Soonest,
    Tasks,
    exchange,
    place_in_order,
    soonest_starts,
)
from schedgap.instances.arrays import IntArray, ranges
from schedgap.instances.harvest.model import HarvestInstance, HarvestSchedule
from schedgap.instances.units import NEVER

# Pieces of time that a VM has room for, beyond its own events, before the arrays grow.
FIRST_ROOM = 64
# Lengths of tasks for which it is known when they could start on each VM at the soonest. 8 save a quarter of a list's time
# on 64 VMs and 2,400 tasks; 16 and 32 take more to keep than they save.
LENGTHS = 8


class Future:
    """The VMs of a fixed pool with their events from the first arrival on, on which tasks are placed for good."""

    def __init__(self, instance: HarvestInstance) -> None:
        self.instance = instance
        job = instance.task2job()
        self.ready, self.length = instance.arrival_ms[job], instance.runtime_ms
        self.cores, self.memory = instance.cores[job], instance.task_memory_mib[job]
        num_vms, first = instance.num_vms, instance.first_event
        past = np.add.reduceat(instance.event_ms <= instance.arrival_ms[0], first[:-1])
        # Nothing before the first arrival matters, save the cores that a VM has then.
        kept = np.diff(first) - past
        width = int(kept.max()) + 1 + FIRST_ROOM
        moment, free = np.zeros((num_vms, width), np.int64), np.zeros((num_vms, width), np.int64)
        last = first[:-1] + past - 1
        free[:, 0] = np.where(past > 0, instance.event_cores[np.maximum(last, 0)], 0)
        event = ranges(last + 1, kept)
        vm = np.repeat(np.arange(num_vms), kept)
        place = event - last[vm]
        moment[vm, place], free[vm, place] = instance.event_ms[event], instance.event_cores[event]
        room = np.broadcast_to(instance.memory_mib[:, None], free.shape).copy()
        edge = np.sort(self.length)[np.arange(LENGTHS) * self.length.shape[0] // LENGTHS]
        soonest, profile = Soonest(edge, np.empty((LENGTHS, num_vms), np.int64)), Profile(moment, free, room, kept + 1)
        soonest_starts(profile, int(self.ready[0]), int(self.cores.min()), int(self.memory.min()), soonest)
        self._profile, self._soonest = profile, soonest

    def place(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Return (T,) int64 VMs and starts of all tasks, placed one after the other. order : (T,) int64, tasks."""
        vm, start = np.zeros_like(self.length), np.zeros_like(self.length)
        needs = Needs(self.ready, self.length, self.cores, self.memory, self.instance.memory_mib)
        profile = Profile(*(each.copy() for each in self._profile))
        soonest = self._soonest._replace(start=self._soonest.start.copy())
        placed = 0
        while (placed := placed + place_in_order(order[placed:], needs, profile, soonest, vm, start)) < order.shape[0]:
            moment, free, room = (np.hstack((each, np.zeros_like(each))) for each in profile[:-1])
            profile = Profile(moment, free, room, profile.pieces)
        return vm, start

    def events(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield of each VM the moments from which on it has other cores, and these."""
        moment, free, _, pieces = self._profile
        for v, number in enumerate(pieces.tolist()):
            yield moment[v, :number].tolist(), free[v, :number].tolist()

    def schedule(self, vm: IntArray, start: IntArray) -> HarvestSchedule:
        """Return the schedule in which each task runs once. vm, start : (T,) int64."""
        tasks = np.arange(self.instance.num_tasks)
        return HarvestSchedule(tasks, vm, start, start + self.length, np.zeros_like(tasks))


# In mean run times of tasks: heat where many tasks end together and where each counts, and the width of smooth ends; at first
# and at last.
HEAT, HEAT_ALONE, WIDTH = (1 / 300, 1 / 6000), (1 / 10, 1 / 6000), (1 / 12, 1 / 200)
# Moves between two looks at the clock, and for each task.
MOVES, MOVES_A_TASK = 20_000, 10
# So many lanes more than it has tasks a VM has idle at most: there may be cores for millions.
SPARE = 8


@dataclass(slots=True)
class _Vm:
    """Lanes of one VM up to a moment, at most so many idle. needs : (K, 2) int64 cores and memory of each kind.

    idle : of each kind, those that came free last behind. opened : idle lanes, and some that are not, as a heap of -lane.
    """

    vm: int
    most: int
    needs: IntArray
    main: int
    free: IntArray
    rows: list[list[int]]
    idle: list[list[int]]
    is_idle: set[int] = field(default_factory=set)
    opened: list[int] = field(default_factory=list)
    busy: list[tuple[int, int]] = field(default_factory=list)

    def resize(self, moment: int, more: int) -> None:
        """Take cores in or give them back; what is free then becomes lanes of the main kind."""
        self._settle(moment)
        self.free[0] += more
        while self.free[0] < 0:
            self._close(moment)
        while len(self.is_idle) < self.most and (self.free >= self.needs[self.main]).all():
            self._rest(self._open(moment, self.main))

    def run(self, start: int, end: int, kind: int) -> int:
        """Return the lane in which a task of a kind runs."""
        self._settle(start)
        lane = -1
        while self.idle[kind] and lane not in self.is_idle:
            lane = self.idle[kind].pop()
        if lane not in self.is_idle:
            while (self.free < self.needs[kind]).any():
                self._close(start)
            lane = self._open(start, kind)
        self.is_idle.discard(lane)
        heapq.heappush(self.busy, (end, lane))
        return lane

    def _settle(self, moment: int) -> None:
        while self.busy and self.busy[0][0] <= moment:
            self._rest(heapq.heappop(self.busy)[1])

    def _rest(self, lane: int) -> None:
        self.is_idle.add(lane)
        self.idle[self.rows[lane][3]].append(lane)
        heapq.heappush(self.opened, -lane)

    def _open(self, moment: int, kind: int) -> int:
        self.free -= self.needs[kind]
        self.rows.append([self.vm, moment, NEVER, kind])
        return len(self.rows) - 1

    def _close(self, moment: int) -> None:
        """Close the idle lane that was opened last."""
        while (lane := -heapq.heappop(self.opened)) not in self.is_idle:
            pass
        self.is_idle.remove(lane)
        self.rows[lane][2] = moment
        self.free += self.needs[self.rows[lane][3]]


class Exchange:
    """A schedule in lanes, changed by moves."""

    def __init__(self, future: Future, first: IntArray, vm: IntArray, start: IntArray) -> None:
        number, groups = start.shape[0], first.shape[0] - 1
        rows, lane = divided(future, vm, start)
        self._lane2vm, opens, closes, kind = np.array(rows, np.int64).T.copy()
        group = np.repeat(np.arange(groups), np.diff(first))
        self._tasks = Tasks(future.ready, future.length, group, first)
        head, before, after = np.full(len(rows), NONE), np.full(number, NONE), np.full(number, NONE)
        order = np.lexsort((start, lane))
        follows = lane[order[1:]] == lane[order[:-1]]
        before[order[1:][follows]], after[order[:-1][follows]] = order[:-1][follows], order[1:][follows]
        firsts = order[before[order] == NONE]
        head[lane[firsts]] = firsts
        self._lanes, self._plan = Lanes(opens, closes, kind, head), Plan(lane, before, after, start.copy())
        self._soft = Soft(*np.zeros((2, groups), np.int64), *np.zeros((2, groups)), *np.zeros((2, number), np.int64))
        self._moved = Moved(np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(groups, np.int64))

    def improve(
        self,
        moves: int,
        random: np.ndarray,
        deadline: float,
        learn: Callable[[IntArray, IntArray], int],
        *,
        enough: int = 0,
        since: float = 0.0,
    ) -> tuple[int, int]:
        """Cool down over so many moves, or in the time left; return the least objective, and how many moves were made.

        random : (1,) uint64. learn : told of VMs and starts, (T,) int64, on the way; returns the objective. enough : of which
        none is looked for below. since : what share of cooling is done before.
        """
        plan, length = self._plan, self._tasks.length
        scale, begun, done = float(length.mean()), time.perf_counter(), 0
        heats = HEAT_ALONE if self._tasks.first.shape[0] > length.shape[0] else HEAT
        step, least = max(MOVES, MOVES_A_TASK * length.shape[0]), learn(self._lane2vm[plan.lane], plan.start.copy())
        while done < moves and least > enough:
            now = time.perf_counter()
            share = max(done / moves, (now - begun) / (deadline - begun) if deadline > begun else 1.0)
            if share >= 1.0:
                break
            share = since + share - since * share
            heat, width = (scale * hot * (cold / hot) ** share for hot, cold in (heats, WIDTH))
            some = min(step, moves - done)
            done += exchange(self._tasks, self._lanes, plan, self._soft, self._moved, heat, width, some, random)
            least = min(least, learn(self._lane2vm[plan.lane], plan.start.copy()))
        return least, done


def divided(future: Future, vm: IntArray, start: IntArray) -> tuple[list[list[int]], IntArray]:
    """Return lanes, rows of VM, opening, closing and kind, and (T,) int64, each task's lane. O(L log L) for L lanes.

    L is at most the sum over VMs of events x (tasks + SPARE), and T.
    """
    instance = future.instance
    most = np.maximum.reduceat(instance.event_cores, instance.first_event[:-1]) // future.cores.min()
    # Where memory is never short, all tasks of a size are of one kind.
    is_short = (most.astype(np.float64) * future.memory.max() > instance.memory_mib).any()
    memory = future.memory if is_short else np.zeros_like(future.memory)
    needs, kind = np.unique(np.column_stack((future.cores, memory)), axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    main = int(np.argmax(np.bincount(kind, future.length * future.cores.astype(np.float64))))
    rows: list[list[int]] = []
    lane = np.empty_like(vm)
    order = np.lexsort((start, vm))
    firsts = np.searchsorted(vm[order], np.arange(instance.num_vms + 1))
    for v, (moments, cores) in enumerate(future.events()):
        tasks = order[firsts[v] : firsts[v + 1]].tolist()
        free = np.array([0, int(instance.memory_mib[v])])
        some = _Vm(v, len(tasks) + SPARE, needs, main, free, rows, [[] for _ in needs])
        changes = [
            (moment, NONE, more) for moment, more in zip(moments, np.diff(cores, prepend=0).tolist(), strict=True)
        ]
        for moment, t, more in sorted(changes + [(int(start[t]), t, 0) for t in tasks]):
            if t == NONE:
                some.resize(moment, more)
            else:
                lane[t] = some.run(moment, moment + int(future.length[t]), int(kind[t]))
    return rows, lane
