"""Playing an online policy over an instance, offer by offer, without showing it the future.

A policy is a function from what is visible when a machine is offered to the job that it serves, or None for none:

    @policy("most-to-do-first")
    def most_to_do_first(view):
        most = np.argmax(view.to_start[view.fitting])
        return view.job[view.fitting[most]]

It is asked again while a waiting job fits on the machine and it names one. A machine that it leaves idle is offered again
when a task ends there or a job arrives.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.heuristics.policy import check_knowledge, register_played
from schedgap.heuristics.sharing.view import Machines, View
from schedgap.instances.errors import MethodError
from schedgap.instances.fairness.model import NOTIONS
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.method import Outcome
from schedgap.instances.sharing.cluster import Cluster
from schedgap.instances.sharing.model import FAMILY, SECOND_MS
from schedgap.instances.sharing.snapshot import as_users
from schedgap.instances.units import shown_amount

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from schedgap.instances.sharing.model import SharingInstance

    Decide = Callable[[View], object]

KNOWLEDGE = ("durations",)


def policy(
    name: str,
    *,
    shares: str = "eunomia",
    knows: Sequence[str] = (),
    version: int = 1,
    stochastic: bool = False,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function from a view to a job as a method; the function itself is returned unchanged.

    Every keyword of the function is a parameter of the method and needs a default; `rng` is a seeded generator.

    shares : the notion in which the view shows shares. knows : what the policy is told beside the present: `durations` of
    the tasks of jobs that have arrived.

    Raises
    ------
    MethodError
        as `schedgap.instances.method.method` does, or for a notion or knowledge that there is none of.
    """
    check_knowledge(name, knows, KNOWLEDGE)
    if shares not in NOTIONS:
        raise MethodError(f"policy {name} asks for shares '{shares}'; choose one of {', '.join(NOTIONS)}.")

    def register(decide: Callable[..., Any]) -> Callable[..., Any]:
        def played(instance: SharingInstance, chosen: Decide) -> Outcome:
            return play(instance, chosen, shares, knows)

        register_played(decide, played, name, family=FAMILY, version=version, stochastic=stochastic, choices=choices)
        return decide

    return register


def play(instance: SharingInstance, decide: Decide, shares: str = "eunomia", knows: Collection[str] = ()) -> Outcome:
    """Let a policy answer every offer until the last task has ended.

    Raises
    ------
    MethodError
        if it names a job that cannot be served, or leaves tasks without a machine for ever.
    """
    cluster = Cluster(instance, declines=True)
    eyes = _Eyes(instance, cluster, shares, knows)
    offers = 0
    while (machine := cluster.next_offer()) is not None:
        while cluster.next_in_line(machine) is not None:
            view = eyes.look(machine)
            offers += 1
            answer = decide(view)
            if answer is None:
                break
            cluster.serve(machine, eyes.checked(answer, machine))
    left = cluster.num_to_start
    if left.any():
        job = int(np.argmax(left > 0))
        raise MethodError(
            f"job {instance.job_name(job)} has {left[job]} tasks that never start: the policy left the machines idle "
            "that were offered to it last; have it serve some job whenever nothing else runs."
        )
    return Outcome(cluster.schedule(), details={"offers": offers})


class _Eyes:
    """What a policy sees of a cluster."""

    def __init__(self, instance: SharingInstance, cluster: Cluster, shares: str, knows: Collection[str]) -> None:
        self.instance = instance
        self.cluster = cluster
        self.knows = frozenset(knows)
        self.memory: dict[str, Any] = {}
        self.serves = instance.serves()
        self.num_tasks = np.diff(instance.first_task)
        # The keys decide nothing here: they are the shares that a view shows, counted by the cluster as tasks come and go.
        users = as_users(instance, np.arange(instance.num_jobs), self.num_tasks)
        cluster.set_keys(*value_and_scale(users, shares))
        # Copies, as all that a policy gets: whoever unlocks them does not change the instance.
        self.machines = Machines(
            instance.resources,
            instance.machine_names,
            _locked(instance.machine_count.copy()),
            _locked(instance.capacity.copy()),
            _locked(instance.machine2class()),
        )
        self.work_before = np.concatenate(([0], np.cumsum(instance.work_ms)))
        self.jobs = np.empty(0, np.int64)

    def look(self, machine: int) -> View:
        """Return the present as copies that nobody can write."""
        instance, state = self.instance, self.cluster.state
        self.jobs = jobs = self.cluster.admitted
        machine_class = int(state.machine2class[machine])
        started, free = state.started[jobs], state.free.copy()
        to_start = self.num_tasks[jobs] - started
        demand, serves = instance.demand[jobs], self.serves[jobs]
        fits = (demand <= free[machine]).all(axis=1) & serves[:, machine_class] & (to_start > 0)
        work_to_start = next_work = None
        if "durations" in self.knows:
            task, end = instance.first_task[jobs] + started, instance.first_task[jobs + 1]
            work_to_start = _locked(self.work_before[end] - self.work_before[task])
            some = to_start > 0
            next_work = _locked(np.where(some, instance.work_ms[np.where(some, task, 0)], 0))
        return View(
            now_ms=self.cluster.now_ms,
            machines=self.machines,
            machine=machine,
            machine_class=machine_class,
            free=_locked(free),
            fitting=_locked(np.flatnonzero(fits)),
            # The simulator's own list stays its own: a policy can unlock what it is given.
            job=_locked(jobs.copy()),
            arrival_ms=_locked(instance.arrival_ms[jobs]),
            weight=_locked(instance.weight[jobs]),
            demand=_locked(demand),
            performance=_locked(instance.performance[jobs]),
            serves=_locked(serves),
            num_tasks=_locked(self.num_tasks[jobs]),
            to_start=_locked(to_start),
            running=_locked(state.runs[jobs]),
            share=_locked(state.key[jobs, 0]),
            work_to_start_ms=work_to_start,
            next_work_ms=next_work,
            memory=self.memory,
        )

    def checked(self, answer: object, machine: int) -> int:
        """Return the job that a policy answered with, if the machine can serve it."""
        instance, state = self.instance, self.cluster.state
        where = f"offer of machine {machine} at {self.cluster.now_ms / SECOND_MS:.12g} s"
        try:
            # A truth is a whole number to Python; here it is a slip.
            job = operator.index(None if isinstance(answer, bool) else answer)  # type: ignore[arg-type]
        except TypeError:
            raise MethodError(f"{where}: the policy returned {type(answer).__name__}; return a job or None.") from None
        place = int(np.searchsorted(self.jobs, job))
        if place == self.jobs.shape[0] or self.jobs[place] != job:
            raise MethodError(f"{where}: the policy returned job {job}, which is not there; return one of view.job.")
        who = f"{where}: the policy returned job {instance.job_name(job)}"
        if state.started[job] == self.num_tasks[job]:
            raise MethodError(f"{who}, all of whose tasks have started; return one of view.job[view.fitting].")
        k = int(state.machine2class[machine])
        if not self.serves[job, k]:
            name = instance.machine_names[k]
            raise MethodError(f"{who}, which class {name} does not serve; return one of view.job[view.fitting].")
        for r, name in enumerate(instance.resources):
            needs, free = int(instance.demand[job, r]), int(state.free[machine, r])
            if needs > free:
                raise MethodError(
                    f"{who}, whose tasks need {shown_amount(needs, name)}; {shown_amount(free, name)} are free. Return "
                    "one of view.job[view.fitting]."
                )
        return job


def _locked(values: Any) -> Any:
    values.setflags(write=False)
    return values
