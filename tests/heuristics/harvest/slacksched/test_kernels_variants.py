"""The variants of SlackSched against their rules in plain Python, on small pools."""

import numpy as np
import pytest

from schedgap.heuristics.harvest.slacksched import kernels_engine
from schedgap.heuristics.harvest.slacksched.kernels_rules import pass_heartbeat, pass_literal, pass_no_delay
from schedgap.heuristics.harvest.slacksched.state import PredictionOptions, new_matcher
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import GREW
from schedgap.instances.jit import lean_kernel
from schedgap.instances.units import NEVER

PREDICTION = PredictionOptions(reconsider_s=600.0)
FREE_EVERY_MS = 120_000


def literal(pool):
    """Each task starts on the VM where it is expected to be complete first if it fits there now; nothing is held."""
    if not pool.waiting():
        pool.wake_at(NEVER)
        return
    pool.learn()
    for task in pool.waiting():
        vm, _ = pool.best(task, pool.opened)
        if vm in pool.fitting(task):
            pool.place(task, vm)
    pool.wake_at(pool.now + pool.reconsider_ms)


def no_delay(pool):
    """Each task that fits anywhere starts on the VM, of those, that it most probably completes on."""
    if pool.waiting():
        pool.learn()
    for task in pool.waiting():
        if fitting := pool.fitting(task):
            pool.place(task, max(fitting, key=lambda vm, task=task: pool.probability(task, vm)))


def heartbeat(pool, threshold):
    """Each VM in turn takes the shortest task that fits while it completes there likelier than the threshold.

    Where one takes none, the shortest of all waiting tasks starts on its best VM, if it fits there.
    """
    if not pool.waiting():
        pool.wake_at(NEVER)
        return
    pool.learn()
    for vm in range(pool.instance.num_vms):
        takes = False
        while here := [task for task in pool.waiting() if pool.wait(task, vm, pool.opened(vm)) == 0]:
            task = min(here, key=pool.task_ms)
            if pool.probability(task, vm) <= threshold:
                break
            pool.place(task, vm)
            takes = True
        if not takes and pool.waiting():
            task = min(pool.waiting(), key=pool.task_ms)
            best, _ = pool.best(task, pool.opened)
            if best in pool.fitting(task):
                pool.place(task, best)
    pool.wake_at(pool.now + pool.reconsider_ms)


def test_the_letter_of_algorithm_1(drawn_pool, plain_pool, assert_plays_as):
    waited = 0
    for seed in range(3):
        instance = drawn_pool(seed)
        matcher = new_matcher(instance, PREDICTION, free_every_ms=FREE_EVERY_MS)
        pool = plain_pool(instance, PREDICTION, FREE_EVERY_MS)
        waited += assert_plays_as(
            lambda s, m=matcher: pass_literal(s, m), Simulator(instance), lambda p=pool: literal(p), pool
        )
    assert waited > 100


def test_without_delay(drawn_pool, plain_pool, assert_plays_as):
    waited = 0
    for seed in range(6):
        instance = drawn_pool(seed)
        matcher = new_matcher(instance, PREDICTION, free_every_ms=FREE_EVERY_MS)
        pool = plain_pool(instance, PREDICTION, FREE_EVERY_MS)
        waited += assert_plays_as(
            lambda s, m=matcher: pass_no_delay(s, m, False), Simulator(instance), lambda p=pool: no_delay(p), pool
        )
    assert waited > 100


@pytest.mark.parametrize("threshold", [0.0, 0.8])
def test_heartbeats(threshold, drawn_pool, plain_pool, assert_plays_as):
    waited = 0
    for seed in range(3):
        instance = drawn_pool(seed)
        matcher = new_matcher(instance, PREDICTION, threshold=threshold, free_every_ms=FREE_EVERY_MS)
        pool = plain_pool(instance, PREDICTION, FREE_EVERY_MS)
        waited += assert_plays_as(
            lambda s, m=matcher: pass_heartbeat(s, m), Simulator(instance), lambda p=pool: heartbeat(p, threshold), pool
        )
    assert waited > 100


@lean_kernel
def completes_by(g, x, e, d):
    return kernels_engine.completes_by(g, x, e, d)


@lean_kernel
def wasted_from(g, e, d):
    return kernels_engine.wasted_from(g, e, d)


def least_waste(pool):
    """Each task that fits anywhere starts on the VM, of those, where the integral of t f(t) over its run is least."""
    if pool.waiting():
        pool.learn()
    for task in pool.waiting():
        if fitting := pool.fitting(task):
            length = float(pool.task_ms(task))
            pool.place(task, min(fitting, key=lambda vm, d=length: wasted_from(pool.engine, float(pool.age(vm)), d)))


def test_scispot(drawn_pool, plain_pool, assert_plays_as):
    waited = 0
    for seed in range(3):
        instance = drawn_pool(seed)
        matcher = new_matcher(instance, PREDICTION, free_every_ms=FREE_EVERY_MS)
        pool = plain_pool(instance, PREDICTION, FREE_EVERY_MS)
        waited += assert_plays_as(
            lambda s, m=matcher: pass_no_delay(s, m, True), Simulator(instance), lambda p=pool: least_waste(p), pool
        )
        share = pool.engine.fitted[0].p_if_grew
        ages = np.linspace(600_000, 2_400_000, 200_001)
        survival = [1 - (1 - completes_by(pool.engine, GREW, 0.0, age)) / share for age in ages.tolist()]
        middles = (ages[1:] + ages[:-1]) / 2
        expected = float((middles * -np.diff(survival)).sum())
        assert wasted_from(pool.engine, 600_000.0, 1_800_000.0) == pytest.approx(expected, rel=1e-4, abs=1.0)
    assert waited > 50
