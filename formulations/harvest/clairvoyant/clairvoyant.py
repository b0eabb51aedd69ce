"""Clairvoyant heuristics: lists of tasks by latest start, and a search of the dates that these are counted from.

Each task of a list runs once, never killed, on the VM and from the moment at which it can start first beside those before
it, and so on with the next. The list is ordered by when a task has to start for its job to end at the job's due date: so
of a job the longest tasks come first, and short tasks of an early job after long ones of a late one. For tasks' own
completion times, a task's due date is later the longer it runs: shortest first. Due dates are first those of jobs that
have the pool to themselves (`alone`), later by more or less for jobs of much work, which had better wait where all must;
then what came out of the list before: a job that ends late anyway lets others go first.

Optima are proven by `alone`, at every size; floats only order the lists.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.alone import alone_ends, objective_of_ends
from schedgap.formulations.harvest.clairvoyant.future import Future
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.method import Incumbent, Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.harvest.model import HarvestInstance

# How much later jobs are due at first for the mean job's work, in mean delays alone. On an overloaded pool the best of these
# is 7 to 10 % better than the first; there is none for all loads.
WORK_WEIGHTS = (0.0, 1.0, 2.0, 4.0)
# Rounds in which due dates follow the ends of jobs; later ones seldom found more.
ROUNDS = 6
# Changes of due dates by a normal distribution of at most this share of the mean JCT: of one or two jobs; or of more of them
# (first and last number), by less.
SPREAD, SEVERAL, SEVERAL_SPREAD = 1.5, (3, 7), 0.15
# Shares of these; the rest exchanges the due dates of two jobs. With the first kind only, the search ends 2 % higher.
FEW_SHARE, SEVERAL_SHARE = 0.5, 0.25
# Chance that due dates are first set to when the jobs end. Often would undo what the search has found.
RESET = 0.05
# What may be worse than the current list, as a share of the best objective, at first, in a search of so many lists or more; it
# falls to 0. On a crowded pool a quarter of it ended 0.3 % higher, more than twice as much 1 %. Shorter searches begin with less.
TOLERANCE, LONG = 0.002, 20_000


def needs_fixed_pool(instance: HarvestInstance) -> str | None:
    """Return None, or that VMs would have to be leased."""
    return None if instance.is_fixed else "chooses no leases; give an instance whose pool is fixed"


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """What came out of a list, ms. due, ends : (J,), of jobs. waiting : the first arrival of a task that did not start then."""

    objective: int
    due: FloatArray
    ends: IntArray
    waiting: int


class Lists:
    """Lists of an instance's tasks by due dates of its jobs, and the best that was found."""

    def __init__(self, instance: HarvestInstance, begun: float, alone: IntArray) -> None:
        self.instance, self.begun = instance, begun
        self.future = Future(instance)
        self.job, self.first = instance.task2job(), instance.first_task[:-1]
        self.alone = np.maximum.reduceat(alone, self.first)
        self.bound = objective_of_ends(instance, alone)
        self.best: tuple[int, IntArray, IntArray] | None = None
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

    def evaluate(self, due: FloatArray) -> Listed:
        """Return what comes out of a list. due : (J,) float64, ms."""
        ready, length = self.future.ready, self.future.length
        latest = due[self.job] + (length if self.instance.objective == "tasks" else -length)
        vm, start = self.future.place(np.argsort(latest, kind="stable"))
        ends = start + length
        objective = objective_of_ends(self.instance, ends)
        if self.best is None or objective < self.best[0]:
            self.best = objective, vm, start
            self.trajectory.append(Incumbent(time.perf_counter() - self.begun, objective, self.bound))
        waiting = int(ready[start > ready].min(initial=int(ends.max())))
        return Listed(objective, due, np.maximum.reduceat(ends, self.first), waiting)

    def outcome(self, lists: int) -> Outcome:
        """Return what was found."""
        if self.best is None:
            return Outcome(bound=self.bound, status=Status.NO_SOLUTION)
        objective, vm, start = self.best
        return Outcome(
            self.future.schedule(vm, start),
            self.bound,
            Status.OPTIMAL if objective == self.bound else Status.FEASIBLE,
            trajectory=tuple(self.trajectory),
            details={"lists": lists},
        )


@method("clairvoyant-list", family=FAMILY, supports=needs_fixed_pool, bounds=True)
def clairvoyant_list(instance: HarvestInstance, *, time_limit_s: float | None = None, rounds: int = ROUNDS) -> Outcome:
    """Know all events: each task to where it starts first, by latest start, with due dates that follow the jobs' ends.

    rounds : lists that are tried from each first due dates, each with due dates from the one before. Proven optimal where
        it meets `bound-alone`.
    """
    if rounds < 1:
        raise MethodError(f"rounds is {rounds}; give at least 1.")
    begun = time.perf_counter()
    deadline = math.inf if time_limit_s is None else begun + time_limit_s
    lists = Lists(instance, begun, alone_ends(instance))
    tried, _ = _follow(lists, rounds, deadline)
    return lists.outcome(tried)


@method("clairvoyant-search", version=2, family=FAMILY, supports=needs_fixed_pool, stochastic=True, bounds=True)
def clairvoyant_search(
    instance: HarvestInstance, *, rng: np.random.Generator, time_limit_s: float | None = None, lists: int = 2000
) -> Outcome:
    """Know all events: `clairvoyant-list`, then a search of due dates that changes those of a few jobs at a time.

    lists : at most so many are tried; a time limit only ends the search earlier.
    """
    if lists < 1:
        raise MethodError(f"lists is {lists}; give at least 1.")
    begun = time.perf_counter()
    deadline = math.inf if time_limit_s is None else begun + time_limit_s
    all_lists = Lists(instance, begun, alone_ends(instance))
    tried, start = _follow(all_lists, ROUNDS, deadline, lists)
    if start is not None:
        tried += _search(all_lists, start, lists - tried, deadline, rng)
    return all_lists.outcome(tried)


def _follow(lists: Lists, rounds: int, deadline: float, most: float = math.inf) -> tuple[int, Listed | None]:
    """Try lists whose due dates follow the ends; return how many, and the best."""
    tried, best = 0, None
    for due in lists.first_dues():
        for some in range(rounds):
            if tried >= most or time.perf_counter() >= deadline or _is_done(lists):
                return tried, best
            found = lists.evaluate(due)
            tried += 1
            if best is None or found.objective < best.objective:
                best = found
                lists.future.keep()
            # Every other time only half of the way: else two lists may take turns.
            due = found.ends.astype(np.float64) if some % 2 == 0 else (due + found.ends) / 2
    return tried, best


def _search(lists: Lists, curr: Listed, most: int, deadline: float, rng: np.random.Generator) -> int:
    """Change due dates for as long as allowed; return how many lists were tried."""
    spread = SPREAD * float((curr.ends - lists.instance.arrival_ms).mean())
    tolerance = TOLERANCE * math.sqrt(min(1.0, most / LONG))
    for tried in range(most):
        if time.perf_counter() >= deadline or _is_done(lists):
            return tried
        cand = lists.evaluate(_changed(curr, spread, rng))
        assert lists.best is not None
        allowed = tolerance * lists.best[0] * (1 - tried / most) * rng.exponential()
        if cand.objective <= curr.objective + allowed:
            curr = cand
            lists.future.keep()
    return max(0, most)


def _changed(curr: Listed, spread: float, rng: np.random.Generator) -> FloatArray:
    """Return (J,) float64, due dates of which some are changed."""
    due = curr.ends.astype(np.float64) if rng.random() < RESET else curr.due.copy()
    # Jobs that end before anybody waits are in nobody's way. If nobody waits, the list is optimal.
    jobs = np.flatnonzero(curr.ends > curr.waiting)
    which = rng.random()
    if which < FEW_SHARE:
        some = rng.choice(jobs, int(rng.integers(1, 3)))
        due[some] += rng.normal(0.0, spread * rng.random() ** 2, some.shape[0])
    elif which < FEW_SHARE + SEVERAL_SHARE:
        some = rng.choice(jobs, int(rng.integers(SEVERAL[0], SEVERAL[1] + 1)))
        due[some] += rng.normal(0.0, SEVERAL_SPREAD * spread * rng.random() ** 2, some.shape[0])
    else:
        some = rng.choice(jobs, 2)
        due[some] = due[some[::-1]]
    return due


def _is_done(lists: Lists) -> bool:
    return lists.best is not None and lists.best[0] == lists.bound
