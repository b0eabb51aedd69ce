"""The exact program against all plans of tiny clusters."""

import pytest

from schedgap.formulations.provisioning.consolidation.consolidation_ilp import consolidation_ilp
from schedgap.instances.method import Status
from schedgap.instances.provisioning import verify


@pytest.mark.parametrize("seed", range(60))
def test_finds_the_cheapest_plan_of_all(tiny, cheapest, seed):
    instance = tiny(seed)
    found, least = consolidation_ilp(instance), cheapest(instance)
    if least is None:
        assert found.status is Status.INFEASIBLE
        return
    assert found.status is Status.OPTIMAL
    assert verify(instance, found.solution) == found.bound == least
