"""Jobs that wait, by the machines that serve them: who is served next on a machine.

Each pool of machine classes has a heap of its waiting jobs for every demand among them, so that what does not fit is passed
over a demand at a time. Finding the next job for a machine costs O(V), V the different demands that wait for its pool;
changing a job's key costs O(P log W), P its pools, W the jobs that wait.
"""

from __future__ import annotations

from schedgap.instances.jit import inner_kernel
from schedgap.instances.sharing.simulator.state import NOBODY, State


@inner_kernel
def lowest(s: State, m: int) -> int:
    """Return the waiting job that a machine serves next: of those that fit the one with the lowest key; or `NOBODY`."""
    pool = s.queues.class2pool[s.machines.to_class[m]]
    first = s.queues.first_group[pool]
    best, best_key, best_rank = NOBODY, 0.0, 0
    for i in range(first, first + s.queues.num_open[pool]):
        group = s.queues.open_groups[i]
        job = s.queues.pair2job[s.queues.heap[s.queues.group_start[group]]]
        key, rank = s.keys.key[job], s.jobs.tie_rank[job]
        if best != NOBODY and (key > best_key or (key == best_key and rank > best_rank)):
            continue
        fits = True
        for r in range(s.machines.free.shape[1]):
            if s.queues.group_demand[group, r] > s.machines.free[m, r]:
                fits = False
        if fits:
            best, best_key, best_rank = job, key, rank
    return best


@inner_kernel
def wait(s: State, job: int) -> None:
    """Let a job wait in all pools that serve it; its keys are set."""
    for pair in range(s.queues.first_pair[job], s.queues.first_pair[job + 1]):
        group = s.queues.pair2group[pair]
        size = s.queues.size[group]
        if size == 0:
            pool = s.queues.group2pool[group]
            place = s.queues.first_group[pool] + s.queues.num_open[pool]
            s.queues.open_groups[place] = group
            s.queues.open_place[group] = place
            s.queues.num_open[pool] += 1
        s.queues.size[group] = size + 1
        _rise(s, group, size, pair)


@inner_kernel
def wait_no_more(s: State, job: int) -> None:
    """Take a waiting job out of all its pools."""
    for pair in range(s.queues.first_pair[job], s.queues.first_pair[job + 1]):
        group = s.queues.pair2group[pair]
        size = s.queues.size[group] - 1
        s.queues.size[group] = size
        place = s.queues.place[pair]
        last = s.queues.heap[s.queues.group_start[group] + size]
        s.queues.place[pair] = NOBODY
        if place < size:
            s.queues.place[last] = place
            _settle(s, group, place, last)
        if size == 0:
            pool = s.queues.group2pool[group]
            s.queues.num_open[pool] -= 1
            hole = s.queues.open_place[group]
            moved = s.queues.open_groups[s.queues.first_group[pool] + s.queues.num_open[pool]]
            s.queues.open_groups[hole] = moved
            s.queues.open_place[moved] = hole


@inner_kernel
def reorder(s: State, job: int) -> None:
    """Put a waiting job where its changed key belongs in all its pools."""
    for pair in range(s.queues.first_pair[job], s.queues.first_pair[job + 1]):
        _settle(s, s.queues.pair2group[pair], s.queues.place[pair], pair)


@inner_kernel
def _settle(s: State, group: int, place: int, pair: int) -> None:
    if place > 0 and _before(s, pair, s.queues.heap[s.queues.group_start[group] + (place - 1) // 2]):
        _rise(s, group, place, pair)
    else:
        _sink(s, group, place, pair)


@inner_kernel
def _rise(s: State, group: int, place: int, pair: int) -> None:
    start = s.queues.group_start[group]
    while place > 0:
        above = (place - 1) // 2
        other = s.queues.heap[start + above]
        if not _before(s, pair, other):
            break
        s.queues.heap[start + place] = other
        s.queues.place[other] = place
        place = above
    s.queues.heap[start + place] = pair
    s.queues.place[pair] = place


@inner_kernel
def _sink(s: State, group: int, place: int, pair: int) -> None:
    start, size = s.queues.group_start[group], s.queues.size[group]
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _before(s, s.queues.heap[start + below + 1], s.queues.heap[start + below]):
            below += 1
        other = s.queues.heap[start + below]
        if not _before(s, other, pair):
            break
        s.queues.heap[start + place] = other
        s.queues.place[other] = place
        place = below
    s.queues.heap[start + place] = pair
    s.queues.place[pair] = place


@inner_kernel
def _before(s: State, a: int, b: int) -> bool:
    one, two = s.queues.pair2job[a], s.queues.pair2job[b]
    if s.keys.key[one] != s.keys.key[two]:
        return bool(s.keys.key[one] < s.keys.key[two])
    return bool(s.jobs.tie_rank[one] < s.jobs.tie_rank[two])
