"""Jobs that wait, by the machines that serve them: who is served next on a machine.

Each pool of machine classes has a heap of its waiting jobs for every demand among them, so that what does not fit is passed
over a demand at a time. Finding the next job for a machine costs O(V), V the different demands that wait for its pool;
changing a job's key costs O(P log W), P its pools, W the jobs that wait.

The running tasks by their ends: a binary heap, O(log N) a call for N of them.
"""

from __future__ import annotations

from schedgap.instances.arrays import Records
from schedgap.instances.jit import inner_kernel
from schedgap.instances.sharing.simulator.state import NOBODY, End, State


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
