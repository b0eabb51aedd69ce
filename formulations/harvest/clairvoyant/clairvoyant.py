"""Clairvoyant lists: tasks by latest start, counted from due dates of their jobs, and changes of these dates.

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
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.harvest.alone import alone_ends, objective_of_ends
from schedgap.formulations.harvest.clairvoyant.future import Future
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Found, Incumbent, Outcome, Status, method, untold

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

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
