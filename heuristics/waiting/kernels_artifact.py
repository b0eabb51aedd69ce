"""First come, first served as the simulator of the paper's authors has it.

Where it differs from `kernels_fcfs`: a job holds its machine for whole seconds, the fraction cut off; jobs that end
together end one by one, by number, and each serves the queue; a job leaves only when it heads the queue at such an end,
having waited more than its limit, and its wait is put down as the limit; a job larger than a machine heads the queue
until then, or for ever: once nothing runs any more, all that wait, and all that come, rent without waiting.

As there, a job's fate hangs on the jobs before it alone, so one pass without a queue does. The front is the end at
which the job before left the queue. O(log s + log R) a job with R running.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.kernels_machines import change_free, find_machine
from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.kernels_heap import earliest, heap_pop, heap_push

RENTED = -1
SECOND = 1_000_000


@inlined_kernel
def draw(state: Any) -> float:
    """Return a number in [0, 1) and step the state, (1,) uint64 (SplitMix64)."""
    state[0] += 0x9E3779B97F4A7C15
    word = state[0]
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB
    word ^= word >> 31
    return float(word >> 11) * 2.0**-53


@lean_kernel
def serve_as_artifact(
    submit: Any, runtime: Any, cores: Any, memory: Any, at_once: Any, waits: bool, limit: int, late_wait: int,
    error: float, state: Any, fit: int, free: Any, buckets: Any, times: Any, jobs: Any, machine: Any, start: Any,
) -> None:  # fmt: skip
    """Write where each job runs and when it starts.

    submit, runtime, cores, memory : (J,) int64. at_once : (J,) bool, jobs that rent without a look at the machines.
    waits : whether others wait, or rent where no machine has room; then machines are freed only when an arrival's time
    differs from the arrival's before. limit : the longest wait. late_wait : the wait put down for a job that leaves.
    error : the probability that the head of the queue, each time that it is looked at, rents without waiting. state :
    (1,) uint64, the seed. fit, free, buckets : `kernels_machines`, all machines empty. times, jobs : (R,) work arrays
    for running jobs. machine, start : (J,) int64, out.
    """
    running, front, dead = 0, 0, False
    for j in range(submit.shape[0]):
        now = submit[j]
        machine[j] = RENTED
        start[j] = now
        if at_once[j] or dead:
            continue
        k, queued = -1, front > now
        if not queued and (waits or j == 0 or submit[j - 1] != now):
            while earliest(times, running) <= now:
                done = jobs[0]
                heap_pop(times, jobs, running)
                running -= 1
                change_free(free, buckets, fit, machine[done], cores[done], memory[done])
        if not queued:
            k = find_machine(free, buckets, fit, cores[j], memory[j])
            if k < 0 and not waits:
                continue
        left = False
        while k < 0 and not left:
            if queued:
                # It heads the queue, at the end that the front stands at.
                now = front
                if now - submit[j] > limit:
                    start[j] = submit[j] + late_wait
                    left = True
                elif error > 0 and draw(state) < error:
                    left = True
                else:
                    k = find_machine(free, buckets, fit, cores[j], memory[j])
            if k < 0 and not left:
                if running == 0:
                    dead = True
                    left = True
                else:
                    queued = True
                    front = times[0]
                    done = jobs[0]
                    heap_pop(times, jobs, running)
                    running -= 1
                    change_free(free, buckets, fit, machine[done], cores[done], memory[done])
        if left:
            continue
        machine[j] = k
        start[j] = now
        change_free(free, buckets, fit, k, -cores[j], -memory[j])
        heap_push(times, jobs, running, now + runtime[j] // SECOND * SECOND, j)
        running += 1
