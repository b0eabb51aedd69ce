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
from schedgap.instances.sharing.simulator.kernels_waiting import lowest, pop, push, reorder, wait, wait_no_more
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
        job = s.jobs[i].present
        waits = s.jobs[job].started < s.jobs[job + 1].first_task - s.jobs[job].first_task
        if waits:
            wait_no_more(s, job)
        _value(s, job)
        if waits:
            wait(s, job)


@inner_kernel
def _value(s: State, job: int) -> None:
    """Compute a job's total and its key from its running tasks."""
    total = 0.0
    for k in range(s.runs.shape[1]):
        if s.runs[job, k]:
            total += s.runs[job, k] * s.gain[job, k]
    s.jobs[job].total = total
    s.jobs[job].key = s.jobs[job].offset + rounded(total / s.jobs[job].scale)


@inner_kernel
def _add(s: State, job: int, k: int, more: int) -> None:
    """Count a task more or less of a job on a class, and set its key."""
    s.runs[job, k] += more
    s.jobs[job].total += more * s.gain[job, k]
    s.jobs[job].key = s.jobs[job].offset + rounded(s.jobs[job].total / s.jobs[job].scale)


@inner_kernel
def _start(s: State, m: int, job: int) -> None:
    clock = s.clock[0]
    k = s.machines[m].to_class
    first = s.jobs[job].first_task
    task = first + s.jobs[job].started
    s.jobs[job].started += 1
    now = clock.now
    s.tasks[task].machine, s.tasks[task].start = m, now
    for r in range(s.free.shape[1]):
        s.free[m, r] -= s.demand[job, r]
    if job >= clock.first_new:
        clock.new_to_start -= 1
    tie = m
    if s.rules.nodes == FASTEST_FIRST:
        tie = s.speed_rank[job, k] * s.machines.shape[0] + m
    elif s.rules.nodes == SHUFFLED:
        tie = below(s.clock.random, NEVER)
    push(
        s.ends,
        clock.running,
        now + (s.tasks[task].work * 1000 + s.speed[job, k] - 1) // s.speed[job, k],
        tie,
        task,
    )
    clock.running += 1
    if task + 1 == s.jobs[job + 1].first_task:
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
    job, m = s.tasks[task].job, s.tasks[task].machine
    k = s.machines[m].to_class
    for r in range(s.free.shape[1]):
        s.free[m, r] += s.demand[job, r]
    s.jobs[job].ended += 1
    _add(s, job, k, -1)
    if s.jobs[job].started == s.jobs[job].ended:
        # Nothing runs: what rounding left of gains that are no whole numbers is not to be kept.
        _value(s, job)
    if s.jobs[job].started < s.jobs[job + 1].first_task - s.jobs[job].first_task:
        reorder(s, job)
    elif s.jobs[job].ended == s.jobs[job].started:
        clock.present -= 1
        hole, moved = s.jobs[job].place, s.jobs[clock.present].present
        s.jobs[hole].present, s.jobs[moved].place = moved, hole
    return int(m)


@inner_kernel
def _next_offer(s: State, until: int) -> int:
    clock = s.clock[0]
    while True:
        while clock.offered < clock.offers:
            m = s.machines[clock.offered].offers
            clock.offered += 1
            if _is_worth_offering(s, m):
                return int(m)
            if clock.new_to_start == 0 and not s.rules.batches and not s.rules.declines:
                clock.offered = clock.offers
        seen = clock.arrived
        arrives = s.jobs[seen].arrival
        ends = s.ends[0].time if clock.running else NEVER
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
            clock.offers = s.machines.shape[0]


@inner_kernel
def _take_ends(s: State, t: int) -> None:
    """Let the next task end, or all that end at this moment in batches; their machines are to be offered."""
    clock = s.clock[0]
    while clock.running and s.ends[0].time == t:
        m = _end(s)
        if s.machines[m].last_end != t or not s.rules.batches:
            s.machines[clock.offers].offers = m
            clock.offers += 1
        s.machines[m].last_end = t
        if not s.rules.batches:
            break


@inner_kernel
def _admit(s: State, t: int) -> None:
    """Let all jobs of a moment arrive."""
    clock = s.clock[0]
    while s.jobs[clock.arrived].arrival == t:
        job = clock.arrived
        clock.arrived += 1
        clock.new_to_start += s.jobs[job + 1].first_task - s.jobs[job].first_task
        s.jobs[clock.present].present, s.jobs[job].place = job, clock.present
        clock.present += 1
        _value(s, job)
        wait(s, job)


@inner_kernel
def _line_up(s: State, job: int) -> None:
    """Put all machines in the order in which they are offered at an arrival, of which `job` is the first."""
    num_machines = s.machines.shape[0]
    if s.rules.nodes == FASTEST_FIRST:
        filled = 0
        for k in s.fastest[job]:
            for m in range(s.classes[k].first, s.classes[k + 1].first):
                s.machines[filled].offers = m
                filled += 1
        return
    for m in range(num_machines):
        s.machines[m].offers = m
    if s.rules.nodes == SHUFFLED:
        for i in range(num_machines - 1, 0, -1):
            j = below(s.clock.random, i + 1)
            s.machines[i].offers, s.machines[j].offers = s.machines[j].offers, s.machines[i].offers


@inner_kernel
def _is_worth_offering(s: State, m: int) -> bool:
    clock = s.clock[0]
    if s.rules.declines:
        return bool(lowest(s, m) != NOBODY)
    first, seen = clock.first_new, clock.arrived
    if s.machines[m].last_end == clock.now or seen - first > FEW:
        return True
    k = s.machines[m].to_class
    for job in range(first, seen):
        if s.speed[job, k] > 0 and s.jobs[job].started < s.jobs[job + 1].first_task - s.jobs[job].first_task:
            fits = True
            for r in range(s.free.shape[1]):
                if s.demand[job, r] > s.free[m, r]:
                    fits = False
            if fits:
                return True
    return False
