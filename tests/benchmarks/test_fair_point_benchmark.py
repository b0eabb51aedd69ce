"""Time of water-filling; run with `make benchmarks`. The warm-up compiles the kernel.

With one linear program for each active user and level (Eunomia, Algorithm 1), 1,000 users on 50 classes take over an hour.
"""

import pytest

from schedgap.formulations.fairness.fair_point import water_filling
from schedgap.instances.fairness import FAIR, random_users, verify

SIZES = {"1000-users": (1000, 50, 1000), "10000-users": (10_000, 100, 10_000)}


@pytest.mark.parametrize("kind", ["mixed", "interval"])
@pytest.mark.parametrize("size", SIZES)
def test_fair_point(benchmark, pytestconfig, size, kind):
    users, classes, machines = SIZES[size] if pytestconfig.getoption("benchmark_enable") else (40, 6, 60)
    instance = random_users(users, classes=classes, machines=machines, kind=kind)
    outcome = benchmark.pedantic(water_filling, (instance,), rounds=1, warmup_rounds=1)
    benchmark.extra_info |= outcome.details
    assert outcome.solution is None or verify(instance, outcome.solution) == FAIR


@pytest.mark.parametrize("kind", ["mixed", "interval"])
def test_limited_numbers_of_tasks(benchmark, pytestconfig, kind):
    users, classes = (1000, 50) if pytestconfig.getoption("benchmark_enable") else (40, 6)
    instance = random_users(users, classes=classes, machines=1000, kind=kind, limited=True)
    outcome = benchmark.pedantic(water_filling, (instance,), rounds=1, warmup_rounds=1)
    benchmark.extra_info |= outcome.details
    assert outcome.solution is None or verify(instance, outcome.solution) == FAIR
