"""Whole tasks on single machines, as near to the fair point as they come: an integer program for small instances.

Sets         users i, single machines m of class k(m), resources r; pairs where a task of i may run and fits
Given        demand d(i, r), capacity l(k, r), tasks D(i), part g(i, k) of its fair share that a task gives its user
Variables    x(i, m) whole, 0 <= x <= the tasks of i that fit on m alone
             s in [0, 1]    the smallest part of its fair share that a user has
             t(i) in [0, 1] the same of user i
First        maximise s
Then         maximise sum_i t(i), with s at its largest
Rows         capacity(m, r)  sum_i d(i, r) x(i, m)         <= l(k(m), r)
             tasks(i)        sum_m x(i, m)                 <= D(i)
             part(i)         sum_m g(i, k(m)) x(i, m) - t(i) >= 0
             least(i)        t(i) - s                      >= 0

The first objective is the family's: how far the worst-off user is below the fair point. So its bound says how near to it
whole tasks come at all: the solver's word at any size, which is no claim, and left out where `separable` says that no search
tells the program's numbers apart. What is claimed is that the fair point of divisible tasks is a bound, which holds anyway.
Solvers keep rows up to tolerances: tasks that are too many, in whole numbers, are taken off again.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

import schedgap.formulations.fairness.fair_point  # noqa: F401 - finds the fair shares
from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.instances.arrays import FloatArray, IntArray, ranges
from schedgap.instances.errors import BackendError, VerifyError
from schedgap.instances.fairness.model import FAMILY, TASK, UNLIMITED, FairnessAllocation, FairnessInstance
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import FAIR, fair_shares
from schedgap.instances.method import Outcome, Status, method

# Whole variables beyond which no solver gets anywhere.
MOST_VARIABLES = 20_000
# The part of its value by which the first objective may fall in the second step.
GIVE = 1e-7
# Parts that solvers report are true up to this.
TRUSTED = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The pairs of a user and a single machine, (P,) each: user, class, machine within its class, most tasks there."""

    user: IntArray
    machine_class: IntArray
    copy: IntArray
    most: IntArray


def is_too_large(instance: FairnessInstance) -> str | None:
    """Return None, or how many variables there would be."""
    number = int(((_whole_fit(instance) > 0) * instance.machine_count).sum())
    if number <= MOST_VARIABLES:
        return None
    return f"has {number} pairs of a user and a single machine, more than {MOST_VARIABLES}; use fair-point-rounding"


@method("whole-tasks-program", family=FAMILY, supports=is_too_large, bounds=True, choices=UNBOUNDED_MIP_CHOICES)
def whole_tasks_program(
    instance: FairnessInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Find whole tasks on single machines that leave the worst-off user as near to its fair share as can be, if time allows.

    The gap is proven: it is to the fair point of divisible tasks. Details are the solver's word, which nothing verifies:
    `claimed_bound`, an objective that no allocation of whole tasks is below, in millionths, and `claimed_best`.
    """
    start = time.perf_counter()
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome()
    places = _places(instance)
    try:
        model = whole_tasks_model(instance, places, _parts(instance))
    except (BackendError, VerifyError) as error:
        return Outcome(status=Status.NO_SOLUTION, details={"reason": str(error)})
    built = time.perf_counter()

    def left() -> float | None:
        return None if time_limit_s is None else max(0.0, time_limit_s - (time.perf_counter() - start))

    try:
        first = solve(model, backend, time_limit_s=left(), threads=threads)
    except BackendError as error:
        return Outcome(status=Status.NO_SOLUTION, backend=backend, details={"reason": str(error)})
    x = first.x
    if first.status is Status.OPTIMAL and x is not None:
        # What the first one found is good whatever becomes of the second.
        with suppress(BackendError):
            second = solve(_second(model, float(x[-1])), backend, time_limit_s=left(), threads=threads)
            x = x if second.x is None else second.x
    least = 1.0 if first.bound is None else min(1.0, -first.bound + TRUSTED)
    details: dict[str, bool | int | str] = {
        "claimed_bound": math.floor(FAIR / least),
        "claimed_best": first.status is Status.OPTIMAL,
    }
    return Outcome(
        solution=None if x is None else _allocation(instance, places, x),
        bound=FAIR,
        build_s=built - start,
        solve_s=time.perf_counter() - built,
        backend=backend,
        details=details if first.unproven is None else {"reason": first.unproven},
    )


def whole_tasks_model(instance: FairnessInstance, places: Places, parts: FloatArray) -> LinearModel:
    """Build the program with its first objective. parts : (N, K) float64, of a user's fair share, from one task."""
    num_users, num_pairs = instance.num_users, places.user.shape[0]
    first_machine = np.concatenate(([0], np.cumsum(instance.machine_count)))
    machine = first_machine[places.machine_class] + places.copy
    pairs, users = np.arange(num_pairs), np.arange(num_users)
    own, least = num_pairs + users, np.full(num_users, num_pairs + num_users)
    rows = Rows(num_pairs + num_users + 1)
    for r, resource in enumerate(instance.resources):
        capacity = np.repeat(instance.capacity[:, r], instance.machine_count)
        rows.add(f"capacity_{resource}", (machine, pairs, instance.demand[places.user, r]), upper=capacity)
    rows.add("tasks", (places.user, pairs, 1.0), upper=np.where(instance.tasks == UNLIMITED, np.inf, instance.tasks))
    part, none = parts[places.user, places.machine_class], np.zeros(num_users)
    rows.add("part", (places.user, pairs, part), (users, own, -1.0), lower=none)
    rows.add("least", (users, own, 1.0), (users, least, -1.0), lower=none)
    cost = np.zeros(rows.num_variables)
    cost[-1] = -1.0
    return rows.model(
        f"whole-tasks-{instance.name}",
        cost,
        np.concatenate((places.most, np.ones(num_users + 1))),
        FAIR,
        integral=np.arange(rows.num_variables) < num_pairs,
    )


@model_builder("whole-tasks-program", family=FAMILY)
def build(instance: FairnessInstance) -> LinearModel:
    """Build the program with its first objective; the fair shares in it are found on the way."""
    return whole_tasks_model(instance, _places(instance), _parts(instance))


def _second(model: LinearModel, least: float) -> LinearModel:
    """Return the program with its second objective."""
    num_pairs = int(model.integral.sum())
    cost = np.where(model.integral, 0.0, -1.0)
    cost[-1] = 0.0
    lower = model.lower.copy()
    lower[num_pairs:] = max(0.0, least * (1 - GIVE))
    return replace(model, cost=cost, lower=lower)


def _parts(instance: FairnessInstance) -> FloatArray:
    """(N, K) float64: the part of its proven fair share that a task gives its user."""
    return share_of_a_task(instance) / fair_shares(instance)[:, None]


def _places(instance: FairnessInstance) -> Places:
    fit = _whole_fit(instance)
    limited = instance.tasks != UNLIMITED
    fit[limited] = np.minimum(fit[limited], instance.tasks[limited, None])
    user, machine_class = np.nonzero(fit)
    count = instance.machine_count[machine_class]
    pair = np.repeat(np.arange(user.shape[0]), count)
    copy = ranges(0, count)
    user, machine_class = user[pair], machine_class[pair]
    return Places(user, machine_class, copy, fit[user, machine_class])


def _whole_fit(instance: FairnessInstance) -> IntArray:
    """(N, K) int64: whole tasks of a user alone on one machine where they may run."""
    return np.where(instance.allowed, np.floor(instance.fitting()), 0).astype(np.int64)


def _allocation(instance: FairnessInstance, places: Places, x: FloatArray) -> FairnessAllocation:
    number = np.rint(x[: places.user.shape[0]]).astype(np.int64)
    first_machine = np.concatenate(([0], np.cumsum(instance.machine_count)))
    machine = first_machine[places.machine_class] + places.copy
    limited = np.flatnonzero(instance.tasks[places.user] != UNLIMITED)
    _take_off(number, limited, places.user[limited], np.ones(limited.size, np.int64), instance.tasks)
    every = np.arange(number.size)
    for r in range(len(instance.resources)):
        room = np.repeat(instance.capacity[:, r], instance.machine_count)
        _take_off(number, every, machine, instance.demand[places.user, r], room)
    some = number > 0
    return FairnessAllocation(places.user[some], places.machine_class[some], number[some] * TASK, places.copy[some])


def _take_off(number: IntArray, entries: IntArray, owner: IntArray, needs: IntArray, room: IntArray) -> None:
    """Lower numbers of tasks until what they need fits into the room of each owner, the largest needs first.

    number : (P,), in place. entries : (E,), places in it. owner, needs : (E,). room : of each owner. No number is larger
    than fits alone, so that sums stay below 2^63 for up to 2^20 places of an owner.
    """
    used = np.zeros(room.shape[0], np.int64)
    np.add.at(used, owner, number[entries] * needs)
    for full in np.flatnonzero(used > room).tolist():
        over = int(used[full] - room[full])
        here = np.flatnonzero((owner == full) & (needs > 0) & (number[entries] > 0))
        for e in here[np.argsort(-needs[here], kind="stable")].tolist():
            if over <= 0:
                break
            less = min(int(number[entries[e]]), -(-over // int(needs[e])))
            number[entries[e]] -= less
            over -= less * int(needs[e])
