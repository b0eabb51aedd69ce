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

from schedgap.heuristics.waiting.compiled.policy import FIT, Policy
from schedgap.heuristics.waiting.parameters import HISTORY, TUNED_ON, play
from schedgap.heuristics.waiting.thresholds import Thresholds
from schedgap.instances.method import Outcome, method
from schedgap.instances.waiting.model import FAMILY, WaitingInstance

WEEK_S = 604_800.0


@method("worth-waiting", version=2, family=FAMILY, choices={"fit": FIT, **TUNED_ON})
def worth_waiting(
    instance: WaitingInstance,
    machines: int = -1,
    hours_per_dollar: float = -1.0,
    wait_limit_s: float = WEEK_S,
    fit: str = "first",
    tuned_on: str = HISTORY,
) -> Outcome:
    """Let each job wait as long as the rent saved is worth, in the first gap that holds it; no policy of the paper's.

    hours_per_dollar : the longest wait for a dollar of rent. wait_limit_s : the longest wait of all; an instance that
    allows less cuts it. machines, tuned_on : as the other policies have them (`policies`); -1 stands for the best found.

    Raises
    ------
    MethodError
        for parameters out of range.
    """
    policy = Policy(balks=True, scheduling="conservative", fit=fit)
    thresholds = Thresholds(wait_limit_s, hours_per_dollar=hours_per_dollar)
    return play(instance, policy, machines, thresholds, tuned_on=tuned_on)
