"""Clairvoyant lists: tasks by latest start, counted from due dates of their jobs, and changes of these dates.

Each task of a list runs once, never killed, on the VM and from the moment at which it can start first beside those before
it, and so on with the next. The list is ordered by when a task has to start for its job to end at the job's due date: so
of a job the longest tasks come first, and short tasks of an early job after long ones of a late one. For tasks' own
completion times, a task's due date is later the longer it runs: shortest first. Due dates are first those of jobs that
have the pool to themselves (`alone`), later by more or less for jobs of much work, which had better wait where all must;
then what came out of the list before: a job that ends late anyway lets others go first.

Optima are proven by `alone`, at every size; floats only order the lists.

When jobs should end by the prices of cores: whole ends that cost least, as far as no prices tried rule them out.

The prices' relaxation may end half of a job early and half of it late. The program over whole ends alone, with a row for each of
the best prices, has nearly the same value, and says which jobs wait for which.

The best schedule that is known with hindsight, and a bound: lists, due dates by prices, and exchanges of tasks.

Lists place each task where it starts first, and leave some 3 % of a crowded pool idle: what is left of a VM before it shrinks
is rarely as long as the next task. Tasks that are exchanged between lanes (`lanes`) fill that up. Exchanges seldom change
which jobs wait, so that is decided before, by prices (`priced_ends`) and by lists: each is tried for a while, and the better
one has the rest of the moves.
"""

from __future__ import annotations

import math
import time

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.harvest.clairvoyant.lanes import Exchange, Future
from schedgap.formulations.harvest.ends_program import Row, ends_program
from schedgap.formulations.harvest.price_bound.price_bound import LEVELS, Priced, priced
from schedgap.formulations.harvest.work_bound import alone_ends, bound_work, ending_together, objective_of_ends
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Found, Incumbent, Outcome, Status, method, untold

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
