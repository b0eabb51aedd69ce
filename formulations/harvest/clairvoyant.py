"""Clairvoyant lists: tasks by latest start, counted from due dates of their jobs, and changes of these dates.

Each task of a list runs once, never killed, on the VM and from the moment at which it can start first beside those before
it, and so on with the next. The list is ordered by when a task has to start for its job to end at the job's due date: so
of a job the longest tasks come first, and short tasks of an early job after long ones of a late one. For tasks' own
completion times, a task's due date is later the longer it runs: shortest first. Due dates are first those of jobs that
have the pool to themselves (`alone`), later by more or less for jobs of much work, which had better wait where all must;
then what came out of the list before: a job that ends late anyway lets others go first.

Optima are proven by `alone`, at every size; floats only order the lists.

The prices' relaxation of whole ends may end half of a job early and half of it late. The program over whole ends alone, with a
row for each of the best prices, has nearly the same value, and says which jobs wait for which. Lists place each task where it
starts first, and leave some 3 % of a crowded pool idle: what is left of a VM before it shrinks is rarely as long as the next
task. Tasks that are exchanged between lanes (`Exchange`) fill that up. Exchanges seldom change which jobs wait, so that is
decided before, by prices (`priced_ends`) and by lists: each is tried for a while, and the better one has the rest of the moves.

Each VM is divided into lanes, room for one task of a kind at a time, so that the schedule given is one of those that lanes
allow: cores that come free become lanes of the kind that has most work, and a lane that stands idle is closed where the VM
shrinks, or where a task of another kind needs its cores.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.harvest.kernels_exchange import (
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
from schedgap.formulations.harvest.price_bound import LEVELS, Priced, Row, ends_program, priced
from schedgap.formulations.harvest.work_bound import alone_ends, bound_work, ending_together, objective_of_ends
from schedgap.instances.arrays import FloatArray, IntArray, ranges
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance, HarvestSchedule
from schedgap.instances.method import Found, Incumbent, Outcome, Status, method, untold
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


# Prices of the best bounds whose rows the program has, its slots of time, its jobs at most, and nodes of branching.
ROWS, SLOTS, MOST, NODES = 60, 200, 500, 100


def priced_ends(priced: Priced, ends: IntArray, deadline: float) -> FloatArray | None:
    """Return (G,) float64, due dates of jobs, ms after the first arrival; None if there are too many, or no time.

    ends : (G,) int64, ms after the first arrival, of some schedule. deadline : on `time.perf_counter`'s clock.
    """
    problem = priced.problem
    if problem is None or ends.shape[0] > MOST:
        return None
    cell = problem.cell
    stride = max(1, -(-int(ends.max()) // (cell * SLOTS)))
    number = -(-int(ends.max()) // (cell * stride))
    by = np.minimum(stride * np.arange(1, number + 1), priced.tried[0][1].shape[0]) - 1
    rows = []
    for _, price in sorted(priced.tried, key=lambda each: -each[0])[:ROWS]:
        if time.perf_counter() >= deadline:
            return None
        paid, limit = problem.paid(price)
        rows.append(Row(np.pad(paid[:, by], ((0, 0), (0, 1))), limit))
    earliest = (problem.groups.earliest - 1) // (cell * stride)
    at = np.concatenate(([0], np.cumsum(number - 1 - earliest)))
    if at[-1] == 0:
        return None
    left_s = None if math.isinf(deadline) else deadline - time.perf_counter()
    found = solve(ends_program(rows, earliest, at), time_limit_s=left_s, nodes=NODES)
    if found.x is None:
        return None
    later = np.diff(np.concatenate(([0], np.cumsum(np.rint(found.x))))[at])
    due: FloatArray = np.maximum((earliest + later + 1) * float(cell * stride), problem.groups.earliest)
    return due


# How much later jobs are due at first for the mean job's work, in mean delays alone. On an overloaded pool the best of these
# is 7 to 10 % better than the first; there is none for all loads.
WORK_WEIGHTS = (0.0, 1.0, 2.0, 4.0)
# Rounds in which due dates follow the ends of jobs; later ones seldom found more.
ROUNDS = 6
# Changes of due dates: by a normal distribution of at most this share of the mean JCT, and how often; else two are exchanged.
SPREAD, CHANGED = 1.5, 0.6


def needs_fixed_pool(instance: HarvestInstance) -> str | None:
    """Return None, or that VMs would have to be leased."""
    return None if instance.is_fixed else "chooses no leases; give an instance whose pool is fixed"


class Lists:
    """Lists of tasks by due dates of their jobs, and the best schedule. due : (J,) float64, ms, of the last best list."""

    def __init__(self, instance: HarvestInstance, begun: float, alone: IntArray, found: Found = untold) -> None:
        self.instance, self.begun, self.found = instance, begun, found
        self.future = Future(instance)
        self.job, self.first = instance.task2job(), instance.first_task[:-1]
        self.alone = np.maximum.reduceat(alone, self.first)
        self.bound = objective_of_ends(instance, alone)
        self.best: tuple[int, IntArray, IntArray] | None = None
        self.due = np.zeros(self.first.shape[0])
        self.trajectory: list[Incumbent] = []

    def first_dues(self) -> list[FloatArray]:
        """Return due dates to begin with, (J,) float64 each: in ms for jobs; all alike for the makespan."""
        arrival = self.instance.arrival_ms.astype(np.float64)
        if self.instance.objective == "tasks":
            return [arrival]
        if self.instance.objective == "makespan":
            return [np.zeros_like(arrival)]
        work = np.add.reduceat(self.future.length * self.future.cores.astype(np.float64), self.first)
        delays = work / work.mean() * (self.alone - arrival).mean()
        return [self.alone + weight * delays for weight in WORK_WEIGHTS]

    @property
    def least(self) -> int | None:
        """The best objective, ms."""
        return None if self.best is None else self.best[0]

    @property
    def is_done(self) -> bool:
        """Whether the best is proven to be optimal."""
        return self.least == self.bound

    def place(self, due: FloatArray) -> tuple[IntArray, IntArray]:
        """Return (T,) int64 VMs and starts of the list by due dates. due : (J,) float64, ms."""
        length = self.future.length
        latest = due[self.job] + (length if self.instance.objective == "tasks" else -length)
        vm, start = self.future.place(np.argsort(latest, kind="stable"))
        if self.learn(vm, start) == self.least:
            self.due = due
        return vm, start

    def ends_of(self, start: IntArray) -> IntArray:
        """(J,) int64, ms: when jobs end. start : (T,) int64."""
        ends: IntArray = np.maximum.reduceat(start + self.future.length, self.first)
        return ends

    def learn(self, vm: IntArray, start: IntArray) -> int:
        """Keep a schedule if it is the best; return its objective."""
        objective = objective_of_ends(self.instance, start + self.future.length)
        if self.best is None or objective < self.best[0]:
            self.best = objective, vm, start
            self.trajectory.append(Incumbent(time.perf_counter() - self.begun, objective, self.bound))
            self.found(self.future.schedule(vm, start), self.bound)
        return objective

    def outcome(self, **details: int) -> Outcome:
        """Return what was found."""
        if self.best is None:
            return Outcome(bound=self.bound, status=Status.NO_SOLUTION)
        objective, vm, start = self.best
        return Outcome(
            self.future.schedule(vm, start),
            self.bound,
            Status.OPTIMAL if objective == self.bound else Status.FEASIBLE,
            trajectory=tuple(self.trajectory),
            details=details,
        )


@method("clairvoyant-list", family=FAMILY, supports=needs_fixed_pool, bounds=True)
def clairvoyant_list(
    instance: HarvestInstance, *, time_limit_s: float | None = None, found: Found = untold, rounds: int = ROUNDS
) -> Outcome:
    """Know all events: each task to where it starts first, by latest start, with due dates that follow the jobs' ends.

    rounds : lists that are tried from each first due dates, each with due dates from the one before. Proven optimal where
        it meets `bound-alone`.
    """
    if rounds < 1:
        raise MethodError(f"rounds is {rounds}; give at least 1.")
    begun = time.perf_counter()
    deadline = math.inf if time_limit_s is None else begun + time_limit_s
    lists = Lists(instance, begun, alone_ends(instance), found)
    return lists.outcome(lists=follow(lists, rounds, deadline))


def follow(lists: Lists, rounds: int, deadline: float) -> int:
    """Try lists whose due dates follow the ends of jobs; return how many."""
    tried = 0
    for due in lists.first_dues():
        for some in range(rounds):
            if time.perf_counter() >= deadline or lists.is_done:
                return tried
            ends = lists.ends_of(lists.place(due)[1])
            tried += 1
            # Every other time only half of the way: else two lists may take turns.
            due = ends.astype(np.float64) if some % 2 == 0 else (due + ends) / 2
    return tried


def wander(lists: Lists, number: int, deadline: float, rng: np.random.Generator) -> int:
    """Change due dates of the best list, of two jobs at a time, and go on from what is no worse; return how many were tried."""
    assert lists.best is not None
    jobs, ends = lists.due.shape[0], lists.ends_of(lists.best[2])
    spread = SPREAD * float((ends - lists.instance.arrival_ms).mean())
    for tried in range(number):
        if time.perf_counter() >= deadline or lists.is_done:
            return tried
        due, two = lists.due.copy(), rng.integers(jobs, size=2)
        if rng.random() < CHANGED:
            due[two] += rng.normal(0.0, spread * rng.random() ** 2, 2)
        else:
            due[two] = due[two[::-1]]
        lists.place(due)
    return number


# Of the time, until lists end and for prices at most; of moves and time, to choose between two schedules.
LISTS, PRICES, CHOOSING = 0.2, 0.25, 0.1
# Of moves and time, for the better one; the rest goes on from the best, divided into lanes anew and cooled down half.
MAIN, LUKEWARM = 0.7, 0.5


@method("clairvoyant-search", version=3, family=FAMILY, supports=needs_fixed_pool, stochastic=True, bounds=True)
def clairvoyant_search(
    instance: HarvestInstance,
    *,
    rng: np.random.Generator,
    time_limit_s: float | None = None,
    found: Found = untold,
    changes: int = 500,
    rounds: int = 100,
    moves: int = 5_000_000,
) -> Outcome:
    """Know all events: the best list and due dates by prices, improved by exchanges of tasks; and the bound of prices.

    changes : of the lists' due dates. rounds : of improving prices, as of bound-prices. moves : exchanges; fewer if time is
        over, for which they cool down too.
    """
    if changes < 0 or rounds < 1 or moves < 0:
        raise MethodError(f"changes is {changes}, rounds {rounds}, moves {moves}; give at least 0, 1 and 0.")
    begun = time.perf_counter()
    limit_s = math.inf if time_limit_s is None else time_limit_s
    deadline = begun + limit_s
    lists = Lists(instance, begun, alone_ends(instance), found)
    tried = follow(lists, ROUNDS, deadline)
    if lists.best is not None:
        tried += wander(lists, changes, begun + LISTS * limit_s, rng)
    if lists.best is None or lists.is_done:
        return lists.outcome(lists=tried, moves=0)
    starts = [lists.best[1:]]
    prices = priced(instance, rounds, LEVELS, begun + PRICES * limit_s)
    work = bound_work(instance, time_limit_s=None if time_limit_s is None else PRICES * time_limit_s)
    lists.bound = max(lists.bound, prices.bound, work.bound or 0)
    found(bound=lists.bound)
    if instance.objective == "jobs":
        origin = int(instance.arrival_ms[0])
        due = priced_ends(prices, lists.ends_of(starts[0][1]) - origin, time.perf_counter() + PRICES * limit_s)
        if due is not None:
            starts.append(lists.place(due + origin))
    random = np.array([int(rng.integers(1, 2**63))], np.uint64)
    done, drafts = 0, []
    for each in starts:
        until = time.perf_counter()
        objective, some = _improved(lists, each, int(CHOOSING * moves), random, until + CHOOSING * (deadline - until))
        done += some
        drafts.append(objective)
    now, best = time.perf_counter(), starts[int(np.argmin(drafts))]
    done += _improved(lists, best, int(MAIN * moves), random, now + MAIN * (deadline - now))[1]
    done += _improved(lists, lists.best[1:], moves - int(MAIN * moves), random, deadline, LUKEWARM)[1]
    return lists.outcome(lists=tried, moves=done)


def _improved(
    lists: Lists, start: tuple[IntArray, IntArray], moves: int, random: np.ndarray, deadline: float, since: float = 0.0
) -> tuple[int, int]:
    """Exchange tasks of a schedule, VMs and starts; return the least objective, and how many moves were made."""
    if lists.is_done or not moves or time.perf_counter() >= deadline:
        return lists.learn(*start), 0
    draft = Exchange(lists.future, ending_together(lists.instance), *start)
    return draft.improve(moves, random, deadline, lists.learn, enough=lists.bound, since=since)
