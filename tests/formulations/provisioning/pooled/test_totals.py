"""Whole machines by their totals, against the integer program and against all multisets of machines."""

import itertools
import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.pooled.program import Pooled
from schedgap.instances.provisioning import ProvisioningInstance


def stepped(seed, resources=2):
    """Types of whole cores and GiB, of each machine a little lost; tasks that may run anywhere."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, 9, (4, resources))
    lost = rng.integers(100, 300, resources)
    capacity = steps * 1000 - lost
    price = steps @ rng.integers(5, 20, resources) * 100 + rng.integers(0, 90, 4)
    demand = rng.integers(50, 700, (1, 3, resources))
    names = tuple(f"r{r}" for r in range(resources))
    kinds = tuple(f"t{k}" for k in range(4))
    counts = rng.integers(3, 12, 3)
    return ProvisioningInstance("steps", names, ("f",), kinds, np.zeros(4, int), capacity, price, demand, counts)


def rented(instance, spared=0):
    found = Pooled(instance, by_type=False).totals
    return found.rent(np.full(len(instance.resources), spared), time.perf_counter() + 60)


@pytest.mark.parametrize("resources", [1, 2])
@pytest.mark.parametrize("seed", range(20))
def test_the_program_finds_nothing_cheaper(monkeypatch, seed, resources):
    instance = stepped(seed, resources)
    machines, price = rented(instance)
    assert machines @ instance.price == price
    assert (machines @ instance.capacity >= instance.counts @ instance.demand[0]).all()
    program = Pooled(instance, by_type=False)
    monkeypatch.setattr(program, "totals", None)
    found = program.solve(0.0, 60.0, 1)
    assert (found.bound, found.machines @ instance.price) == (price, price)


def test_what_is_spared_of_each_machine_by_hand():
    """Demand 3,600 on machines of 900 ($5) and 1,900 ($9): two large ones hold it; with 100 spared of each, a small one too."""
    price, capacity = np.array([5, 9]), np.array([[900], [1900]])
    one = ProvisioningInstance(
        "spared", ("cpu",), ("f",), ("s", "l"), np.zeros(2, int), capacity, price, np.array([[[600]]]), np.array([6])
    )
    best = [
        min(
            a * 5 + b * 9
            for a, b in itertools.product(range(9), repeat=2)
            if a * (900 - spared) + b * (1900 - spared) >= 3600
        )
        for spared in (0, 100)
    ]
    assert [rented(one)[1], rented(one, 100)[1]] == best == [18, 18]
    assert rented(one, 101)[1] == 23


def test_resources_that_are_left_out_leave_a_bound():
    instance = stepped(3, resources=3)
    _, price = rented(instance)
    least = min(
        int(np.array(number) @ instance.price)
        for number in itertools.product(range(9), repeat=4)
        if (np.array(number) @ instance.capacity >= instance.counts @ instance.demand[0]).all()
    )
    assert price <= least


def test_no_totals_where_nothing_is_lost_or_steps_are_fine():
    instance = stepped(1)
    whole = instance.replace(capacity=np.array([[1000, 2000], [2000, 1000], [4000, 8000], [3000, 3000]]))
    odd = np.array([[3, 5], [1, 8], [0, 2], [6, 1]])
    fine = instance.replace(capacity=instance.capacity * 7919 + odd, demand=instance.demand * 7919)
    for unlike in (whole, fine):
        assert rented(unlike) is None
    late = Pooled(instance, by_type=False).totals
    assert late.rent(np.zeros(2, int), time.perf_counter()) is None
