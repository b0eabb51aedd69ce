import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.formulations.provisioning.pooled.packing import reduced, without_dominated, without_places
from schedgap.instances.provisioning import NOT_ALLOWED, Provisioning, ProvisioningInstance, Running, verify


def offer(capacity, price, *, family=None, demand=None, **more):
    family = [0] * len(price) if family is None else family
    demand = [[[1, 1]]] * (max(family) + 1) if demand is None else demand
    return ProvisioningInstance(
        "offer",
        ("cpu", "gpu"),
        tuple(f"f{f}" for f in range(max(family) + 1)),
        tuple(f"t{k}" for k in range(len(price))),
        family,
        capacity,
        price,
        demand,
        np.ones(np.shape(demand)[1], np.int64) * 2,
        **more,
    )


@pytest.mark.parametrize(
    ("capacity", "price", "kept"),
    [
        ([[4, 4], [4, 4], [4, 4]], [5, 5, 6], [0]),
        ([[4, 4], [5, 4]], [5, 5], [1]),
        ([[4, 4], [5, 3]], [5, 4], [0, 1]),
        ([[1, 1], [2, 2], [4, 4]], [1, 2, 4], [0, 1, 2]),
        ([[2, 2], [1, 1]], [3, 4], [0]),
    ],
)
def test_a_type_goes_where_another_is_as_good(capacity, price, kept):
    assert without_dominated(offer(capacity, price)).kept.tolist() == kept


@pytest.mark.parametrize(
    ("demand", "kept"),
    [
        # On the other family everything takes as much, or less.
        ([[[2, 2], [1, 1]], [[2, 2], [1, 0]]], [1]),
        # A class takes more there, or may not run there.
        ([[[2, 2], [1, 1]], [[2, 2], [1, 2]]], [0, 1]),
        ([[[2, 2], [1, 1]], [[2, 2], [NOT_ALLOWED] * 2]], [0, 1]),
        # One that may not run on the first does not matter.
        ([[[2, 2], [NOT_ALLOWED] * 2], [[2, 2], [1, 1]]], [1]),
    ],
)
def test_another_family_is_as_good_if_every_task_takes_no_more_there(demand, kept):
    instance = offer([[4, 4], [4, 4]], [5, 4], family=[0, 1], demand=demand)
    assert without_dominated(instance).kept.tolist() == kept


def test_classes_that_differ_on_a_dropped_family_only_are_one():
    demand = [[[2, 2], [2, 2], [1, 1]], [[2, 3], [3, 2], [1, 1]]]
    instance = offer([[4, 4], [4, 4]], [4, 5], family=[0, 1], demand=demand, class_names=("a", "b", "c"))
    small = reduced(instance)
    assert (small.instance.num_types, small.instance.counts.tolist()) == (1, [4, 2])
    plan = small.restore(Provisioning.from_machines([0, 0, 0], [[2, 0], [2, 0], [0, 2]]))
    assert verify(instance, plan) == 12


def test_what_runs_goes_and_stocks_stay():
    running = Running.from_contents(("a",), [0], [[1, 0]])
    small = reduced(offer([[4, 4], [4, 4]], [4, 5], running=running, stock=[1, 9], max_disruption=0)).instance
    assert (small.running, small.stock.tolist(), small.max_disruption) == (None, [1, 9], None)


def test_a_stock_stands_for_no_other_type_and_goes_where_another_is_as_good():
    both = [[4, 4], [4, 4]]
    assert without_dominated(offer(both, [4, 5], stock=[1, -1])).kept.tolist() == [0, 1]
    left = without_dominated(offer(both, [5, 4], stock=[1, -1]))
    assert (left.kept.tolist(), left.instance.stock) == ([1], None)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_solution_costs_the_same(varied_instance, seed):
    instance = varied_instance(seed)
    small = reduced(instance)
    found = patterns(small.instance)
    assert verify(instance, small.restore(found.solution)) == found.bound == patterns(instance).bound


def test_zones_that_offer_the_same_are_one():
    """Two zones with machines of 4 for 3 and of 8 for 5, a third with others; a task of one zone may be in both then."""
    demand = np.array([[[2], [4], [-1]], [[3], [-1], [-1]], [[1], [1], [1]]])
    given = ("a4", "a8", "b8", "b4", "c4"), [0, 0, 1, 1, 2], [[4], [8], [8], [4], [4]], [3, 5, 5, 3, 4]
    stock = np.array([2, -1, 1, 3, -1])
    instance = ProvisioningInstance("zones", ("cpu",), ("a", "b", "c"), *given, demand, [5, 1, 1], stock=stock)
    joined, members = without_places(instance)
    assert [each.tolist() for each in members] == [[0, 3], [1, 2], [4]]
    assert (joined.type_names, joined.stock.tolist()) == (("a4", "a8", "c4"), [5, -1, -1])
    assert joined.demand.tolist() == [[[2], [4], [-1]], [[1], [1], [1]]]
    assert without_places(joined)[0] is joined


@pytest.mark.parametrize("seed", range(30))
def test_without_places_nothing_is_dearer(varied_instance, seed):
    instance = varied_instance(seed)
    twice = instance.replace(
        families=tuple(f"{n}{z}" for z in "ab" for n in instance.families),
        type_names=tuple(f"{n}{z}" for z in "ab" for n in instance.type_names),
        type2family=np.concatenate((instance.type2family, instance.type2family + len(instance.families))),
        capacity=np.vstack((instance.capacity, instance.capacity)),
        price=np.tile(instance.price, 2),
        demand=np.concatenate((instance.demand, np.full_like(instance.demand, -1))),
        fee=None,
    )
    assert patterns(without_places(twice)[0]).bound == patterns(instance).bound
