"""EASY backfilling: who behind the head of the queue may start, beside the head's reservation.

A round of backfilling, after each end, would go through all of the queue. But nobody behind the head had room before, so only
machines that got room since, or are no longer reserved, matter; and for each 64 places, and each 64 of these blocks, the
fewest cores and MiB and the shortest runtime of a waiting job are kept, low where jobs left since: a block is passed over if
nothing so small and short could start there.

Conservative backfilling: for each job is reserved, when it comes, the first gap that holds it for all its runtime.

Runtimes are known, so reservations hold to the microsecond, a job's wait is known at its arrival, and nobody who comes
later can delay it. So, as in `serve_in_turn`, one pass over the jobs does; but a job may overtake others through gaps
that they leave.

What is free on a machine is a step function of time, kept as a sorted row of times from which on so many cores and MiB
are free; steps of the past are dropped. A search goes through the rows in machine order and each row once, up to the
best gap so far or the job's last time to start: O(s + steps visited) a job, O(steps) for a reservation. State: 24 bytes a
step, 2 steps a job that runs or has a reservation.

A queue in any order, with or without EASY backfilling, event by event.

At one time what ends goes first, then jobs at their limits leave, then jobs arrive. Jobs start from the head of the
queue until one has no room. With backfilling that one has a reservation on the machine that has room for it first, given when
the running jobs end; a job behind it may start if it goes to another machine, or ends by then, or leaves the machine
enough for both (Lifka's EASY, for many machines). Runtimes are known, so a reservation stands until the head changes, and
is worked out once for each head.

The queue is an array in order of priority, ties by number: jobs are appended in O(1) if they come in that order, as they
must with backfilling, and else inserted in O(Q); jobs that left keep their places until the head passes them. State: 16
bytes a job for the queue and the limits, and what running jobs and machines need (`serve_in_turn`).
"""

from __future__ import annotations

from typing import Any

from schedgap.heuristics.waiting.compiled.kernels_machines import (
    BEST,
    BLOCK,
    NO_LIMIT_US,
    RENTED,
    SUPER,
    WAITING,
    Jobs,
    Look,
    Machines,
    Placed,
    Profiles,
    Queue,
    Running,
    Waits,
    end_job,
    find_machine,
    look_ahead,
    other_machine,
    start_job,
)
from schedgap.instances.jit import inlined_kernel, inner_kernel, lean_kernel
from schedgap.instances.kernels.heap import earliest, heap_pop, heap_push
from schedgap.instances.units import NEVER


@inlined_kernel
def put_down(jobs: Jobs, blocks: Any, place: int, job: int) -> None:
    """Put down the needs of a job at a new last place of the queue."""
    for level, shift in ((0, BLOCK), (1, SUPER)):
        b = place >> shift
        if place & ((1 << shift) - 1) == 0:
            blocks[level, 0, b] = jobs.cores[job]
            blocks[level, 1, b] = jobs.memory[job]
            blocks[level, 2, b] = jobs.runtime[job]
        else:
            blocks[level, 0, b] = min(blocks[level, 0, b], jobs.cores[job])
            blocks[level, 1, b] = min(blocks[level, 1, b], jobs.memory[job])
            blocks[level, 2, b] = min(blocks[level, 2, b], jobs.runtime[job])


@inlined_kernel
def with_room(got: Any, machines: Machines, k: int) -> tuple[int, int]:
    """Return the most cores and MiB free on machines that got room, with one machine more."""
    leaf = (machines.free.shape[1] >> 1) + k
    return max(got[0], machines.free[0, leaf]), max(got[1], machines.free[1, leaf])


@inlined_kernel
def most_elsewhere(free: Any, spot: int) -> int:
    """Return the most cores free on a machine other than the reserved one. O(log s)."""
    i = (free.shape[1] >> 1) + spot
    most = -1
    while i > 1:
        most = max(most, free[0, i ^ 1])
        i >>= 1
    return most


@inlined_kernel
def room_for(machines: Machines, cores: int, memory: int, spot: int, window: int, spare: Any) -> Any:
    """Return what decides who may start: seven numbers.

    cores, memory : the most on a machine that got room. Then cores on machines that are not reserved and on the one that is,
    the spot; window, the time until then; and spare, the cores and MiB left there beside the head.
    """
    free = machines.free
    here = free[0, (free.shape[1] >> 1) + spot]
    return cores, memory, most_elsewhere(free, spot), here, window, spare[0], spare[1]


@inlined_kernel
def may_start(cores: int, memory: int, runtime: int, room: Any) -> bool:
    """Whether such a job could start: where there is more room than before, and beside the reservation."""
    most_cores, most_memory, elsewhere, here, window, spare_cores, _ = room
    beside = cores <= elsewhere or (cores <= here and (runtime <= window or cores <= spare_cores))
    return bool(cores <= most_cores and memory <= most_memory and beside)


@inlined_kernel
def backfill_block(
    jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, queue: Queue, first: int, last: int, now: int,
    spot: int, room: Any,
) -> Any:  # fmt: skip
    """Start the jobs of some places that may; return how many jobs run then, and the room that is left."""
    for p in range(first, last):
        q = queue.order[p]
        cores, memory, runtime = jobs.cores[q], jobs.memory[q], jobs.runtime[q]
        if placed.machine[q] != WAITING or not may_start(cores, memory, runtime, room):
            continue
        most_cores, most_memory, _, _, window, spare_cores, spare_memory = room
        k = find_machine(machines, cores, memory)
        stays = runtime > window
        if k == spot and stays and (cores > spare_cores or memory > spare_memory):
            k = other_machine(machines, cores, memory, k)
        if k < 0:
            continue
        start_job(jobs, machines, running, count, placed, q, k, now, now + runtime)
        count += 1
        if k == spot and stays:
            spare_cores -= cores
            spare_memory -= memory
        most_cores, most_memory = min(most_cores, machines.free[0, 1]), min(most_memory, machines.free[1, 1])
        room = room_for(machines, most_cores, most_memory, spot, window, (spare_cores, spare_memory))
    return count, room


@inlined_kernel
def renew_block(jobs: Jobs, placed: Placed, queue: Queue, b: int, first: int, last: int) -> None:
    """Work out the least needs of a block from its waiting jobs, those from place `first` to `last`."""
    least_cores, least_memory, least_runtime = NEVER, NEVER, NEVER
    for n in range(first, last):
        q = queue.order[n]
        if placed.machine[q] == WAITING:
            least_cores, least_memory = min(least_cores, jobs.cores[q]), min(least_memory, jobs.memory[q])
            least_runtime = min(least_runtime, jobs.runtime[q])
    blocks = queue.blocks
    blocks[0, 0, b], blocks[0, 1, b], blocks[0, 2, b] = least_cores, least_memory, least_runtime


@inlined_kernel
def renew_super(blocks: Any, large: int, first: int, last: int) -> None:
    """Work out the least needs of a block of blocks, from `first` to `last`."""
    least_cores, least_memory, least_runtime = NEVER, NEVER, NEVER
    for n in range(first, last):
        least_cores, least_memory = min(least_cores, blocks[0, 0, n]), min(least_memory, blocks[0, 1, n])
        least_runtime = min(least_runtime, blocks[0, 2, n])
    blocks[1, 0, large], blocks[1, 1, large], blocks[1, 2, large] = least_cores, least_memory, least_runtime


@inner_kernel
def backfill(
    jobs: Jobs, machines: Machines, running: Running, count: int, placed: Placed, queue: Queue, places: Any, now: int, got: Any,
    reserved: Any, spare: Any,
) -> Any:  # fmt: skip
    """Start all jobs behind the head that may; return how many jobs run then, and what is left spare.

    places : the head's, the first that is looked at, and the end of the queue. got : most cores and MiB on a machine that
    got room. reserved : machine and time of the head's reservation. spare : cores and MiB left there beside it.
    """
    head, p, tail = places
    spot = reserved[0]
    blocks = queue.blocks
    room = room_for(machines, got[0], got[1], spot, reserved[1] - now, spare)
    while p < tail:
        large, b = p >> SUPER, p >> BLOCK
        if not may_start(blocks[1, 0, large], blocks[1, 1, large], blocks[1, 2, large], room):
            p = (large + 1) << SUPER
            continue
        next_block = (b + 1) << BLOCK
        if may_start(blocks[0, 0, b], blocks[0, 1, b], blocks[0, 2, b], room):
            last = min(next_block, tail)
            count, room = backfill_block(jobs, machines, running, count, placed, queue, p, last, now, spot, room)
            renew_block(jobs, placed, queue, b, max(head, b << BLOCK), last)
            p = last
        else:
            p = next_block
        if p >= tail or p >> SUPER != large:
            renew_super(blocks, large, max(head >> BLOCK, large << (SUPER - BLOCK)), ((p - 1) >> BLOCK) + 1)
    return count, (room[5], room[6])


DONE, TOO_NARROW = 0, -1


@inner_kernel
def first_gap(
    times: Any, free: Any, head: int, tail: int, now: int, runtime: int, cores: int, memory: int, latest: int
) -> int:
    """Return the step from which on a row has room for the job's runtime, -1 if there is none until `latest`."""
    i = head
    while True:
        while free[i, 0] < cores or free[i, 1] < memory:
            i += 1
        begin = max(now, times[i])
        if begin > latest:
            return -1
        found, end = i, begin + runtime
        i += 1
        while i < tail and times[i] < end and free[i, 0] >= cores and free[i, 1] >= memory:
            i += 1
        if i == tail or times[i] >= end:
            return found


@inner_kernel
def add_step(times: Any, free: Any, head: int, tail: int, time: int) -> int:
    """Make sure that a row has a step at a time not before its first; return the new tail."""
    i = tail
    while i > head and times[i - 1] >= time:
        i -= 1
    if i < tail and times[i] == time:
        return tail
    for n in range(tail, i, -1):
        times[n] = times[n - 1]
        free[n, 0] = free[n - 1, 0]
        free[n, 1] = free[n - 1, 1]
    times[i] = time
    free[i, 0] = free[i - 1, 0]
    free[i, 1] = free[i - 1, 1]
    return tail + 1


@inlined_kernel
def find_gap(jobs: Jobs, profiles: Profiles, fit: int, j: int, latest: int) -> tuple[int, int, int]:
    """Return the machine with the first gap for a job, its step and its time; machine -1 if there is none until `latest`.

    Of machines with a gap at the same time it is the first, or the one with the fewest cores free when the gap starts.
    """
    now, runtime, cores, memory = jobs.submit[j], jobs.runtime[j], jobs.cores[j], jobs.memory[j]
    begin, chosen, step, left = NEVER, -1, -1, 0
    times, free, head, tail = profiles
    for k in range(tail.shape[0]):
        while head[k] + 1 < tail[k] and times[k, head[k] + 1] <= now:
            head[k] += 1
        i = first_gap(times[k], free[k], head[k], tail[k], now, runtime, cores, memory, latest)
        if i < 0:
            continue
        gap = max(now, times[k, i])
        if gap < begin or free[k, i, 0] < left:
            begin, chosen, step, left = gap, k, i, free[k, i, 0]
            if fit == BEST:
                latest = begin
            elif begin == now:
                break
            else:
                latest = begin - 1
    return chosen, step, begin


@inlined_kernel
def reserve(jobs: Jobs, profiles: Profiles, j: int, k: int, step: int, begin: int) -> int:
    """Take a job's cores and MiB from a machine for its runtime; `TOO_NARROW` if the row has too few columns."""
    row, steps, head, tail = profiles.times[k], profiles.free[k], profiles.head, profiles.tail
    if tail[k] + 2 > row.shape[0]:
        shift = head[k]
        if shift * 4 < row.shape[0]:
            return TOO_NARROW
        for n in range(shift, tail[k]):
            row[n - shift] = row[n]
            steps[n - shift, 0] = steps[n, 0]
            steps[n - shift, 1] = steps[n, 1]
        head[k] = 0
        tail[k] -= shift
        step -= shift
    end = begin + jobs.runtime[j]
    tail[k] = add_step(row, steps, head[k], tail[k], begin)
    tail[k] = add_step(row, steps, head[k], tail[k], end)
    while row[step] < begin:
        step += 1
    while step < tail[k] and row[step] < end:
        steps[step, 0] -= jobs.cores[j]
        steps[step, 1] -= jobs.memory[j]
        step += 1
    return DONE


@lean_kernel
def serve_by_reservation(jobs: Jobs, waits: Waits, fit: int, profiles: Profiles, placed: Placed, most_wait: int) -> int:
    """Write where each job runs and when it starts; return `DONE`, or `TOO_NARROW` if a row has too few columns.

    most_wait : once jobs have waited longer than that together, all others rent at once; negative for never.
    """
    waited = 0
    limit_step = 1 if waits.limit.shape[0] > 1 else 0
    mistaken_step = 1 if waits.mistaken.shape[0] > 1 else 0
    for j in range(jobs.submit.shape[0]):
        now, most = jobs.submit[j], waits.limit[j * limit_step]
        placed.machine[j] = RENTED
        placed.start[j] = now
        if most < 0 or waited > most_wait >= 0:
            continue
        k, step, begin = find_gap(jobs, profiles, fit, j, now + most)
        wrong = waits.mistaken[j * mistaken_step]
        if k < 0:
            if wrong or not waits.balks:
                placed.start[j] = now + most
                waited += most
            continue
        if wrong and begin > now:
            continue
        placed.machine[j] = k
        placed.start[j] = begin
        waited += begin - now
        if reserve(jobs, profiles, j, k, step, begin) == TOO_NARROW:
            return TOO_NARROW
    return DONE


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
