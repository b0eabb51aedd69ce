"""From a method's parameters to its outcome: what all compiled rules share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest import kernels_play
from schedgap.heuristics.harvest.acquire import ACQUIRERS, SCALINGS, acquisition
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.cluster import Cluster
from schedgap.instances.harvest.model import SECOND_MS
from schedgap.instances.method import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.heuristics.harvest.kernels_acquire import Acquire
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.harvest.kernels_state import State
    from schedgap.instances.harvest.model import HarvestInstance

    Play = Callable[[State, Acquire, FloatArray], int]

# Parameters that every method of the family has: `acquirer` and `scaling`, as `acquisition` has them, and
# `interruptible_every_s`, after how many seconds of work tasks take checkpoints that cost no time (SlackSched, Appendix B.3).
CHOICES = {"acquirer": tuple(ACQUIRERS), "scaling": tuple(SCALINGS)}
LONGEST_S = 10**9


def play_rule(
    instance: HarvestInstance,
    rule: int,
    *,
    acquirer: str,
    scaling: str,
    interruptible_every_s: int,
    checkpoint_every_s: int = 0,
    copies: int = 1,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Play one of the rules of `kernels_play`.

    checkpoint_every_s : after how many seconds of work tasks take checkpoints that cost time. copies : so many runs of a task
    the rule may place at one moment. rng : for rules that draw.

    Raises
    ------
    MethodError
        for parameters out of range.
    """

    def kernel(state: State, acquire: Acquire, parameter: FloatArray) -> int:
        return int(kernels_play.play(state, rule, acquire, parameter))

    return play_kernel(
        instance,
        kernel,
        acquirer=acquirer,
        scaling=scaling,
        every_s=(interruptible_every_s, checkpoint_every_s),
        copies=copies,
        rng=rng,
    )


def play_kernel(
    instance: HarvestInstance,
    play: Play,
    *,
    acquirer: str,
    scaling: str,
    every_s: tuple[int, int],
    copies: int = 1,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Play a kernel of a state, an acquisition and parameters as `kernels_play` has them, to the end.

    every_s : `interruptible_every_s` and `checkpoint_every_s`. copies, rng : as above.

    Raises
    ------
    MethodError
        for parameters out of range.
    """
    reason = fixed_pool_reason(instance, acquirer, scaling)
    if reason is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    for name, value in zip(("interruptible_every_s", "checkpoint_every_s"), every_s, strict=True):
        if not 0 <= value <= LONGEST_S:
            raise MethodError(f"{name} is {value}; give 1 to {LONGEST_S} seconds, or 0 for no checkpoints.")
    parameter = np.array([float(value * SECOND_MS) for value in every_s])
    seed = 0 if rng is None else int(rng.integers(2**63))
    cluster = Cluster(instance, seed=seed, copies=copies)
    acquire = acquisition(instance, acquirer, scaling)
    cluster.run(lambda state: play(state, acquire, parameter))
    return outcome(cluster)


def fixed_pool_reason(instance: HarvestInstance, acquirer: str, scaling: str) -> str | None:
    """Return why a way to acquire VMs cannot be had with an instance, or None."""
    if not instance.is_fixed or (acquirer, scaling) == ("keep", "none"):
        return None
    return f"the pool is fixed, and acquirer {acquirer} with scaling {scaling} chooses VMs; give keep and none"


def outcome(cluster: Cluster) -> Outcome:
    """Return the schedule of a cluster in which nothing will happen any more, or why it is none."""
    if cluster.is_complete:
        return Outcome(cluster.schedule(), details={"kills": int(cluster.state.kills.sum())})
    job = int(cluster.state.task2job[cluster.first_waiting()])
    name, cores = cluster.instance.job_name(job), cluster.instance.cores[job]
    reason = f"tasks of job {name}, of {cores} cores, wait for ever: no VM that is leased in the end has room for them"
    return Outcome(details={"reason": reason})
