"""The exact program against all plans of tiny clusters."""

import numpy as np
import pytest

from schedgap.formulations.provisioning.consolidation.consolidation_ilp import consolidation_ilp
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import Status
from schedgap.instances.provisioning import verify


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test_finds_the_cheapest_plan_of_all(tiny, cheapest, seed, weighted):
    instance = tiny(seed, weighted=weighted)
    found, least = consolidation_ilp(instance), cheapest(instance)
    if weighted and seed % 3 == 0:
        # Weights that are too fine for a search to tell apart: its plan keeps to the limit, its bound is one.
        assert least is None or found.bound <= least
        assert least is not None or found.solution is None
        assert found.solution is None or verify(instance, found.solution) >= least
        return
    if least is None:
        assert found.status is Status.INFEASIBLE
        return
    assert found.status is Status.OPTIMAL
    assert verify(instance, found.solution) == found.bound == least


@pytest.mark.parametrize("seed", range(30))
def test_amounts_in_bytes_claim_nothing_false(tiny, cheapest, seed):
    # Near 2^34, off by a byte or two: floats in a solver do not tell them apart.
    instance = tiny(seed)
    rng = np.random.default_rng(seed)
    demand = np.where(
        instance.demand > 0, instance.demand * 2**21 + rng.integers(0, 3, instance.demand.shape), instance.demand
    )
    try:
        instance = instance.replace(capacity=instance.capacity * 2**21 + 2, demand=demand)
    except InstanceError:
        pytest.skip("a task fits nowhere")
    found, least = consolidation_ilp(instance), cheapest(instance)
    if least is None:
        assert found.solution is None
        return
    assert found.status is not Status.INFEASIBLE
    assert found.bound is None or found.bound <= least
    assert all(point.bound is None or point.bound <= least for point in found.trajectory)
    assert all(point.objective is None or point.objective >= least for point in found.trajectory)
    if found.solution is not None:
        assert verify(instance, found.solution) >= least
