"""Eva's choice between its two plans (section 4.5), and what it remembers for that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_pack import pack
from schedgap.heuristics.reconfiguration.kernels_plan import Rules, full, partial, worth_and_price
from schedgap.heuristics.reconfiguration.kernels_wares import Now, Sketch
from schedgap.heuristics.reconfiguration.monitor import ThroughputMonitor
from schedgap.heuristics.reconfiguration.view import EXECUTING, MIGRATING, Plan
from schedgap.heuristics.reconfiguration.wares import now_of, wares_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.heuristics.reconfiguration.kernels_wares import Wares
    from schedgap.heuristics.reconfiguration.view import View
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray

MODES = ("ensemble", "full", "partial")
TIE_BREAKS = ("alignment", "paper")
DOLLAR, HOUR_S = 1e6, 3600.0
# What the authors' code counts as the time until a new machine works, whatever its type.
BOOT_S = 300.0


@dataclass(slots=True)
class Events:
    """Arrivals and ends of jobs, and how many Full Reconfigurations there were."""

    number: int = 0
    first_s: int = 0
    last_s: int = 0
    adoptions: int = 0

    def add(self, times_s: IntArray) -> None:
        """Count events at some seconds, all later than those before or in the same round."""
        if times_s.size:
            if self.number == 0:
                self.first_s = int(times_s.min())
            self.number += times_s.size
            self.last_s = int(times_s.max())

    def duration_s(self, now_s: int) -> float:
        """Estimate the time until the next Full Reconfiguration, -1 / (lambda ln(1 - p)).

        lambda is one over the mean gap between events, p the share of events that led to a Full Reconfiguration. Before
        the first one, it is the time so far; with p of 1, nothing; with more, or without a gap, it is not a number, and
        no plan is then worth more than another.
        """
        p = self.adoptions / max(1, self.number)
        if p == 0:
            return float(now_s)
        if p > 1 or self.number < 2:
            return math.nan
        if p == 1:
            return 0.0
        gap_s = (self.last_s - self.first_s) / (self.number - 1)
        return -gap_s / math.log(1 - p)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A plan. saving : dollars per second, TNRP minus price. migration : dollars, for moves and new machines."""

    sketch: Sketch
    saving: float
    migration: float

    def worth(self, duration_s: float) -> float:
        """Return what the plan is worth if it lasts so long, in whole cents as in the authors' code."""
        return round(self.saving * duration_s - self.migration, 2)


class Ensemble:
    """Eva's memory and decisions; see `eva` for the parameters."""

    def __init__(
        self, mode: str, throughput_aware: bool, multi_task: bool, tau: float, semantics: str, tie_break: str
    ) -> None:
        """Begin with nothing observed."""
        self.mode, self.throughput_aware, self.multi_task = mode, throughput_aware, multi_task
        self.as_paper = semantics == "paper"
        self.rules = Rules(
            by_list=tie_break == "paper",
            downsizing=not self.as_paper,
            insertion=not self.as_paper,
            # The authors' schedulers of one mode differ in this from their ensemble.
            sizes=self.as_paper or mode != "ensemble",
        )
        # Without observations and with 1 for tau, TNRP is the reservation price.
        tau = tau if throughput_aware else 1.0
        self.monitor = ThroughputMonitor(tau, semantics)
        self.unobserved = ThroughputMonitor(tau, semantics)
        self.events = Events()
        # Jobs that the last round knew, ends of those that have left since, and which have ever been moved.
        self.known = np.empty(0, np.int64)
        self.ended: dict[int, int] = {}
        self.moved = np.zeros(64, np.bool_)
        self.alone: dict[tuple[int, int], float] = {}

    def decide(self, view: View) -> Plan:
        """Return the plan of this round."""
        self.monitor.know_classes(view.demand.shape[1])
        if self.throughput_aware:
            self.monitor.observe(view)
        self.ended.update(zip(view.ended.tolist(), view.ended_s.tolist(), strict=True))
        frozen_job = view.job_phase == MIGRATING
        if frozen_job.all():
            return Plan(view.task_machine)
        happened = self._count_events(view, frozen_job)
        wares, now = wares_of(view), now_of(view, self.multi_task)
        frozen = frozen_job[view.task_job]
        if self.mode == "full":
            sketch = full(wares, self.monitor.table, now, frozen, self.rules)
        elif self.mode == "partial" or (self.as_paper and not happened):
            sketch = partial(wares, self.monitor.table, now, frozen, self.rules)
        else:
            cost = self._migration_costs(view, wares)
            fresh, kept = (self._candidate(view, wares, now, frozen, make, cost) for make in (full, partial))
            sketch = self.choose(fresh, kept, view.now_s).sketch
        self._note_moves(view, sketch)
        return Plan(sketch.place, sketch.new_type[: int(sketch.size[0])])

    def choose(self, fresh: Candidate, kept: Candidate, now_s: int) -> Candidate:
        """Return Full Reconfiguration's plan if it is worth more than Partial Reconfiguration's (equation 1)."""
        duration_s = self.events.duration_s(now_s)
        if round(fresh.worth(duration_s) - kept.worth(duration_s), 2) > 0:
            self.events.adoptions += 1
            return fresh
        return kept

    def _candidate(
        self,
        view: View,
        wares: Wares,
        now: Now,
        frozen: BoolArray,
        make: Callable[..., Sketch],
        cost: FloatArray,
    ) -> Candidate:
        sketch = make(wares, self.monitor.table, now, frozen, self.rules)
        worth, price, new_price = worth_and_price(wares, self.monitor.table, now, sketch, self.rules.sizes)
        # New jobs count as moved, in both plans.
        migration = cost[_moved_jobs(view, sketch)].sum() + new_price / DOLLAR / HOUR_S * BOOT_S
        return Candidate(sketch, (worth / DOLLAR - round(price / DOLLAR, 2)) / HOUR_S, float(migration))

    def _count_events(self, view: View, frozen_job: BoolArray) -> bool:
        """Add the arrivals and ends since the last round; return whether there were any.

        The authors' code compares with the jobs that the last round could move: one that could not would be counted
        again, and its end missed if it ended by the next round.
        """
        fresh = view.job_arrival_s[~np.isin(view.job, self.known, assume_unique=True)]
        gone = self.known[~np.isin(self.known, view.job, assume_unique=True)]
        ends = np.array([self.ended[j] for j in gone.tolist()], np.int64)
        self.ended.clear()
        self.events.add(np.concatenate((fresh, ends)))
        self.known = view.job if self.as_paper else view.job[~frozen_job]
        return bool(fresh.size + gone.size)

    def _migration_costs(self, view: View, wares: Wares) -> FloatArray:
        """(N,) dollars that moving a job costs: the delays seen of it so far, paid as it would be paid alone."""
        fetch, build, _, upload, init = view.delays_s[view.class2workload[view.job_class]].T
        launched, moved = view.job_phase == EXECUTING, self._moved(view)[view.job]
        seconds = init + np.where(launched, fetch + build, 0) + np.where(moved, upload, 0)
        kinds = zip(view.job_class.tolist(), view.job_tasks.tolist(), strict=True)
        dollars: FloatArray = seconds * np.array([self._price_alone(wares, c, n) for c, n in kinds]) / HOUR_S
        return dollars

    def _price_alone(self, wares: Wares, c: int, number: int) -> float:
        """Return the hourly price, in dollars, of Algorithm 1's plan for one job and nothing observed."""
        known = self.alone.get((c, number))
        if known is not None:
            return known
        self.unobserved.know_classes(c + 1)
        tasks, nowhere, no_machines = np.full(number, c), np.full(number, -1), np.empty(0, np.int64)
        none_runs = np.empty(0, np.bool_)
        for values in (tasks, nowhere, no_machines, none_runs):
            # As a view's arrays are, for which the kernels were compiled.
            values.setflags(write=False)
        sizes = np.full(number, number if self.multi_task else 1)
        sketch = Sketch(nowhere.copy(), none_runs.copy(), np.empty(number, np.int64), np.zeros(1, np.int64))
        pack(
            wares,
            self.unobserved.table,
            Now(tasks, sizes, nowhere, nowhere, no_machines, none_runs),
            sketch,
            np.arange(number),
            self.rules.by_list,
            self.rules.downsizing,
        )
        price = float(wares.price[sketch.new_type[: sketch.size[0]]].sum()) / DOLLAR
        self.alone[c, number] = price
        return price

    def _note_moves(self, view: View, sketch: Sketch) -> None:
        changed = _moved_jobs(view, sketch) & (view.job_phase == EXECUTING)
        self._moved(view)[view.job[changed]] = True

    def _moved(self, view: View) -> BoolArray:
        """Return which jobs have been moved, by number, with room for all of the view's."""
        wanted = int(view.job[-1]) + 1
        if wanted > self.moved.shape[0]:
            self.moved = np.concatenate((self.moved, np.zeros(wanted, np.bool_)))
        return self.moved


def _moved_jobs(view: View, sketch: Sketch) -> BoolArray:
    moved = np.zeros(view.job.shape[0], np.bool_)
    moved[view.task_job[sketch.place != view.task_machine]] = True
    return moved
