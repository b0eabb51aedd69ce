"""Figures of allocations, by hand."""

from collections import OrderedDict
from importlib import import_module

import numpy as np
import pytest

from schedgap.instances.fairness import (
    SPREAD,
    TASK,
    FairnessAllocation,
    alice_bob,
    allocation_of,
    measures,
    random_users,
    share_of_a_task,
    shares_of,
    tasks_per_class,
)
from schedgap.instances.fairness import certificate as reference
from schedgap.instances.fairness.measures import envy, equal_part, jain
from schedgap.instances.fairness.verify import FAIR, WORST


@pytest.fixture
def known(monkeypatch, fair_alice_and_bob):
    fair = allocation_of(alice_bob(), [[2, 2, 0], [0, 0, 2]], fair_alice_and_bob)
    monkeypatch.setattr(reference, "_finder", lambda: lambda _: fair)
    monkeypatch.setattr(reference, "_known", OrderedDict())
    return fair


def test_the_fair_point(known):
    """Everything is used, half of it by each. Alice would have 3 of 8 tasks, 1 + 1 + 0, of half of every machine."""
    figures = measures(alice_bob(), known)
    assert figures == {
        "min_share": 0.5,
        "mean_share": 0.5,
        "max_share": 0.5,
        "jain": 1.0,
        "jain_fair": 1.0,
        "distance_max": 0.0,
        "distance_mean": 0.0,
        "shortfall_max": 0.0,
        "excess_max": 0.0,
        "users_below": 0.0,
        # Bob's halves are worth 1/8 + 2/8.
        "incentive": pytest.approx(0.5 / (3 / 8)),
        "envy": 0.0,
        "progress": 8.0,
        "whole": 0.0,
        "utilisation_cpu": 1.0,
        "utilisation_ram_gib": 1.0,
    }


def test_another_point(known):
    """Alice 3/8, a quarter short; Bob 4.5/8, an eighth over. 5.75 of 6 cores are used, for a progress of 7.5."""
    figures = measures(alice_bob(), allocation_of(alice_bob(), [[2, 1, 0], [0, 1, 1.75]]))
    assert (figures["min_share"], figures["mean_share"], figures["max_share"]) == (3 / 8, 7.5 / 16, 4.5 / 8)
    assert figures["jain"] == figures["jain_fair"] == pytest.approx(7.5**2 / (2 * (3**2 + 4.5**2)))
    assert (figures["distance_max"], figures["distance_mean"]) == (0.25, 0.1875)
    assert (figures["shortfall_max"], figures["excess_max"], figures["users_below"]) == (0.25, 0.125, 0.5)
    assert figures["incentive"] == pytest.approx((3 / 8) / (2 / 8))
    assert figures["utilisation_cpu"] == pytest.approx(5.75 / 6)
    assert figures["progress"] == 7.5


def test_envy_by_hand(make):
    """User 0 has one task, the other three, of the same machine: two more than one."""
    instance = make([1], [[4]], [[1], [1]])
    gain, tasks = share_of_a_task(instance), np.array([[1.0], [3.0]])
    assert envy(instance, gain, tasks, (gain * tasks).sum(axis=1)) == 2.0
    heavy = instance.replace(weight=[1000, 3000])
    gain = share_of_a_task(heavy)
    assert envy(heavy, gain, tasks, (gain * tasks).sum(axis=1)) == pytest.approx(0.0, abs=1e-15)
    few = instance.replace(tasks=[2, -1])
    assert envy(few, share_of_a_task(few), tasks, np.array([0.25, 0.75])) == 1.0
    forbidden = make([1, 1], [[4], [4]], [[1], [1]], allowed=[[True, False], [True, True]])
    tasks = np.array([[1.0, 0.0], [0.0, 3.0]])
    assert envy(forbidden, share_of_a_task(forbidden), tasks, np.array([1 / 8, 3 / 8])) == 0.0


@pytest.mark.parametrize("limited", [False, True])
def test_envy_is_that_of_every_pair(limited):
    for seed in range(8):
        instance = random_users(5, classes=3, machines=4, limited=limited, load=0.8, weights="random", seed=seed)
        allocation = allocation_of(instance, instance.allowed * instance.fitting() * instance.machine_count / 6)
        gain, tasks, shares = (
            share_of_a_task(instance),
            tasks_per_class(instance, allocation),
            shares_of(instance, allocation),
        )
        most = 0.0
        for i in range(5):
            for j in range(5):
                fits = (tasks[j][:, None] * instance.demand[j] / instance.demand[i]).min(axis=1)
                fits *= instance.weight[i] / instance.weight[j]
                left, would = np.inf if instance.tasks[i] < 0 else instance.tasks[i], 0.0
                for k in np.argsort(-gain[i]):
                    would += gain[i, k] * min(left, fits[k])
                    left -= min(left, fits[k])
                most = max(most, would / shares[i] - 1)
        assert envy(instance, gain, tasks, shares) == pytest.approx(most, abs=1e-12)


def test_nobody_has_anything(known):
    """Who has nothing counts as having a millionth of its fair share; nobody envies anybody."""
    figures = measures(alice_bob(), FairnessAllocation([], [], [], []))
    assert (figures["jain"], figures["distance_max"], figures["envy"], figures["whole"]) == (1.0, 1.0, 0.0, 1.0)
    # Alice would have half of her share on machine 1 of Bob's, were it allowed to him; on machine 2 he has half of hers.
    figures = measures(alice_bob(), allocation_of(alice_bob(), [[0, 0, 0], [0, 2, 0]]))
    assert figures["envy"] == pytest.approx(0.25 / (0.5 * FAIR / WORST) - 1)


def test_whole_tasks(known):
    def whole(*entries):
        return measures(alice_bob(), FairnessAllocation(*zip(*entries, strict=True)))["whole"]

    assert whole((0, 0, TASK, 0), (1, 2, 2 * TASK, 0)) == 1.0
    assert whole((0, 0, TASK, 0), (1, 2, TASK, SPREAD)) == 0.0
    assert whole((0, 0, TASK, 0), (1, 2, TASK + 1, 0)) == 0.0


def test_jains_index():
    assert jain(np.array([2.0, 2.0, 2.0])) == 1.0
    assert jain(np.array([5.0, 0.0, 0.0, 0.0])) == 0.25
    assert jain(np.array([1e-200, 1e-200])) == 1.0


def test_equal_parts(make):
    """A weight of 1 of 4: a quarter of 8 tasks, of which it has one; then of the faster class first."""
    instance = make(
        [1, 1], [[4], [4]], [[1], [1]], weight=[1, 3], tasks=[1, -1], notion="eunomia", performance=[[1, 3], [1, 3]]
    )
    assert equal_part(instance, share_of_a_task(instance)).tolist() == [3 / 16, 3 * 4 / (3 * 16)]


def test_envy_is_left_out_where_it_takes_too_long(monkeypatch, known):
    # The function of the same name hides the module.
    monkeypatch.setattr(import_module("schedgap.instances.fairness.measures"), "MOST_LOOKS", 1)
    assert "envy" not in measures(alice_bob(), known)
