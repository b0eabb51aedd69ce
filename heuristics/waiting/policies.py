"""The policies of Waiting Game: who waits for a fixed machine, and who rents (sections III and IV).

Parameters that they share:

machines : fixed machines; -1 for the cheapest number that `machines.cheapest_number` finds. wait_limit_s : the longest
    wait, b in the paper; an instance that allows less cuts it. short_s : jobs that run so long or less are short, t in the
    paper. Both default to the paper's values for its real trace (section VI), and -1 stands for the best values found.
tuned_on : what is -1 is learnt from the jobs of the `history`, and from the instance's own where it has none; or in any
    case from the jobs of the instance `itself` (`thresholds`).
scheduling : who starts when a machine has room. `fcfs`: the head of the queue, as in the paper. `easy`: EASY
    backfilling. `sjf`: the shortest job heads the queue. `conservative`: conservative backfilling, each job in the first
    gap that holds it. All with known runtimes.
fit : the machine that a job goes to, the `first` with room or the `best`, which has the fewest cores free. The paper
    says best and its authors' simulator takes the first.
semantics : `paper`: jobs leave the queue at their limit, and jobs larger than a machine rent at arrival. `artifact`:
    as the authors' simulator does (`kernels_artifact`), for instances whose runtimes are whole seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedgap.heuristics.waiting.compiled.policy import Policy
from schedgap.heuristics.waiting.parameters import (
    CHOICES,
    NONE,
    SERVING,
    Serving,
    play,
    probability,
    waits_are_unlimited,
)
from schedgap.heuristics.waiting.thresholds import DAY_S, SHORT_S, Thresholds
from schedgap.instances.method import Outcome, method
from schedgap.instances.option_groups import flattened
from schedgap.instances.waiting.model import FAMILY, WaitingInstance

if TYPE_CHECKING:
    import numpy as np


PLACING = {key: CHOICES[key] for key in CHOICES if key != "scheduling"}
# Orders in which a job's start is known when it comes.
FORESEEN = {**PLACING, "scheduling": ("fcfs", "conservative")}


@method("all-rented", family=FAMILY)
def all_rented(instance: WaitingInstance) -> Outcome:
    """Buy no machine and rent for every job: what all other policies must beat."""
    return play(instance, Policy(waits=False), 0)


@method("njw", family=FAMILY, choices=PLACING)
@flattened(without=["scheduling"])
def njw(instance: WaitingInstance, machines: int = -1, serving: Serving = SERVING) -> Outcome:
    """No jobs wait: a job that finds no room rents (section III-B)."""
    return _play(instance, machines, serving, waits=False)


@method("ajw", family=FAMILY, supports=waits_are_unlimited, choices=CHOICES)
@flattened()
def ajw(instance: WaitingInstance, machines: int = -1, serving: Serving = SERVING) -> Outcome:
    """All jobs wait, and none rents that fits a machine (section III-A)."""
    return _play(instance, machines, serving)


@method("ajw-t", family=FAMILY, choices=CHOICES)
@flattened()
def ajw_t(
    instance: WaitingInstance, machines: int = -1, wait_limit_s: float = DAY_S, serving: Serving = SERVING
) -> Outcome:
    """All jobs wait, and rent when they have waited up to a limit (section III-C)."""
    return _play(instance, machines, serving, Thresholds(wait_limit_s))


@method("sww", family=FAMILY, choices=FORESEEN)
@flattened()
def sww(
    instance: WaitingInstance, machines: int = -1, wait_limit_s: float = DAY_S, serving: Serving = SERVING
) -> Outcome:
    """Short waits wait: a job that would wait longer than a limit rents at arrival (section IV-A).

    In `paper` semantics the wait is foreseen exactly, from the runtimes of the jobs that run and queue; this is possible
    where nobody who comes later may delay a job, so not under `easy` and `sjf`. In `artifact` semantics the jobs that
    `ajw-t` sends to on-demand machines go there at arrival instead: the same for jobs of one core, not for others.
    """
    return _play(instance, machines, serving, Thresholds(wait_limit_s), balks=True)


@method("ljw", family=FAMILY, supports=waits_are_unlimited, choices=CHOICES)
@flattened()
def ljw(instance: WaitingInstance, machines: int = -1, short_s: float = SHORT_S, serving: Serving = SERVING) -> Outcome:
    """Long jobs wait: a short job rents at arrival, idle machines or not (section IV-B)."""
    return _play(instance, machines, serving, Thresholds(short_s=short_s))


@method("compound", family=FAMILY, choices=FORESEEN)
@flattened()
def compound(
    instance: WaitingInstance,
    machines: int = -1,
    wait_limit_s: float = DAY_S,
    short_s: float = SHORT_S,
    serving: Serving = SERVING,
) -> Outcome:
    """Short jobs rent at arrival, and so do those that would wait longer than a limit (section IV-C)."""
    return _play(instance, machines, serving, Thresholds(wait_limit_s, short_s), balks=True)


@method("compound-mispredicted", version=2, family=FAMILY, stochastic=True, choices=FORESEEN)
@flattened()
def compound_mispredicted(
    instance: WaitingInstance,
    rng: np.random.Generator,
    machines: int = -1,
    wait_limit_s: float = DAY_S,
    short_s: float = SHORT_S,
    runtime_error: float = 0.1,
    wait_error: float = 0.1,
    serving: Serving = SERVING,
) -> Outcome:
    """Play the compound policy with wrong predictions of runtimes and waits (section VI-B, Figure 13).

    runtime_error : the probability that a job is taken for short if it is long, and for long if it is short.
    wait_error : that a job which should wait rents at once, and one that should rent at once waits up to the limit. In
    `artifact` semantics it is the probability that the head of the queue, each time that it is looked at, rents.
    """
    return _play(
        instance,
        machines,
        serving,
        Thresholds(wait_limit_s, short_s),
        rng,
        balks=True,
        runtime_error=probability("runtime_error", runtime_error),
        wait_error=probability("wait_error", wait_error),
    )


def _play(
    instance: WaitingInstance,
    machines: int,
    serving: Serving,
    thresholds: Thresholds = NONE,
    rng: np.random.Generator | None = None,
    **kind: Any,
) -> Outcome:
    policy = Policy(scheduling=serving.scheduling, fit=serving.fit, semantics=serving.semantics, **kind)
    return play(instance, policy, machines, thresholds, tuned_on=serving.tuned_on, rng=rng)
