"""Jobs that wait, by the machines that serve them: who is served next on a machine.

Each pool of machine classes has a heap of its waiting jobs for every demand among them, so that what does not fit is passed
over a demand at a time. Finding the next job for a machine costs O(V), V the different demands that wait for its pool;
changing a job's key costs O(P log W), P its pools, W the jobs that wait.
"""

from __future__ import annotations

from schedgap.instances.jit import inner_kernel
from schedgap.instances.sharing.kernels_state import BY_CLASS, NOBODY, State


@inner_kernel
def lowest(s: State, m: int) -> int:
    """Return the waiting job that a machine serves next: of those that fit the one with the lowest key; or `NOBODY`."""
    pool = s.class2pool[s.machine2class[m]]
    column = pool if s.option[BY_CLASS] else 0
    first = s.first_group[pool]
    best, best_key, best_rank = NOBODY, 0.0, 0
    for i in range(first, first + s.num_open[pool]):
        group = s.open_groups[i]
        job = s.pair2job[s.heap[s.group_start[group]]]
        key, rank = s.key[job, column], s.tie_rank[job]
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
    for pair in range(s.first_pair[job], s.first_pair[job + 1]):
        group = s.pair2group[pair]
        size = s.heap_size[group]
        if size == 0:
            pool = s.group2pool[group]
            place = s.first_group[pool] + s.num_open[pool]
            s.open_groups[place] = group
            s.open_place[group] = place
            s.num_open[pool] += 1
        s.heap_size[group] = size + 1
        _rise(s, group, size, pair)


@inner_kernel
def wait_no_more(s: State, job: int) -> None:
    """Take a waiting job out of all its pools."""
    for pair in range(s.first_pair[job], s.first_pair[job + 1]):
        group = s.pair2group[pair]
        size = s.heap_size[group] - 1
        s.heap_size[group] = size
        place = s.place[pair]
        last = s.heap[s.group_start[group] + size]
        s.place[pair] = NOBODY
        if place < size:
            s.place[last] = place
            _settle(s, group, place, last)
        if size == 0:
            pool = s.group2pool[group]
            s.num_open[pool] -= 1
            hole = s.open_place[group]
            moved = s.open_groups[s.first_group[pool] + s.num_open[pool]]
            s.open_groups[hole] = moved
            s.open_place[moved] = hole


@inner_kernel
def reorder(s: State, job: int, pool: int) -> None:
    """Put a waiting job where its changed key belongs; in one pool, or in all if `NOBODY`."""
    for pair in range(s.first_pair[job], s.first_pair[job + 1]):
        group = s.pair2group[pair]
        if pool == NOBODY or s.group2pool[group] == pool:
            _settle(s, group, s.place[pair], pair)


@inner_kernel
def _settle(s: State, group: int, place: int, pair: int) -> None:
    if place > 0 and _before(s, group, pair, s.heap[s.group_start[group] + (place - 1) // 2]):
        _rise(s, group, place, pair)
    else:
        _sink(s, group, place, pair)


@inner_kernel
def _rise(s: State, group: int, place: int, pair: int) -> None:
    start = s.group_start[group]
    while place > 0:
        above = (place - 1) // 2
        other = s.heap[start + above]
        if not _before(s, group, pair, other):
            break
        s.heap[start + place] = other
        s.place[other] = place
        place = above
    s.heap[start + place] = pair
    s.place[pair] = place


@inner_kernel
def _sink(s: State, group: int, place: int, pair: int) -> None:
    start, size = s.group_start[group], s.heap_size[group]
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _before(s, group, s.heap[start + below + 1], s.heap[start + below]):
            below += 1
        other = s.heap[start + below]
        if not _before(s, group, other, pair):
            break
        s.heap[start + place] = other
        s.place[other] = place
        place = below
    s.heap[start + place] = pair
    s.place[pair] = place


@inner_kernel
def _before(s: State, group: int, a: int, b: int) -> bool:
    column = s.group2pool[group] if s.option[BY_CLASS] else 0
    one, two = s.pair2job[a], s.pair2job[b]
    if s.key[one, column] != s.key[two, column]:
        return bool(s.key[one, column] < s.key[two, column])
    return bool(s.tie_rank[one] < s.tie_rank[two])
