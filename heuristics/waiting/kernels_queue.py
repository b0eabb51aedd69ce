"""A queue in any order, with or without EASY backfilling, event by event.

At one time what ends goes first, then jobs at their limits leave, then jobs arrive. Jobs start from the head of the
queue until one has no room. With backfilling that one is promised the machine that has room for it first, given when
the running jobs end; a job behind it may start if it goes to another machine, or ends by then, or leaves the machine
enough for both (Lifka's EASY, for many machines). Runtimes are known, so a promise stands until the head changes, and is
worked out once for each head.

The queue is an array in order of priority, ties by number: jobs are appended in O(1) if they come in that order, as they
must with backfilling, and else inserted in O(Q); jobs that left keep their places until the head passes them. A round of
backfilling, after each end, would go through all of it. But nobody behind the head had room before, so only machines that
got room since, or are no longer promised, matter; and for each 64 places, and each 64 of these blocks, the fewest cores
and MiB and the shortest runtime of a waiting job are kept, low where jobs left since: a block is passed over if nothing so
small and short could start there. State: 16 bytes a job for the queue and the limits, and what running jobs and machines
need (`kernels_fcfs`).
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.kernels_look import look_ahead
from schedgap.heuristics.waiting.kernels_machines import change_free, find_machine, other_machine
from schedgap.instances.jit import inlined_kernel, lean_kernel
from schedgap.instances.kernels_heap import NEVER, earliest, heap_pop, heap_push

RENTED, WAITING = -1, -2
ARRIVES, LEAVES, ENDS = 0, 1, 2
# Places in a block, and in a block of blocks, as powers of two.
BLOCK, SUPER = 6, 12


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
def note(blocks: Any, level: int, place: int, shift: int, cores: int, memory: int, runtime: int) -> None:
    """Put down the needs of a job at a new last place of the queue."""
    b = place >> shift
    if place & ((1 << shift) - 1) == 0:
        blocks[level, 0, b] = cores
        blocks[level, 1, b] = memory
        blocks[level, 2, b] = runtime
    else:
        blocks[level, 0, b] = min(blocks[level, 0, b], cores)
        blocks[level, 1, b] = min(blocks[level, 1, b], memory)
        blocks[level, 2, b] = min(blocks[level, 2, b], runtime)


@inlined_kernel
def most_elsewhere(free: Any, spot: int) -> int:
    """Return the most cores free on a machine other than the one promised. O(log s)."""
    i = (free.shape[1] >> 1) + spot
    most = -1
    while i > 1:
        most = max(most, free[0, i ^ 1])
        i >>= 1
    return most


@inlined_kernel
def may_start(cores: int, memory: int, runtime: int, room: Any) -> bool:
    """Whether such a job could start: where there is more room than before, and beside the promise.

    room : cores and MiB on machines that got room, cores on machines that are not promised and on the one that is,
    time until then and cores left then.
    """
    most_cores, most_memory, elsewhere, here, window, spare_cores = room
    beside = cores <= elsewhere or (cores <= here and (runtime <= window or cores <= spare_cores))
    return bool(cores <= most_cores and memory <= most_memory and beside)


@lean_kernel
def serve_queue(
    submit: Any, runtime: Any, cores: Any, memory: Any, limit: Any, priority: Any, backfills: bool, no_limit: int, fit: int,
    free: Any, buckets: Any, times: Any, jobs: Any, look: Any, queue: Any, blocks: Any, leave_times: Any, leave_jobs: Any,
    machine: Any, start: Any,
) -> None:  # fmt: skip
    """Write where each job runs and when it starts.

    submit, runtime, cores, memory : (J,) int64. limit : (J,) or (1,) int64, the longest wait of each job or of all,
    `no_limit` for none, negative for a job that rents at once. priority : (J,) int64, the smallest first; with
    backfilling the jobs come in its order. fit, free,
    buckets : `kernels_machines`, all machines empty. times, jobs : (R,) work arrays for running jobs. look : see
    `look_ahead`. queue, leave_jobs : (J,) int32, leave_times : (J,) int64, work. machine, start : (J,) int64, out.
    """
    limit_step = 1 if limit.shape[0] > 1 else 0
    num_jobs = submit.shape[0]
    running, leaving, head, tail, j = 0, 0, 0, 0, 0
    got_cores, got_memory, size = -1, -1, free.shape[1] >> 1
    promised, spot, spot_time, spare_cores, spare_memory = -1, -1, NEVER, 0, 0
    while True:
        while leaving > 0 and machine[leave_jobs[0]] != WAITING:
            heap_pop(leave_times, leave_jobs, leaving)
            leaving -= 1
        next_end, next_leave = earliest(times, running), earliest(leave_times, leaving)
        next_submit = submit[j] if j < num_jobs else NEVER
        if next_end <= next_leave and next_end <= next_submit:
            if next_end == NEVER:
                return
            event, now = ENDS, next_end
            while earliest(times, running) == now:
                done = jobs[0]
                heap_pop(times, jobs, running)
                running -= 1
                k = machine[done]
                change_free(free, buckets, fit, k, cores[done], memory[done])
                got_cores, got_memory = max(got_cores, free[0, size + k]), max(got_memory, free[1, size + k])
        elif next_leave <= next_submit:
            event, now = LEAVES, next_leave
            machine[leave_jobs[0]] = RENTED
            start[leave_jobs[0]] = now
        else:
            event, now = ARRIVES, next_submit
            start[j] = now
            most = limit[j * limit_step]
            j += 1
            if most < 0:
                machine[j - 1] = RENTED
                continue
            machine[j - 1] = WAITING
            if head == tail:
                head, tail = 0, 0
            place = insert(queue, priority, head, tail, j - 1)
            if backfills:
                note(blocks, 0, place, BLOCK, cores[j - 1], memory[j - 1], runtime[j - 1])
                note(blocks, 1, place, SUPER, cores[j - 1], memory[j - 1], runtime[j - 1])
            tail += 1
            if most < no_limit:
                heap_push(leave_times, leave_jobs, leaving, now + most, j - 1)
                leaving += 1
        while head < tail:
            q = queue[head]
            if machine[q] == WAITING:
                k = find_machine(free, buckets, fit, cores[q], memory[q])
                if k < 0:
                    break
                machine[q] = k
                start[q] = now
                change_free(free, buckets, fit, k, -cores[q], -memory[q])
                heap_push(times, jobs, running, now + runtime[q], q)
                running += 1
            head += 1
        if not backfills or head + 1 >= tail:
            continue
        q = queue[head]
        p = head + 1
        if event == ARRIVES:
            # Nobody else found room when the queue was last gone through.
            p = tail - 1
            got_cores, got_memory = free[0, 1], free[1, 1]
        if q != promised:
            if spot >= 0:
                got_cores, got_memory = max(got_cores, free[0, size + spot]), max(got_memory, free[1, size + spot])
            promised = q
            spot_time, spot, spare_cores, spare_memory, _ = look_ahead(
                times, jobs, running, machine, cores, memory, free, cores[q], memory[q], NEVER - 1, look
            )
        elif event == LEAVES:
            continue
        window = spot_time - now
        room = (got_cores, got_memory, most_elsewhere(free, spot), free[0, size + spot], window, spare_cores)
        while p < tail:
            large, b = p >> SUPER, p >> BLOCK
            if not may_start(blocks[1, 0, large], blocks[1, 1, large], blocks[1, 2, large], room):
                p = (large + 1) << SUPER
                continue
            next_block = (b + 1) << BLOCK
            if not may_start(blocks[0, 0, b], blocks[0, 1, b], blocks[0, 2, b], room):
                p = next_block
            else:
                last = min(next_block, tail)
                while p < last:
                    q = queue[p]
                    p += 1
                    if machine[q] != WAITING or not may_start(cores[q], memory[q], runtime[q], room):
                        continue
                    k = find_machine(free, buckets, fit, cores[q], memory[q])
                    stays = runtime[q] > window
                    if k == spot and stays and (cores[q] > spare_cores or memory[q] > spare_memory):
                        k = other_machine(free, buckets, fit, cores[q], memory[q], k)
                    if k < 0:
                        continue
                    machine[q] = k
                    start[q] = now
                    change_free(free, buckets, fit, k, -cores[q], -memory[q])
                    heap_push(times, jobs, running, now + runtime[q], q)
                    running += 1
                    if k == spot and stays:
                        spare_cores -= cores[q]
                        spare_memory -= memory[q]
                    got_cores, got_memory = min(got_cores, free[0, 1]), min(got_memory, free[1, 1])
                    room = (
                        got_cores,
                        got_memory,
                        most_elsewhere(free, spot),
                        free[0, size + spot],
                        window,
                        spare_cores,
                    )
                least_cores, least_memory, least_runtime = NEVER, NEVER, NEVER
                for n in range(max(head, b << BLOCK), last):
                    q = queue[n]
                    if machine[q] == WAITING:
                        least_cores, least_memory = min(least_cores, cores[q]), min(least_memory, memory[q])
                        least_runtime = min(least_runtime, runtime[q])
                blocks[0, 0, b], blocks[0, 1, b], blocks[0, 2, b] = least_cores, least_memory, least_runtime
            if p >= tail or p >> SUPER != large:
                least_cores, least_memory, least_runtime = NEVER, NEVER, NEVER
                for n in range(max(head >> BLOCK, large << (SUPER - BLOCK)), ((p - 1) >> BLOCK) + 1):
                    least_cores, least_memory = min(least_cores, blocks[0, 0, n]), min(least_memory, blocks[0, 1, n])
                    least_runtime = min(least_runtime, blocks[0, 2, n])
                blocks[1, 0, large], blocks[1, 1, large], blocks[1, 2, large] = (
                    least_cores,
                    least_memory,
                    least_runtime,
                )
        got_cores, got_memory = -1, -1
