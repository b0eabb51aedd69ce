"""A policy of our own: a job waits as long as waiting is worth the rent that it saves, in the first gap that holds it.

Waiting Game's compound policy lets every long job wait up to the same limit, in strict order. Two things change here.

What a job gains by waiting is its rent; what waiting costs does not depend on the job. So the limit is proportional to
the rent: `hours_per_dollar` x dollars of rent, up to `wait_limit_s`. If an hour of waiting costs l dollars, a job that
would wait longer than rent / l hours does better to rent, and 1 / l hours a dollar is the start of the search. Small jobs
get limits near 0: they are the compound policy's short jobs, but take an idle machine where there is one, and small means
few core-hours, not a short runtime.

And jobs are served by conservative backfilling (`kernels_conservative`), which knows a job's wait when it comes, as the
paper assumes for Short Waits Wait: so a job that would wait longer rents at once, and no large job holds up others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.waiting.compiled.policy import FIT, Policy
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator
from schedgap.heuristics.waiting.parameters import best_number, check_machines, limit_of
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, method
from schedgap.instances.units import DOLLAR
from schedgap.instances.waiting.model import FAMILY
from schedgap.instances.waiting.objective import costs

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.waiting.model import WaitingInstance

WEEK_S = 604_800.0


@method("worth-waiting", family=FAMILY, choices={"fit": FIT})
def worth_waiting(
    instance: WaitingInstance,
    machines: int = -1,
    hours_per_dollar: float = -1.0,
    wait_limit_s: float = WEEK_S,
    fit: str = "first",
) -> Outcome:
    """Let each job wait as long as the rent saved is worth, in the first gap that holds it; no policy of the paper's.

    machines : fixed machines; -1 for the number of the lowest objective found. hours_per_dollar : the longest wait for
    a dollar of rent; -1 for the value of the lowest objective found, by halves and doubles from what an hour of waiting
    costs, each with its own number of machines unless that is given. No such limit if waiting is free. wait_limit_s :
    the longest wait of all; an instance that allows less cuts it.

    Raises
    ------
    MethodError
        for parameters out of range.
    """
    check_machines(machines, 0)
    if math.isnan(hours_per_dollar) or (hours_per_dollar < 0 and hours_per_dollar != -1):
        raise MethodError(f"hours_per_dollar is {hours_per_dollar:g}; give 0 or more, or -1 for the best value.")
    limit_us = limit_of(instance, wait_limit_s)
    policy = Policy(limit_us=limit_us, balks=True, scheduling="conservative", fit=fit)
    tried = 0

    def attempt(hours: float) -> tuple[int, float, int, CompiledSimulator]:
        nonlocal tried
        simulation = CompiledSimulator(instance, policy, limit_us=worth(instance, hours, limit_us))
        if machines == -1:
            number, cost, numbers = best_number(simulation, 0)
        else:
            number, cost, numbers = machines, costs(instance, simulation.run(machines)).objective, 1
        tried += numbers
        return cost, hours, number, simulation

    if hours_per_dollar >= 0 or instance.wait_price == 0:
        best = attempt(hours_per_dollar if hours_per_dollar >= 0 else math.inf)
    else:
        best = attempt(DOLLAR / instance.wait_price)
        for factor in (0.5, 2.0):
            while (found := attempt(best[1] * factor))[0] < best[0]:
                best = found
    _, hours, number, simulation = best
    details: dict[str, bool | int | float | str] = {"machines": number, "numbers_tried": tried}
    if hours < math.inf:
        details["hours_per_dollar"] = hours
    return Outcome(simulation.run(number), details=details)


def worth(instance: WaitingInstance, hours_per_dollar: float, limit_us: int) -> IntArray:
    """(J,) int64: how long each job may wait, in microseconds."""
    if hours_per_dollar == math.inf:
        return np.full(instance.num_jobs, limit_us)
    # Micro-dollars an hour x microseconds x hours a dollar: a millionth is microseconds.
    waits = instance.rent().astype(np.float64) * instance.runtime_us * (hours_per_dollar / DOLLAR)
    limits: IntArray = np.minimum(waits, limit_us).astype(np.int64)
    return limits
