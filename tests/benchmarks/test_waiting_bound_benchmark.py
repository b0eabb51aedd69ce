"""Time of the bound from prices where jobs run on long after the horizon, and of a schedule from it.

Run with `make benchmarks`. Ranges of ends x rounds x O(jobs + starts in the jobs' windows).
"""

import numpy as np
import pytest

from schedgap.formulations.waiting.fluid_bound import bound_fluid
from schedgap.formulations.waiting.priced_search.search import priced_search
from schedgap.instances.waiting import bursty, verify


@pytest.fixture(scope="module")
def instance(pytestconfig):
    return bursty(5_000 if pytestconfig.getoption("benchmark_enable") else 300, wait_price=0.1)


def test_bound(benchmark, instance):
    found = benchmark.pedantic(bound_fluid, (instance,), {"rounds": 40}, rounds=3, warmup_rounds=1)
    assert found.details["ranges"] > 1


def test_schedule(benchmark, instance):
    def search():
        return priced_search(instance, np.random.default_rng(0), moves=2_000)

    found = benchmark.pedantic(search, rounds=3, warmup_rounds=1)
    assert verify(instance, found.solution) >= found.bound
