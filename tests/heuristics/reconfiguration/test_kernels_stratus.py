"""Stratus's classes and groups against a plain version, on tasks that are all new."""

import math

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.kernels_stratus import run_time_class, stratus_plan
from schedgap.heuristics.reconfiguration.observation import catalogue_of, present_of

ROOM, PRICE = (10, 5), (10, 6)


@pytest.mark.parametrize("seconds", [1.0, 1.5, 2.0, 3.9, 4.0, 1000.0, 1024.0, 2.0**40])
def test_the_class_of_a_run_time_is_its_binary_logarithm(seconds):
    assert run_time_class.py_func(seconds) == math.floor(math.log2(seconds))


def grouped(demand, classes, run_time):
    """Longest first, groups of at most 1, 2, 3, ... that some type takes; the type that gives the most per price.

    With the large type as reference of both, that is the cheaper one that fits. A machine less than half full is given
    up again, unless it holds one task that has it as its own type; its tasks then find no running machine.
    """
    order = sorted(range(len(classes)), key=lambda t: -run_time[t])
    groups, limit = [], 1
    while order:
        group = [order.pop(0)]
        while order and len(group) < limit and sum(demand[classes[t]] for t in [*group, order[0]]) <= ROOM[0]:
            group.append(order.pop(0))
        groups.append(group)
        limit += 1
    return groups


@pytest.mark.parametrize("seed", range(12))
def test_new_tasks_are_cut_into_growing_groups(make_observation, seed):
    rng = np.random.default_rng(seed)
    # Every machine is at least half full: 3 of 5, or more than 5 of 10.
    demand = [3, 5]
    classes = rng.integers(0, 2, 7).tolist()
    run_time = rng.permutation(7) * 100.0 + 1
    observation = make_observation([(d,) for d in demand], [(c, -1) for c in classes])
    place, new_types = stratus_plan(
        catalogue_of(observation), present_of(observation), np.zeros(7, np.bool_), run_time, np.ones(1),
        np.zeros(2, np.int64), True,
    )  # fmt: skip
    groups = grouped(demand, classes, run_time)
    assert [np.flatnonzero(place == m).tolist() for m in range(len(groups))] == [sorted(group) for group in groups]
    used = [sum(demand[classes[t]] for t in group) for group in groups]
    assert new_types.tolist() == [1 if total <= ROOM[1] else 0 for total in used]
