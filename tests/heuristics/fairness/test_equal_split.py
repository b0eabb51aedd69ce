"""Every class split among those who may use it."""

import numpy as np
import pytest

from schedgap.heuristics.fairness.lowest_share_first import equal_split
from schedgap.instances.fairness import FAIR, alice_bob, micro, random_users, tasks_per_class, verify


def test_illustrative_example():
    """Alice has machine 1 and half of machine 2, 3 tasks of speed 1; of 8 that is 3/8, and she could have 4/8."""
    found = equal_split(alice_bob())
    assert tasks_per_class(alice_bob(), found).tolist() == [[2, 1, 0], [0, 1, 2]]
    assert verify(alice_bob(), found) == round(4 / 3 * FAIR)


def test_micro_benchmark():
    """Job 4 has a quarter of the type-4 nodes, 15 of 150, instead of 37.5."""
    assert tasks_per_class(micro(), equal_split(micro()))[3].tolist() == [0, 0, 0, 5]
    assert verify(micro(), equal_split(micro())) == 2.5 * FAIR


def test_weights_and_limits():
    """Of 20 slots of type 4 the weights 1, 1, 1 and 2 give 4, 4, 4 and 8; job 4 has 5 tasks and leaves the rest idle."""
    weighed = micro().replace(weight=[1000, 1000, 1000, 2000])
    assert tasks_per_class(weighed, equal_split(weighed))[:, 3].tolist() == pytest.approx([4, 4, 4, 8])
    limited = weighed.replace(tasks=[-1, -1, -1, 5])
    assert tasks_per_class(limited, equal_split(limited))[3, 3] == pytest.approx(5)


def test_is_feasible_on_random_instances():
    for seed in range(10):
        instance = random_users(30, classes=6, machines=20, resources=3, limited=seed % 2 == 0, seed=seed)
        assert verify(instance, equal_split(instance)) >= FAIR


def test_a_class_without_a_resource():
    """Where a user does not fit at all it takes nothing from the others."""
    instance = micro().replace(capacity=[[4000, 0], [4000, 4096], [4000, 4096], [4000, 4096]])
    tasks = tasks_per_class(instance, equal_split(instance))
    assert tasks[:, 0].tolist() == [0, 0, 0, 0]
    assert np.isfinite(tasks).all()
