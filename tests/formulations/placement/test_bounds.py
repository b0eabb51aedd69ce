"""What bounds prove: cases by hand, and never more than the optimum of tiny instances."""

import numpy as np
import pytest

from schedgap.formulations.placement.moves_bound import bound_resources
from schedgap.formulations.placement.node_patterns import (
    bound_forced,
    bound_gpu_cutting_stock,
    bound_gpu_resources,
    bound_node_patterns,
    node_patterns,
    prefix_bounds,
)
from schedgap.formulations.placement.packing import accepted
from schedgap.heuristics.placement.policies import best_fit
from schedgap.instances.placement import PlacementInstance, measures, openb_like, verify

# On how many instances each is tried, and the part of their optima that is proven: a bound that gets weaker is noticed.
BOUNDS = {bound_resources: (1000, 0.55), bound_gpu_cutting_stock: (1000, 0.3), bound_node_patterns: (300, 0.75)}
BOUNDS[bound_gpu_resources] = 300, 0.5


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.__name__)
def test_no_bound_is_above_an_optimum(tiny, bound):
    (number, part), proven = BOUNDS[bound], 0
    for instance, optimum in tiny[:number]:
        found = bound(instance).bound
        assert found <= optimum, instance.name
        proven += found == optimum
    assert proven >= part * number


def test_no_bound_on_what_must_be_accepted_is_above_the_least(accepting):
    """300 instances; some are bounded more closely than where pods may be refused at will."""
    closer = 0
    for instance, least in accepting:
        proven = bound_forced(instance).bound
        assert proven <= least, instance.name
        closer += proven > bound_node_patterns(instance).bound
    assert closer >= 5


def test_early_pods_without_a_gpu_are_placed():
    """Of 100 cores 95 are in use when the 20th pod of 5 comes: below 96 there is room. One of 4 GPUs and 10 cores finds none."""
    instance = cluster([(20, 0, 5, None), (1, 4000, 10, None)], cpu=100).replace(accepts=True)
    assert accepted(instance, np.array([[100]])).tolist() == [20, 0]
    assert bound_forced(instance).bound == 4000
    assert bound_forced(instance).details["must_be_placed"] == 20
    assert verify(instance, best_fit(instance)) == 4000
    later = instance.replace(pod2class=instance.pod2class[::-1])
    # With the GPUs taken first, 18 of 5 cores are accepted: 86 cores are less than 96, 91 no more.
    assert accepted(later, np.array([[100]])).tolist() == [18, 0]
    assert bound_forced(later).bound == verify(later, best_fit(later)) == 0


def cluster(pods, gpus=4, cpu=1000, unit="GPUs"):
    """Return one node with so many GPUs; `pods` are (how many, thousandths of GPUs, cores, value or None for the GPUs)."""
    count, milli, cores, value = (list(column) for column in zip(*pods, strict=True))
    return PlacementInstance(
        name="by-hand", unit=unit, resources=("cpu",), type_names=("t",), capacity=[[cpu]], num_gpus=[gpus],
        gpu_model=("A",), node2type=[0], class_names=tuple(f"c{c}" for c in range(len(pods))),
        demand=[[each] for each in cores], gpus=[-(-m // 1000) for m in milli], gpu_milli=[min(m, 1000) for m in milli],
        value=[m if v is None else v for m, v in zip(milli, value, strict=True)],
        admits=np.ones((len(pods), 1), np.bool_), expected=np.zeros(len(pods), np.int64),
        pod2class=np.repeat(np.arange(len(pods)), count), gang=np.full(sum(count), -1),
        running_node=np.full(sum(count), -1), running_gpus=np.zeros(sum(count), np.int64),
        movable=np.ones(sum(count), np.bool_),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pods", "unit", "refused"),
    [
        # A GPU holds one of 810, or three of 320, which is 960: all of these on two GPUs, and two of 810.
        ([(8, 810, 0, None), (6, 320, 0, None)], "GPUs", 6 * 810),
        # Two of 500 fit one GPU, two of 510 do not.
        ([(8, 500, 0, None)], "GPUs", 0),
        ([(8, 510, 0, None)], "GPUs", 4 * 510),
        # Pods count the same: three of 320 a GPU, not one of 810.
        ([(4, 810, 0, 1000), (12, 320, 0, 1000)], "pods", 4 * 1000),
        # Of one size with several values the dear ones stay, and pods without a GPU always do.
        ([(4, 600, 0, 9000), (4, 600, 0, 2000), (5, 0, 0, 3000)], "value", 4 * 2000),
        # A pod of four GPUs, or four of one.
        ([(1, 4000, 0, 5000), (4, 1000, 0, 1000)], "value", 4000),
    ],
)
def test_cutting_stock(pods, unit, refused):
    assert bound_gpu_cutting_stock(cluster(pods, unit=unit)).bound == refused


@pytest.mark.parametrize(
    ("pods", "cpu", "refused"),
    [
        # 5 of 1 GPU on 4; 4 of 1 GPU and 2 cores on 6 cores; shares straddle GPUs in this program.
        ([(5, 1000, 0, None)], 1000, 1000),
        ([(4, 1000, 2, None)], 6, 1000),
        ([(8, 510, 0, None)], 1000, 510),
        # What fits no node is refused.
        ([(1, 8000, 0, None), (2, 1000, 0, None)], 1000, 8000),
    ],
)
def test_resources(pods, cpu, refused):
    assert bound_resources(cluster(pods, cpu=cpu)).bound == refused


def test_what_is_allocated_beside_all_pods_without_a_gpu():
    """10 cores: 4 of a pod without a GPU leave 6, for 3 of 4 GPUs; if it is refused all GPUs are allocated."""
    outcome = bound_resources(cluster([(4, 1000, 2, None), (1, 0, 4, None)], cpu=10))
    assert outcome.bound == 0
    assert outcome.details["kept_allocated_percent"] == 75.0


def test_prices_of_one_prefix_bound_all():
    instance = openb_like(nodes=20, seed=3)
    marks = [1, 60, 90, 120, instance.num_pods]
    found = prefix_bounds(instance, marks)
    assert (np.diff(found) >= 0).all()
    for mark, most in zip(marks, found.tolist(), strict=True):
        first = instance.chosen(np.arange(instance.num_pods) < mark, "first")
        # That of the prefix itself knows how few pods of a class there are.
        alone = first.total_value - bound_gpu_cutting_stock(first).bound
        assert alone <= most <= 1.02 * alone


def test_idle_at_marks_is_below_what_any_policy_leaves_idle():
    instance = openb_like(nodes=30, seed=4)
    proven = bound_gpu_cutting_stock(instance, marks=True).details
    measured = measures(instance, best_fit(instance))
    found = {key: value for key, value in proven.items() if key.startswith("idle_at_")}
    assert len(found) > 5
    assert all(value <= measured[key] for key, value in found.items())
    # Where GPUs abound hardly any is lost to shares: what is idle was not asked for.
    assert 49 <= found["idle_at_50"] <= 51


def test_values_and_numbers_of_gpus_whose_product_leaves_64_bits():
    """Seven primes as numbers of GPUs: values times their product leave 64 bits; the bound stays one, and is not 0."""
    value = 725_294_584_540
    pods = [(2, 1000 * k, 0, value) for k in (7, 11, 13, 17, 19, 23, 29)]
    instance = cluster(pods, unit="value", gpus=31)
    for method in (bound_gpu_cutting_stock, bound_node_patterns):
        # One node of 31 GPUs holds 7, 11 and 13 of them, or 7 twice and 17, and no four pods.
        assert 0 < method(instance).bound <= (14 - 3) * value


def test_whole_gpus_are_not_taken_of_divided_ones():
    """Four pods of a GPU, and one GPU that is not divided beside four that are: three are refused."""
    whole = cluster([(4, 1000, 0, None)], gpus=1)
    divided = whole.replace(
        type_names=("t", "mig"),
        capacity=[[1000], [1000]],
        num_gpus=[1, 4],
        gpu_model=("A", "A"),
        node2type=[0, 1],
        admits=np.ones((1, 2), np.bool_),
        gpu_slices=[0, 8],
        slices=[0],
        starts=[0],
    )
    outcome = node_patterns(divided, time_limit_s=2.0)
    assert verify(divided, outcome.solution) == outcome.bound == 3000
