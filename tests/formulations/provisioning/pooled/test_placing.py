"""Whole tasks on machines of each type, against the best solutions of small instances."""

import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.formulations.provisioning.pooled.packing import is_small, place
from schedgap.instances.provisioning import ProvisioningInstance


def stocked(capacity, price, stock, demand, counts):
    kinds = tuple(f"t{k}" for k in range(len(price)))
    arrays = (np.zeros(len(price), int), np.array(capacity), np.array(price), np.array([demand]), np.array(counts))
    return ProvisioningInstance("stocked", ("cpu",), ("f",), kinds, *arrays, stock=np.array(stock))


@pytest.mark.parametrize("seed", range(20))
def test_bounds_hold_and_machines_hold_what_is_placed(varied_instance, seed):
    instance = varied_instance(seed)
    best = patterns(instance)
    start = best.solution.machines(instance.num_classes)
    for begin in (None, start):
        placed = place(instance, 5.0, 1, begin)
        assert placed.bound <= best.bound
        assert (placed.content.sum(axis=0) + placed.left == instance.counts).all()
        demand = np.maximum(instance.demand[instance.type2family[placed.types]], 0)
        assert (np.einsum("mc,mcr->mr", placed.content, demand) <= instance.capacity[placed.types]).all()


def test_a_stock_ends():
    """Six tasks of 2: three small machines of 4 for 3 each, of which there are two, and else 5 for one of 4: 3 + 3 + 5."""
    instance = stocked([[4], [4]], [3, 5], [2, -1], [[2]], [6])
    placed = place(instance, 5.0, 1)
    assert (placed.bound, sorted(placed.types.tolist())) == (11, [0, 0, 1])
    again = place(instance, 5.0, 1, (placed.types, placed.content))
    assert (again.bound, sorted(again.types.tolist()), again.left.tolist()) == (11, [0, 0, 1], [0])


def test_many_pairs_are_no_search():
    assert is_small(stocked([[4]] * 8_000, [1] * 8_000, [-1] * 8_000, [[1]], [1]))
    assert not is_small(stocked([[4]] * 8_001, [1] * 8_001, [-1] * 8_001, [[1]], [1]))
