"""A queue in any order, with or without EASY backfilling, event by event.

At one time what ends goes first, then jobs at their limits leave, then jobs arrive. Jobs start from the head of the
queue until one has no room. With backfilling that one has a reservation on the machine that has room for it first, given when
the running jobs end; a job behind it may start if it goes to another machine, or ends by then, or leaves the machine
enough for both (Lifka's EASY, for many machines). Runtimes are known, so a reservation stands until the head changes, and
is worked out once for each head (`kernels_backfill`).

The queue is an array in order of priority, ties by number: jobs are appended in O(1) if they come in that order, as they
must with backfilling, and else inserted in O(Q); jobs that left keep their places until the head passes them. State: 16
bytes a job for the queue and the limits, and what running jobs and machines need (`kernels_fcfs`).
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.compiled.kernels_backfill import backfill, put_down, with_room
from schedgap.heuristics.waiting.compiled.kernels_machines import end_job, find_machine, look_ahead, start_job
from schedgap.heuristics.waiting.compiled.state import (
    NO_LIMIT_US,
    RENTED,
    WAITING,
    Jobs,
    Look,
    Machines,
    Placed,
    Queue,
    Running,
)
from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.kernels.heap import earliest, heap_pop, heap_push
from schedgap.instances.units import NEVER

ARRIVES, LEAVES, ENDS = 0, 1, 2


@inlined_kernel
def insert(queue: Any, priority: Any, head: int, tail: int, job: int) -> int:
    """Put a job behind those of its priority or a smaller one; return its place. O(1) at the tail, else O(Q)."""
    low, high = head, tail
    if tail > head and priority[queue[tail - 1]] <= priority[job]:
        low = tail
    while low < high:
        middle = (low + high) >> 1
        if priority[queue[middle]] <= priority[job]:
            low = middle + 1
        else:
            high = middle
    for i in range(tail, low, -1):
        queue[i] = queue[i - 1]
    queue[low] = job
    return low


@inlined_kernel
def queue_up(
    jobs: Jobs, priority: Any, backfills: bool, queue: Queue, head: int, tail: int, leaving: int, job: int, most: int
) -> int:
    """Put a job that has come into the queue from `head` to `tail`; return how many jobs have a limit then."""
    place = insert(queue.order, priority, head, tail, job)
    if backfills:
        put_down(jobs, queue.blocks, place, job)
    if most >= NO_LIMIT_US:
        return leaving
    heap_push(queue.leave_times, queue.leave_jobs, leaving, jobs.submit[job] + most, job)
    return leaving + 1


@inlined_kernel
def forget_started(queue: Queue, leaving: int, placed: Placed) -> int:
    """Take jobs that do not wait any more from the top of those with a limit; return how many are left."""
    while leaving > 0 and placed.machine[queue.leave_jobs[0]] != WAITING:
        heap_pop(queue.leave_times, queue.leave_jobs, leaving)
        leaving -= 1
    return leaving


@inlined_kernel
def serve_head(
    jobs: Jobs,
    machines: Machines,
    running: Running,
    count: int,
    placed: Placed,
    queue: Queue,
    head: int,
    tail: int,
    now: int,
) -> tuple[int, int]:
    """Start jobs from the head of the queue until one has no room; return the new head and how many jobs run."""
    while head < tail:
        q = queue.order[head]
        if placed.machine[q] == WAITING:
            k = find_machine(machines, jobs.cores[q], jobs.memory[q])
            if k < 0:
                break
            start_job(jobs, machines, running, count, placed, q, k, now, now + jobs.runtime[q])
            count += 1
        head += 1
    return head, count


@lean_kernel
def serve_queue(
    jobs: Jobs, limit: Any, priority: Any, backfills: bool, machines: Machines, running: Running, look: Look, queue: Queue,
    placed: Placed,
) -> None:  # fmt: skip
    """Write where each job runs and when it starts; all machines are empty at first.

    limit : as `Waits` has it. priority : (J,) int64, the smallest first; with backfilling the jobs come in its order.
    """
    limit_step = 1 if limit.shape[0] > 1 else 0
    count, leaving, head, tail, j = 0, 0, 0, 0, 0
    got = (-1, -1)
    reserved_for, spot, spot_time, spare = -1, -1, NEVER, (0, 0)
    while True:
        leaving = forget_started(queue, leaving, placed)
        next_end, next_leave = earliest(running.times, count), earliest(queue.leave_times, leaving)
        next_submit = jobs.submit[j] if j < jobs.submit.shape[0] else NEVER
        if next_end <= next_leave and next_end <= next_submit:
            if next_end == NEVER:
                return
            event, now = ENDS, next_end
            while earliest(running.times, count) == now:
                got = with_room(got, machines, end_job(jobs, machines, running, count, placed))
                count -= 1
        elif next_leave <= next_submit:
            event, now = LEAVES, next_leave
            placed.machine[queue.leave_jobs[0]] = RENTED
            placed.start[queue.leave_jobs[0]] = now
        else:
            event, now, most = ARRIVES, next_submit, limit[j * limit_step]
            placed.machine[j] = WAITING if most >= 0 else RENTED
            placed.start[j] = now
            j += 1
            if most < 0:
                continue
            if head == tail:
                head, tail = 0, 0
            leaving = queue_up(jobs, priority, backfills, queue, head, tail, leaving, j - 1, most)
            tail += 1
        head, count = serve_head(jobs, machines, running, count, placed, queue, head, tail, now)
        if not backfills or head + 1 >= tail:
            continue
        first = head + 1
        if event == ARRIVES:
            # Nobody else found room when the queue was last gone through.
            first = tail - 1
            got = (machines.free[0, 1], machines.free[1, 1])
        if queue.order[head] != reserved_for:
            if spot >= 0:
                got = with_room(got, machines, spot)
            reserved_for = queue.order[head]
            spot_time, spot, spare_cores, spare_memory, _ = look_ahead(
                jobs, machines, running, count, placed, look, reserved_for, NEVER - 1
            )
            spare = (spare_cores, spare_memory)
        elif event == LEAVES:
            continue
        places, reserved = (head, first, tail), (spot, spot_time)
        count, spare = backfill(jobs, machines, running, count, placed, queue, places, now, got, reserved, spare)
        got = (-1, -1)
