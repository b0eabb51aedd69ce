"""Schedules in lanes: what lanes hold, and what exchanges make of it."""

import numpy as np
import pytest

from schedgap.formulations.harvest.clairvoyant import Exchange, Future, divided
from schedgap.formulations.harvest.work_bound import ending_together, objective_of_ends
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.verify import verify


@pytest.fixture(name="instances", scope="module")
def instances_fixture(optima):
    """Return fixed pools: tiny ones with memory, crowded ones with tasks of one size, and of several."""
    crowded = [quick(vms=5, jobs=8, tasks="4-9", load=2.0, seed=seed) for seed in range(6)]
    rng = np.random.default_rng(7)
    mixed = [each.replace(cores=rng.choice([1, 2, 4], each.num_jobs)) for each in crowded]
    return [each for each, _ in optima if each.is_fixed] + crowded + mixed


def cores_at(instance, vm, moment):
    """Return the cores that a VM has then."""
    at = slice(*instance.first_event[vm : vm + 2])
    index = np.searchsorted(instance.event_ms[at], moment, side="right") - 1
    return instance.event_cores[at][index] if index >= 0 else 0


def test_lanes_hold_the_schedule_and_never_more_than_their_vm(instances):
    for instance in instances:
        future = Future(instance)
        vm, start = future.place(np.random.default_rng(1).permutation(instance.num_tasks))
        rows, lane = divided(future, vm, start)
        needs, rows = np.unique(np.column_stack((future.cores, future.memory)), axis=0), np.array(rows)
        if rows[:, 3].max() < needs.shape[0] - 1:
            needs = np.unique(np.column_stack((future.cores, np.zeros_like(future.memory))), axis=0)
        for t in range(instance.num_tasks):
            of_vm, opens, closes, kind = rows[lane[t]]
            assert of_vm == vm[t]
            assert opens <= start[t]
            assert start[t] + future.length[t] <= closes
            assert needs[kind, 0] == future.cores[t]
            assert needs[kind, 1] in (0, future.memory[t])
        order = np.lexsort((start, lane))
        one, two = order[:-1], order[1:]
        assert (start[one] + future.length[one] <= start[two])[lane[one] == lane[two]].all()
        for moment in np.unique(np.concatenate((rows[:, 1], instance.event_ms))).tolist():
            if moment < instance.arrival_ms[0]:
                continue
            for v in range(instance.num_vms):
                is_open = (rows[:, 0] == v) & (rows[:, 1] <= moment) & (moment < rows[:, 2])
                cores, memory = needs[rows[is_open, 3]].sum(axis=0)
                assert cores <= cores_at(instance, v, moment)
                assert memory <= instance.memory_mib[v]


def test_memory_that_is_never_short_makes_no_kinds(make):
    """Tasks of 1 and 2 MiB: a VM of 8 MiB holds any four, one of 7 does not."""
    for memory, kinds in ((8, 1), (7, 2)):
        instance = make([[(0, 4)]], [[3, 4], [5]], memory_mib=[memory], task_memory_mib=[1, 2])
        future = Future(instance)
        rows, _ = divided(future, *future.place(np.arange(3)))
        assert len({kind for _, _, _, kind in rows}) == kinds


def test_exchanges_keep_schedules_sound_and_find_better_ones(instances):
    better = 0
    for instance in instances:
        future, told = Future(instance), []

        def learn(vm, start, instance=instance, future=future, told=told):
            told.append(verify(instance, future.schedule(vm, start)))
            assert told[-1] == objective_of_ends(instance, start + instance.runtime_ms)
            return told[-1]

        draft = Exchange(future, ending_together(instance), *future.place(np.arange(instance.num_tasks)))
        least, done = draft.improve(5_000, np.array([5], np.uint64), np.inf, learn)
        assert (least, done) == (min(told), 5_000)
        better += least < told[0]
    assert better > 10


def test_a_vm_of_a_million_cores_has_few_lanes(make):
    instance = make([[(0, 10**6), (5, 10**6 - 1)]], [[3, 4], [5]])
    future = Future(instance)
    rows, _ = divided(future, *future.place(np.arange(3)))
    assert 3 <= len(rows) <= 30


def test_it_ends_where_nothing_is_left_to_do():
    instance = quick(vms=5, jobs=8, tasks="4-9", load=2.0, seed=0)
    future = Future(instance)
    draft = Exchange(future, ending_together(instance), *future.place(np.arange(instance.num_tasks)))
    random = np.array([5], np.uint64)

    def total(vm, start):
        return int(start.sum())

    first, done = draft.improve(10**9, random, 0.0, total)
    assert done == 0
    assert draft.improve(0, random, np.inf, total) == (first, 0)
    assert draft.improve(10**9, random, np.inf, total, enough=first) == (first, 0)


def test_long_lanes_do_not_break_the_time_limit(make):
    """One core for 3,000 tasks, each behind all others: a move looks at a thousand of them."""
    instance = make([[(0, 1)], [(0, 1)]], [[1 + t % 7 for t in range(3_000)]], objective="makespan")
    future = Future(instance)
    draft = Exchange(future, ending_together(instance), *future.place(np.arange(3_000)))
    steps = []
    draft.improve(300_000, np.array([5], np.uint64), np.inf, lambda vm, start: steps.append(1) or 1 + int(start.sum()))
    assert len(steps) > 20
