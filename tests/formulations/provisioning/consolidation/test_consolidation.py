"""Column generation over running machines, against all plans of tiny clusters."""

import pytest

from schedgap.formulations.provisioning.consolidation.consolidation import consolidation
from schedgap.instances.provisioning import verify


@pytest.mark.parametrize("seed", range(60))
def test_bounds_and_plans_keep_to_the_cheapest_of_all(tiny, cheapest, seed):
    instance = tiny(seed)
    found, least = consolidation(instance, time_limit_s=5), cheapest(instance)
    if least is None:
        assert found.solution is None
        return
    assert found.bound <= least
    if found.solution is not None:
        assert verify(instance, found.solution) >= least
