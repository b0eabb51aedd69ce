"""What all compiled rules are told of the pool."""

from functools import partial

import numpy as np
import pytest

from schedgap.heuristics.harvest.rules import PoolOptions, capacity_scheduler, oracle
from schedgap.heuristics.harvest.slacksched.slacksched import slacksched
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest import two_kinds

METHODS = [partial(capacity_scheduler, rng=np.random.default_rng(1)), oracle, slacksched]


@pytest.mark.parametrize("method", METHODS, ids=["capacity-scheduler", "oracle", "slacksched"])
@pytest.mark.parametrize("epoch_s", [1800, 7200])
def test_the_pool_is_looked_at_as_often_as_asked_for(method, epoch_s):
    instance = two_kinds(40, 10, jobs=12, seed=1)
    solution = method(instance, acquirer="recent", epoch_s=epoch_s).solution
    later = solution.lease_start_ms[solution.lease_start_ms > 0]
    assert later.size
    assert (later % (epoch_s * 1000) == 0).all()
    assert np.unique(later // (epoch_s * 1000)).size > 3


@pytest.mark.parametrize("epoch_s", [0, -5, 10**10])
def test_epochs_are_of_seconds(epoch_s):
    with pytest.raises(MethodError, match=f"epoch_s is {epoch_s}; give 1 to 1000000000 seconds"):
        _ = PoolOptions(epoch_s=epoch_s).epoch_ms
