"""Time of the policies for provisioning over time, plan by plan, and of playing a finished schedule again.

Run with `make benchmarks`: then the instance has as many jobs as the trace of Eva's Table 14, on which the authors'
simulator takes 6 hours for five schedulers. Plans a second are in the extra info.
"""

import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.method import find_method
from schedgap.instances.reconfiguration import FAMILY, alibaba_like, verify

POLICIES = ("no-packing", "stratus", "synergy", "owl", "eva", "lookahead")


@pytest.fixture(scope="module")
def instance(pytestconfig):
    load_methods([FAMILY])
    return alibaba_like(6274 if pytestconfig.getoption("benchmark_enable") else 40, interference="artifact")


@pytest.mark.parametrize("name", POLICIES)
def test_policy(benchmark, instance, name):
    method = find_method(FAMILY, name)
    method.run(alibaba_like(10, interference="artifact"))
    outcome = benchmark.pedantic(lambda: method.run(instance), rounds=1)
    assert verify(instance, outcome.solution) > 0
    if benchmark.stats:
        benchmark.extra_info["plans_per_s"] = round(outcome.details["plans"] / benchmark.stats["median"])


def test_verify(benchmark, instance):
    schedule = find_method(FAMILY, "no-packing").run(instance).solution
    assert benchmark.pedantic(lambda: verify(instance, schedule), rounds=3, warmup_rounds=1) > 0
