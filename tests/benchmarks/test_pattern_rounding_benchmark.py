"""Time of pattern rounding; run with `make benchmarks`. The warm-up compiles the kernels."""

import pytest

from schedgap.heuristics.provisioning.pattern_rounding.pattern_rounding import pattern_rounding
from schedgap.instances.provisioning import alibaba, distinct, table7, verify

INSTANCES = {
    "table7-200-physical": lambda: table7(200),
    "table7-200-vcpu": lambda: table7(200, cpu="vcpu"),
    "distinct-200": lambda: distinct(200),
    "distinct-1000": lambda: distinct(1000),
}


def run(benchmark, instance):
    pattern_rounding(instance, effort=0.01)
    solution = benchmark.pedantic(pattern_rounding, (instance,), rounds=5, warmup_rounds=1)
    benchmark.extra_info["cost"] = verify(instance, solution) / 1e6
    assert verify(instance, solution) < instance.reservation_price @ instance.counts


@pytest.mark.parametrize("name", INSTANCES)
def test_generated(benchmark, name):
    run(benchmark, INSTANCES[name]())


def test_the_whole_trace(benchmark, alibaba_csv):
    run(benchmark, alibaba(alibaba_csv))
