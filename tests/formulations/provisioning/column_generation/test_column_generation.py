import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.column_generation import (
    MAX_CLASSES,
    ColumnGeneration,
    Neighbourhood,
    column_generation,
    supported,
)
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.heuristics.provisioning.fit_decreasing import no_packing
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning import ProvisioningInstance, alibaba_like
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.running import Running
from schedgap.instances.provisioning.verify import verify


@pytest.fixture(autouse=True)
def quick_turns(monkeypatch):
    """Leave each part a twentieth of a second at a time: without a limit, local search comes first and takes its turn."""
    monkeypatch.setattr("schedgap.formulations.provisioning.column_generation.column_generation.TURN_S", 0.05)


def check(instance, outcome, best):
    """Verified, bound <= optimum <= cost, and `optimal` if and only if the two meet."""
    paid = verify(instance, outcome.solution)
    assert 0 <= outcome.bound <= best <= paid
    assert outcome.status is (Status.OPTIMAL if outcome.bound == paid else Status.FEASIBLE)
    return paid


def test_the_papers_example_costs_12_8_dollars(paper_example):
    outcome = column_generation(paper_example)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 12_800_000)
    assert verify(paper_example, outcome.solution) == 12_800_000


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 9, 10, 11, 12, 13, 16, 19, 20])
def test_proves_what_brute_force_finds(random_instance, optimum, seed):
    instance = random_instance(seed)
    outcome = column_generation(instance)
    assert outcome.status is Status.OPTIMAL
    assert check(instance, outcome, optimum(instance)) == outcome.bound


@pytest.mark.parametrize("seed", [0, 3, 7, 8, 14, 15, 18])
def test_brackets_what_branching_on_amounts_cannot_close_at_once(random_instance, optimum, seed):
    instance = random_instance(seed)
    check(instance, column_generation(instance, time_limit_s=0.3), optimum(instance))


@pytest.mark.parametrize(
    "instance", [table7(50, seed=4, cpu="vcpu"), distinct(6, seed=0), distinct(9, seed=3), alibaba_like(16, seed=1)]
)
def test_equals_the_pattern_model(instance):
    outcome = column_generation(instance)
    assert outcome.status is Status.OPTIMAL
    assert check(instance, outcome, patterns(instance).bound) == outcome.bound


@pytest.mark.parametrize("time_limit_s", [0.0, 0.05, 0.4])
def test_a_limit_leaves_a_verified_solution_and_a_proven_bound(time_limit_s):
    instance = table7(200, seed=0)
    check(instance, column_generation(instance, time_limit_s=time_limit_s), 649_179_000)


def test_the_trajectory_only_improves():
    outcome = column_generation(distinct(20, seed=1), time_limit_s=0.8)
    objectives = [point.objective for point in outcome.trajectory]
    bounds = [point.bound for point in outcome.trajectory]
    times = [point.elapsed_s for point in outcome.trajectory]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)
    assert times == sorted(times)
    assert (objectives[-1], bounds[-1]) == (verify(distinct(20, seed=1), outcome.solution), outcome.bound)


@pytest.mark.parametrize("patience", [0, 2])
def test_patience_ends_a_run_without_a_time_limit(random_instance, optimum, monkeypatch, patience):
    # Long enough for a branching to its end on a busy machine.
    monkeypatch.setattr("schedgap.formulations.provisioning.column_generation.column_generation.TURN_S", 30.0)
    instance = random_instance(7)
    outcome = column_generation(instance, patience=patience)
    # Branching is one of the parts that take turns.
    assert (check(instance, outcome, optimum(instance)) > outcome.bound) == (patience == 0)
    assert (outcome.details["nodes"] > 0) == (patience > 0)


def test_equal_classes_get_their_own_tasks_back():
    instance = table7(20, seed=1)
    doubled = instance.replace(
        demand=np.concatenate((instance.demand, instance.demand), axis=1),
        counts=np.concatenate((instance.counts, instance.counts)),
        class_names=None,
        class2workload=None,
        class2job=None,
        tasks_per_job=None,
        task2class=None,
    )
    outcome = column_generation(doubled, time_limit_s=0.3)
    check(doubled, outcome, patterns(doubled).bound)
    assert set(outcome.solution.task_class.tolist()) == set(range(doubled.num_classes))


def test_a_solution_of_the_given_instance_is_taken_in_its_merged_classes(random_instance):
    instance = random_instance(3)
    found = column_generation(instance)
    search = ColumnGeneration(instance, None)
    search.take(found.solution)
    assert search.objective == check(instance, search.outcome(), found.bound) == verify(instance, found.solution)


def test_interference_is_unsupported():
    instance = table7(20, interference=True)
    assert "interference" in supported(instance)
    outcome = find_method("provisioning", "column-generation").run(instance)
    assert (outcome.status, outcome.solution) == (Status.UNSUPPORTED, None)


def many_classes(number, distinct_demands):
    return ProvisioningInstance(
        name="many",
        resources=("cpu",),
        families=("x",),
        type_names=("x",),
        type2family=[0],
        capacity=[[10_000]],
        price=[1_000_000],
        demand=[[[c % distinct_demands + 1] for c in range(number)]],
        counts=np.ones(number, np.int64),
    )


def test_too_many_distinct_demands_are_unsupported():
    assert f"more than {MAX_CLASSES} distinct demands" in supported(many_classes(MAX_CLASSES + 1, MAX_CLASSES + 1))
    assert supported(many_classes(MAX_CLASSES, MAX_CLASSES)) is None
    # Equal demands are merged first.
    assert supported(many_classes(MAX_CLASSES + 1, 7)) is None


def test_another_back_end_is_refused(paper_example):
    with pytest.raises(MethodError, match="with highs, not 'cbc'"):
        column_generation(paper_example, backend="cbc")


def test_running_machines_are_no_part_of_a_neighbourhood():
    instance = distinct(20, seed=1)
    machine = Running.from_contents(["old"], [0], np.ones((1, instance.num_classes), np.int64))
    instance = instance.replace(running=machine)
    alone = no_packing(instance)
    search = Neighbourhood(instance, alone, np.zeros(instance.num_classes, np.int64))
    for _ in range(5):
        search.step(time.perf_counter() + 1.0)
    assert verify(instance, search.solution()) < verify(instance, alone)
