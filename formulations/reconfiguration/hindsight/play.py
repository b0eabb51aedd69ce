"""A schedule played plan by plan, with all arrivals and ends known; the simulator's rules tell what comes of each plan."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.reconfiguration.hindsight.kernels_repack import MOST_GONE, Draft, Moment, Work, repack
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.reconfiguration.model import ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.simulator.events import advance
from schedgap.instances.reconfiguration.simulator.plans import apply_plan, release, rent
from schedgap.instances.reconfiguration.simulator.rates import RATE_ONE
from schedgap.instances.reconfiguration.simulator.simulator import Simulator
from schedgap.instances.reconfiguration.simulator.state import FINE, MIGRATING, QUEUED, Records
from schedgap.instances.units import HOUR_S

SEED = 0x9E3779B97F4A7C15
# A round empties no further machine once it has so many tasks in hand.
MOST_TASKS = 150
# A plan lasts until what is asked for grows by this share.
RISE = 0.1
# Of the time for a play, what the searches of all plans may take, and the first of them; rounds between two looks at the clock.
SEARCH_SHARE, FIRST_SHARE, SLICE = 0.6, 0.1, 50
# Few tasks need few rounds.
ROUNDS_A_TASK = 10


@dataclass(frozen=True, slots=True, eq=False)
class Style:
    """How to plan. longest : periods for which a plan lasts, at most. rounds, first_rounds : of a plan, of the first."""

    longest: int
    rounds: int
    first_rounds: int


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What all plays know. value : (C,) micro-dollars an hour of a task. load : (N,) the same of all tasks, by plan."""

    instance: ReconfigurationInstance
    value: FloatArray
    load: FloatArray


class Play:
    """One play from second 0 to the end."""

    def __init__(self, known: Known, style: Style, deadline: float, *, is_first: bool) -> None:
        """Begin; at the deadline (of `perf_counter`) the play ends without a schedule, the first one only its searches."""
        self.known, self.instance, self.style, self.deadline = known, known.instance, style, deadline
        self.begun, self.is_first = time.perf_counter(), is_first
        instance, catalogue = known.instance, known.instance.catalogue
        share_h = np.float64(instance.period_s / HOUR_S)
        self.price: FloatArray = catalogue.price * share_h
        self.value: FloatArray = known.value * share_h
        workload = instance.class2workload[instance.job2class]
        self.leave_s = (instance.kill_s + instance.upload_s)[workload]
        # Who is stopped works on for `kill_s`.
        self.first_start_s = (instance.fetch_s + instance.init_s)[workload]
        self.start_s = self.first_start_s - instance.kill_s[workload]
        self.boot_s = instance.acquire_s + instance.setup_s
        self.demand, self.capacity = with_limits(instance)
        self.type2family = catalogue.type2family.copy()
        self.random = np.array([SEED], np.uint64)
        self.simulator = Simulator(instance)
        self.moves: list[IntArray] = []

    def schedule(self) -> ReconfigurationSchedule | None:
        """Play to the end; None at the deadline, or where a task finds no machine."""
        t, period = 0, self.instance.period_s
        while True:
            if not self.is_first and time.perf_counter() >= self.deadline:
                return None
            advance(self.simulator.state, t * period)
            jobs = self._unfinished(t * period)
            self._plan(t, jobs)
            if jobs.size:
                t += 1
            elif (coming := self.simulator.next_arrival_s) is not None:
                t = -(-coming // period)
            else:
                return self.simulator.schedule(*np.concatenate((np.zeros((3, 0), np.int64), *self.moves), axis=1))

    def _unfinished(self, now: int) -> IntArray:
        """Return the jobs that have arrived and do not end at this very second, in order."""
        state = self.simulator.state
        active = np.sort(state.active[: state.clock[0].num_active])
        return active[~((state.job["rate"][active] > 0) & (self._left_s(active) <= now))]

    def _left_s(self, jobs: IntArray) -> IntArray:
        """Return when jobs end that run; of others, how long they have to."""
        job = self.simulator.state.job[jobs]
        left = -(-(self.simulator.state.given.work[jobs] - job["progress"]) // RATE_ONE)
        ends: IntArray = left + np.where(job["rate"] > 0, job["settled"], 0)
        return ends

    def _horizon(self, t: int) -> int:
        """Return how long a plan lasts: until much more is asked for."""
        ahead = self.known.load[t : t + self.style.longest + 1]
        more = np.flatnonzero(ahead > (1 + RISE) * ahead[:1])
        return max(1, int(more[0]) if more.size else self.style.longest)

    def _plan(self, t: int, jobs: IntArray) -> None:
        now = t * self.instance.period_s
        state, lease = self.simulator.state, self.simulator.leases
        present = np.flatnonzero(lease["released"] < 0)
        phase, sent = state.job["phase"][jobs], state.task["sent_to"][jobs]
        is_new = phase == QUEUED
        row = np.full(self.simulator.num_machines + 1, -1)
        row[present] = np.arange(present.size)
        origin = np.where(is_new, -1, row[sent])
        moment = self._moment(t, jobs, is_new, origin)
        draft = self._draft(moment, lease[present], now, origin[phase == MIGRATING])
        self._search(t, moment, draft)
        self.simulator.make_room(jobs.size)
        state = self.simulator.state
        number = np.concatenate((present, np.full(2 * jobs.size + 1, -1)))
        for new in np.unique(draft.place[draft.place >= present.size]).tolist():
            number[new] = rent(state, now, int(draft.kind[new]))
        target = number[draft.place]
        for m in np.setdiff1d(present, target).tolist():
            release(state, now, m)
        moved = np.flatnonzero(is_new | (target != sent))
        self.moves.append(np.stack((np.full(moved.size, now), jobs[moved], target[moved])))
        state.target[jobs] = target
        status = apply_plan(state, now)
        assert status == FINE

    def _search(self, t: int, moment: Moment, draft: Draft) -> None:
        n = moment.origin.shape[0]
        ints = np.zeros((4, n), np.int64)
        work = Work(ints[0], ints[1], ints[2], ints[3], np.zeros(n), np.zeros(MOST_GONE, np.int64))
        begun, most = time.perf_counter(), self.style.rounds if t else self.style.first_rounds
        rounds = min(most, ROUNDS_A_TASK * n * (1 if t else SLICE))
        # What the clock leaves for this plan, if every other one takes as long.
        share = FIRST_SHARE if t == 0 else 1 / max(1, self.known.load.shape[0] - t)
        until = begun + (self.begun + SEARCH_SHARE * (self.deadline - self.begun) - begun) * share
        repack(moment, draft, work, 0, MOST_TASKS, self.random)
        while rounds > 0 and time.perf_counter() < until:
            repack(moment, draft, work, min(SLICE, rounds), MOST_TASKS, self.random)
            rounds -= SLICE

    def _moment(self, t: int, jobs: IntArray, is_new: BoolArray, origin: IntArray) -> Moment:
        now = t * self.instance.period_s
        runs = self.simulator.state.job["rate"][jobs] > 0
        task_class = self.instance.job2class[jobs]
        return Moment(
            demand=self.demand,
            capacity=self.capacity,
            type2family=self.type2family,
            boot=self.boot_s.copy(),
            price=self.price,
            task_class=task_class,
            end=self._left_s(jobs) - np.where(runs, now, 0),
            leave=np.where(is_new, 0, self.leave_s[jobs]),
            start=np.where(is_new, self.first_start_s[jobs], self.start_s[jobs]),
            origin=origin,
            value=self.value[task_class],
            period=self.instance.period_s,
            horizon=self._horizon(t),
        )

    def _draft(self, moment: Moment, lease: Records, now: int, fixed: IntArray) -> Draft:
        n, known = moment.origin.shape[0], lease.shape[0]
        # A round opens one for each task at most, before it gives up those that it empties.
        rows = known + 2 * n + 1

        def ints(size: int, value: int = 0) -> IntArray:
            return np.full(size, value, np.int64)

        kind, ready, is_fixed, tail = ints(rows), ints(rows), ints(rows), np.zeros(rows)
        kind[:known] = lease["type"]
        ready[:known] = np.maximum(0, lease["runs_from"] - now)
        is_fixed[fixed] = 1
        old = moment.origin >= 0
        np.maximum.at(tail, moment.origin[old], moment.leave[old] / moment.period)
        spare = np.concatenate((np.arange(rows - 1, known - 1, -1), ints(known)))
        used = np.zeros((rows, self.capacity.shape[1]), np.int64)
        return Draft(
            kind, ready, is_fixed, tail * self.price[kind], ints(rows, -1), used, np.zeros(rows),
            ints(n, -1), ints(n, -1), ints(n, -1), ints(rows), ints(rows), spare, np.array([0, 2 * n + 1, known]),
        )  # fmt: skip


def with_limits(instance: ReconfigurationInstance) -> tuple[IntArray, IntArray]:
    """(F, C, R'), (K, R'): demands and capacities; each class of which only so many share a machine is a resource more."""
    catalogue = instance.catalogue
    if catalogue.per_machine is None:
        return catalogue.demand.copy(), catalogue.capacity.copy()
    limited = np.flatnonzero(catalogue.per_machine >= 0)
    asked = np.zeros((len(catalogue.families), catalogue.num_classes, limited.size), np.int64)
    asked[:, limited, np.arange(limited.size)] = 1
    limit = np.tile(catalogue.per_machine[limited], (catalogue.num_types, 1))
    return np.concatenate((catalogue.demand, asked), axis=2), np.concatenate((catalogue.capacity, limit), axis=1)
