"""First come, first served, jobs of several cores: decided job by job, without a queue.

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

Where it differs from `kernels_fcfs`: a job holds its machine for whole seconds, the fraction cut off; jobs that end
together end one by one, by number, and each serves the queue; a job leaves only when it heads the queue at such an end,
having waited more than its limit, and its wait is put down as the limit; a job larger than a machine heads the queue
until then, or for ever: once nothing runs any more, all that wait, and all that come, rent without waiting.

As there, a job's fate hangs on the jobs before it alone, so one pass without a queue does. The front is the end at
which the job before left the queue. O(log s + log R) a job with R running.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.compiled.kernels_machines import (
    RENTED,
    Artifact,
    Bounds,
    Jobs,
    Look,
    Machines,
    Placed,
    Running,
    Waits,
    end_job,
    end_jobs,
    find_machine,
    look_ahead,
    start_job,
)
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.heap import earliest
from schedgap.instances.kernels.random_numbers import uniform
from schedgap.instances.units import NEVER


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
