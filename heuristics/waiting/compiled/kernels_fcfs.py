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
"""

from __future__ import annotations

from schedgap.heuristics.waiting.compiled.kernels_look import look_ahead
from schedgap.heuristics.waiting.compiled.kernels_machines import find_machine
from schedgap.heuristics.waiting.compiled.kernels_running import end_jobs, start_job
from schedgap.heuristics.waiting.compiled.state import RENTED, Bounds, Jobs, Look, Machines, Placed, Running, Waits
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.heap import earliest
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
