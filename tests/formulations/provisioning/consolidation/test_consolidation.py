"""Column generation over running machines, against all plans of tiny clusters."""

import numpy as np
import pytest

from schedgap.formulations.provisioning.consolidation.consolidation import (
    ClusterMaster,
    _rounded_up,
    consolidation,
    kinds_of,
)
from schedgap.instances.provisioning import ProvisioningInstance, Running, verify
from schedgap.instances.provisioning.pricing import NANO, Pricer
from schedgap.instances.provisioning.running import ONE_TASK

MICRO = 1_000_000


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_bounds_and_plans_keep_to_the_cheapest_of_all(tiny, cheapest, seed, weighted):
    instance = tiny(seed, weighted=weighted)
    found, least = consolidation(instance, time_limit_s=5), cheapest(instance)
    if least is None:
        assert found.solution is None
        return
    assert found.bound <= least
    if found.solution is not None:
        assert verify(instance, found.solution) >= least


def cluster(**changes):
    """Tasks of 2 and 1 on machines of 4 for $3, of which two can be had, and of 8 for $7; one small one runs."""
    instance = ProvisioningInstance(
        *(
            "master",
            ("cpu",),
            ("f",),
            ("small", "large"),
            [0, 0],
            [[4], [8]],
            [3 * MICRO, 7 * MICRO],
            [[[2], [1]]],
            [5, 2],
        ),
        running=Running.from_contents(("a",), [0], [[1, 1]]),
        stock=[2, -1],
        max_disruption=ONE_TASK,
    )
    return instance.replace(**changes)


def test_columns_say_what_is_held_what_stays_and_what_is_used():
    master = ClusterMaster(kinds_of(cluster()))
    rows = master.rows(np.array([0, 1, 2]), np.array([[2, 0], [4, 0], [1, 2]]))
    # Classes, staying, the stock of small, the group of a.
    assert rows.tolist() == [[2, 0, 0, 1, 0], [4, 0, 0, 0, 0], [1, 2, 2, 1, 1]]


def test_each_content_is_taken_once_and_none_that_is_empty():
    master = ClusterMaster(kinds_of(cluster()))
    contents = np.array([[2, 0], [2, 0], [0, 0], [2, 0]])
    assert master.add(np.array([0, 0, 0, 1]), contents) == 2
    assert master.add(np.array([0, 1]), contents[:2]) == 0
    assert (master.kind.tolist(), master.patterns.tolist()) == ([0, 1], [[2, 0], [2, 0]])


def test_the_program_keeps_stocks_and_moves():
    master = ClusterMaster(kinds_of(cluster()))
    # Kinds: small, large, a. All 12 units: 4 and 4 of the small ones, 4 on a large one.
    master.add(np.array([0, 1, 2, 2]), np.array([[2, 0], [4, 0], [1, 2], [2, 0]]))
    chosen = master.solve_integer(10.0)
    # Both of a's tasks or one: a with 1 and 2, the large one with 4.
    assert chosen.tolist() == [0, 1, 1, 0]
    # In shares: a, one more small one, half a large one.
    assert master.solve(10.0).objective == pytest.approx(9.5)
    assert master.solve_integer(10.0, 10 * MICRO) is None
    assert ClusterMaster(kinds_of(cluster())).solve_integer(10.0) is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_any_duals_prove_a_bound_below_the_cheapest_plan(tiny, cheapest, seed, weighted):
    instance = tiny(seed, weighted=weighted)
    least = cheapest(instance)
    if least is None:
        pytest.skip("no plan keeps to the limits")
    rng = np.random.default_rng(seed)
    kinds = kinds_of(instance)
    master = ClusterMaster(kinds)
    expanded, twins, most = kinds.expanded()
    dearest = int(instance.price.max()) * NANO
    for _ in range(5):
        values = rng.integers(0, dearest, instance.num_classes)
        stay = int(rng.integers(0, dearest // 2)) if kinds.members else 0
        stocks = rng.integers(0, dearest // 2, master.stock.size)
        given = np.zeros_like(most)
        given[:, : instance.num_classes] = values
        given[most.shape[0] - len(kinds.members) :, instance.num_classes :] = values[twins] + _rounded_up(
            stay, kinds.weight[twins]
        )
        worth = Pricer(expanded).price(given, np.zeros(kinds.limit.size, np.int64), counts=most).upper
        worth = worth + _rounded_up(stay, kinds.node)
        assert master.proven(values, stay, stocks, worth) <= least


def test_a_bound_by_hand():
    master = ClusterMaster(kinds_of(cluster()))
    # Units of $0.75 and small machines at $3 + 0: 9 of 12 units' worth; a task that stays is worth nothing.
    unit = 750_000 * NANO
    values, worth = np.array([2 * unit, unit]), np.array([4 * unit, 8 * unit, 4 * unit])
    assert master.proven(values, 0, np.array([0]), worth) == 9 * MICRO
    # At $0.875 a unit, large machines are worth their price; small ones $0.5 more, of each kind: two and a.
    unit = 875_000 * NANO
    values, worth = np.array([2 * unit, unit]), np.array([4 * unit, 8 * unit, 4 * unit])
    assert master.proven(values, 0, np.array([0]), worth) == 9 * MICRO
    # The stock priced at $0.5 instead: 10.5 less two times 0.5, in whole dollars.
    assert master.proven(values, 0, np.array([500_000 * NANO]), worth) == 10 * MICRO
