"""Pattern rounding: feasible, deterministic, never dearer than no packing, optimal where hands can count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.heuristics.provisioning.pattern_rounding.pattern_rounding import pattern_rounding
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning import ProvisioningInstance, distinct, table7, verify

GIB = 1024


def instance_of(demand, counts, families=("x",), type2family=(0, 0), capacity=((4, 8), (16, 32)), price=(10, 38)):
    """Build an instance from CPUs and GiB; `demand` is (F, C, 2), -1 where not allowed."""
    units = np.array([1000, GIB])
    demand = np.array(demand)
    return ProvisioningInstance(
        name="tiny",
        resources=("cpu", "ram_gib"),
        families=families,
        type_names=tuple(f"m{k}" for k in range(len(price))),
        type2family=np.array(type2family),
        capacity=np.array(capacity) * units,
        price=np.array(price),
        demand=np.where(demand < 0, -1, demand * units),
        counts=np.array(counts),
    )


@st.composite
def instances(draw):
    """Two families, the second without the last resource at times; classes allowed on one or both."""
    num_classes = draw(st.integers(1, 5))
    amount = st.integers(0, 9)
    small = draw(st.tuples(st.integers(9, 12), st.integers(9, 12)))
    capacity = [small, (3 * small[0], 2 * small[1]), (9, 9), (40, draw(st.integers(9, 40)))]
    price = draw(st.lists(st.integers(1, 50), min_size=4, max_size=4))
    demand = np.empty((2, num_classes, 2), np.int64)
    for c in range(num_classes):
        for f in range(2):
            demand[f, c] = draw(st.tuples(amount, amount))
        only = draw(st.integers(-1, 1))
        if only >= 0:
            demand[only, c] = -1
    counts = draw(st.lists(st.integers(1, 12), min_size=num_classes, max_size=num_classes))
    return instance_of(demand, counts, ("x", "y"), (0, 0, 1, 1), capacity, price)


def assert_equal_solutions(left, right):
    for key in ("machine_type", "repeat", "indptr", "task_class", "count"):
        assert np.array_equal(getattr(left, key), getattr(right, key)), key


@settings(max_examples=60, deadline=None)
@given(instances(), st.sampled_from([1, 128]))
def test_solutions_verify_and_never_cost_more_than_one_machine_a_task(instance, max_classes):
    solution = pattern_rounding(instance, effort=0.2, max_classes=max_classes)
    assert verify(instance, solution) <= instance.reservation_price @ instance.counts
    assert_equal_solutions(solution, pattern_rounding(instance, effort=0.2, max_classes=max_classes))


def test_a_single_task_gets_the_cheapest_type_that_fits_it():
    instance = instance_of([[[5, 4]]], [1])
    solution = pattern_rounding(instance)
    assert solution.machine_type.tolist() == [1]
    assert verify(instance, solution) == 38


def test_a_single_class_fills_whole_machines_and_sizes_the_last_one_down():
    # Seven tasks fill a large machine (14 of 16 CPU) and the 8th fits too: 17 = 2 x 8 + 1, the last on a small one.
    instance = instance_of([[[2, 4]]], [17])
    assert verify(instance, pattern_rounding(instance)) == 2 * 38 + 10


def test_large_counts_cost_no_more_than_the_bound_by_capacity_and_one_machine():
    # A pair, (3 CPU, 1 GiB) + (1 CPU, 7 GiB), fills a small machine, four pairs fill a large one: 38 / 4 a pair.
    instance = instance_of([[[3, 1], [1, 7]]], [1_000_000, 1_000_000])
    solution = pattern_rounding(instance)
    assert verify(instance, solution) == 250_000 * 38
    assert solution.machine_type.shape[0] < 100


def test_each_family_takes_the_tasks_that_only_it_may_run():
    demand = [[[4, 8], [-1, -1], [2, 2]], [[-1, -1], [4, 8], [4, 8]]]
    instance = instance_of(demand, [2, 3, 2], ("x", "y"), (0, 1), ((4, 8), (4, 8)), (10, 7))
    # The two tasks of the third class share one machine of x (10) rather than fill two of y (14).
    assert verify(instance, pattern_rounding(instance)) == 2 * 10 + 3 * 7 + 10


def test_tasks_that_ask_for_nothing_ride_along():
    instance = instance_of([[[4, 8], [0, 0]]], [1, 50])
    assert verify(instance, pattern_rounding(instance)) == 10


def test_the_papers_example_is_solved_to_optimality(paper_example):
    assert verify(paper_example, pattern_rounding(paper_example)) == 12_800_000


@pytest.mark.parametrize("cpu", ["physical", "vcpu"])
def test_table4_trials_are_near_the_optimum(cpu):
    # Optima of seeds 0 and 1 by the MIP over all maximal patterns of all 21 types, mip_rel_gap = 0.
    optima = {"physical": (649_179_000, 681_768_000), "vcpu": (618_120_000, 651_780_000)}[cpu]
    for seed, optimum in enumerate(optima):
        instance = table7(200, seed=seed, cpu=cpu)
        assert optimum <= verify(instance, pattern_rounding(instance)) <= 1.002 * optimum


def test_more_classes_than_the_relaxation_takes_are_packed_in_blocks():
    instance = distinct(300, seed=3)
    solution = pattern_rounding(instance, effort=0.02)
    assert verify(instance, solution) < 0.8 * (instance.reservation_price @ instance.counts)


def test_equal_classes_are_told_apart_again():
    instance = instance_of([[[4, 8], [4, 8]]], [3, 5])
    assert verify(instance, pattern_rounding(instance)) == 8 * 10 - 2 * 2


def test_interference_is_refused_with_a_reason():
    instance = table7(20, interference=True)
    outcome = find_method("provisioning", "pattern-rounding").run(instance)
    assert outcome.status is Status.UNSUPPORTED
    assert "throughput" in str(outcome.details["reason"])
