"""From a method's parameters to its outcome: what all compiled rules share, and what they are told of the pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedgap.heuristics.harvest.acquisition import ACQUIRERS, SCALINGS, acquisition
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import HarvestInstance
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import State
from schedgap.instances.method import Outcome, Status
from schedgap.instances.units import SECOND_MS

LONGEST_S = 10**9


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """What every method of the family is told of the pool and of checkpoints.

    acquirer, scaling : as `acquisition` has them. epoch_s : how often the pool is looked at (section 3.2).
    interruptible_every_s : after how many seconds of work tasks take checkpoints that cost no time (SlackSched, Appendix B.3); 0
    for never.
    """

    acquirer: str = "keep"
    scaling: str = "none"
    epoch_s: int = 3600
    interruptible_every_s: int = 60

    @property
    def free_every_ms(self) -> int:
        """After how many ms of work tasks take checkpoints that cost no time.

        Raises `MethodError` for a number out of range.
        """
        return every_ms("interruptible_every_s", self.interruptible_every_s)

    @property
    def epoch_ms(self) -> int:
        """How often the pool is looked at. Raises `MethodError` for a number out of range."""
        if not 1 <= self.epoch_s <= LONGEST_S:
            raise MethodError(f"epoch_s is {self.epoch_s}; give 1 to {LONGEST_S} seconds.")
        return self.epoch_s * SECOND_MS


POOL = PoolOptions()
CHOICES = {"acquirer": tuple(ACQUIRERS), "scaling": tuple(SCALINGS)}


def every_ms(name: str, value_s: int) -> int:
    """Return how often tasks take checkpoints, from a parameter in seconds.

    Raises `MethodError` for a number out of range.
    """
    if not 0 <= value_s <= LONGEST_S:
        raise MethodError(f"{name} is {value_s}; give 1 to {LONGEST_S} seconds, or 0 for no checkpoints.")
    return value_s * SECOND_MS


def play(
    instance: HarvestInstance,
    kernel: Callable[[State], int],
    pool: PoolOptions,
    *,
    copies: int = 1,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Play a rule, as `Simulator.play` has it, to the end.

    copies : so many runs of a task the rule may place at one moment. rng : of what the rule draws.

    Raises `MethodError` for parameters out of range.
    """
    if (reason := fixed_pool_reason(instance, pool.acquirer, pool.scaling)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    seed = 0 if rng is None else int(rng.integers(2**63))
    simulator = Simulator(instance, seed=seed, copies=copies, epoch_ms=pool.epoch_ms)
    simulator.play(kernel, acquisition(instance, pool.acquirer, pool.scaling).look_after)
    return outcome(simulator)


def fixed_pool_reason(instance: HarvestInstance, acquirer: str, scaling: str) -> str | None:
    """Return why a way to acquire VMs cannot be had with an instance, or None."""
    if not instance.is_fixed or (acquirer, scaling) == ("keep", "none"):
        return None
    return f"the pool is fixed, and acquirer {acquirer} with scaling {scaling} chooses VMs; give keep and none"


def outcome(simulator: Simulator) -> Outcome:
    """Return the schedule of a simulation in which nothing will happen any more, or why it is none."""
    if simulator.is_complete:
        return Outcome(simulator.schedule(), details={"kills": int(simulator.state.tasks.kills.sum())})
    job = int(simulator.state.tasks.job[simulator.first_waiting()])
    name, cores = simulator.instance.job_name(job), simulator.instance.cores[job]
    reason = f"tasks of job {name}, of {cores} cores, wait for ever: no VM that is leased in the end has room for them"
    return Outcome(details={"reason": reason})
