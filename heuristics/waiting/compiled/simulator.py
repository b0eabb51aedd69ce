"""From an instance and a policy to a schedule, by the compiled loop that fits them.

First come, first served, jobs of several cores: decided job by job, without a queue.

Where only the head of the queue may start, a job's fate hangs on the jobs before it alone. Let the front be the time
by which all of them have started or left. From the later of the front and its submission on, the job starts as soon as
a machine has room, unless its limit comes first; then the front moves there. So one pass over the jobs does, with a
heap of the running jobs' ends and what is free at the front. What ends at a moment makes room before anyone starts or
leaves; a wait of exactly the limit is still served.

A job that balks does not move the front, so it only looks ahead: through the heap in order of ends, without changing
it. Room only shrinks as jobs are added, so the end of a vain look is a lower bound on the start of every later job that
needs as many cores and as much memory; it is kept for each number of cores.

O(log s + log R) a job with R running, and for a job that looks ahead O(L log L) for L ends. State: 12 bytes a running
job and 12 for looks, 32 bytes a machine and 24 a core of a machine; nothing a job.

First come, first served, where all jobs are alike but for their runtimes: the recursion of Kiefer and Wolfowitz.

A machine then has a fixed number of slots, and a job needs one. Jobs start in the order of submission and no job that
leaves without starting holds up those behind it, so a job's start is known when it is submitted: when the first slot
ends. A tournament tree over slots holds the earliest end below each node. Its root is that time; the lowest slot idle
by then is found by one walk down, and its new end takes one walk up: 2 log2(s) steps without a branch, whether the
job waits or not, and no list of idle slots. State: 16 bytes a slot.

Measured on one core, two million jobs of the paper's baseline at s = 108: 26 to 37 million jobs a second.

First come, first served as the simulator of the paper's authors has it.

Where `serve_as_artifact` differs from `serve_in_turn`: a job holds its machine for whole seconds, the fraction cut off; jobs
that end together end one by one, by number, and each serves the queue; a job leaves only when it heads the queue at such an end,
having waited more than its limit, and its wait is put down as the limit; a job larger than a machine heads the queue
until then, or for ever: once nothing runs any more, all that wait, and all that come, rent without waiting.

As there, a job's fate hangs on the jobs before it alone, so one pass without a queue does. The front is the end at
which the job before left the queue. O(log s + log R) a job with R running.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.heuristics.waiting.compiled.kernels_backfill import TOO_NARROW, serve_by_reservation, serve_queue
from schedgap.heuristics.waiting.compiled.kernels_machines import (
    BEST,
    BLOCK,
    FIRST,
    NO_LIMIT_US,
    RENTED,
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
    end_job,
    end_jobs,
    find_machine,
    look_ahead,
    start_job,
)
from schedgap.instances.arrays import BoolArray, IntArray, locked_ints
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.heap import earliest
from schedgap.instances.kernels.random_numbers import uniform
from schedgap.instances.units import NEVER, SECOND_US
from schedgap.instances.waiting.model import WaitingInstance, WaitingSchedule


@inner_kernel
def foreseen_start(
    jobs: Jobs,
    machines: Machines,
    running: Running,
    count: int,
    placed: Placed,
    look: Look,
    bounds: Bounds,
    j: int,
    latest: int,
) -> int:
    """Return when a job that has no room now has it, `NEVER` if not until `latest`."""
    known = bounds.known[bounds.kind[j]]
    if known[0] > latest and known[1] <= jobs.memory[j]:
        return NEVER
    begin, _, _, _, bound = look_ahead(jobs, machines, running, count, placed, look, j, latest)
    if begin == NEVER:
        known[0] = bound
        known[1] = jobs.memory[j]
    return begin


@lean_kernel
def serve_in_turn(
    jobs: Jobs, waits: Waits, machines: Machines, running: Running, look: Look, bounds: Bounds, placed: Placed
) -> None:
    """Write where each job runs and when it starts; all machines are empty at first."""
    limit_step = 1 if waits.limit.shape[0] > 1 else 0
    mistaken_step = 1 if waits.mistaken.shape[0] > 1 else 0
    count, front = 0, 0
    for j in range(jobs.submit.shape[0]):
        submit, most = jobs.submit[j], waits.limit[j * limit_step]
        placed.machine[j] = RENTED
        placed.start[j] = submit
        if most < 0:
            continue
        wrong = waits.mistaken[j * mistaken_step]
        latest = submit + most
        now = max(submit, front)
        count = end_jobs(jobs, machines, running, count, placed, now)
        k = -1
        if now <= latest:
            k = find_machine(machines, jobs.cores[j], jobs.memory[j])
        if (wrong and (k < 0 or now > submit)) or (waits.balks and k < 0):
            # Not a step is taken before it is known where they lead.
            begin = now
            if now <= latest and k < 0:
                begin = foreseen_start(jobs, machines, running, count, placed, look, bounds, j, latest)
            if begin > latest:
                if wrong:
                    placed.start[j] = latest
                    front = max(front, latest)
                continue
            if wrong:
                continue
        while k < 0 and earliest(running.times, count) <= latest:
            now = running.times[0]
            count = end_jobs(jobs, machines, running, count, placed, now)
            k = find_machine(machines, jobs.cores[j], jobs.memory[j])
        if k < 0:
            if not waits.balks:
                placed.start[j] = latest
                front = max(front, latest)
            continue
        front = now
        start_job(jobs, machines, running, count, placed, j, k, now, now + jobs.runtime[j])
        count += 1


@lean_kernel
def serve_slots(jobs: Jobs, waits: Waits, slots_a_machine: int, slots: int, ends: Any, placed: Placed) -> None:
    """Write where each job runs and when it starts. ends : (2 * size,) int64 work array, size a power of two."""
    submit, machine, start = jobs.submit, placed.machine, placed.start
    size = ends.shape[0] >> 1
    for i in range(2 * size):
        ends[i] = NEVER
    for i in range(slots):
        ends[size + i] = 0
    for i in range(size - 1, 0, -1):
        ends[i] = min(ends[2 * i], ends[2 * i + 1])
    limit_step = 1 if waits.limit.shape[0] > 1 else 0
    mistaken_step = 1 if waits.mistaken.shape[0] > 1 else 0
    for j in range(submit.shape[0]):
        now, most = submit[j], waits.limit[j * limit_step]
        machine[j] = RENTED
        start[j] = now
        if most < 0:
            continue
        begin = max(now, ends[1])
        late = begin - now > most
        wrong = waits.mistaken[j * mistaken_step]
        if late:
            if wrong or not waits.balks:
                start[j] = now + most
            continue
        if wrong and begin > now:
            continue
        i = 1
        while i < size:
            i *= 2
            i += ends[i] > begin
        machine[j] = (i - size) // slots_a_machine
        start[j] = begin
        end = begin + jobs.runtime[j]
        ends[i] = end
        while i > 1:
            end = min(end, ends[i ^ 1])
            i >>= 1
            ends[i] = end


SECOND = 1_000_000


@lean_kernel
def serve_as_artifact(jobs: Jobs, rules: Artifact, machines: Machines, running: Running, placed: Placed) -> None:
    """Write where each job runs and when it starts; all machines are empty at first."""
    submit, start = jobs.submit, placed.start
    count, front, dead = 0, 0, False
    for j in range(submit.shape[0]):
        now = submit[j]
        placed.machine[j] = RENTED
        start[j] = now
        if rules.at_once[j] or dead:
            continue
        k, queued = -1, front > now
        if not queued:
            if rules.waits or j == 0 or submit[j - 1] != now:
                count = end_jobs(jobs, machines, running, count, placed, now)
            k = find_machine(machines, jobs.cores[j], jobs.memory[j])
            if k < 0 and not rules.waits:
                continue
        left = False
        while k < 0 and not left:
            if queued:
                # It heads the queue, at the end that the front stands at.
                now = front
                if now - submit[j] > rules.limit:
                    start[j] = submit[j] + rules.late_wait
                    left = True
                elif rules.error > 0 and uniform(rules.random) < rules.error:
                    left = True
                else:
                    k = find_machine(machines, jobs.cores[j], jobs.memory[j])
            if k < 0 and not left:
                if count == 0:
                    dead = True
                    left = True
                else:
                    queued = True
                    front = running.times[0]
                    end_job(jobs, machines, running, count, placed)
                    count -= 1
        if not left:
            start_job(jobs, machines, running, count, placed, j, k, now, now + jobs.runtime[j] // SECOND * SECOND)
            count += 1


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
