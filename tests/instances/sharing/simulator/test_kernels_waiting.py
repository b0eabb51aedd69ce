"""Heaps of waiting jobs against a look at all of them."""

import numba
import numpy as np

from schedgap.instances.sharing import random_jobs
from schedgap.instances.sharing.simulator.events import lowest, reorder, wait, wait_no_more
from schedgap.instances.sharing.simulator.state import NOBODY, Rules, initial_state


@numba.njit
def change(state, job, how):
    if how == 0:
        wait(state, job)
    elif how == 1:
        reorder(state, job)
    else:
        wait_no_more(state, job)


@numba.njit
def first(state, m):
    return lowest(state, m)


def test_the_lowest_key_that_fits():
    found = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        instance = random_jobs(8, seed=seed, machine_classes=3, own_performance=True)
        state = initial_state(instance, Rules(0, False, False), "random", seed)
        serves, waiting = instance.serves(), set()
        for _ in range(60):
            job = int(rng.integers(8))
            if job not in waiting or rng.random() < 0.5:
                state.jobs.key[job] = rng.integers(4)
                change(state, job, int(job in waiting))
                waiting.add(job)
            else:
                change(state, job, 2)
                waiting.remove(job)
            m = int(rng.integers(instance.num_machines))
            k = state.machines.to_class[m]
            state.free[m] = rng.integers(0, instance.capacity[k] + 1)
            roomy = [j for j in waiting if serves[j, k] and (instance.demand[j] <= state.free[m]).all()]
            order = (state.jobs.key, state.jobs.tie_rank)
            assert first(state, m) == min(roomy, key=lambda j: tuple(each[j] for each in order), default=NOBODY)
            found += len(roomy) > 1
    assert found > 100
