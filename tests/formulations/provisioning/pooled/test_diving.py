"""Filling machines near the shares of the linear program: what is full, what is left, and how near the bound."""

import time

import numpy as np
import pytest

from schedgap.formulations.provisioning.pooled.packing import reduced
from schedgap.formulations.provisioning.pooled.pooled import dive
from schedgap.formulations.provisioning.pooled.program import Pooled
from schedgap.instances.provisioning import ProvisioningInstance, kubernetes_like


def dived(instance, seed=0, seconds=20.0):
    return dive(instance, np.random.default_rng(seed), time.perf_counter() + seconds)


def check(instance, types, content, left):
    """Nothing is over its capacity or where it may not be; every task is on a machine or left."""
    assert (content >= 0).all()
    assert (left >= 0).all()
    assert (content.sum(axis=0) + left == instance.counts).all()
    for k, row in zip(types.tolist(), content, strict=True):
        demand = instance.demand[instance.type2family[k]]
        assert (demand[row > 0] >= 0).all()
        assert (row.astype(object) @ demand <= instance.capacity[k]).all()


@pytest.mark.parametrize("seed", range(20))
def test_contents_fit_and_no_task_is_lost(varied_instance, seed):
    instance = reduced(varied_instance(seed)).instance
    check(instance, *dived(instance, seed))


def test_machines_are_filled_by_the_mix_that_fills_them():
    """Tasks of (3, 1) and (1, 3) on machines of (8, 8): two of each fill one."""
    instance = ProvisioningInstance(
        "mix", ("cpu", "ram"), ("f",), ("t",), [0], [[8, 8]], [5], [[[3, 1], [1, 3]]], [8, 8]
    )
    types, content, left = dived(instance)
    check(instance, types, content, left)
    # The last machine is whole as well, so that nothing is left.
    assert content.tolist() == [[2, 2]] * 4
    assert not left.any()


def test_tasks_for_less_than_a_machine_are_left():
    instance = ProvisioningInstance("few", ("cpu",), ("f",), ("t",), [0], [[8]], [5], [[[3]]], [2])
    types, _, left = dived(instance)
    assert (types.size, left.tolist()) == (0, [2])


def test_no_time_fills_nothing():
    instance = ProvisioningInstance("late", ("cpu",), ("f",), ("t",), [0], [[8]], [5], [[[4]]], [20])
    types, content, left = dived(instance, seconds=-1.0)
    assert (types.size, content.shape, left.tolist()) == (0, (0, 1), [20])


def test_full_machines_cost_hardly_more_than_their_tasks_are_worth():
    """Of a thousand pods in three zones, all but those on the last machines of each kind."""
    instance = reduced(kubernetes_like(1000, kinds=50, types=144, seed=0)).instance
    types, content, left = dived(instance)
    check(instance, types, content, left)
    value = Pooled(instance, by_type=True).relax(20.0).value
    assert content.any()
    assert instance.price[types].sum() <= 1.05 * (content @ value).sum()
