"""Playing an online policy over an instance, offer by offer, without showing it the future.

A policy is a function from what is visible when a machine is offered to the job that it serves, or None for none:

    @policy("most-to-do-first")
    def most_to_do_first(observation):
        most = np.argmax(observation.to_start[observation.fitting])
        return observation.job[observation.fitting[most]]

It is asked again while a waiting job fits on the machine and it names one. A machine that it leaves idle is offered again
when a task ends there or a job arrives.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from schedgap.heuristics.player import Whole, policy_decorator
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray, first_true, locked
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness.model import NOTIONS
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.method import Outcome
from schedgap.instances.sharing.model import FAMILY, SharingInstance
from schedgap.instances.sharing.simulator.simulator import Simulator
from schedgap.instances.sharing.verify import as_users
from schedgap.instances.units import SECOND_MS, shown_amount


@dataclass(frozen=True, slots=True, eq=False)
class Machines:
    """The cluster, known from the start.

    Letters used for shapes: K machine classes, M machines, R resources.

    class_count : (K,) int64. capacity : (K, R) int64, of one machine. machine2class : (M,) int64.
    """

    resources: tuple[str, ...]
    class_names: tuple[str, ...]
    class_count: IntArray
    capacity: IntArray
    machine2class: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present, in copies: nothing in it leads to what comes.

    Letters used for shapes: N jobs present (arrived and not ended; those that arrive at this very moment come after the
    tasks that end at it), K machine classes, M machines, R resources.

    machine, machine_class : what is offered. free : (M, R) int64, free capacity of every machine. fitting : (F,) int64, indices
    into `job`: those with a task to start that is served and fits on the offered machine. At least one; the answer is one of
    `job[fitting]`, or None. job : (N,) int64, ascending. arrival_ms, weight : (N,) int64. demand : (N, R) int64. performance :
    (N, K) int64, thousandths. serves : (N, K) bool, where tasks of a job may run, fit and make progress. num_tasks : (N,)
    int64. to_start : (N,) int64, tasks that have not started. running : (N, K) int64, tasks that run on each class. share :
    (N,) float64, in the notion that the policy asked for. work_to_start_ms, next_work_ms : (N,) int64, work of all tasks that
    have not started, and of the first of them (0 if there is none); None unless the policy knows durations. memory : the
    policy's own, empty at first and kept from offer to offer.
    """

    now_ms: int
    machines: Machines
    machine: int
    machine_class: int
    free: IntArray
    fitting: IntArray
    job: IntArray
    arrival_ms: IntArray
    weight: IntArray
    demand: IntArray
    performance: IntArray
    serves: BoolArray
    num_tasks: IntArray
    to_start: IntArray
    running: IntArray
    share: FloatArray
    work_to_start_ms: IntArray | None
    next_work_ms: IntArray | None
    memory: dict[str, Any]


def checked_job(answer: object, simulator: Simulator, machine: int, present: IntArray) -> int:
    """Return the job that a policy answered with.

    present : (N,) int64, ascending, the jobs that it was shown.

    Raises `MethodError` unless it is one of them whose next task the machine can run now.
    """
    instance, state = simulator.instance, simulator.state
    where = f"offer of machine {machine} at {simulator.now_ms / SECOND_MS:.12g} s"
    try:
        # To Python a bool is a whole number, but it names no job.
        job = operator.index(None if isinstance(answer, bool) else answer)  # type: ignore[arg-type]
    except TypeError:
        raise MethodError(f"{where}: the policy returned {type(answer).__name__}; return a job or None.") from None
    place = int(np.searchsorted(present, job))
    if place == present.shape[0] or present[place] != job:
        raise MethodError(f"{where}: the policy returned job {job}, which is not there; return one of observation.job.")
    who = f"{where}: the policy returned job {instance.job_name(job)}"
    way_out = "return one of observation.job[observation.fitting]."
    if simulator.num_to_start[job] == 0:
        raise MethodError(f"{who}, all of whose tasks have started; {way_out}")
    k = int(state.machines[machine].to_class)
    if state.speed[job, k] == 0:
        raise MethodError(f"{who}, which class {instance.machine_names[k]} does not serve; {way_out}")
    for r, name in enumerate(instance.resources):
        needs, free = int(instance.demand[job, r]), int(state.free[machine, r])
        if needs > free:
            raise MethodError(
                f"{who}, whose tasks need {shown_amount(needs, name)}; {shown_amount(free, name)} are free; {way_out}"
            )
    return job


class Player:
    """One policy on one instance.

    shares : the notion in which it is shown shares. `durations` are known of the tasks of jobs that have arrived.
    """

    family: ClassVar[str] = FAMILY
    knowledge: ClassVar[tuple[str, ...]] = ("durations",)
    options: ClassVar[Mapping[str, tuple[str | None, ...]]] = {"shares": NOTIONS}
    document: ClassVar[Any] = Whole | None

    def __init__(
        self, instance: SharingInstance, knows: frozenset[str] = frozenset(), shares: str = NOTIONS[0]
    ) -> None:
        """Begin before the first offer."""
        self.instance = instance
        self.knows = knows
        self.simulator = Simulator(instance, declines=True)
        self.num_tasks = np.diff(instance.first_task)
        # The keys decide nothing here: they are the shares that are shown, counted by the simulator as tasks come and go.
        users = as_users(instance, np.arange(instance.num_jobs), self.num_tasks)
        self.simulator.set_keys(*value_and_scale(users, shares))
        # Copies, as all that a policy gets: whoever unlocks them does not change the instance.
        self.machines = Machines(
            instance.resources,
            instance.machine_names,
            locked(instance.machine_count.copy()),
            locked(instance.capacity.copy()),
            locked(instance.machine2class()),
        )
        self.work_before = np.concatenate(([0], np.cumsum(instance.work_ms)))
        self.memory: dict[str, Any] = {}
        self.machine: int | None = None
        self.jobs = np.empty(0, np.int64)

    def observe(self) -> Observation | None:
        """Return the present at the next offer, in copies that nobody can write; None after the last."""
        if self.machine is None:
            self.machine = self.simulator.next_offer()
        if self.machine is None:
            return None
        instance, state = self.instance, self.simulator.state
        self.jobs = jobs = self.simulator.admitted
        machine_class = int(state.machines[self.machine].to_class)
        free = state.free.copy()
        to_start = self.simulator.num_to_start[jobs]
        demand, serves = instance.demand[jobs], state.speed[jobs] > 0
        fits = (demand <= free[self.machine]).all(axis=1) & serves[:, machine_class] & (to_start > 0)
        work_to_start, next_work = self._work(jobs, to_start) if "durations" in self.knows else (None, None)
        return Observation(
            now_ms=self.simulator.now_ms,
            machines=self.machines,
            machine=self.machine,
            machine_class=machine_class,
            free=locked(free),
            fitting=locked(np.flatnonzero(fits)),
            # The player's own list stays its own: a policy can unlock what it is given.
            job=locked(jobs.copy()),
            arrival_ms=locked(instance.arrival_ms[jobs]),
            weight=locked(instance.weight[jobs]),
            demand=locked(demand),
            performance=locked(instance.performance[jobs]),
            serves=locked(serves),
            num_tasks=locked(self.num_tasks[jobs]),
            to_start=locked(to_start),
            running=locked(state.runs[jobs]),
            share=locked(state.jobs.key[jobs]),
            work_to_start_ms=work_to_start,
            next_work_ms=next_work,
            memory=self.memory,
        )

    @staticmethod
    def read(document: Any) -> Any:
        """Return the actions that a document means."""
        return document

    def act(self, actions: object) -> None:
        """Serve the job that the policy answered with, or leave the machine idle.

        Raises `MethodError` for anything but None and a job that the machine can serve.
        """
        assert self.machine is not None
        if actions is None or not self.simulator.serve(
            self.machine, checked_job(actions, self.simulator, self.machine, self.jobs)
        ):
            self.machine = None

    def outcome(self) -> Outcome:
        """Return the schedule. Raises `MethodError` if tasks were left without a machine for ever."""
        left = self.simulator.num_to_start
        if (job := first_true(left > 0)) is not None:
            raise MethodError(
                f"job {self.instance.job_name(job)} has {left[job]} tasks that never start: the policy left the machines "
                "idle that were offered to it last; have it serve some job whenever nothing else runs."
            )
        return Outcome(self.simulator.schedule())

    def _work(self, jobs: IntArray, to_start: IntArray) -> tuple[IntArray, IntArray]:
        """Return (N,) int64 each, the work of all tasks that have not started, and of the first of them or 0."""
        end = self.instance.first_task[jobs + 1]
        some = to_start > 0
        first = self.instance.work_ms[np.where(some, end - to_start, 0)]
        return locked(self.work_before[end] - self.work_before[end - to_start]), locked(np.where(some, first, 0))


policy = policy_decorator(Player)
