import itertools
import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.arc_flow.arc_flow import arc_flow
from schedgap.formulations.provisioning.arc_flow.flow_graph import merge_interchangeable
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.instances.method import Status
from schedgap.instances.provisioning import ProvisioningInstance, alibaba_like
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.verify import verify


def with_ram(ram, capacity):
    """Four classes of one core each on a machine of three cores; they differ in memory alone."""
    return ProvisioningInstance(
        name="ram",
        resources=("cpu", "ram_mib"),
        families=("x",),
        type_names=("t",),
        type2family=[0],
        capacity=[[3, capacity]],
        price=[7],
        demand=[[[1, amount] for amount in ram]],
        counts=[3] * len(ram),
    )


def test_memory_that_never_decides_is_ignored():
    # Three tasks of 5 GiB at most fit 15.
    merged, _ = merge_interchangeable(with_ram([2, 3, 4, 5], 15))
    assert merged.class2merged.tolist() == [0, 0, 0, 0]
    assert merged.instance.demand.tolist() == [[[1, 2]]]
    assert merged.instance.counts.tolist() == [12]


def test_memory_that_decides_keeps_classes_apart():
    # Three of 8 do not fit 21, though three of 2 do; 8 + 8 + 5 just fits, so the first three are one class.
    assert merge_interchangeable(with_ram([2, 3, 5, 8], 21))[0].class2merged.tolist() == [0, 0, 0, 1]
    # Within 18, 8 + 8 + 2 fits and 8 + 8 + 3 does not.
    assert merge_interchangeable(with_ram([2, 3, 5, 8], 18))[0].class2merged.tolist() == [0, 1, 2, 3]


def test_families_that_share_a_graph_are_asked_one_by_one(snapshot):
    """With a and b as one class, which needs nothing at least, all families have the same graph; but on y a needs 2 of 3."""
    instance = snapshot(
        [[3], [3], [1]], [3, 2, 2], [[[0], [0], [2]], [[2], [0], [2]], [[0], [0], [2]]], [4, 1, 2], [0, 1, 2]
    )
    merged, _ = merge_interchangeable(instance)
    assert merged.class2merged.tolist() == [0, 1, 2]
    outcome = arc_flow(instance)
    # Each c has a machine to itself; two of y would cost 4, but no a fits beside a c there: one of x has all of a and b.
    assert (outcome.status, outcome.bound, verify(instance, outcome.solution)) == (Status.OPTIMAL, 5, 5)


@pytest.mark.parametrize("seed", range(40))
def test_merged_classes_fit_wherever_the_smallest_does(varied_instance, shapes, seed):
    """Every content of the small instance fits with any of the classes behind each of its tasks."""
    instance = merge_equal_classes(varied_instance(seed)).instance
    instance = instance.replace(counts=np.minimum(instance.counts, 3))
    merged, _ = merge_interchangeable(instance)
    small = merged.instance
    members = [np.flatnonzero(merged.class2merged == g) for g in range(small.num_classes)]
    assert sorted(np.concatenate(members).tolist()) == list(range(instance.num_classes))
    assert small.counts.tolist() == [instance.counts[m].sum() for m in members]
    for k, content in itertools.islice(shapes(small), 2000):
        demand = instance.demand[instance.type2family[k]]
        used = np.flatnonzero(content)
        assert all((demand[members[g]] >= 0).all() for g in used)
        largest = sum(content[g] * demand[members[g]].max(axis=0) for g in used)
        assert (largest <= instance.capacity[k]).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_optimum_and_its_solutions_are_the_same(varied_instance, seed):
    instance = merge_equal_classes(varied_instance(seed)).instance
    merged, _ = merge_interchangeable(instance)
    outcome = patterns(merged.instance)
    assert outcome.bound == patterns(instance).bound
    assert verify(instance, merged.restore(outcome.solution)) == outcome.bound


def test_many_classes_of_a_trace_are_interchangeable():
    instance = merge_equal_classes(alibaba_like(60, seed=2)).instance
    merged, graphs = merge_interchangeable(instance)
    assert merged.instance.num_classes < instance.num_classes
    for graph in graphs:
        assert max(graph.classes.max(), graph.free.max(initial=0)) < merged.instance.num_classes


def test_no_time_is_a_reason(paper_example):
    assert merge_interchangeable(paper_example, deadline=time.perf_counter()) == (
        "there is no time to build the flow graph"
    )
