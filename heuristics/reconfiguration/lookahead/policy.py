"""Look-ahead: schedgap's own policy, a search for the plan that costs least over the next hours, moves included.

A plan's cost is that of `horizon_h` hours of it: the prices of its machines and the progress that co-located tasks
lose, at what an hour of progress of their class has been costing, and at more where they never pay together
(`counted`); and, once, what changing to it costs: progress lost while tasks are stopped, wait for new machines and are
launched, and the set-up of those machines. The policy

1. learns the pairwise throughputs of workloads from what it sees (`learn_rates`), and how long jobs last: where they are
   short, a plan is taken to last no longer;
2. puts queued tasks where they add the least cost;
3. regroups, exactly, the tasks of each machine that has changed since the last plan, alone and with each other one, and
   of random threes of the most wasteful machines (`regroup`); machines are kept, released or replaced as that costs least;
4. moves the values of task classes towards dual prices (`revalue`): what fills a hole anyway is cheap to slow down.

It changes nothing while no task has come, gone, become movable or shown a throughput that was not expected. Effort is
bounded by counts and the random stream is fixed, so equal instances get equal schedules.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import (
    MOST_ON_MACHINE,
    DraftRows,
    Problem,
    learn_rates,
    mark_changed,
    new_tables,
    revalue,
    tally,
)
from schedgap.heuristics.reconfiguration.lookahead.kernels_search import GROUP, begin, insert_queued, search
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation
from schedgap.heuristics.reconfiguration.player import policy
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import MethodError

DOLLAR, HOUR_S = 1e6, 3600.0
SEED = 0x9E3779B97F4A7C15
MOST_TASKS = 9
# New machines beside those that a regrouping dissolves: plans with 3 cost 3.5 % less than with 1, with 4 no less.
EXTRA = 3
MOST_PAIRS, MOST_PARTNERS = 600, 60
# Of the way to its dual price that a class's value goes at once: 0.002 to 0.03 are alike, 0 costs 0.3 % more.
VALUE_STEP = 0.01
# A task's value is at least this share of its price alone, so that no task is worth nothing.
LEAST_SHARE = 1e-3


@policy("lookahead", version=2)
def lookahead(observation: Observation, horizon_h: float = 1.0, tau: float = 0.95, rounds: int = 20) -> Plan:
    """Search for the plan that costs least over the next hours: prices, lost throughput and moves.

    horizon_h : hours for which a plan is taken to last, at most. tau : throughput beside a workload until it has been observed.
    rounds : threes of machines that are regrouped in each plan that has something to do.

    Raises
    ------
    MethodError
        for a parameter out of range.
    """
    memory = observation.memory.get("lookahead")
    if memory is None:
        memory = observation.memory["lookahead"] = Lookahead(observation, horizon_h, tau, rounds)
    return memory.decide(observation)


class Lookahead:
    """The policy's memory and decisions."""

    def __init__(self, observation: Observation, horizon_h: float, tau: float, rounds: int) -> None:
        """Begin with nothing learned."""
        if not (0 < horizon_h < np.inf and 0 < tau <= 1 and rounds >= 0):
            raise MethodError(
                f"lookahead: horizon_h is {horizon_h:g}, tau {tau:g} and rounds {rounds}; horizon_h must be positive, tau "
                "in (0, 1] and rounds not negative."
            )
        self.horizon_h, self.tau, self.rounds = horizon_h, tau, rounds
        market = observation.market
        self.capacity, self.type2family = market.capacity.copy(), market.type2family.copy()
        self.price: FloatArray = market.price / DOLLAR
        self.by_price = np.argsort(market.price, kind="stable")
        self.boot_h = (market.acquire_s + market.setup_s) / HOUR_S
        self.setup = market.setup_s / HOUR_S * self.price
        self.log_rate = np.zeros((0, 0))
        self.seen = np.zeros((0, 0), np.bool_)
        # Progress of jobs that ended, and their number.
        self.ended_h, self.num_ended = 0.0, 0
        self.attained_s: dict[int, float] = {}
        self.factor = np.zeros(0)
        self.share = np.zeros(0)
        self.demand = observation.demand.copy()
        self.class2workload = observation.class2workload.copy()
        self.planned = np.zeros((0, 3), np.int64)
        self.random = np.array([SEED], np.uint64)
        self.work = new_tables(MOST_TASKS, GROUP, GROUP + EXTRA, *observation.demand.shape[::2])

    def decide(self, observation: Observation) -> Plan:
        """Return the plan."""
        self._know_classes(observation)
        horizon_h = self._horizon_h(observation)
        place, task_class = observation.task_machine.copy(), observation.task_class.copy()
        movable = (observation.job_phase != MIGRATING)[observation.task_job]
        dirty = np.zeros(observation.num_machines, np.int64)
        size, free = tally(place, movable, observation.num_machines)
        mark_changed(observation.machine.copy(), size, free, self.planned, dirty)
        learn_rates(
            self.log_rate, self.class2workload, task_class, observation.task_job.copy(), observation.task_held_on.copy(),
            observation.task_rate.copy(), dirty, self.seen,
        )  # fmt: skip
        if self.seen.any():
            # Pairs that have not been together are no better than those that have, `tau` counting as one of them.
            mean = (self.tau + np.exp(self.log_rate[self.seen]).sum()) / (1 + self.seen.sum())
            self.log_rate[~self.seen] = np.log(min(self.tau, mean))
        if not dirty.any() and (place >= 0).all():
            return Plan(place)
        problem = self._problem(observation, movable, horizon_h)
        draft = self._draft(observation, dirty)
        begin(problem, draft)
        insert_queued(problem, draft)
        search(problem, draft, self.work, MOST_TASKS, EXTRA, MOST_PAIRS, MOST_PARTNERS, self.rounds)
        revalue(problem, draft, self.factor, VALUE_STEP)
        return self._plan(observation, draft, movable)

    def _horizon_h(self, observation: Observation) -> float:
        """Return for how many hours a plan is taken to last: as long as jobs do, at most `horizon_h`, at least a period.

        Lengths are taken for exponential, of which the mean is all progress seen by the number of jobs that ended; one
        that lasts `horizon_h` counts as seen before all.
        """
        for job in observation.ended.tolist():
            self.ended_h += self.attained_s.pop(job, 0.0) / HOUR_S
            self.num_ended += 1
        self.attained_s = dict(zip(observation.job.tolist(), observation.job_attained_s.tolist(), strict=True))
        seen_h = self.horizon_h + self.ended_h + float(observation.job_attained_s.sum()) / HOUR_S
        return min(self.horizon_h, max(seen_h / (1 + self.num_ended), observation.market.period_s / HOUR_S))

    def _problem(self, observation: Observation, movable: BoolArray, horizon_h: float) -> Problem:
        task_class = observation.task_class.copy()
        workload = self.class2workload[task_class]
        # A job goes on at the rate of its slowest task, so what slows one task down wastes all of them.
        weight = (self.share * self.factor)[task_class] * observation.job_tasks[observation.task_job]
        down_h = observation.delays_s.sum(axis=1) / HOUR_S
        return Problem(
            capacity=self.capacity,
            price=self.price,
            type2family=self.type2family,
            by_price=self.by_price,
            boot=self.boot_h,
            setup=self.setup,
            demand=self.demand,
            task_class=task_class,
            workload=workload,
            weight=weight,
            alone=self.price[observation.reservation_type][task_class],
            leave=np.where(observation.task_machine >= 0, weight * down_h[workload], 0.0),
            movable=movable,
            origin=observation.task_machine.copy(),
            rate=np.exp(self.log_rate),
            horizon=horizon_h,
            known=observation.num_machines,
        )

    def _draft(self, observation: Observation, dirty: IntArray) -> DraftRows:
        # One new machine a task is the most that a plan can have; one more for a task that is being placed.
        rows = observation.num_machines + observation.num_tasks + 1
        kind, marked = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        kind[: observation.num_machines] = observation.machine_type
        marked[: observation.num_machines] = dirty
        return DraftRows(
            kind=kind,
            size=np.zeros(rows, np.int64),
            content=np.zeros((rows, MOST_ON_MACHINE), np.int64),
            used=np.zeros((rows, self.capacity.shape[1]), np.int64),
            place=np.full(observation.num_tasks, -1),
            dirty=marked,
            random=self.random,
        )

    def _plan(self, observation: Observation, draft: DraftRows, movable: BoolArray) -> Plan:
        known = observation.num_machines
        size, free = tally(draft.place, movable, draft.kind.shape[0])
        kept = np.flatnonzero(size[:known])
        new = known + np.flatnonzero(size[known:])
        number = np.arange(draft.kind.shape[0])
        number[new] = known + np.arange(new.shape[0])
        self.planned = np.stack((observation.machine[kept], size[kept], free[kept]), axis=1)
        return Plan(number[draft.place], draft.kind[new])

    def _know_classes(self, observation: Observation) -> None:
        """Give new classes their first values, and new workloads throughputs."""
        known, number = self.factor.shape[0], observation.demand.shape[1]
        if number == known:
            return
        self.demand, self.class2workload = observation.demand.copy(), observation.class2workload.copy()
        self.factor = np.concatenate((self.factor, np.ones(number - known)))
        self.share = self._cheapest_share(observation)
        old, num_workloads = self.log_rate.shape[0], observation.delays_s.shape[0]
        log_rate = np.full((num_workloads, num_workloads), np.log(self.tau))
        log_rate[:old, :old] = self.log_rate
        self.log_rate = log_rate
        self.seen = np.pad(self.seen, (0, num_workloads - old))

    def _cheapest_share(self, observation: Observation) -> FloatArray:
        """(C,) dollars an hour: the least share of a machine, by its scarcest resource, that a task takes of any type."""
        least = np.full(observation.demand.shape[1], np.inf)
        for k, capacity in enumerate(self.capacity):
            demand = observation.demand[self.type2family[k]]
            fits = ((demand >= 0) & (demand <= capacity)).all(axis=1)
            share = (demand / np.maximum(capacity, 1)).max(axis=1) * self.price[k]
            least = np.where(fits, np.minimum(least, share), least)
        floor = LEAST_SHARE * self.price[observation.reservation_type]
        shares: FloatArray = np.maximum(least, floor)
        return shares
