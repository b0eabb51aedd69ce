"""The cluster's rules, compiled: tasks end, jobs arrive, machines are offered and serve the job with the lowest key.

At one moment tasks that end come first, each with an offer of its machine before the next one ends (unless in batches), then
all jobs that arrive, and then every machine that may have room for one of them is offered. A machine that is offered serves
jobs until none fits. So no waiting job ever fits on a machine, and an arrival needs to look no further than the new jobs;
where somebody else decides and may leave a machine idle (declines), every machine with room for a waiting job is offered.

A task costs O(log T) for its end and O(V + P log W) for its machine (see `kernels_waiting`), a moment of arrivals O(M).
"""

from __future__ import annotations

from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below
from schedgap.instances.kernels.rounding import rounded
from schedgap.instances.sharing.simulator.kernels_ends import pop, push
from schedgap.instances.sharing.simulator.kernels_waiting import lowest, reorder, wait, wait_no_more
from schedgap.instances.sharing.simulator.state import FASTEST_FIRST, NOBODY, SHUFFLED, State
from schedgap.instances.units import NEVER

# So few new jobs are compared with a machine one by one before it is offered.
FEW = 4


@lean_kernel
def play(s: State, until: int) -> None:
    """Let time pass up to `until`, whose own events are still to come; on each offer the lowest keys are served."""
    clock = s.clock[0]
    while True:
        m = _next_offer(s, until)
        if m == NOBODY:
            break
        while True:
            job = lowest(s, m)
            if job == NOBODY:
                break
            _start(s, m, job)
    if until < NEVER:
        clock.now = max(clock.now, until)


@lean_kernel
def next_offer(s: State, until: int) -> int:
    """Return the next machine that is offered before `until`, `NOBODY` if there is none."""
    return _next_offer(s, until)


@lean_kernel
def start(s: State, m: int, job: int) -> int:
    """Start the next task of a waiting job on a machine with room for it, now; return who fits there next, or `NOBODY`."""
    _start(s, m, job)
    return lowest(s, m)


@lean_kernel
def renew_keys(s: State) -> None:
    """Recompute the keys of all jobs present, after gain, scale or base have changed."""
    clock = s.clock[0]
    for i in range(clock.present):
        job = s.jobs.present[i]
        waits = s.jobs.started[job] < s.jobs.first_task[job + 1] - s.jobs.first_task[job]
        if waits:
            wait_no_more(s, job)
        _value(s, job)
        if waits:
            wait(s, job)


@inner_kernel
def _value(s: State, job: int) -> None:
    """Compute a job's total and its key from its running tasks."""
    total = 0.0
    for k in range(s.jobs.runs.shape[1]):
        if s.jobs.runs[job, k]:
            total += s.jobs.runs[job, k] * s.keys.gain[job, k]
    s.keys.total[job] = total
    s.keys.key[job] = s.keys.base[job] + rounded(total / s.keys.scale[job])


@inner_kernel
def _add(s: State, job: int, k: int, more: int) -> None:
    """Count a task more or less of a job on a class, and set its key."""
    s.jobs.runs[job, k] += more
    s.keys.total[job] += more * s.keys.gain[job, k]
    s.keys.key[job] = s.keys.base[job] + rounded(s.keys.total[job] / s.keys.scale[job])


@inner_kernel
def _start(s: State, m: int, job: int) -> None:
    clock = s.clock[0]
    k = s.machines.to_class[m]
    first = s.jobs.first_task[job]
    task = first + s.jobs.started[job]
    s.jobs.started[job] += 1
    now = clock.now
    s.tasks.machine[task], s.tasks.start[task] = m, now
    for r in range(s.machines.free.shape[1]):
        s.machines.free[m, r] -= s.jobs.demand[job, r]
    if job >= clock.first_new:
        clock.new_to_start -= 1
    tie = m
    if s.rules.nodes == FASTEST_FIRST:
        tie = s.jobs.speed_rank[job, k] * s.machines.to_class.shape[0] + m
    elif s.rules.nodes == SHUFFLED:
        tie = below(s.random, NEVER)
    push(
        s.ends,
        clock.running,
        now + (s.tasks.work[task] * 1000 + s.jobs.speed[job, k] - 1) // s.jobs.speed[job, k],
        tie,
        task,
    )
    clock.running += 1
    if task + 1 == s.jobs.first_task[job + 1]:
        wait_no_more(s, job)
        _add(s, job, k, 1)
    else:
        _add(s, job, k, 1)
        reorder(s, job)


@inner_kernel
def _end(s: State) -> int:
    """Let the task end that ends next, and return its machine."""
    clock = s.clock[0]
    task = pop(s.ends, clock.running)
    clock.running -= 1
    job, m = s.tasks.job[task], s.tasks.machine[task]
    k = s.machines.to_class[m]
    for r in range(s.machines.free.shape[1]):
        s.machines.free[m, r] += s.jobs.demand[job, r]
    s.jobs.ended[job] += 1
    _add(s, job, k, -1)
    if s.jobs.started[job] == s.jobs.ended[job]:
        # Nothing runs: what rounding left of gains that are no whole numbers is not to be kept.
        _value(s, job)
    if s.jobs.started[job] < s.jobs.first_task[job + 1] - s.jobs.first_task[job]:
        reorder(s, job)
    elif s.jobs.ended[job] == s.jobs.started[job]:
        clock.present -= 1
        hole, moved = s.jobs.place[job], s.jobs.present[clock.present]
        s.jobs.present[hole], s.jobs.place[moved] = moved, hole
    return int(m)


@inner_kernel
def _next_offer(s: State, until: int) -> int:
    clock = s.clock[0]
    while True:
        while clock.offered < clock.offers:
            m = s.machines.offers[clock.offered]
            clock.offered += 1
            if _is_worth_offering(s, m):
                return int(m)
            if clock.new_to_start == 0 and not s.rules.batches and not s.rules.declines:
                clock.offered = clock.offers
        seen = clock.arrived
        arrives = s.jobs.arrival[seen] if seen < s.jobs.arrival.shape[0] else NEVER
        ends = s.ends.time[0] if clock.running else NEVER
        t = min(arrives, ends)
        if t >= until or t == NEVER:
            return NOBODY
        clock.now = t
        clock.first_new, clock.new_to_start = seen, 0
        clock.offered = clock.offers = 0
        if ends == t:
            _take_ends(s, t)
            if not s.rules.batches:
                continue
        if arrives == t:
            _admit(s, t)
            _line_up(s, seen)
            clock.offers = s.machines.to_class.shape[0]


@inner_kernel
def _take_ends(s: State, t: int) -> None:
    """Let the next task end, or all that end at this moment in batches; their machines are to be offered."""
    clock = s.clock[0]
    while clock.running and s.ends.time[0] == t:
        m = _end(s)
        if s.machines.last_end[m] != t or not s.rules.batches:
            s.machines.offers[clock.offers] = m
            clock.offers += 1
        s.machines.last_end[m] = t
        if not s.rules.batches:
            break


@inner_kernel
def _admit(s: State, t: int) -> None:
    """Let all jobs of a moment arrive."""
    clock = s.clock[0]
    while clock.arrived < s.jobs.arrival.shape[0] and s.jobs.arrival[clock.arrived] == t:
        job = clock.arrived
        clock.arrived += 1
        clock.new_to_start += s.jobs.first_task[job + 1] - s.jobs.first_task[job]
        s.jobs.present[clock.present], s.jobs.place[job] = job, clock.present
        clock.present += 1
        _value(s, job)
        wait(s, job)


@inner_kernel
def _line_up(s: State, job: int) -> None:
    """Put all machines in the order in which they are offered at an arrival, of which `job` is the first."""
    num_machines = s.machines.to_class.shape[0]
    if s.rules.nodes == FASTEST_FIRST:
        filled = 0
        for k in s.jobs.fastest[job]:
            for m in range(s.machines.first[k], s.machines.first[k + 1]):
                s.machines.offers[filled] = m
                filled += 1
        return
    for m in range(num_machines):
        s.machines.offers[m] = m
    if s.rules.nodes == SHUFFLED:
        for i in range(num_machines - 1, 0, -1):
            j = below(s.random, i + 1)
            s.machines.offers[i], s.machines.offers[j] = s.machines.offers[j], s.machines.offers[i]


@inner_kernel
def _is_worth_offering(s: State, m: int) -> bool:
    clock = s.clock[0]
    if s.rules.declines:
        return bool(lowest(s, m) != NOBODY)
    first, seen = clock.first_new, clock.arrived
    if s.machines.last_end[m] == clock.now or seen - first > FEW:
        return True
    k = s.machines.to_class[m]
    for job in range(first, seen):
        if s.jobs.speed[job, k] > 0 and s.jobs.started[job] < s.jobs.first_task[job + 1] - s.jobs.first_task[job]:
            fits = True
            for r in range(s.machines.free.shape[1]):
                if s.jobs.demand[job, r] > s.machines.free[m, r]:
                    fits = False
            if fits:
                return True
    return False
