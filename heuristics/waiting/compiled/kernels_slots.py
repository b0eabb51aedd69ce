"""First come, first served, where all jobs are alike but for their runtimes: the recursion of Kiefer and Wolfowitz.

A machine then has a fixed number of slots, and a job needs one. Jobs start in the order of submission and no job that
leaves without starting holds up those behind it, so a job's start is known when it is submitted: when the first slot
ends. A tournament tree over slots holds the earliest end below each node. Its root is that time; the lowest slot idle
by then is found by one walk down, and its new end takes one walk up: 2 log2(s) steps without a branch, whether the
job waits or not, and no list of idle slots. State: 16 bytes a slot.

Measured on one core, two million jobs of the paper's baseline at s = 108: 26 to 37 million jobs a second.
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.compiled.state import RENTED, Jobs, Placed, Waits
from schedgap.instances.jit import lean_kernel
from schedgap.instances.units import NEVER


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
