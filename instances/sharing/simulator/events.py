"""The cluster's rules, compiled: tasks end, jobs arrive, machines are offered and serve the job with the lowest key.

At one moment tasks that end come first, each with an offer of its machine before the next one ends (unless in batches), then
all jobs that arrive, and then every machine that may have room for one of them is offered. A machine that is offered serves
jobs until none fits. So no waiting job ever fits on a machine, and an arrival needs to look no further than the new jobs;
where somebody else decides and may leave a machine idle (declines), every machine with room for a waiting job is offered.

A task costs O(log T) for its end and O(V + P log W) for its machine, a moment of arrivals O(M).

Jobs that wait, by the machines that serve them: who is served next on a machine.

Each pool of machine classes has a heap of its waiting jobs for every demand among them, so that what does not fit is passed
over a demand at a time. Finding the next job for a machine costs O(V), V the different demands that wait for its pool;
changing a job's key costs O(P log W), P its pools, W the jobs that wait.

The running tasks by their ends: a binary heap, O(log N) a call for N of them.
"""

from __future__ import annotations

from schedgap.instances.arrays import Records
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below
from schedgap.instances.kernels.rounding import rounded
from schedgap.instances.sharing.simulator.state import FASTEST_FIRST, NOBODY, SHUFFLED, End, State
from schedgap.instances.units import NEVER


@inner_kernel
def lowest(s: State, m: int) -> int:
    """Return the waiting job that a machine serves next: of those that fit the one with the lowest key; or `NOBODY`."""
    pool = s.classes[s.machines[m].to_class].pool
    first = s.pools[pool].first_group
    best, best_key, best_rank = NOBODY, 0.0, 0
    for i in range(first, first + s.pools[pool].num_open):
        group = s.groups[i].opened
        job = s.pairs[s.pairs[s.groups[group].start].heap].job
        key, rank = s.jobs[job].key, s.jobs[job].tie_rank
        if best != NOBODY and (key > best_key or (key == best_key and rank > best_rank)):
            continue
        fits = True
        for r in range(s.free.shape[1]):
            if s.group_demand[group, r] > s.free[m, r]:
                fits = False
        if fits:
            best, best_key, best_rank = job, key, rank
    return best


@inner_kernel
def wait(s: State, job: int) -> None:
    """Let a job wait in all pools that serve it; its keys are set."""
    for pair in range(s.jobs[job].first_pair, s.jobs[job + 1].first_pair):
        group = s.pairs[pair].group
        size = s.groups[group].waiting
        if size == 0:
            pool = s.groups[group].pool
            place = s.pools[pool].first_group + s.pools[pool].num_open
            s.groups[place].opened = group
            s.groups[group].open_place = place
            s.pools[pool].num_open += 1
        s.groups[group].waiting = size + 1
        _rise(s, group, size, pair)


@inner_kernel
def wait_no_more(s: State, job: int) -> None:
    """Take a waiting job out of all its pools."""
    for pair in range(s.jobs[job].first_pair, s.jobs[job + 1].first_pair):
        group = s.pairs[pair].group
        size = s.groups[group].waiting - 1
        s.groups[group].waiting = size
        place = s.pairs[pair].place
        last = s.pairs[s.groups[group].start + size].heap
        s.pairs[pair].place = NOBODY
        if place < size:
            s.pairs[last].place = place
            _settle(s, group, place, last)
        if size == 0:
            pool = s.groups[group].pool
            s.pools[pool].num_open -= 1
            hole = s.groups[group].open_place
            moved = s.groups[s.pools[pool].first_group + s.pools[pool].num_open].opened
            s.groups[hole].opened = moved
            s.groups[moved].open_place = hole


@inner_kernel
def reorder(s: State, job: int) -> None:
    """Put a waiting job where its changed key belongs in all its pools."""
    for pair in range(s.jobs[job].first_pair, s.jobs[job + 1].first_pair):
        _settle(s, s.pairs[pair].group, s.pairs[pair].place, pair)


@inner_kernel
def _settle(s: State, group: int, place: int, pair: int) -> None:
    if place > 0 and _before(s, pair, s.pairs[s.groups[group].start + (place - 1) // 2].heap):
        _rise(s, group, place, pair)
    else:
        _sink(s, group, place, pair)


@inner_kernel
def _rise(s: State, group: int, place: int, pair: int) -> None:
    start = s.groups[group].start
    while place > 0:
        above = (place - 1) // 2
        other = s.pairs[start + above].heap
        if not _before(s, pair, other):
            break
        s.pairs[start + place].heap = other
        s.pairs[other].place = place
        place = above
    s.pairs[start + place].heap = pair
    s.pairs[pair].place = place


@inner_kernel
def _sink(s: State, group: int, place: int, pair: int) -> None:
    start, size = s.groups[group].start, s.groups[group].waiting
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _before(s, s.pairs[start + below + 1].heap, s.pairs[start + below].heap):
            below += 1
        other = s.pairs[start + below].heap
        if not _before(s, other, pair):
            break
        s.pairs[start + place].heap = other
        s.pairs[other].place = place
        place = below
    s.pairs[start + place].heap = pair
    s.pairs[pair].place = place


@inner_kernel
def _before(s: State, a: int, b: int) -> bool:
    one, two = s.pairs[a].job, s.pairs[b].job
    if s.jobs[one].key != s.jobs[two].key:
        return bool(s.jobs[one].key < s.jobs[two].key)
    return bool(s.jobs[one].tie_rank < s.jobs[two].tie_rank)


@inner_kernel
def push(ends: Records[End], running: int, end: int, tie: int, task: int) -> None:
    """Add a task to those that run: of those that end at one moment the lowest tie is first, then the lowest task."""
    i = running
    while i > 0:
        above = (i - 1) // 2
        if not _earlier(end, tie, task, ends[above].time, ends[above].tie, ends[above].task):
            break
        ends[i].time, ends[i].tie, ends[i].task = ends[above].time, ends[above].tie, ends[above].task
        i = above
    ends[i].time, ends[i].tie, ends[i].task = end, tie, task


@inner_kernel
def pop(ends: Records[End], running: int) -> int:
    """Remove the first of the tasks that run and return it."""
    first = ends[0].task
    last = running - 1
    end, tie, task = ends[last].time, ends[last].tie, ends[last].task
    i = 0
    while True:
        below = 2 * i + 1
        if below >= last:
            break
        other = below + 1
        if other < last and _earlier(
            ends[other].time, ends[other].tie, ends[other].task, ends[below].time, ends[below].tie, ends[below].task
        ):
            below = other
        if not _earlier(ends[below].time, ends[below].tie, ends[below].task, end, tie, task):
            break
        ends[i].time, ends[i].tie, ends[i].task = ends[below].time, ends[below].tie, ends[below].task
        i = below
    ends[i].time, ends[i].tie, ends[i].task = end, tie, task
    return int(first)


@inner_kernel
def _earlier(end: int, tie: int, task: int, other_end: int, other_tie: int, other_task: int) -> bool:
    if end != other_end:
        return bool(end < other_end)
    if tie != other_tie:
        return bool(tie < other_tie)
    return bool(task < other_task)


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
