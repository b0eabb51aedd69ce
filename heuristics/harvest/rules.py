"""The CapacityScheduler, to which the SlackSched paper compares, its kin with checkpoints or replicas, and the Oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedgap.heuristics.harvest.acquisition import ACQUIRERS, SCALINGS, acquisition
from schedgap.heuristics.harvest.kernels_rules import Ahead, Coming, Foresight, play_oracle, play_replication
from schedgap.instances.arrays import records
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, NO_CHECKPOINTS, HarvestInstance
from schedgap.instances.harvest.simulator.plain import play_plain
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import State
from schedgap.instances.method import Outcome, Status, flattened, method
from schedgap.instances.units import NEVER, SECOND_MS

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


MOST_REPLICAS = 64


@method("capacity-scheduler", version=2, family=FAMILY, stochastic=True, choices=CHOICES)
@flattened()
def capacity_scheduler(instance: HarvestInstance, rng: np.random.Generator, pool: PoolOptions = POOL) -> Outcome:
    """Place each waiting task, first in first out, on a random VM of those that it fits on (SlackSched, section 4.1)."""
    free_every = pool.free_every_ms
    return play(instance, lambda state: play_plain(state, free_every, 0), pool, rng=rng)


def _has_costly_checkpoints(instance: HarvestInstance) -> str | None:
    if (instance.checkpoint_ms > 0).any():
        return None
    free = int((instance.checkpoint_ms == 0).sum())
    return (
        f"no job can take checkpoints that cost time ({free} of {instance.num_jobs} take them at no cost, "
        f"{instance.num_jobs - free} take none), so that this is capacity-scheduler; give jobs a checkpoint_ms"
    )


@method(
    "checkpoint-migrate", version=2, family=FAMILY, stochastic=True, choices=CHOICES, supports=_has_costly_checkpoints
)
@flattened()
def checkpoint_migrate(
    instance: HarvestInstance, rng: np.random.Generator, checkpoint_every_s: int = 600, pool: PoolOptions = POOL
) -> Outcome:
    """Be the CapacityScheduler, and let tasks take checkpoints though they cost time (SlackSched, Appendix B.1).

    Killed tasks continue from their last checkpoint, on any VM. Tasks of jobs that cannot take checkpoints run without.
    """
    if checkpoint_every_s < 1:
        raise MethodError(f"checkpoint_every_s is {checkpoint_every_s}; give at least 1 second.")
    free_every, costly_every = pool.free_every_ms, every_ms("checkpoint_every_s", checkpoint_every_s)
    return play(instance, lambda state: play_plain(state, free_every, costly_every), pool, rng=rng)


def _has_jobs_without_checkpoints(instance: HarvestInstance) -> str | None:
    if (instance.checkpoint_ms != 0).any():
        return None
    return (
        "tasks of every job take checkpoints at no cost, and those are not replicated; give one job checkpoint_ms "
        f"{NO_CHECKPOINTS}"
    )


@method(
    "replication", version=2, family=FAMILY, stochastic=True, choices=CHOICES, supports=_has_jobs_without_checkpoints
)
@flattened()
def replication(
    instance: HarvestInstance, rng: np.random.Generator, replicas: int = 3, pool: PoolOptions = POOL
) -> Outcome:
    """Run each task on several random VMs at once, until one completes it (SlackSched, Appendix B.1).

    A task starts on as many VMs as it fits on, up to `replicas`. Runs that are killed are replaced only once all are. Tasks
    that take checkpoints at no cost are not replicated.
    """
    if not 1 <= replicas <= MOST_REPLICAS:
        raise MethodError(f"replicas is {replicas}; give 1 to {MOST_REPLICAS}.")
    free_every = pool.free_every_ms
    return play(instance, lambda state: play_replication(state, free_every), pool, copies=replicas, rng=rng)


GUARANTEES = ("no-shrink", "no-kill")


@method("oracle", version=2, family=FAMILY, choices={**CHOICES, "guarantee": GUARANTEES})
@flattened()
def oracle(instance: HarvestInstance, guarantee: str = "no-shrink", pool: PoolOptions = POOL) -> Outcome:
    """Place a task only where it will complete before the VM shrinks, which is known, by its estimate, which may be wrong.

    Greedy, first in first out (SlackSched, section 4.1): a waiting task that is safe on some VM now is placed on the one that
    is safe for the shortest time that is long enough. guarantee : the VM does not shrink before the task's end (`no-shrink`,
    the paper's), or, if the estimates are right, no shrink before the task's end kills anything on the VM (`no-kill`).
    """
    foresight, kind, free_every = _foresight(instance), GUARANTEES.index(guarantee), pool.free_every_ms
    return play(instance, lambda state: play_oracle(state, foresight, kind, free_every), pool)


def _foresight(instance: HarvestInstance) -> Foresight:
    first, cores = instance.first_event, instance.event_cores
    shrinks = np.concatenate(([False], np.diff(cores) < 0))
    shrinks[first[:-1]] = False
    # The first shrink from each event on, of its own VM or of one after it; then those of others are taken out.
    places = np.where(shrinks, np.arange(cores.size), cores.size)
    place = np.minimum.accumulate(places[::-1])[::-1]
    own = place < first[1:][instance.event2vm()]
    shrink_ms = np.where(own, instance.event_ms[np.where(own, place, 0)], NEVER)
    return Foresight(
        events=records(Coming, cores.size, ms=instance.event_ms, cores=cores, shrink_ms=shrink_ms),
        vms=records(Ahead, instance.num_vms, at=first[:-1], last=first[1:]),
        shortest=np.minimum.reduceat(instance.estimate_ms, instance.first_task[:-1]),
    )
