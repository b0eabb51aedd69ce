import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.kernels_patterns import loss_bounds
from schedgap.formulations.provisioning.patterns.patterns import (
    build_disturbed,
    every_disturbed,
    interference,
    jobs_of,
    needed_disturbed,
    patterns,
    value_cover,
)
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.verify import lost_value, verify


@pytest.mark.parametrize("seed", range(25))
def test_equals_brute_force(random_instance, optimum, seed):
    instance = random_instance(seed, interference=True)
    best = optimum(instance)
    for dominance in (True, False):
        outcome = interference(instance, dominance=dominance)
        assert (outcome.status, outcome.bound, verify(instance, outcome.solution)) == (Status.OPTIMAL, best, best)


def test_without_any_loss_it_is_the_plain_problem():
    plain = table7(60, seed=2)
    harmless = table7(60, seed=2, interference=True)
    harmless = harmless.replace(throughput=np.full_like(harmless.throughput, 1000))
    assert interference(harmless).bound == patterns(plain).bound


def test_figure_1_makes_packing_worth_less():
    plain, disturbed = table7(200, seed=0), table7(200, seed=0, interference=True)
    outcome = interference(disturbed)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 746_462_264)
    assert patterns(plain).bound < outcome.bound
    assert verify(disturbed, outcome.solution) == outcome.bound


@pytest.mark.parametrize("seed", range(5))
def test_every_content_is_there_once_on_its_cheapest_type(random_instance, shapes, seed):
    instance = random_instance(seed, interference=True)
    best = {}
    for k, pattern in shapes(instance):
        key = tuple(pattern)
        best[key] = min(best.get(key, (10**9, 0)), (int(instance.price[k]), k))
    every = every_disturbed(instance, 10_000)
    found = dict(zip(map(tuple, every.patterns.tolist()), every.machine_type.tolist(), strict=True))
    assert len(found) == every.size
    assert found == {pattern: k for pattern, (_, k) in best.items()}


def test_the_filter_keeps_every_single_task_or_what_covers_it():
    instance = merge_equal_classes(table7(200, seed=3, interference=True)).instance
    every = every_disturbed(instance, 100_000)
    chosen = needed_disturbed(instance, every)
    assert 0 < chosen.size < every.size / 10
    assert (chosen.patterns.max(axis=0) >= 1).all()


def test_losses_are_bracketed_by_the_kernel():
    instance = merge_equal_classes(table7(200, seed=3, interference=True)).instance
    every = every_disturbed(instance, 100_000)
    exact = value_cover(instance, every.chosen(np.arange(0, every.size, 7)))
    for pattern, k, cost in zip(exact.patterns, every.machine_type[::7], exact.cost, strict=True):
        classes = np.flatnonzero(pattern)
        loss = lost_value(instance, classes.tolist(), pattern[classes].tolist())
        low, high = loss_bounds(pattern, jobs_of(instance))
        assert low <= loss <= high <= low + 1
        assert cost == instance.price[k] + loss


def test_too_many_contents_are_reported():
    instance = distinct(60).replace(
        workloads=("w",), class2workload=np.zeros(60, np.int64), throughput=np.array([[900]])
    )
    outcome = interference(instance, max_contents=1000)
    assert outcome.status is Status.UNSUPPORTED
    assert "more than 1000 patterns for 60 task classes" in outcome.details["reason"]


def test_plain_instances_are_refused(paper_example):
    assert find_method("provisioning", "interference").run(paper_example).status is Status.UNSUPPORTED
    with pytest.raises(MethodError, match="use the method patterns"):
        build_disturbed(paper_example)


def test_no_time_gives_no_solution():
    outcome = interference(table7(30, seed=1, interference=True), time_limit_s=0)
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)
