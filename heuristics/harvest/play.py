"""Playing an online policy over an instance, moment by moment, without showing it the future.

A policy is a function from what is visible at a moment to the tasks that it starts then, each with its VM, or None for none:

    @policy("longest-unchanged")
    def longest_unchanged(view):
        needed = view.job_cores[view.task_job].max(initial=0)
        vms = np.argsort(view.changed_ms, kind="stable")
        return [(task, view.vm[i]) for task, i in zip(view.task, vms[view.free[vms] >= needed])]

It is asked once at each moment at which something happens, if a task waits that fits on some VM or the pool's epoch is due, and
again if VMs come that it requests.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from schedgap.heuristics.harvest.acquire import acquisition
from schedgap.heuristics.harvest.answers import Answers
from schedgap.heuristics.harvest.eyes import KNOWLEDGE, Eyes
from schedgap.heuristics.harvest.kernels_play import next_moment
from schedgap.heuristics.harvest.simulate import fixed_pool_reason
from schedgap.heuristics.policy import check_knowledge, register_played
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.cluster import Cluster
from schedgap.instances.harvest.model import FAMILY, SECOND_MS
from schedgap.instances.method import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from schedgap.heuristics.harvest.view import View
    from schedgap.instances.harvest.model import HarvestInstance

    Decide = Callable[[View], object]


def policy(
    name: str,
    *,
    knows: Sequence[str] = (),
    acquirer: str | None = "keep",
    scaling: str = "none",
    version: int = 1,
    stochastic: bool = False,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function from a view to starts of tasks as a method; the function itself is returned unchanged.

    Every keyword of the function is a parameter of the method and needs a default; `rng` is a seeded generator.

    knows : what the policy is told beside the present: `runtimes` of the tasks that wait, beside their estimates.
    acquirer, scaling : who looks after a pool that is not fixed, as `acquisition` has it; acquirer None if the policy itself
    does, by `Decision`.

    Raises
    ------
    MethodError
        as `schedgap.instances.method.method` does, or for knowledge that there is none of.
    """
    check_knowledge(name, knows, KNOWLEDGE)

    def register(decide: Callable[..., Any]) -> Callable[..., Any]:
        def played(instance: HarvestInstance, chosen: Decide) -> Outcome:
            return play(instance, chosen, knows, acquirer=acquirer, scaling=scaling)

        register_played(decide, played, name, family=FAMILY, version=version, stochastic=stochastic, choices=choices)
        return decide

    return register


def play(
    instance: HarvestInstance,
    decide: Decide,
    knows: Collection[str] = (),
    *,
    acquirer: str | None = "keep",
    scaling: str = "none",
) -> Outcome:
    """Let a policy answer at every moment until all tasks are complete.

    Raises
    ------
    MethodError
        if it answers what cannot be done, or leaves tasks waiting for ever.
    """
    if acquirer is not None:
        reason = fixed_pool_reason(instance, acquirer, scaling)
        if reason is not None:
            return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    cluster = Cluster(instance)
    eyes = Eyes(cluster, knows)
    answers = Answers(cluster, may_acquire=acquirer is None and not instance.is_fixed)
    asked = 0
    advance = cluster.advance
    if acquirer is not None and not instance.is_fixed:
        keeper = acquisition(instance, acquirer, scaling)
        advance = partial(cluster.run, partial(next_moment, acquire=keeper))
    while advance():
        while eyes.has_question():
            asked += 1
            if not answers.carry_out(decide(eyes.look())):
                break
    if not cluster.is_complete:
        last = "never" if answers.asked_ms is None else f"for the last time at {answers.asked_ms / SECOND_MS:.12g} s"
        raise MethodError(
            f"{answers.task_name(cluster.first_waiting())} waits for ever: the policy was asked {last}; have it start some task "
            "whenever nothing else runs, and keep VMs that tasks fit on."
        )
    return Outcome(cluster.schedule(), details={"asked": asked, "kills": int(cluster.state.kills.sum())})
