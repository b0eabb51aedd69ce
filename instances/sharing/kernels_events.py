"""The cluster's rules, compiled: tasks end, jobs arrive, machines are offered and serve the job with the lowest key.

At one moment tasks that end come first, each with an offer of its machine before the next one ends (unless BATCHES), then all
jobs that arrive, and then every machine that may have room for one of them is offered. A machine that is offered serves jobs
until none fits. So no waiting job ever fits on a machine, and an arrival needs to look no further than the new jobs; with
DECLINES (somebody else decides, and may leave a machine idle) every machine with room for a waiting job is offered.

A task costs O(log T) for its end and O(V + P log W) for its machine (see `kernels_waiting`), a moment of arrivals O(M).
"""

from __future__ import annotations

from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels_random import below
from schedgap.instances.sharing.kernels_ends import pop, push
from schedgap.instances.sharing.kernels_state import (
    BATCHES,
    BY_CLASS,
    DECLINES,
    FASTEST_FIRST,
    FIRST_NEW,
    NEVER,
    NEW_LEFT,
    NOBODY,
    NODES,
    NOW,
    OFFERS,
    PRESENT,
    RUNNING,
    SEEN,
    SHUFFLED,
    TAKEN,
    State,
)
from schedgap.instances.sharing.kernels_waiting import lowest, reorder, wait, wait_no_more

# So few new jobs are compared with a machine one by one before it is offered.
FEW = 4


@lean_kernel
def play(s: State, until: int) -> None:
    """Let time pass up to `until`, whose own events are still to come; on each offer the lowest keys are served."""
    while True:
        m = _next_offer(s, until)
        if m == NOBODY:
            break
        while True:
            job = lowest(s, m)
            if job == NOBODY:
                break
            _start(s, m, job)
    s.clock[NOW] = max(s.clock[NOW], until) if until < NEVER else s.clock[NOW]


@lean_kernel
def next_offer(s: State, until: int) -> int:
    """Return the next machine that is offered before `until`, `NOBODY` if there is none."""
    return _next_offer(s, until)


@lean_kernel
def start(s: State, m: int, job: int) -> None:
    """Start the next task of a waiting job on a machine with room for it, now."""
    _start(s, m, job)


@lean_kernel
def next_in_line(s: State, m: int) -> int:
    """Return the job that a machine would serve now, `NOBODY` if none fits."""
    return lowest(s, m)


@lean_kernel
def renew_keys(s: State) -> None:
    """Recompute the keys of all jobs present, after gain, scale or base have changed."""
    for i in range(s.clock[PRESENT]):
        job = s.present[i]
        waits = s.started[job] < s.first_task[job + 1] - s.first_task[job]
        if waits:
            wait_no_more(s, job)
        _value(s, job)
        if waits:
            wait(s, job)


@inner_kernel
def _value(s: State, job: int) -> None:
    """Compute a job's total and its keys from its running tasks."""
    total = 0.0
    for k in range(s.runs.shape[1]):
        if s.runs[job, k]:
            total += s.runs[job, k] * s.gain[job, k]
        if s.option[BY_CLASS]:
            s.key[job, k] = (s.runs[job, k] + 1) * s.gain[job, k]
    s.total[job] = total
    if not s.option[BY_CLASS]:
        s.key[job, 0] = s.base[job] + total / s.scale[job]


@inner_kernel
def _add(s: State, job: int, k: int, more: int) -> None:
    """Count a task more or less of a job on a class, and set its key."""
    s.runs[job, k] += more
    s.total[job] += more * s.gain[job, k]
    if s.option[BY_CLASS]:
        s.key[job, k] = (s.runs[job, k] + 1) * s.gain[job, k]
    else:
        s.key[job, 0] = s.base[job] + s.total[job] / s.scale[job]


@inner_kernel
def _start(s: State, m: int, job: int) -> None:
    k = s.machine2class[m]
    first = s.first_task[job]
    task = first + s.started[job]
    s.started[job] += 1
    now = s.clock[NOW]
    s.machine[task], s.start[task] = m, now
    for r in range(s.free.shape[1]):
        s.free[m, r] -= s.demand[job, r]
    if job >= s.clock[FIRST_NEW]:
        s.clock[NEW_LEFT] -= 1
    tie = m
    if s.option[NODES] == FASTEST_FIRST:
        tie = s.speed_rank[job, k] * s.machine2class.shape[0] + m
    elif s.option[NODES] == SHUFFLED:
        tie = below(s.random, NEVER)
    push(s, now + (s.work[task] * 1000 + s.speed[job, k] - 1) // s.speed[job, k], tie, task)
    if task + 1 == s.first_task[job + 1]:
        wait_no_more(s, job)
        _add(s, job, k, 1)
    else:
        _add(s, job, k, 1)
        reorder(s, job, s.class2pool[k] if s.option[BY_CLASS] else NOBODY)


@inner_kernel
def _end(s: State) -> int:
    """Let the task end that ends next, and return its machine."""
    task = pop(s)
    job, m = s.task2job[task], s.machine[task]
    k = s.machine2class[m]
    for r in range(s.free.shape[1]):
        s.free[m, r] += s.demand[job, r]
    s.ended[job] += 1
    _add(s, job, k, -1)
    if s.started[job] == s.ended[job]:
        # Nothing runs: what rounding left of gains that are no whole numbers is not to be kept.
        _value(s, job)
    if s.started[job] < s.first_task[job + 1] - s.first_task[job]:
        reorder(s, job, s.class2pool[k] if s.option[BY_CLASS] else NOBODY)
    elif s.ended[job] == s.started[job]:
        s.clock[PRESENT] -= 1
        hole, moved = s.present_place[job], s.present[s.clock[PRESENT]]
        s.present[hole], s.present_place[moved] = moved, hole
    return int(m)


@inner_kernel
def _next_offer(s: State, until: int) -> int:
    num_machines = s.machine2class.shape[0]
    while True:
        while s.clock[TAKEN] < s.clock[OFFERS]:
            m = s.order[s.clock[TAKEN]]
            s.clock[TAKEN] += 1
            if _is_worth_offering(s, m):
                return int(m)
            if s.clock[NEW_LEFT] == 0 and not s.option[BATCHES] and not s.option[DECLINES]:
                s.clock[TAKEN] = s.clock[OFFERS]
        seen = s.clock[SEEN]
        arrives = s.arrival[seen] if seen < s.arrival.shape[0] else NEVER
        ends = s.end[0] if s.clock[RUNNING] else NEVER
        t = min(arrives, ends)
        if t >= until or t == NEVER:
            return NOBODY
        s.clock[NOW] = t
        s.clock[FIRST_NEW], s.clock[NEW_LEFT] = seen, 0
        s.clock[TAKEN] = s.clock[OFFERS] = 0
        if ends == t:
            _take_ends(s, t)
            if not s.option[BATCHES]:
                continue
        if arrives == t:
            _admit(s, t)
            _line_up(s, seen)
            s.clock[OFFERS] = num_machines


@inner_kernel
def _take_ends(s: State, t: int) -> None:
    """Let the next task end, or all that end at this moment if BATCHES; their machines are to be offered."""
    while s.clock[RUNNING] and s.end[0] == t:
        m = _end(s)
        if s.touched[m] != t or not s.option[BATCHES]:
            s.order[s.clock[OFFERS]] = m
            s.clock[OFFERS] += 1
        s.touched[m] = t
        if not s.option[BATCHES]:
            break


@inner_kernel
def _admit(s: State, t: int) -> None:
    """Let all jobs of a moment arrive."""
    while s.clock[SEEN] < s.arrival.shape[0] and s.arrival[s.clock[SEEN]] == t:
        job = s.clock[SEEN]
        s.clock[SEEN] += 1
        s.clock[NEW_LEFT] += s.first_task[job + 1] - s.first_task[job]
        s.present[s.clock[PRESENT]], s.present_place[job] = job, s.clock[PRESENT]
        s.clock[PRESENT] += 1
        _value(s, job)
        wait(s, job)


@inner_kernel
def _line_up(s: State, job: int) -> None:
    """Put all machines in the order in which they are offered at an arrival, of which `job` is the first."""
    num_machines = s.machine2class.shape[0]
    if s.option[NODES] == FASTEST_FIRST:
        filled = 0
        for k in s.fastest[job]:
            for m in range(s.first_machine[k], s.first_machine[k + 1]):
                s.order[filled] = m
                filled += 1
        return
    for m in range(num_machines):
        s.order[m] = m
    if s.option[NODES] == SHUFFLED:
        for i in range(num_machines - 1, 0, -1):
            j = below(s.random, i + 1)
            s.order[i], s.order[j] = s.order[j], s.order[i]


@inner_kernel
def _is_worth_offering(s: State, m: int) -> bool:
    if s.option[DECLINES]:
        return bool(lowest(s, m) != NOBODY)
    first, seen = s.clock[FIRST_NEW], s.clock[SEEN]
    if s.touched[m] == s.clock[NOW] or seen - first > FEW:
        return True
    k = s.machine2class[m]
    for job in range(first, seen):
        if s.speed[job, k] > 0 and s.started[job] < s.first_task[job + 1] - s.first_task[job]:
            fits = True
            for r in range(s.free.shape[1]):
                if s.demand[job, r] > s.free[m, r]:
                    fits = False
            if fits:
                return True
    return False
