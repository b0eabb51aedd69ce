"""Eva's choice between its two plans (section 4.5), and what it remembers for that.

Eva (sections 3 and 4): Full or Partial Reconfiguration, whichever saves more until the next Full one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.eva.kernels_pack import EvaRules, full, pack, partial, worth_and_price
from schedgap.heuristics.reconfiguration.kernels_player import Catalogue, Packing, Present
from schedgap.heuristics.reconfiguration.monitor import SEMANTICS, ThroughputMonitor
from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING, Observation, catalogue_of, present_of
from schedgap.heuristics.reconfiguration.player import policy
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

    packing: Packing
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
        self.rules = EvaRules(
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
        self.events, self.choices = Events(), 0
        # Jobs that the last round knew, ends of those that have left since, and which have ever been moved.
        self.known = np.empty(0, np.int64)
        self.ended: dict[int, int] = {}
        self.moved = np.zeros(64, np.bool_)
        self.alone: dict[tuple[int, int], float] = {}

    def decide(self, observation: Observation) -> Plan:
        """Return the plan of this round."""
        self.monitor.know_classes(observation.demand.shape[1])
        if self.throughput_aware:
            self.monitor.observe(observation)
        self.ended.update(zip(observation.ended.tolist(), observation.ended_s.tolist(), strict=True))
        frozen_job = observation.job_phase == MIGRATING
        if frozen_job.all():
            return Plan(observation.task_machine)
        happened = self._count_events(observation, frozen_job)
        catalogue, present = catalogue_of(observation), present_of(observation, self.multi_task)
        frozen = frozen_job[observation.task_job]
        if self.mode == "full":
            packing = full(catalogue, self.monitor.table, present, frozen, self.rules)
        elif self.mode == "partial" or (self.as_paper and not happened):
            packing = partial(catalogue, self.monitor.table, present, frozen, self.rules)
        else:
            cost = self._migration_costs(observation, catalogue)
            fresh, kept = (
                self._candidate(observation, catalogue, present, frozen, make, cost) for make in (full, partial)
            )
            packing = self.choose(fresh, kept, observation.now_s).packing
        self._note_moves(observation, packing)
        return Plan(packing.place, packing.new_type[: int(packing.size[0])])

    def choose(self, fresh: Candidate, kept: Candidate, now_s: int) -> Candidate:
        """Return Full Reconfiguration's plan if it is worth more than Partial Reconfiguration's (equation 1)."""
        self.choices += 1
        duration_s = self.events.duration_s(now_s)
        if round(fresh.worth(duration_s) - kept.worth(duration_s), 2) > 0:
            self.events.adoptions += 1
            return fresh
        return kept

    def _candidate(
        self,
        observation: Observation,
        catalogue: Catalogue,
        present: Present,
        frozen: BoolArray,
        make: Callable[..., Packing],
        cost: FloatArray,
    ) -> Candidate:
        packing = make(catalogue, self.monitor.table, present, frozen, self.rules)
        worth, price, new_price = worth_and_price(catalogue, self.monitor.table, present, packing, self.rules.sizes)
        # New jobs count as moved, in both plans.
        migration = cost[_moved_jobs(observation, packing)].sum() + new_price / DOLLAR / HOUR_S * BOOT_S
        return Candidate(packing, (worth / DOLLAR - round(price / DOLLAR, 2)) / HOUR_S, float(migration))

    def _count_events(self, observation: Observation, frozen_job: BoolArray) -> bool:
        """Add the arrivals and ends since the last round; return whether there were any.

        The authors' code compares with the jobs that the last round could move: one that could not would be counted
        again, and its end missed if it ended by the next round.
        """
        fresh = observation.job_arrival_s[~np.isin(observation.job, self.known, assume_unique=True)]
        gone = self.known[~np.isin(self.known, observation.job, assume_unique=True)]
        ends = np.array([self.ended[j] for j in gone.tolist()], np.int64)
        self.ended.clear()
        self.events.add(np.concatenate((fresh, ends)))
        self.known = observation.job if self.as_paper else observation.job[~frozen_job]
        return bool(fresh.size + gone.size)

    def _migration_costs(self, observation: Observation, catalogue: Catalogue) -> FloatArray:
        """(N,) dollars that moving a job costs: the delays seen of it so far, paid as it would be paid alone."""
        fetch, build, _, upload, init = observation.delays_s[observation.class2workload[observation.job_class]].T
        launched, moved = observation.job_phase == EXECUTING, self._moved(observation)[observation.job]
        seconds = init + np.where(launched, fetch + build, 0) + np.where(moved, upload, 0)
        kinds = zip(observation.job_class.tolist(), observation.job_tasks.tolist(), strict=True)
        dollars: FloatArray = seconds * np.array([self._price_alone(catalogue, c, n) for c, n in kinds]) / HOUR_S
        return dollars

    def _price_alone(self, catalogue: Catalogue, c: int, number: int) -> float:
        """Return the hourly price, in dollars, of Algorithm 1's plan for one job and nothing observed."""
        if (known := self.alone.get((c, number))) is not None:
            return known
        self.unobserved.know_classes(c + 1)
        tasks, nowhere, no_machines = np.full(number, c), np.full(number, -1), np.empty(0, np.int64)
        none_runs = np.empty(0, np.bool_)
        for values in (tasks, nowhere, no_machines, none_runs):
            # As an observation's arrays are, for which the kernels were compiled.
            values.setflags(write=False)
        sizes = np.full(number, number if self.multi_task else 1)
        packing = Packing(nowhere.copy(), none_runs.copy(), np.empty(number, np.int64), np.zeros(1, np.int64))
        pack(
            catalogue,
            self.unobserved.table,
            Present(tasks, sizes, nowhere, nowhere, no_machines, none_runs),
            packing,
            np.arange(number),
            self.rules.by_list,
            self.rules.downsizing,
        )
        price = float(catalogue.price[packing.new_type[: packing.size[0]]].sum()) / DOLLAR
        self.alone[c, number] = price
        return price

    def _note_moves(self, observation: Observation, packing: Packing) -> None:
        changed = _moved_jobs(observation, packing) & (observation.job_phase == EXECUTING)
        self._moved(observation)[observation.job[changed]] = True

    def _moved(self, observation: Observation) -> BoolArray:
        """Return which jobs have been moved, by number, with room for all of the observation's."""
        wanted = int(observation.job[-1]) + 1
        if wanted > self.moved.shape[0]:
            self.moved = np.concatenate((self.moved, np.zeros(wanted, np.bool_)))
        return self.moved


def _moved_jobs(observation: Observation, packing: Packing) -> BoolArray:
    moved = np.zeros(observation.job.shape[0], np.bool_)
    moved[observation.task_job[packing.place != observation.task_machine]] = True
    return moved


@policy("eva", choices={"mode": MODES, "semantics": SEMANTICS, "tie_break": TIE_BREAKS})
def eva(
    observation: Observation,
    mode: str = "ensemble",
    throughput_aware: bool = True,
    multi_task: bool = True,
    tau: float = 0.95,
    semantics: str = "artifact",
    tie_break: str = "alignment",
) -> Plan:
    """Make two plans, one from scratch and one that keeps most of the last, and take the one that saves more.

    Both place tasks by Algorithm 1 (`kernels_pack`): Full Reconfiguration all of them, Partial Reconfiguration new ones
    and those on machines whose tasks are not worth the price. A set of tasks is worth its TNRP, by the throughputs
    learned so far (`ThroughputMonitor`). A plan saves TNRP minus price per second, and costs the migrations and new
    machines that it takes. Full is taken if that pays within the estimated time until the next Full one (equation 1).

    mode : `ensemble`; `full` or `partial`, always the same of the two.
    throughput_aware : False, a task is worth its reservation price whatever is beside it (Eva-RP, Figure 4).
    multi_task : False, a task's worth does not fall with its job's number of tasks (Eva-Single, Table 6).
    tau : throughput of a task beside one with which it has not been seen yet.
    semantics : `artifact`, as in the authors' code: Algorithm 1 rents the cheapest type that takes a set instead of the
        one tried; before it, as many tasks as fit are put on machines that stay, whether that pays or not; a job's
        number of tasks counts in Algorithm 1 only (in one-mode plans everywhere); both plans are made at every round.
        `paper`: none of that; Full Reconfiguration is looked at only when a job has arrived or ended, and learned
        throughputs are the largest seen instead of the mean.
    tie_break : what decides between tasks with which a set is worth the same: `alignment` (Tetris) as in the authors'
        code, then the list; or, with nothing added to the `paper`, the list.
    """
    memory = observation.memory.get("eva")
    if memory is None:
        memory = observation.memory["eva"] = Ensemble(mode, throughput_aware, multi_task, tau, semantics, tie_break)
    plan: Plan = memory.decide(observation)
    if memory.choices:
        observation.memory["details"] = {"full_share": memory.events.adoptions / memory.choices}
    return plan
