import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowPricer, build_flow_graphs, is_coarse
from schedgap.instances.provisioning import ProvisioningInstance, distinct, table7
from schedgap.instances.provisioning.pricing import Pricer


def paths(graph, node, num_classes):
    """Yield the contents of all paths from a node to the end."""
    if node == 0:
        yield (0,) * num_classes
        return
    for e in range(graph.nodes.ptr[node], graph.nodes.ptr[node + 1]):
        for rest in paths(graph, graph.nodes.head[e], num_classes):
            content = list(rest)
            content[graph.arc_class[e]] += graph.tasks[e]
            yield tuple(content)


def one_family(**changes):
    fields = {
        "name": "one",
        "resources": ("a",),
        "families": ("f",),
        "type_names": ("t",),
        "type2family": [0],
        "capacity": [[10]],
        "price": [1],
        "demand": [[[3], [5]]],
        "counts": [9, 9],
    }
    return ProvisioningInstance(**{**fields, **changes})


@pytest.mark.parametrize("seed", range(40))
def test_the_paths_are_exactly_the_contents_that_fit(varied_instance, shapes, seed):
    instance = varied_instance(seed)
    instance = instance.replace(counts=np.minimum(instance.counts, 4))
    graphs = build_flow_graphs(instance)
    contents = {}
    for k, content in shapes(instance):
        contents.setdefault(k, set()).add(tuple(content.tolist()))
    assert sorted(k for graph in graphs for k in graph.types) == list(range(instance.num_types))
    for graph in graphs:
        nothing = np.zeros(instance.num_classes, np.int64)
        for k, root in zip(graph.types.tolist(), graph.root.tolist(), strict=True):
            found = list(paths(graph, root, instance.num_classes))
            assert len(set(found)) == len(found)
            # Classes that need nothing are not on the paths: every machine holds all of them.
            busy = {c for c in contents.get(k, set()) if not any(c[i] for i in graph.free)}
            assert set(found) == busy | {tuple(nothing.tolist())}
            for c in graph.free:
                assert instance.demand[instance.type2family[k], c].tolist() == [0] * len(instance.resources)


def test_states_with_the_same_contents_are_one_node():
    # Of 10: 0, 1, 2, 3 of size 3 leave 10, 7, 4, 1; so 2, 1, 0, 0 of size 5 fit: the end is reached by arcs
    # of 2, 3 tasks at once. Ordered by size: two of 5 leave 0, one leaves 5, none 10: 0, 1, 3 of size 3.
    (graph,) = build_flow_graphs(one_family())
    assert graph.classes.tolist() == [1, 0]
    assert graph.nodes.layer.tolist() == [2, 1, 1, 0]
    assert graph.nodes.ptr.tolist() == [0, 0, 2, 6, 9] or graph.nodes.ptr.tolist() == [0, 0, 4, 6, 9]
    assert graph.num_arcs == 9


def test_arcs_lead_to_smaller_nodes_and_know_their_tail(varied_instance):
    for seed in range(20):
        for graph in build_flow_graphs(varied_instance(seed)):
            assert (graph.nodes.head < graph.tail).all()
            assert graph.num_arcs == graph.nodes.ptr[-1]
            assert (graph.tasks[graph.nodes.ptr[1:-1]] == 0).all()
            assert graph.nodes.layer[0] == graph.classes.size
            assert (graph.nodes.layer[1:] < graph.classes.size).all()


def test_families_of_equal_demand_share_a_graph(two_families):
    assert len(build_flow_graphs(two_families)) == 2
    equal = two_families.replace(demand=np.stack([two_families.demand[0]] * 2))
    (graph,) = build_flow_graphs(equal)
    assert graph.types.tolist() == [0, 1, 2]


def test_a_type_that_holds_nothing_starts_at_the_end():
    instance = one_family(type_names=("t", "u"), type2family=[0, 0], capacity=[[10], [2]], price=[1, 1])
    (graph,) = build_flow_graphs(instance)
    assert graph.root.tolist() == [graph.num_nodes - 1, 0]
    assert graph.free.tolist() == []


def test_too_little_time_says_how_much_is_needed(monkeypatch):
    monkeypatch.setattr("schedgap.formulations.provisioning.arc_flow.flow_graph.FIRST_STATES", 2)
    monkeypatch.setattr("schedgap.formulations.provisioning.arc_flow.flow_graph.STATES_PER_SECOND", 0)
    said = build_flow_graphs(one_family(), deadline=time.perf_counter() + 99)
    assert said == "the flow graph has more than 2 states, and 99 s are too short for 8"


def test_too_large_says_why():
    instance = one_family()
    assert build_flow_graphs(instance, max_states=3) == "the flow graph has more than 3 states or 12 arcs"
    assert build_flow_graphs(instance, deadline=time.perf_counter()) == "there is no time to build the flow graph"
    fine = one_family(capacity=[[10**9]], demand=[[[3], [10**8 + 1]]], counts=[10**8, 9])
    assert build_flow_graphs(fine) == "capacities of 1000000001 units for 2 task classes are too fine"


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("by_family", [False, True])
def test_prices_as_the_search_does(varied_instance, seed, by_family):
    instance = varied_instance(seed)
    rng = np.random.default_rng(seed)
    shape = (len(instance.families), instance.num_classes) if by_family else (instance.num_classes,)
    values = rng.integers(0, 60, shape)
    none = np.full(instance.num_types, -1)
    flow, search = FlowPricer(instance, build_flow_graphs(instance)), Pricer(instance)
    for counts in (instance.counts, rng.integers(0, instance.counts + 1)):
        found = flow.price(values, none, counts=counts)
        assert found.upper.tolist() == found.value.tolist() == search.price(values, none, counts=counts).value.tolist()
        worth = np.broadcast_to(values, (len(instance.families), instance.num_classes))[instance.type2family]
        assert ((found.pattern * worth).sum(axis=1) == found.value).all()
        assert (found.pattern <= counts).all()
        for k, pattern in enumerate(found.pattern):
            demand = instance.demand[instance.type2family[k]]
            assert (pattern @ np.maximum(demand, 0) <= instance.capacity[k]).all()
    # What is worth no more than asked for is not spelled out.
    assert not flow.price(values, found.value.max() + np.zeros_like(none), counts=counts).pattern.any()


def test_only_coarse_demands_have_small_graphs():
    assert is_coarse(table7(50))
    assert not is_coarse(distinct(50))
