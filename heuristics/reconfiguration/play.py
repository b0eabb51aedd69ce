"""Playing an online policy over an instance, plan by plan, without showing it the future.

A policy is a function from what is visible to a plan:

    @policy("one-machine-each")
    def one_machine_each(view):
        draft = view.draft()
        for task in np.flatnonzero(view.task_machine < 0):
            draft.put(task, draft.rent(view.reservation_type[view.task_class[task]]))
        return draft.plan()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.heuristics.policy import check_knowledge, register_played
from schedgap.heuristics.reconfiguration.kernels_view import (
    carry_out,
    release_all,
    seen_jobs,
    seen_machines,
    seen_tasks,
)
from schedgap.heuristics.reconfiguration.view import Market, Plan, View
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status
from schedgap.instances.reconfiguration.cloud import Cloud
from schedgap.instances.reconfiguration.kernels_events import advance
from schedgap.instances.reconfiguration.kernels_state import DONE, FINE, FINISH, PHASE, RATE, RUNNING
from schedgap.instances.reconfiguration.model import FAMILY, MAX_TIME_S

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

KNOWLEDGE = ("durations", "throughput")
# So many plans after the last arrival in which nobody was moved, nothing was rented and nobody progressed: it stays so.
STUCK_PLANS = 10_000


class StuckError(MethodError):
    """A policy leaves tasks where they do not progress, so that their job never ends."""


def policy(
    name: str,
    *,
    knows: Sequence[str] = (),
    version: int = 1,
    stochastic: bool = False,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> Callable[[Callable[..., Plan]], Callable[..., Plan]]:
    """Register a function from a view to a plan as a method; the function itself is returned unchanged.

    Every keyword of the function is a parameter of the method and needs a default; `rng` is a seeded generator.

    knows : what the policy is told beside the present: `durations` of jobs that have arrived, pairwise `throughput`.

    Raises
    ------
    MethodError
        as `schedgap.instances.method.method` does, or for knowledge that there is none of.
    """
    check_knowledge(name, knows, KNOWLEDGE)

    def register(decide: Callable[..., Plan]) -> Callable[..., Plan]:
        def played(instance: ReconfigurationInstance, chosen: Callable[[View], Plan]) -> Outcome:
            try:
                return play(instance, chosen, knows)
            except StuckError as stuck:
                return Outcome(status=Status.NO_SOLUTION, details={"reason": str(stuck)})

        register_played(decide, played, name, family=FAMILY, version=version, stochastic=stochastic, choices=choices)
        return decide

    return register


def play(instance: ReconfigurationInstance, decide: Callable[[View], Plan], knows: Collection[str] = ()) -> Outcome:
    """Let a policy decide every plan until the last job has ended.

    A plan that breaks a rule ends the play: its schedule, up to and with that plan, is returned, and `verify` names the
    rule.

    Raises
    ------
    MethodError
        if what the policy returns is no plan for its view; StuckError, if it leaves a job without end.
    """
    cloud = Cloud(instance)
    eyes = _Eyes(instance, knows)
    period = instance.period_s
    times: list[int] = []
    tasks: list[IntArray] = []
    places: list[IntArray] = []
    plans, idle, now, status = 0, 0, int(instance.first_plan_s()[0]), FINE
    while status == FINE:
        advance(cloud.state, now)
        if now > MAX_TIME_S and cloud.num_unfinished == 0:
            raise StuckError(
                f"the last job ends after the last plan, of {MAX_TIME_S} s at the latest; give shorter times."
            )
        if cloud.num_unfinished == 0:
            release_all(cloud.state, now)
            arrival = cloud.next_arrival_s
            if arrival is None:
                break
            now = -(-arrival // period) * period
            continue
        if now > MAX_TIME_S:
            raise StuckError(
                f"job {cloud.state.active[0]} has not ended by {MAX_TIME_S} s, the last second of a plan; its tasks do "
                "not progress where the policy leaves them."
            )
        if idle >= STUCK_PLANS and _nobody_progresses(cloud):
            raise StuckError(
                f"job {cloud.state.active[0]} has not ended by {now} s, and no task has progressed for {idle} plans, in "
                "which the policy left all where they are."
            )
        view = eyes.look(cloud)
        plan = _checked(decide(view), view)
        cloud.make_room(plan.new_types.shape[0])
        keep = np.zeros(view.num_machines, np.bool_) if plan.keep is None else plan.keep
        status, moved, moved_to = carry_out(
            cloud.state, now, eyes.task, plan.machine, eyes.machine, plan.new_types, keep
        )
        times.extend([now] * moved.shape[0])
        tasks.append(moved)
        places.append(moved_to)
        plans += 1
        changes = moved.shape[0] > 0 or plan.new_types.shape[0] > 0 or cloud.next_arrival_s is not None
        idle = 0 if changes else idle + 1
        now += period
    schedule = cloud.schedule(
        np.array(times, np.int64),
        np.concatenate(tasks) if tasks else np.empty(0, np.int64),
        np.concatenate(places) if places else np.empty(0, np.int64),
    )
    return Outcome(schedule, details={"plans": plans})


def _nobody_progresses(cloud: Cloud) -> bool:
    """Whether every unfinished job runs at rate 0, so that only a move could change anything."""
    jobs = cloud.job[cloud.state.active[: cloud.num_unfinished]]
    return bool(((jobs[:, PHASE] == RUNNING) & (jobs[:, RATE] == 0)).all())


class _Eyes:
    """What a policy sees of a cloud: the catalogue up to the last class seen, and the state."""

    def __init__(self, instance: ReconfigurationInstance, knows: Collection[str]) -> None:
        catalogue = instance.catalogue
        self.instance = instance
        self.knows = frozenset(knows)
        self.memory: dict[str, Any] = {}
        # Copies, as all that a policy gets: whoever unlocks them does not change the instance's prices.
        self.market = Market(
            resources=catalogue.resources,
            families=catalogue.families,
            type_names=catalogue.type_names,
            type2family=_locked_copy(catalogue.type2family),
            capacity=_locked_copy(catalogue.capacity),
            price=_locked_copy(catalogue.price),
            acquire_s=_locked_copy(instance.acquire_s),
            setup_s=_locked_copy(instance.setup_s),
            period_s=instance.period_s,
        )
        # Classes and workloads are numbered by first arrival: how many of them have been seen after each job.
        self.seen_classes = np.maximum.accumulate(instance.job2class) + 1
        self.seen_workloads = np.maximum.accumulate(instance.class2workload[instance.job2class]) + 1
        self.jobs = self.task = self.machine = np.empty(0, np.int64)
        self.classes = -1
        self.catalogue: dict[str, Any] = {}

    def look(self, cloud: Cloud) -> View:
        """Return the present as copies that nobody can write."""
        instance, state = self.instance, cloud.state
        now = cloud.now_s
        job, phase, attained = seen_jobs(state, now)
        machine, machine_type, running = seen_machines(state, now)
        task, task_job, task_class, sent_to, held_on, rate = seen_tasks(state, job, machine)
        self._see(cloud.num_seen - 1)
        ended = self.jobs[state.job[self.jobs, PHASE] == DONE]
        # The simulator's own: a policy can unlock those of its view.
        self.jobs, self.task, self.machine = job.copy(), task.copy(), machine.copy()
        arrays = {
            "job": job,
            "job_class": instance.job2class[job],
            "job_tasks": instance.num_tasks[job],
            "job_arrival_s": instance.arrival_s[job],
            "job_phase": phase,
            "job_attained_s": attained,
            "ended": ended,
            "ended_s": state.job[ended, FINISH],
            "task": task,
            "task_job": task_job,
            "task_class": task_class,
            "task_machine": sent_to,
            "task_held_on": held_on,
            "task_rate": rate,
            "machine": machine,
            "machine_type": machine_type,
            "machine_running": running,
        }
        if "durations" in self.knows:
            arrays["job_duration_s"] = instance.work_s[job]
        for values in arrays.values():
            values.setflags(write=False)
        return View(
            now_s=now,
            market=self.market,
            num_ended=cloud.num_seen - job.shape[0],
            memory=self.memory,
            **{"job_duration_s": None, **arrays, **self.catalogue},
        )

    def _see(self, last_job: int) -> None:
        classes, workloads = int(self.seen_classes[last_job]), int(self.seen_workloads[last_job])
        if classes <= self.classes:
            return
        self.classes = classes
        instance = self.instance
        catalogue = instance.catalogue
        delays = (instance.fetch_s, instance.build_s, instance.kill_s, instance.upload_s, instance.init_s)
        assert catalogue.reservation_type is not None
        arrays: dict[str, Any] = {
            "demand": catalogue.demand[:, :classes].copy(),
            "reservation_type": catalogue.reservation_type[:classes].copy(),
            "class2workload": instance.class2workload[:classes].copy(),
            "delays_s": np.stack([delay[:workloads] for delay in delays], axis=1),
        }
        if "throughput" in self.knows:
            arrays["throughput"] = instance.throughput[:workloads, :workloads] / 1000
        for values in arrays.values():
            values.setflags(write=False)
        names = tuple(catalogue.class_name(c) for c in range(classes))
        self.catalogue = {"throughput": None, **arrays, "class_names": names}


def _checked(plan: object, view: View) -> Plan:
    if not isinstance(plan, Plan):
        raise MethodError(f"plan at {view.now_s} s: the policy returned {type(plan).__name__}; return a Plan.")
    machine, new_types = np.asarray(plan.machine), np.asarray(plan.new_types)
    for name, values, kinds, wanted in (
        ("machine", machine, "iu", "int64"),
        ("new_types", new_types, "iu", "int64"),
        ("keep", np.asarray(False if plan.keep is None else plan.keep), "b", "bool"),
    ):
        # An empty list is of type float64 to NumPy.
        if values.size and values.dtype.kind not in kinds:
            raise MethodError(f"plan at {view.now_s} s: {name} is of type {values.dtype}; give {wanted}.")
    if machine.shape != (view.num_tasks,):
        raise MethodError(
            f"plan at {view.now_s} s: machine has shape {machine.shape} for {view.num_tasks} tasks; give one index each."
        )
    num_types = len(view.market.type_names)
    if new_types.ndim != 1 or (new_types.size and not 0 <= new_types.min() <= new_types.max() < num_types):
        raise MethodError(
            f"plan at {view.now_s} s: new_types holds {new_types.tolist()!s:.60}; machine types are 0..{num_types - 1}."
        )
    keep = None if plan.keep is None else np.asarray(plan.keep, np.bool_)
    if keep is not None and keep.shape != (view.num_machines,):
        raise MethodError(
            f"plan at {view.now_s} s: keep has shape {keep.shape} for {view.num_machines} machines; give one flag each."
        )
    return Plan(_writable(machine), _writable(new_types), None if keep is None else keep.copy())


def _locked_copy(values: IntArray) -> IntArray:
    copy = values.copy()
    copy.setflags(write=False)
    return copy


def _writable(values: IntArray) -> IntArray:
    """Return int64 in an array of its own, which is what the compiled code was compiled for."""
    return np.array(values, np.int64)
