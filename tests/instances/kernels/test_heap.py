"""The heap of what ends next, against Python's own."""

import heapq

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.instances.jit import kernel
from schedgap.instances.kernels.heap import earliest, heap_pop, heap_push
from schedgap.instances.units import NEVER


@kernel
def play(time, job, times, jobs, first, order):
    """Push each job whose time is not negative, pop one for each other; `first` is when the next ends before each."""
    count = popped = 0
    for i in range(time.shape[0]):
        first[i] = earliest(times, count)
        if time[i] >= 0:
            heap_push(times, jobs, count, time[i], job[i])
            count += 1
        elif count > 0:
            order[popped] = jobs[0]
            heap_pop(times, jobs, count)
            count -= 1
            popped += 1
    return popped


@settings(deadline=None)
@given(st.lists(st.integers(-4, 9), min_size=1, max_size=60), st.randoms())
def test_in_order_of_time_then_of_number(steps, random):
    numbers = random.sample(range(100), len(steps))
    plain, expected, first = [], [], []
    for time, job in zip(steps, numbers, strict=True):
        first.append(plain[0][0] if plain else NEVER)
        if time >= 0:
            heapq.heappush(plain, (time, job))
        elif plain:
            expected.append(heapq.heappop(plain)[1])
    times, jobs, found, order = (np.zeros(len(steps), np.int64) for _ in range(4))
    popped = play(np.array(steps), np.array(numbers), times, jobs, found, order)
    assert (found.tolist(), order[:popped].tolist()) == (first, expected)
