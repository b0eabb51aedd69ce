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

from schedgap.instances.jit import lean_kernel
from schedgap.instances.kernels_heap import NEVER

RENTED = -1


@lean_kernel
def serve_slots(
    submit: Any, runtime: Any, limit: Any, mistaken: Any, balks: bool, slots_a_machine: int, slots: int,
    ends: Any, machine: Any, start: Any,
) -> None:  # fmt: skip
    """Write where each job runs and when it starts.

    submit, runtime : (J,) int64, microseconds. limit : (J,) or (1,) int64, the longest wait of each job or of all,
    negative for a job that rents at once without a look at the machines. mistaken : (J,) or (1,) bool: where true, a
    job that should wait rents at once, and one that should rent waits up to its limit and then rents. balks : whether
    a job that would wait longer rents at once, or at the end of its limit. ends : (2 * size,) int64 work array, size a
    power of two. machine, start : (J,) int64, out.
    """
    size = ends.shape[0] >> 1
    for i in range(2 * size):
        ends[i] = NEVER
    for i in range(slots):
        ends[size + i] = 0
    for i in range(size - 1, 0, -1):
        ends[i] = min(ends[2 * i], ends[2 * i + 1])
    limit_step = 1 if limit.shape[0] > 1 else 0
    mistaken_step = 1 if mistaken.shape[0] > 1 else 0
    for j in range(submit.shape[0]):
        now, most = submit[j], limit[j * limit_step]
        machine[j] = RENTED
        start[j] = now
        if most < 0:
            continue
        begin = max(now, ends[1])
        late = begin - now > most
        wrong = mistaken[j * mistaken_step]
        if late:
            if wrong or not balks:
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
        end = begin + runtime[j]
        ends[i] = end
        while i > 1:
            end = min(end, ends[i ^ 1])
            i >>= 1
            ends[i] = end
