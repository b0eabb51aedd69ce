"""First come, first served as the simulator of the paper's authors has it.

Where it differs from `kernels_fcfs`: a job holds its machine for whole seconds, the fraction cut off; jobs that end
together end one by one, by number, and each serves the queue; a job leaves only when it heads the queue at such an end,
having waited more than its limit, and its wait is put down as the limit; a job larger than a machine heads the queue
until then, or for ever: once nothing runs any more, all that wait, and all that come, rent without waiting.

As there, a job's fate hangs on the jobs before it alone, so one pass without a queue does. The front is the end at
which the job before left the queue. O(log s + log R) a job with R running.
"""

from __future__ import annotations

from schedgap.heuristics.waiting.compiled.kernels_machines import find_machine
from schedgap.heuristics.waiting.compiled.kernels_running import end_job, end_jobs, start_job
from schedgap.heuristics.waiting.compiled.state import RENTED, Artifact, Jobs, Machines, Placed, Running
from schedgap.instances.jit import lean_kernel
from schedgap.instances.kernels.random_numbers import uniform

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
