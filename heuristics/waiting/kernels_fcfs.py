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

from typing import Any

from schedgap.heuristics.waiting.kernels_look import look_ahead
from schedgap.heuristics.waiting.kernels_machines import change_free, find_machine
from schedgap.instances.jit import lean_kernel
from schedgap.instances.kernels_heap import NEVER, earliest, heap_pop, heap_push

RENTED = -1


@lean_kernel
def serve_in_turn(
    submit: Any, runtime: Any, cores: Any, memory: Any, limit: Any, mistaken: Any, balks: bool, fit: int,
    free: Any, buckets: Any, times: Any, jobs: Any, look: Any, kind: Any, known: Any, machine: Any, start: Any,
) -> None:  # fmt: skip
    """Write where each job runs and when it starts.

    submit, runtime, cores, memory : (J,) int64. limit, mistaken, balks : as in `kernels_slots.serve_slots`; jobs larger
    than a machine have a negative limit. fit, free, buckets : `kernels_machines`, all machines empty. times, jobs : (R,)
    work arrays for running jobs. look : see `look_ahead`. kind : (J,) int64, the same number for jobs of equally many
    cores. known : (C, 2) int64, zeros: for each kind, a lower bound on the start of jobs with that much memory or more.
    machine, start : (J,) int64, out.
    """
    limit_step = 1 if limit.shape[0] > 1 else 0
    mistaken_step = 1 if mistaken.shape[0] > 1 else 0
    running, front = 0, 0
    for j in range(submit.shape[0]):
        most = limit[j * limit_step]
        machine[j] = RENTED
        start[j] = submit[j]
        if most < 0:
            continue
        wrong = mistaken[j * mistaken_step]
        latest = submit[j] + most
        now = max(submit[j], front)
        while earliest(times, running) <= now:
            done = jobs[0]
            heap_pop(times, jobs, running)
            running -= 1
            change_free(free, buckets, fit, machine[done], cores[done], memory[done])
        k = -1
        if now <= latest:
            k = find_machine(free, buckets, fit, cores[j], memory[j])
        if (wrong and (k < 0 or now > submit[j])) or (balks and k < 0):
            # Not a step is taken before it is known where they lead.
            begin = now
            if now <= latest and k < 0:
                begin = NEVER
                if known[kind[j], 0] <= latest or known[kind[j], 1] > memory[j]:
                    begin, _, _, _, bound = look_ahead(
                        times, jobs, running, machine, cores, memory, free, cores[j], memory[j], latest, look
                    )
                    if begin == NEVER:
                        known[kind[j], 0] = bound
                        known[kind[j], 1] = memory[j]
            if begin > latest:
                if wrong:
                    start[j] = latest
                    front = max(front, latest)
                continue
            if wrong:
                continue
        while k < 0 and earliest(times, running) <= latest:
            now = times[0]
            while earliest(times, running) == now:
                done = jobs[0]
                heap_pop(times, jobs, running)
                running -= 1
                change_free(free, buckets, fit, machine[done], cores[done], memory[done])
            k = find_machine(free, buckets, fit, cores[j], memory[j])
        if k < 0:
            if not balks:
                start[j] = latest
                front = max(front, latest)
            continue
        machine[j] = k
        start[j] = now
        front = now
        change_free(free, buckets, fit, k, -cores[j], -memory[j])
        heap_push(times, jobs, running, now + runtime[j], j)
        running += 1
