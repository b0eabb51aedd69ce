"""From a method's parameters to its outcome: what all policies share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from schedgap.heuristics.waiting.compiled.policy import FIT, SCHEDULING, SEMANTICS, Policy
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator
from schedgap.heuristics.waiting.compiled.state import NO_LIMIT_US
from schedgap.heuristics.waiting.machines import cheapest_number
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.objective import costs, rounded_up
from schedgap.instances.waiting.verify import MAX_MACHINES

if TYPE_CHECKING:
    import numpy as np

    from schedgap.instances.waiting.model import WaitingInstance

CHOICES = {"scheduling": SCHEDULING, "fit": FIT, "semantics": SEMANTICS}


def play(
    instance: WaitingInstance,
    policy: Policy,
    machines: int,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Play a policy with a number of machines, or with the best that `cheapest_number` finds for the objective if -1.

    Raises
    ------
    MethodError
        for a number of machines that cannot be.
    """
    endless = policy.waits and policy.limit_us >= NO_LIMIT_US
    check_machines(machines, 1 if endless else 0)
    reason = policy.unsupported(instance)
    if reason is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    simulation = CompiledSimulator(instance, policy, rng)
    tried = 0
    if machines == -1:
        machines, _, tried = best_number(simulation, 1 if endless else 0)
    return Outcome(simulation.run(machines), details={"machines": machines, "numbers_tried": tried})


def check_machines(machines: int, least: int) -> None:
    """Refuse a number of machines that cannot be; -1 stands for the best.

    Raises
    ------
    MethodError
        if it is not -1 and below `least`, or too large.
    """
    if machines != -1 and not least <= machines <= MAX_MACHINES:
        why = ", since jobs wait for one however long it takes" if machines == 0 else ""
        raise MethodError(f"machines is {machines}; give {least} to {MAX_MACHINES}{why}, or -1 for the best number.")


def best_number(simulation: CompiledSimulator, least: int) -> tuple[int, int, int]:
    """Return what `cheapest_number` finds for the instance's objective."""
    instance = simulation.instance
    return cheapest_number(
        lambda number: costs(instance, simulation.run(number)).objective,
        least,
        max(1, rounded_up(instance.fixed_price * instance.horizon_us)),
        instance.num_jobs,
    )


def limit_of(instance: WaitingInstance, wait_limit_s: float) -> int:
    """Return a limit in microseconds, cut to what the instance allows.

    Raises
    ------
    MethodError
        if it is negative or no number.
    """
    limit_us = _microseconds("wait_limit_s", wait_limit_s)
    return limit_us if instance.max_wait_us is None else min(limit_us, instance.max_wait_us)


def short_of(short_s: float) -> int:
    """Return the longest runtime of a short job in microseconds.

    Raises
    ------
    MethodError
        if it is negative or no number.
    """
    return _microseconds("short_s", short_s)


def probability(name: str, value: float) -> float:
    """Return a probability.

    Raises
    ------
    MethodError
        outside 0 to 1.
    """
    if not 0 <= value <= 1:
        raise MethodError(f"{name} is {value:g}; give a probability, 0 to 1.")
    return value


def waits_are_unlimited(instance: WaitingInstance) -> str | None:
    """Return why a policy without a limit cannot take an instance, None if it can."""
    if instance.max_wait_us is None:
        return None
    return (
        f"jobs wait however long it takes, and here no job may wait longer than {instance.max_wait_us / SECOND_US:g} s"
    )


def _microseconds(name: str, seconds: float) -> int:
    if math.isnan(seconds) or seconds < 0:
        raise MethodError(f"{name} is {seconds:g}; give seconds, 0 or more.")
    return NO_LIMIT_US if seconds * SECOND_US >= NO_LIMIT_US else round(seconds * SECOND_US)
