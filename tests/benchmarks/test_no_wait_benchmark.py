"""Time of the optimum without waits, beside that of its first flow, with which the others begin.

Run with `make benchmarks`. A machine takes slots x O((V + N) log(V + N)); ranges after the first take jobs out one by one.
"""

import math

import pytest

from schedgap.formulations.waiting.models import scale
from schedgap.formulations.waiting.no_wait import CheapestFlows, clairvoyant_no_wait
from schedgap.instances.waiting import mms, verify


@pytest.fixture(scope="module")
def instance(pytestconfig):
    return mms(10_000 if pytestconfig.getoption("benchmark_enable") else 500, max_wait_h=0.0)


def test_optimum(benchmark, instance):
    found = benchmark.pedantic(clairvoyant_no_wait, (instance,), rounds=3, warmup_rounds=1)
    assert verify(instance, found.solution) == found.bound


def test_one_flow(benchmark, instance):
    scaled = scale(instance)

    def flow():
        flows = CheapestFlows(scaled, 1)
        return flows.cheapest(scaled.horizon, int(flows.ends.max()), flows.none, math.inf)

    assert benchmark.pedantic(flow, rounds=3, warmup_rounds=1).number > 0
