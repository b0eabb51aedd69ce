"""Exchanges against a plain version of what a plan is: lanes in order, starts as early as they can, sums of smooth ends."""

import numpy as np
import pytest

from schedgap.formulations.harvest.kernels_exchange import (
    NONE,
    Lanes,
    Moved,
    Plan,
    Soft,
    Tasks,
    exchange,
)


def lanes_with(seed, tasks=30, groups=4, kinds=1):
    """Return tasks one after the other in lanes of which each is open long enough, and all that a kernel needs."""
    rng = np.random.default_rng(seed)
    group = np.sort(np.concatenate((np.arange(groups), rng.integers(groups, size=tasks - groups))))
    first = np.searchsorted(group, np.arange(groups + 1))
    ready, length = rng.integers(0, 50, groups)[group], rng.integers(1, 40, tasks)
    number = 7
    kind = np.arange(number) % kinds
    lane = rng.choice(number, tasks) if kinds == 1 else rng.permutation(np.arange(tasks)) % number
    opens, head = rng.integers(0, 20, number), np.full(number, NONE)
    before, after, start = np.full(tasks, NONE), np.full(tasks, NONE), np.zeros(tasks, np.int64)
    closes = np.zeros(number, np.int64)
    for i in range(number):
        end, last = opens[i], NONE
        for t in np.flatnonzero(lane == i):
            start[t] = max(end, ready[t])
            before[t] = last
            if last == NONE:
                head[i] = t
            else:
                after[last] = t
            end, last = start[t] + length[t], t
        closes[i] = end + rng.integers(0, 60)
    soft = Soft(*np.zeros((2, groups), np.int64), *np.zeros((2, groups)), *np.zeros((2, tasks), np.int64))
    moved = Moved(np.zeros(tasks, np.int64), np.zeros(tasks, np.int64), np.zeros(groups, np.int64))
    return (
        Tasks(ready, length, group, first),
        Lanes(opens, closes, kind, head),
        Plan(lane, before, after, start),
        soft,
        moved,
    )


@pytest.mark.parametrize("seed", range(12))
def test_plans_stay_sound(seed):
    tasks, lanes, plan, soft, moved = lanes_with(seed, kinds=1 + seed % 2)
    kinds = lanes.kind[plan.lane].copy()
    lane, width, random = plan.lane.copy(), 9.0, np.array([seed + 1], np.uint64)
    for heat in (50.0, 5.0, 0.5):
        exchange(tasks, lanes, plan, soft, moved, heat, width, 300, random)
        seen = []
        for i, t in enumerate(lanes.head.tolist()):
            end, last = lanes.opens[i], NONE
            while t != NONE:
                assert (plan.lane[t], plan.before[t]) == (i, last)
                assert plan.start[t] == max(end, tasks.ready[t])
                end, last = plan.start[t] + tasks.length[t], t
                seen.append(t)
                t = plan.after[t]
            assert end <= lanes.closes[i] or last == NONE
        assert sorted(seen) == list(range(tasks.ready.shape[0]))
        sums = np.zeros_like(soft.total)
        ends = plan.start + tasks.length
        np.add.at(sums, tasks.group, np.exp((ends - soft.end[tasks.group]) / width))
        assert np.allclose(sums, soft.total, rtol=1e-6, atol=1e-9)
        assert (soft.changed == NONE).all()
        assert (ends <= soft.latest[tasks.group]).all()
    assert np.array_equal(lanes.kind[plan.lane], kinds)
    assert (plan.lane != lane).any()


def test_the_cold_only_takes_what_is_no_later():
    """At no heat the smooth ends never grow."""
    tasks, lanes, plan, soft, moved = lanes_with(3)
    random, before = np.array([9], np.uint64), np.inf
    for _ in range(20):
        exchange(tasks, lanes, plan, soft, moved, 1e-12, 5.0, 50, random)
        smooth = float((soft.end + 5.0 * np.log(soft.total)).sum())
        assert smooth <= before + 1e-6
        before = smooth


def test_two_tasks_change_places_where_that_ends_a_group_sooner():
    """Group 0 is a task of 1 behind one of 9. It comes to be the first; that of 20, in the other lane, is not kept waiting."""
    tasks = Tasks(np.zeros(3, np.int64), np.array([1, 9, 20]), np.array([0, 1, 1]), np.array([0, 1, 3]))
    lanes = Lanes(np.zeros(2, np.int64), np.full(2, 100), np.zeros(2, np.int64), np.array([1, 2]))
    plan = Plan(np.array([0, 0, 1]), np.array([1, NONE, NONE]), np.array([NONE, 0, NONE]), np.array([9, 0, 0]))
    soft = Soft(*np.zeros((2, 2), np.int64), *np.zeros((2, 2)), *np.zeros((2, 3), np.int64))
    moved = Moved(np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(2, np.int64))
    exchange(tasks, lanes, plan, soft, moved, 1e-9, 1.0, 5_000, np.array([1], np.uint64))
    assert (plan.start + tasks.length).tolist() == [1, 10, 20]
