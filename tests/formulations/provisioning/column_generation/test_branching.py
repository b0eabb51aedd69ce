import time
from math import inf

import numpy as np
import pytest

from schedgap.formulations.provisioning.arc_flow.flow_graph import build_flow_graphs
from schedgap.formulations.provisioning.column_generation.branching import Branching
from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation, group_weights
from schedgap.formulations.provisioning.column_generation.resource_prices import ResourceRelaxation
from schedgap.instances.provisioning import ProvisioningInstance, merge_equal_classes
from schedgap.instances.provisioning.generators import table7

FAR = 10**15


def three_tasks_two_machines():
    """Three tasks, two on a machine of $1; a family for nobody makes all prices multiples of a cent."""
    return ProvisioningInstance(
        name="three",
        resources=("cpu",),
        families=("x", "y"),
        type_names=("x", "y"),
        type2family=[0, 1],
        capacity=[[4000], [4000]],
        price=[1_000_000, 10_000],
        demand=[[[2000]], [[-1]]],
        counts=[3],
    )


def solved(instance):
    relaxation = Relaxation(instance)
    relaxation.solve(None)
    return relaxation


def by_graphs(instance):
    instance = merge_equal_classes(instance).instance
    relaxation = Relaxation(instance, build_flow_graphs(instance), has_shares=True)
    relaxation.solve(None)
    return relaxation


def by_resources(instance):
    relaxation = ResourceRelaxation(instance, group_weights(instance))
    relaxation.solve(None)
    return relaxation


def climb(branching, cutoff, nodes):
    """Yield the bound after each step, the first before any."""
    yield branching.bound
    while branching.bound is not None and not branching.is_stuck and branching.nodes < nodes:
        branching.step(inf, cutoff)
        yield branching.bound


def test_half_a_machine_is_branched_away():
    relaxation = solved(three_tasks_two_machines())
    assert relaxation.bound == 1_500_000
    branching = Branching(relaxation)
    # One and a half machines: at most one leaves a task, at least two cost $2.
    node = branching.step(inf, FAR)
    assert node is not None
    assert (node.bound, branching.bound, branching.nodes) == (2_000_000, 2_000_000, 2)
    assert node.amounts.tolist() == pytest.approx([2, 0, 2, 0])
    assert node.low[0] == 2
    branching.enter(node)
    assert relaxation.master.low[0] == 2


def test_nothing_is_left_below_the_optimum():
    branching = Branching(solved(three_tasks_two_machines()))
    assert branching.step(inf, 2_000_000) is None
    assert branching.bound is None
    assert branching.step(inf, 2_000_000) is None


@pytest.mark.parametrize("relaxed", [solved, by_graphs, by_resources])
@pytest.mark.parametrize("seed", range(25))
def test_the_bound_never_exceeds_the_optimum_and_never_falls(random_instance, optimum, seed, relaxed):
    instance = random_instance(seed)
    best = optimum(instance)
    bounds = list(climb(Branching(relaxed(instance)), best + 1, 30))
    assert bounds == sorted(bounds)
    assert None not in bounds
    assert bounds[-1] <= best


@pytest.mark.parametrize("seed", range(20))
def test_only_machines_that_none_larger_can_stand_for(optimum, seed):
    # Two of 1 are one of 2, 1 and 2 are a 3, 2 and 3 a 5: what is left of the choice of types holds an optimum still.
    rng = np.random.default_rng(seed)
    size = np.array([1, 2, 3, 5]) * 1000
    instance = ProvisioningInstance(
        name="linear",
        resources=("cpu", "memory"),
        families=("a", "b"),
        type_names=tuple("abcdefgh"),
        type2family=np.repeat([0, 1], 4),
        capacity=np.concatenate((np.outer(size, [2, 2]), np.outer(size, [3, 6]))),
        price=np.concatenate((7 * size, 11 * size)),
        demand=np.repeat(rng.integers(1, [[4, 8]], (1, 4, 2)), 2, axis=0) * 1000,
        counts=rng.integers(1, 3, 4),
    )
    best = optimum(instance)
    branching = Branching(by_graphs(instance))
    bounds = list(climb(branching, best + 1, 300))
    assert None not in bounds
    assert bounds[-1] <= best
    # In the end all amounts are whole, and so is, of so few tasks, a packing.
    assert (branching.is_stuck, bounds[-1]) == (True, best)


def test_the_bound_rises_on_the_papers_workloads():
    relaxation = solved(table7(60, seed=3))
    first = relaxation.bound
    bounds = list(climb(Branching(relaxation), FAR, 16))
    assert bounds == sorted(bounds)
    assert bounds[0] == first < bounds[-1]


def test_after_the_deadline_children_keep_their_parents_bound():
    relaxation = solved(three_tasks_two_machines())
    branching = Branching(relaxation)
    late = time.perf_counter() - 1
    assert branching.step(late, FAR) is None
    assert (branching.bound, branching.nodes) == (1_500_000, 2)
    # What was left unsolved is solved when there is time.
    assert list(climb(branching, FAR, 50))[-1] == 2_000_000


@pytest.mark.parametrize("seed", range(6))
def test_branches_part_all_whole_amounts(random_instance, seed):
    # Nothing whole may lie between the children's limits.
    relaxation = solved(random_instance(seed))
    branching = Branching(relaxation)
    if branching._open[0][2].amounts is None:
        branching.step(inf, FAR)
    parent = branching._open[0][2]
    group = branching._limit(parent)
    if group is None:
        return
    branching.step(inf, FAR)
    left, right = sorted((entry[2] for entry in branching._open), key=lambda node: node.low[group])
    assert right.low[group] == left.high[group] + 1
    others = np.arange(parent.low.shape[0]) != group
    assert np.array_equal(left.low[others], parent.low[others])
    assert np.array_equal(right.high, parent.high)
