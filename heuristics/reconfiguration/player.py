"""Playing an online policy over an instance, plan by plan, without showing it the future.

A policy is a function from what is visible to a plan:

    @policy("one-machine-each")
    def one_machine_each(observation):
        draft = observation.draft()
        for task in np.flatnonzero(observation.task_machine < 0):
            draft.put(task, draft.rent(observation.reservation_type[observation.task_class[task]]))
        return draft.plan()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from schedgap.heuristics.player import policy_decorator
from schedgap.heuristics.reconfiguration.actions import Market, PlanDocument, checked
from schedgap.heuristics.reconfiguration.kernels_player import (
    carry_out,
    release_all,
    seen_jobs,
    seen_machines,
    seen_tasks,
)
from schedgap.heuristics.reconfiguration.observation import Observation
from schedgap.instances.arrays import IntArray, locked
from schedgap.instances.method import Outcome, Status
from schedgap.instances.provisioning.moves import RUNNING
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.reconfiguration.delays import PHASES
from schedgap.instances.reconfiguration.model import FAMILY, MAX_TIME_S, ReconfigurationInstance
from schedgap.instances.reconfiguration.simulator.events import advance
from schedgap.instances.reconfiguration.simulator.plans import stock_left
from schedgap.instances.reconfiguration.simulator.simulator import Simulator, what_is_wrong
from schedgap.instances.reconfiguration.simulator.state import DONE, FINE, NO_MACHINE
from schedgap.instances.reconfiguration.simulator.state import RUNNING as PROGRESSES

# So many plans after the last arrival in which nobody was moved, nothing was rented and nobody progressed: it stays so.
STUCK_PLANS = 10_000
# A policy that has changed so many plans since any job arrived, progressed or ended will change all others.
RESTLESS_PLANS = 1_000


class Player:
    """Lets a policy decide every plan until the last job has ended.

    A plan that breaks a rule ends the play: its schedule, up to and with that plan, is the outcome, and `verify` names
    the rule. A policy that leaves a job without end has no schedule, nor one that has no machine for a task where machines
    may run out.
    """

    family: ClassVar[str] = FAMILY
    knowledge: ClassVar[tuple[str, ...]] = ("durations", "throughput")
    options: ClassVar[Mapping[str, tuple[str | None, ...]]] = {}
    document: ClassVar[Any] = PlanDocument

    def __init__(self, instance: ReconfigurationInstance, knows: frozenset[str] = frozenset()) -> None:
        """Begin before the first plan. knows : see `Observation`; jobs' `durations`, pairwise `throughput`."""
        self.instance, self.knows = instance, knows
        self.simulator = Simulator(instance)
        self.now = 0 if instance.running is not None else int(instance.first_plan_s()[0])
        self.status, self.plans, self.idle, self.restless = FINE, 0, 0, 0
        # Jobs that have arrived and that have not ended, and the work done of these.
        self.done = (0, 0, 0.0)
        self.reason = ""
        self.moves: list[tuple[int, IntArray, IntArray]] = []
        self.memory: dict[str, Any] = {}
        self.market = _market(instance)
        # Classes and workloads are numbered by first arrival: how many of them have been seen after each job.
        self.seen_classes = np.maximum.accumulate(instance.job2class) + 1
        self.seen_workloads = np.maximum.accumulate(instance.class2workload[instance.job2class]) + 1
        # Of the last observation. The simulator's own: a policy can unlock those that it is given.
        self.jobs = self.task = self.machine = np.empty(0, np.int64)
        self.num_classes = -1
        self.classes: dict[str, Any] = {}

    def observe(self) -> Observation | None:
        """Return the present at the next plan that has unfinished jobs; None after the last, or if there is none."""
        simulator, period = self.simulator, self.instance.period_s
        while self.status == FINE:
            advance(simulator.state, self.now)
            if simulator.num_unfinished:
                self.reason = self._stuck()
                return None if self.reason else self._look()
            if self.now > MAX_TIME_S:
                self.reason = (
                    f"the last job ends after the last plan, of {MAX_TIME_S} s at the latest; give shorter times."
                )
                return None
            release_all(simulator.state, self.now)
            arrival = simulator.next_arrival_s
            if arrival is None:
                return None
            self.now = -(-arrival // period) * period
        return None

    @staticmethod
    def read(document: Any) -> Any:
        """Return the actions that a document means."""
        return document.plan()

    def act(self, actions: object) -> None:
        """Carry out a plan.

        Raises
        ------
        MethodError
            if it is none for the last observation.
        """
        simulator, now = self.simulator, self.now
        known, num_types = self.machine.shape[0], len(self.market.type_names)
        place, new_types, keep = checked(actions, f"plan at {now} s", self.task.shape[0], known, num_types)
        simulator.make_room(new_types.shape[0])
        self.status, moved, moved_to = carry_out(simulator.state, now, self.task, place, self.machine, new_types, keep)
        self.moves.append((now, moved, moved_to))
        self.plans += 1
        changes = moved.shape[0] > 0 or new_types.shape[0] > 0
        self.idle = 0 if changes or simulator.next_arrival_s is not None else self.idle + 1
        self.restless += changes
        if self.status == FINE:
            self.now = now + self.instance.period_s
        elif self.status == NO_MACHINE and simulator.state.given.stock.size:
            self.reason = (
                f"plan at {now} s: {what_is_wrong(simulator, self.status)} Of some types only so many machines can be had, "
                "and the policy found none for it."
            )

    def outcome(self) -> Outcome:
        """Return the schedule, or why there is none."""
        if self.reason:
            return Outcome(status=Status.NO_SOLUTION, details={"reason": self.reason})
        nothing = np.empty(0, np.int64)
        schedule = self.simulator.schedule(
            np.concatenate([nothing, *(np.full(task.shape, now) for now, task, _ in self.moves)]),
            np.concatenate([nothing, *(task for _, task, _ in self.moves)]),
            np.concatenate([nothing, *(machine for _, _, machine in self.moves)]),
        )
        return Outcome(schedule, details={"plans": self.plans})

    def _stuck(self) -> str:
        """Return why the unfinished jobs never end, empty if they may."""
        state = self.simulator.state
        if self.now > MAX_TIME_S:
            return (
                f"job {state.active[0]} has not ended by {MAX_TIME_S} s, the last second of a plan; its tasks do "
                "not progress where the policy leaves them."
            )
        if self.restless >= RESTLESS_PLANS:
            return (
                f"job {state.active[0]} has not ended by {self.now} s: the policy makes no progress, it moved tasks or rented "
                f"machines in {self.restless} plans in which no task did any work."
            )
        if self.idle < STUCK_PLANS:
            return ""
        jobs = state.job[state.active[: self.simulator.num_unfinished]]
        # Where every unfinished job runs at rate 0, only a move could change anything.
        if not ((jobs["phase"] == PROGRESSES) & (jobs["rate"] == 0)).all():
            return ""
        return (
            f"job {state.active[0]} has not ended by {self.now} s, and no task has progressed for {self.idle} plans, in "
            "which the policy left all where they are."
        )

    def _look(self) -> Observation:
        """Return the present as copies that nobody can write."""
        instance, simulator, state = self.instance, self.simulator, self.simulator.state
        job, phase, attained = seen_jobs(state, self.now)
        done = simulator.num_seen, job.shape[0], float(attained.sum())
        if done != self.done:
            self.done, self.restless = done, 0
        machine, machine_type, running = seen_machines(state, self.now)
        task, task_job, task_class, sent_to, held_on, rate = seen_tasks(state, job, machine)
        self._see_classes(simulator.num_seen - 1)
        ended = self.jobs[state.job["phase"][self.jobs] == DONE]
        self.jobs, self.task, self.machine = job.copy(), task.copy(), machine.copy()
        return Observation(
            now_s=self.now,
            market=self.market,
            job=locked(job),
            job_class=locked(instance.job2class[job]),
            job_tasks=locked(instance.num_tasks[job]),
            job_arrival_s=locked(instance.arrival_s[job]),
            job_phase=locked(phase),
            job_attained_s=locked(attained),
            num_ended=simulator.num_seen - job.shape[0],
            ended=locked(ended),
            ended_s=locked(state.job["finish"][ended]),
            job_duration_s=locked(instance.work_s[job]) if "durations" in self.knows else None,
            task=locked(task),
            task_job=locked(task_job),
            task_class=locked(task_class),
            task_machine=locked(sent_to),
            task_held_on=locked(held_on),
            task_rate=locked(rate),
            machine=locked(machine),
            machine_type=locked(machine_type),
            machine_running=locked(running),
            stock_left=locked(self._stock_left()) if state.given.stock.size else None,
            upkeep=None if instance.upkeep is None else instance.upkeep.of_jobs(job),
            memory=self.memory,
            **self.classes,
        )

    def _stock_left(self) -> IntArray:
        """(K,) int64: as `Observation` has it."""
        catalogue = self.instance.catalogue
        assert catalogue.stock is not None
        left = stock_left(self.simulator.state, self.now)
        return np.where(catalogue.stock == ANY_NUMBER, ANY_NUMBER, left)

    def _see_classes(self, last_job: int) -> None:
        """Make copies of the catalogue up to the last class that has been seen."""
        classes, workloads = int(self.seen_classes[last_job]), int(self.seen_workloads[last_job])
        if classes <= self.num_classes:
            return
        self.num_classes = classes
        instance, catalogue = self.instance, self.instance.catalogue
        knows, seen = "throughput" in self.knows, slice(0, workloads)
        self.classes = {
            "demand": locked(catalogue.demand[:, :classes].copy()),
            "reservation_type": locked(catalogue.reservation_type[:classes].copy()),
            "class_names": tuple(catalogue.class_name(c) for c in range(classes)),
            "class2workload": locked(instance.class2workload[:classes].copy()),
            "delays_s": locked(np.stack([getattr(instance, phase)[seen] for phase in PHASES], axis=1)),
            "throughput": locked(instance.throughput[seen, seen] / 1000) if knows else None,
        }


def _market(instance: ReconfigurationInstance) -> Market:
    catalogue = instance.catalogue
    # Copies, as all that a policy gets: whoever unlocks them does not change the instance's prices.
    return Market(
        resources=catalogue.resources,
        families=catalogue.families,
        type_names=catalogue.type_names,
        type2family=locked(catalogue.type2family.copy()),
        capacity=locked(catalogue.capacity.copy()),
        price=locked(catalogue.price.copy()),
        acquire_s=locked(instance.acquire_s.copy()),
        setup_s=locked(instance.setup_s.copy()),
        period_s=instance.period_s,
    )


# Machines that run at second 0 are shown as any others of the last plan.
policy = policy_decorator(Player, (RUNNING,))
