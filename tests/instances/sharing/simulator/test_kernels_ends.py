"""The heap of running tasks against a sorted list."""

import numba
import numpy as np

from schedgap.instances.arrays import records
from schedgap.instances.sharing.simulator.events import pop, push
from schedgap.instances.sharing.simulator.state import End


@numba.njit
def add(ends, running, end, tie, task):
    push(ends, running, end, tie, task)


@numba.njit
def take(ends, running):
    return pop(ends, running)


def test_tasks_come_in_the_order_of_ends_ties_and_numbers():
    rng = np.random.default_rng(1)
    for _ in range(50):
        ends, plain = records(End, 40), []
        for task in range(40):
            item = (int(rng.integers(5)), int(rng.integers(3)), task)
            add(ends, len(plain), *item)
            plain = sorted([*plain, item])
            if rng.random() < 0.4:
                assert take(ends, len(plain)) == plain.pop(0)[2]
        while plain:
            assert take(ends, len(plain)) == plain.pop(0)[2]
