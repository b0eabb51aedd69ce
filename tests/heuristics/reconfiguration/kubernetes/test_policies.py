"""Karpenter and cluster-autoscaler plan by plan. Type "big" has 10 CPUs for $10 an hour, "small" 5 for $6."""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.kubernetes import cluster_autoscaler, karpenter
from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING

BIG, SMALL = 0, 1
FIVE, THREE = 0, 1


@pytest.fixture
def observe(make_observation):
    """A maker of observations in which the only resource is CPU; classes of 5 and 3 CPUs."""

    def observed(tasks, machines=(), **given):
        found = make_observation([(5,), (3,)], tasks, machines, **given)
        return replace(found, market=replace(found.market, resources=("cpu",)))

    return observed


def planned(plan):
    return plan.machine.tolist(), plan.new_types.tolist()


def autoscaled(observation, **parameters):
    return cluster_autoscaler(observation, np.random.default_rng(1), **parameters)


def test_karpenter_places_new_tasks_as_one_batch(observe):
    # 5 and 5 by CPU share a claim, which becomes big; the 3 needs one of its own.
    assert planned(karpenter(observe([(THREE, -1), (FIVE, -1), (FIVE, -1)]))) == ([1, 0, 0], [BIG, SMALL])
    # On big there is room for one, wherever it is in its start.
    observation = observe([(FIVE, 0), (THREE, -1)], [BIG], running=[False])
    assert planned(karpenter(observation)) == ([0, 0], [])


def test_karpenter_deletes_and_replaces(observe):
    halves = [(FIVE, 0), (FIVE, 1)]
    assert planned(karpenter(observe(halves, [BIG, BIG]))) == ([1, 1], [])
    assert planned(karpenter(observe([(FIVE, 0)], [BIG]))) == ([1], [SMALL])
    assert planned(karpenter(observe(halves, [BIG, BIG]), budget_percent=0)) == ([0, 1], [])


def test_karpenter_leaves_what_starts_migrates_or_just_changed(observe):
    halves = [(FIVE, 0), (FIVE, 1)]
    assert planned(karpenter(observe(halves, [BIG, BIG], running=[False, False]))) == ([0, 1], [])
    # The first may neither go nor take a task, as it does not run; the second is replaced by small.
    assert planned(karpenter(observe(halves, [BIG, BIG], running=[False, True]))) == ([0, 2], [SMALL])
    moving = {"phase": [MIGRATING, EXECUTING], "held": [-1, 1], "rate": [-1, 1]}
    assert planned(karpenter(observe(halves, [BIG, BIG], **moving))) == ([0, 0], [])
    assert planned(karpenter(observe(halves, [BIG, BIG]), consolidate_after_s=300)) == ([0, 1], [])


def test_karpenter_waits_for_quiet(observe):
    memory = {}
    seen = [(FIVE, 0)], [BIG]
    assert planned(karpenter(observe(*seen, now_s=300, memory=memory), consolidate_after_s=300)) == ([0], [])
    assert planned(karpenter(observe(*seen, now_s=600, memory=memory), consolidate_after_s=300)) == ([1], [SMALL])
    # Another task on it begins the wait anew.
    both = observe([(FIVE, 0), (THREE, 0)], [BIG], now_s=600, memory=memory)
    assert planned(karpenter(both, consolidate_after_s=300)) == ([0, 0], [])
    # A machine whose last task has ended is kept as long.
    memory = {}
    for now_s, tasks, keep in (
        (300, [(FIVE, 0), (THREE, 1)], True),
        (600, [(FIVE, 0)], True),
        (900, [(FIVE, 0)], False),
    ):
        plan = karpenter(observe(tasks, [SMALL, SMALL], now_s=now_s, memory=memory), consolidate_after_s=300)
        assert plan.keep.tolist()[1] == keep


def test_autoscaler_adds_by_least_waste(observe):
    # Two tasks of 5: small wastes nothing twice, big nothing either, by tie; three of 3 fill 9 of big's 10.
    assert planned(autoscaled(observe([(THREE, -1)] * 3))) == ([0, 0, 0], [BIG])
    assert planned(autoscaled(observe([(FIVE, 0), (THREE, -1)], [BIG]))) == ([0, 0], [])


def test_autoscaler_drops_what_was_little_used_for_long(observe):
    memory, tasks = {}, [(FIVE, 0), (FIVE, 1)]
    for now_s in (300, 600):
        assert planned(autoscaled(observe(tasks, [BIG, BIG], now_s=now_s, memory=memory))) == ([0, 1], [])
    # It deletes one and replaces none.
    assert planned(autoscaled(observe(tasks, [BIG, BIG], now_s=900, memory=memory))) == ([1, 1], [])
    assert planned(autoscaled(observe(tasks, [BIG, BIG]), unneeded_s=0, utilisation_percent=49)) == ([0, 1], [])


def test_autoscaler_waits_after_it_has_added(observe):
    memory = {}
    added = observe([(FIVE, 0), (FIVE, 1), (FIVE, -1)], [SMALL, SMALL], now_s=300, memory=memory)
    assert len(autoscaled(added).new_types) == 1
    tasks = [(FIVE, 0), (FIVE, 1)]
    for now_s, place in ((600, [0, 1]), (900, [1, 1])):
        observation = observe(tasks, [BIG, BIG], now_s=now_s, memory=memory)
        assert planned(autoscaled(observation, unneeded_s=0))[0] == place


def test_stocks(observe):
    # Big for the two halves has run out: one small, and the other waits for none.
    halves = [(FIVE, -1), (FIVE, -1)]
    assert planned(karpenter(observe(halves, stock_left=[0, 2]))) == ([0, 1], [SMALL, SMALL])
    assert planned(autoscaled(observe(halves, stock_left=[0, -1]))) == ([0, 1], [SMALL, SMALL])
    for plan in (karpenter(observe(halves, stock_left=[0, 1])), autoscaled(observe(halves, stock_left=[0, 1]))):
        assert sorted(plan.machine.tolist()) == [-1, 0]
    assert planned(karpenter(observe([(FIVE, -1)], stock_left=[0, 0]))) == ([-1], [])
    # No replacement without a machine to be had.
    assert planned(karpenter(observe([(FIVE, 0)], [BIG], stock_left=[0, 0]))) == ([0], [])


def test_karpenter_has_nothing_for_what_goes_in_the_same_plan(observe):
    # Two bigs, each half full, and one not to be emptied: the first pass may give a small for a big, of which there is one.
    tasks = [(FIVE, 0), (FIVE, 1), (FIVE, 2), (THREE, 3), (FIVE, 3)]
    plan = karpenter(observe(tasks, [BIG, BIG, BIG, BIG], stock_left=[0, 1]), budget_percent=100)
    assert plan.new_types.tolist().count(SMALL) <= 1
    assert BIG not in plan.new_types
