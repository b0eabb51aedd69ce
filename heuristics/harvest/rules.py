"""The CapacityScheduler, to which the SlackSched paper compares, its kin with checkpoints or replicas, and the Oracle.

The Oracle (section 4.1) is greedy: it sees all changes of the VMs that come, and plans nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedgap.heuristics.harvest.acquisition import ACQUIRERS, SCALINGS, acquisition
from schedgap.heuristics.harvest.slacksched.kernels_match import left_ms
from schedgap.instances.arrays import IntArray, Records, records
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, NO_CHECKPOINTS, HarvestInstance
from schedgap.instances.harvest.simulator.events import HAPPENED, advance, has_room, lasts_ms, place, work_left
from schedgap.instances.harvest.simulator.leases import next_waiting
from schedgap.instances.harvest.simulator.plain import checkpoints_every, is_refused, list_fitting, play_plain, refuse
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below
from schedgap.instances.method import Outcome, Status, flattened, method
from schedgap.instances.units import NEVER, SECOND_MS


@lean_kernel
def play_replication(s: State, free_every: int) -> int:
    """Play the rule from now on, as `Simulator.play` has it. free_every : as `checkpoints_every` has it."""
    status = HAPPENED
    while status == HAPPENED:
        if s.clock[0].waiting > 0:
            replication_pass(s, free_every)
        status = advance(s)
    return status


@inner_kernel
def replication_pass(s: State, free_every: int) -> None:
    """Place what fits, several runs of each task (SlackSched, Appendix B.1), in order, on VMs drawn from those that it fits on.

    Up to `copies` different ones; a task with checkpoints gets one run. A run that is lost is not replaced while another of its
    task goes on. O(V + K C log64 T) for each job that is looked at, K its tasks that fit and C `copies`.
    """
    num_refused = 0
    task = next_waiting(s, 0)
    while task != NOBODY:
        job = s.tasks[task].job
        end, cores, memory = s.jobs[job + 1].first_task, s.jobs[job].cores, s.jobs[job].memory
        if not is_refused(s, num_refused, cores, memory):
            every = checkpoints_every(s, job, free_every, 0)
            most = 1 if every > 0 else s.rules.copies
            num_fitting = list_fitting(s, cores, memory)
            while task != NOBODY and task < end and num_fitting > 0:
                num_fitting = _place_copies(s, task, num_fitting, most, every)
                task = next_waiting(s, task + 1)
            if num_fitting > 0:
                continue
            num_refused = refuse(s, num_refused, cores, memory)
        task = next_waiting(s, end)


@inner_kernel
def _place_copies(s: State, task: int, num_fitting: int, most: int, every: int) -> int:
    """Start up to `most` runs of a task; return how many VMs are left in `State.fitting`."""
    job = s.tasks[task].job
    drawn = min(most, num_fitting)
    # The drawn ones are put last, from where those without room for another task leave the list.
    for i in range(drawn):
        last = num_fitting - 1 - i
        chosen = below(s.clock.random, last + 1)
        s.fitting[chosen], s.fitting[last] = s.fitting[last], s.fitting[chosen]
        place(s, task, s.fitting[last], every)
    left = num_fitting - drawn
    for i in range(num_fitting - drawn, num_fitting):
        if has_room(s, s.fitting[i], s.jobs[job].cores, s.jobs[job].memory):
            s.fitting[left] = s.fitting[i]
            left += 1
    return left


# What is guaranteed: that the VM does not shrink before the task's end, or that it kills nothing before it.
NO_SHRINK, NO_KILL = 0, 1


class Coming:
    """An event of a VM. shrink_ms : the moment of the VM's first shrink that is not before it; NEVER for none."""

    ms: int
    cores: int
    shrink_ms: int


class Ahead:
    """at, last : a VM's first event later than now, and that after its last. safe : how long that of `State.fitting` is safe."""

    at: int
    last: int
    safe: int


class Foresight(NamedTuple):
    """What comes. events : (E,), VM by VM. vms : (V,). shortest : (J,) int64, the shortest estimate of a job's tasks."""

    events: Records[Coming]
    vms: Records[Ahead]
    shortest: IntArray


@lean_kernel
def play_oracle(s: State, f: Foresight, guarantee: int, free_every: int) -> int:
    """Play the Oracle from now on, as `Simulator.play` has it."""
    status = HAPPENED
    while status == HAPPENED:
        if s.clock[0].waiting > 0:
            _pass(s, f, guarantee, free_every)
        status = advance(s)
    return status


@inner_kernel
def _pass(s: State, f: Foresight, guarantee: int, free_every: int) -> None:
    """Place each waiting task, in order, on the VM that is safe for the shortest time that is long enough, by its estimate.

    So VMs that are safe for long are left for long tasks; of equals, the first. O(V) for each change of demand from one job
    that is looked at to the next (with NO_KILL, times the events of a VM and the runs on it), and for each task that is placed;
    O(log64 T) for each task that waits.
    """
    task, count, cores, memory, longest = next_waiting(s, 0), 0, -1, -1, -1
    while task != NOBODY:
        job = s.tasks[task].job
        end = s.jobs[job + 1].first_task
        if s.jobs[job].cores != cores or s.jobs[job].memory != memory:
            cores, memory = s.jobs[job].cores, s.jobs[job].memory
            count = _list_safe(s, f, guarantee, cores, memory)
            longest = _longest(f, count)
        every = checkpoints_every(s, job, free_every, 0)
        # What was saved may make tasks with checkpoints shorter than their estimates.
        if longest < f.shortest[job] and (every == 0 or count == 0):
            task = next_waiting(s, end)
            continue
        while task != NOBODY and task < end and count > 0:
            lasts = lasts_ms(s, task, work_left(s, task), every)
            if lasts <= longest:
                chosen = _tightest(s, f, count, lasts)
                vm = s.fitting[chosen]
                place(s, task, vm, every)
                if has_room(s, vm, cores, memory):
                    f.vms[chosen].safe = _safe_ms(s, f, guarantee, vm, cores)
                else:
                    count -= 1
                    s.fitting[chosen], f.vms[chosen].safe = s.fitting[count], f.vms[count].safe
                longest = _longest(f, count)
            task = next_waiting(s, task + 1)
        if task != NOBODY and task < end:
            task = next_waiting(s, end)


@inner_kernel
def _list_safe(s: State, f: Foresight, guarantee: int, cores: int, memory: int) -> int:
    """List the VMs with room in `State.fitting`, and for how long they are safe; return how many they are."""
    count = list_fitting(s, cores, memory)
    for i in range(count):
        f.vms[i].safe = _safe_ms(s, f, guarantee, s.fitting[i], cores)
    return count


@inner_kernel
def _longest(f: Foresight, count: int) -> int:
    """Return for how long that of the listed VMs is safe that is so for longest; -1 if there are none."""
    longest = -1
    for i in range(count):
        longest = max(longest, f.vms[i].safe)
    return longest


@inner_kernel
def _tightest(s: State, f: Foresight, count: int, lasts: int) -> int:
    """Return the place in the list of the VM that is safe for the shortest time that is at least `lasts`."""
    best = NOBODY
    for i in range(count):
        if f.vms[i].safe >= lasts and (
            best == NOBODY
            or f.vms[i].safe < f.vms[best].safe
            or (f.vms[i].safe == f.vms[best].safe and s.fitting[i] < s.fitting[best])
        ):
            best = i
    return best


@inner_kernel
def _safe_ms(s: State, f: Foresight, guarantee: int, vm: int, cores: int) -> int:
    """Return for how long a task with so many cores may run on a VM from now on."""
    now, at, last = s.clock[0].now, f.vms[vm].at, f.vms[vm].last
    while at < last and f.events[at].ms <= now:
        at += 1
    f.vms[vm].at = at
    if at == last or f.events[at].shrink_ms == NEVER:
        return NEVER
    if guarantee == NO_SHRINK:
        return int(f.events[at].shrink_ms - now)
    for event in range(at, last):
        used, run = cores, s.vms[vm].oldest
        while run != NOBODY:
            guess = s.runs[run].guess if s.runs[run].guess > now else now + left_ms(s.runs[run].guess, now)
            if guess > f.events[event].ms:
                used += s.jobs[s.tasks[s.runs[run].task].job].cores
            run = s.runs[run].after
        if used > f.events[event].cores:
            return int(f.events[event].ms - now)
    return NEVER


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
