"""From a method's parameters to its outcome: what all policies share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from schedgap.heuristics.waiting.compiled.policy import FIT, SCHEDULING, SEMANTICS, Policy
from schedgap.heuristics.waiting.compiled.state import NO_LIMIT_US
from schedgap.heuristics.waiting.machines import cheapest_number
from schedgap.heuristics.waiting.thresholds import Thresholds
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.objective import costs, rounded_up
from schedgap.instances.waiting.verify import MAX_MACHINES

if TYPE_CHECKING:
    import numpy as np

    from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator
    from schedgap.instances.waiting.model import WaitingInstance

HISTORY = "history"
TUNED_ON = {"tuned_on": (HISTORY, "itself")}
CHOICES = {"scheduling": SCHEDULING, "fit": FIT, "semantics": SEMANTICS, **TUNED_ON}
NONE = Thresholds()


@dataclass(frozen=True, slots=True)
class Serving:
    """How jobs are served, and what is learnt from; `policies` describes its fields."""

    scheduling: str = "fcfs"
    fit: str = "first"
    semantics: str = "paper"
    tuned_on: str = HISTORY


SERVING = Serving()


def play(
    instance: WaitingInstance,
    policy: Policy,
    machines: int,
    thresholds: Thresholds = NONE,
    *,
    tuned_on: str = HISTORY,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Play a policy with thresholds and a number of machines; what is -1 of these is learnt.

    tuned_on : `history` to learn from the jobs known from before, or where there are none from the instance itself;
    `itself` to learn from the jobs that the policy is then scored on.

    Raises
    ------
    MethodError
        for thresholds or a number of machines that cannot be.
    """
    limited = thresholds.wait_limit_s is not None
    least = 0 if limited or not policy.waits else 1
    check_machines(machines, least)
    past = instance.history if tuned_on == HISTORY else None
    known = instance if past is None else past
    for each in (instance, known):
        reason = replace(policy, limit_us=0 if limited else NO_LIMIT_US).unsupported(each)
        if reason is not None:
            return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    tried = 0

    @cache
    def best(chosen: Thresholds) -> tuple[int, int]:
        """Return the lowest cost found on what is known, and the number of machines."""
        nonlocal tried
        simulation = chosen.simulation(known, policy, rng)
        if machines != -1:
            tried += 1
            return costs(known, simulation.run(machines)).objective, machines
        number, cost, numbers = best_number(simulation, least)
        tried += numbers
        return cost, number

    chosen, values = thresholds.tuned(known, lambda each: best(each)[0])
    number = best(chosen)[1] if machines == -1 else machines
    schedule = chosen.simulation(instance, policy, rng).run(number)
    return Outcome(schedule, details={"machines": number, "numbers_tried": tried, **values})


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
