"""From an instance and a policy to a schedule, by the compiled loop that fits them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.heuristics.waiting.compiled.kernels_backfill import TOO_NARROW, serve_by_reservation, serve_queue
from schedgap.heuristics.waiting.compiled.kernels_fcfs import serve_as_artifact, serve_in_turn, serve_slots
from schedgap.heuristics.waiting.compiled.kernels_machines import (
    BEST,
    BLOCK,
    FIRST,
    NO_LIMIT_US,
    WORD,
    Artifact,
    Bounds,
    Jobs,
    Look,
    Machines,
    Placed,
    Profiles,
    Queue,
    Running,
    Waits,
)
from schedgap.instances.arrays import BoolArray, IntArray, locked_ints
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting.model import WaitingInstance, WaitingSchedule

SCHEDULING = ("fcfs", "easy", "sjf", "conservative")
FIT = ("first", "best")
SEMANTICS = ("paper", "artifact")
# Words that best fit may count machines by: one for each core and 64 jobs, and up to four times as many are tried.
MAX_BUCKETS = 2**25


@dataclass(frozen=True, slots=True)
class Policy:
    """Who waits, for how long, and in which order jobs are served.

    waits : whether a job that finds no room waits, or rents. limit_us : the longest wait. short_us : jobs that run so long or
    less rent at arrival, whether a machine is idle or not; -1 for none. balks : whether a job that would wait longer than the
    limit rents at arrival, or at the end of its limit. runtime_error : probability that a job is taken for short if it is long,
    or for long. wait_error : that a job which should wait rents at once, or one which should rent at once waits up to its
    limit; in `artifact` semantics, that the head of the queue, each time that it is looked at, rents.
    """

    waits: bool = True
    limit_us: int = NO_LIMIT_US
    short_us: int = -1
    balks: bool = False
    scheduling: str = "fcfs"
    fit: str = "first"
    semantics: str = "paper"
    runtime_error: float = 0.0
    wait_error: float = 0.0

    def unsupported(self, instance: WaitingInstance) -> str | None:
        """Return why the policy cannot be played on an instance, None if it can."""
        if self.scheduling in ("easy", "sjf") and self.balks and self.waits:
            return (
                f"under scheduling={self.scheduling} a job's wait depends on jobs still to come, so none can tell at "
                "arrival that it would be too long; use scheduling=fcfs or conservative"
            )
        if self.semantics == "artifact" and self.scheduling != "fcfs":
            return f"the authors' simulator serves first come, first served, not {self.scheduling}; use semantics=paper"
        if self.semantics == "artifact" and (instance.runtime_us % SECOND_US).any():
            return (
                "the authors' simulator frees a machine after whole seconds, and a job here runs for a fraction more, so "
                "its schedules would overload machines; use semantics=paper, or runtimes in whole seconds"
            )
        _, room = core_units(instance)
        if (
            max(room, room * instance.num_jobs // 64) > MAX_BUCKETS
            and self.fit == "best"
            and self.scheduling != "conservative"
        ):
            return (
                f"machines are counted by {room} cores for best fit, too many for {instance.num_jobs} jobs; use first"
            )
        if instance.max_wait_us is not None and self.waits and self.limit_us > instance.max_wait_us:
            return f"a job may wait no longer than {instance.max_wait_us / SECOND_US:g} s, and here it may wait longer"
        return None


def core_units(instance: WaitingInstance) -> tuple[IntArray, int]:
    """Return each job's and a machine's cores in the largest exact unit: the same jobs fit the same machines.

    A machine has no more units than the jobs that fit it have together, and a job that needs more cores than a machine
    one more than that.
    """
    fits = instance.cores <= instance.machine_cores
    unit = max(1, int(np.gcd.reduce(instance.cores[fits], initial=0)))
    units = instance.cores // unit
    if unit == 1 and int(instance.cores.max()) <= instance.machine_cores <= instance.num_jobs:
        return instance.cores, instance.machine_cores
    room = min(instance.machine_cores // unit, max(1, sum(units[fits].tolist())))
    return locked_ints(np.where(fits, units, room + 1)), room


# Steps of what is free on a machine that are kept at first; doubled when they run out.
FEWEST_STEPS = 64
# Where machines have more cores, in the largest exact unit, these are numbered.
MAX_CORES = 2**20


class CompiledSimulator:
    """A policy on an instance, to be played with any number of machines. Draws from `rng` only if errors are asked for.

    Work arrays for jobs are allocated once; what a run allocates lives in its schedule.
    """

    def __init__(
        self,
        instance: WaitingInstance,
        policy: Policy,
        rng: np.random.Generator | None = None,
        limit_us: IntArray | None = None,
    ) -> None:
        """Prepare the runs. limit_us : (J,), the limit of each job in place of the policy's, negative to rent at once."""
        self.instance = instance
        self.cores, self.machine_cores = core_units(instance)
        self.policy = policy
        self.seed = 0
        short = instance.runtime_us <= policy.short_us
        self.mistaken: BoolArray = np.zeros(1, np.bool_)
        if policy.wait_error > 0:
            self.seed = int(_rng(rng).integers(2**63))
        # Job by job, so that no job's luck depends on how many come after it.
        errors = [policy.runtime_error, policy.wait_error if policy.semantics == "paper" else 0.0]
        drawn = [error for error in errors if error > 0]
        wrong = _rng(rng).random((instance.num_jobs, len(drawn))) < drawn if drawn else np.zeros((1, 0), np.bool_)
        if errors[0] > 0:
            short ^= wrong[:, 0]
        if errors[1] > 0:
            self.mistaken = wrong[:, -1].copy()
        self.short: BoolArray = short
        at_once = short | ~instance.fits_fixed()
        most = policy.limit_us if policy.waits else 0
        if limit_us is not None:
            self.limit_us = np.where(at_once, -1, limit_us)
        elif at_once.any():
            self.limit_us = np.where(at_once, -1, most)
        else:
            self.limit_us = np.array([most])
        self.slots_a_machine = self._slots_a_machine(at_once)
        # With no machine at all, whoever waits as long as it takes would wait for ever.
        self.least = int(self.limit_us.max() >= NO_LIMIT_US)

    def run(self, num_machines: int, most_wait_us: int = -1) -> WaitingSchedule:
        """Play the policy with so many fixed machines.

        most_wait_us : where jobs have waited longer than that together, the rest may rent at once, which is quicker where
        many wait; negative for never.
        """
        policy, instance = self.policy, self.instance
        jobs = Jobs(instance.submit_us, instance.runtime_us, self.cores, instance.memory_mib)
        waits = Waits(self.limit_us, self.mistaken, policy.balks or not policy.waits)
        placed = Placed(np.empty(instance.num_jobs, np.int64), np.empty(instance.num_jobs, np.int64))
        if policy.semantics == "artifact":
            late_wait = 0 if waits.balks else policy.limit_us
            random = np.array([self.seed], np.uint64)
            rules = Artifact(self.short, policy.waits, policy.limit_us, late_wait, policy.wait_error, random)
            serve_as_artifact(jobs, rules, self._machines(num_machines), self._running(num_machines), placed)
        elif self.slots_a_machine:
            slots = num_machines * self.slots_a_machine
            ends = np.empty(2 * _power_of_two(slots), np.int64)
            serve_slots(jobs, waits, self.slots_a_machine, slots, ends, placed)
        elif policy.scheduling == "fcfs" or not policy.waits:
            serve_in_turn(jobs, waits, *self._empty(num_machines), self._bounds(), placed)
        elif policy.scheduling == "conservative":
            steps, fit = FEWEST_STEPS, BEST if policy.fit == "best" else FIRST
            while (
                serve_by_reservation(jobs, waits, fit, self._profiles(num_machines, steps), placed, most_wait_us)
                == TOO_NARROW
            ):
                steps *= 2
        else:
            priority = instance.runtime_us if policy.scheduling == "sjf" else instance.submit_us
            backfills = policy.scheduling == "easy"
            empty = self._empty(num_machines)
            serve_queue(jobs, self.limit_us, priority, backfills, *empty, self._queue(), placed)
        for array in placed:
            # A schedule copies arrays that somebody may write.
            array.setflags(write=False)
        return WaitingSchedule(num_machines, placed.machine, placed.start)

    def _slots_a_machine(self, at_once: BoolArray) -> int:
        """Return how many jobs a machine holds if all that look at machines are alike, else 0."""
        policy, instance = self.policy, self.instance
        if policy.semantics == "artifact" or policy.scheduling == "sjf" or at_once.all():
            return 0
        first = int(np.argmin(at_once))
        cores, memory_mib = int(instance.cores[first]), int(instance.memory_mib[first])
        alike = (instance.cores == cores) & (instance.memory_mib == memory_mib)
        if not (alike | at_once).all():
            return 0
        held = instance.machine_cores // cores
        if memory_mib:
            held = min(held, instance.machine_memory_mib // memory_mib)
        # All jobs run on the first machine that holds as many.
        held = min(held, instance.num_jobs)
        return held if held == 1 or policy.fit == "first" else 0

    def _machines(self, number: int) -> Machines:
        """Return empty machines."""
        instance = self.instance
        size = _power_of_two(number)
        free = np.full((2, 2 * size), -1, np.int64)
        free[:, size : size + number] = [[self.machine_cores], [instance.machine_memory_mib]]
        while size > 1:
            free[:, size // 2 : size] = np.maximum(free[:, size : 2 * size : 2], free[:, size + 1 : 2 * size : 2])
            size //= 2
        if self.policy.fit != "best":
            return Machines(FIRST, free, np.zeros((1, 1), np.int64))
        words = -(-number // WORD)
        buckets = np.zeros((self.machine_cores + 1, words + 1), np.int64)
        buckets[-1, :words] = -1
        if number % WORD:
            buckets[-1, words - 1] = (1 << number % WORD) - 1
        buckets[-1, words] = number
        return Machines(BEST, free, buckets)

    def _running(self, number: int) -> Running:
        """Return room for a heap of running jobs: each holds a core."""
        most = min(self.instance.num_jobs, number * self.machine_cores)
        return Running(np.empty(most + 1, np.int64), np.empty(most + 1, np.int32))

    def _empty(self, number: int) -> tuple[Machines, Running, Look]:
        """Return empty machines, nothing that runs, and room to look ahead."""
        look = Look(*self._running(number), np.zeros((2, number), np.int64), np.empty(number, np.int64))
        return self._machines(number), self._running(number), look

    def _bounds(self) -> Bounds:
        """Return no bounds yet; jobs' kinds are their cores unless these are many."""
        if self.machine_cores <= MAX_CORES:
            return Bounds(self.cores, np.zeros((self.machine_cores + 1, 2), np.int64))
        present, kind = np.unique(self.cores, return_inverse=True)
        return Bounds(locked_ints(kind.reshape(-1)), np.zeros((present.shape[0], 2), np.int64))

    def _queue(self) -> Queue:
        """Return room for a queue of all jobs."""
        num_jobs = self.instance.num_jobs
        order, leave_jobs = np.empty((2, num_jobs), np.int32)
        blocks = np.empty((2, 3, (num_jobs >> BLOCK) + 1), np.int64)
        return Queue(order, blocks, np.empty(num_jobs, np.int64), leave_jobs)

    def _profiles(self, number: int, steps: int) -> Profiles:
        """Return empty machines, with room for so many steps of what is free on each."""
        free = np.empty((number, steps, 2), np.int64)
        free[:, 0] = self.machine_cores, self.instance.machine_memory_mib
        times = np.zeros((number, steps), np.int64)
        return Profiles(times, free, np.zeros(number, np.int64), np.ones(number, np.int64))


def _power_of_two(number: int) -> int:
    return 1 << max(number - 1, 1).bit_length()


def _rng(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        raise ValueError("errors are drawn from rng; give one")
    return rng
