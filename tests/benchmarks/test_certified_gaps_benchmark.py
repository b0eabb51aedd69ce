"""Proven gaps after a minute, and the time to a proof; the gap is in the benchmark's `extra_info`, in per cent.

Run with `make benchmarks`.
"""

import pytest

from schedgap.formulations.provisioning.column_generation.column_generation import column_generation
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.instances.provisioning import alibaba, distinct, table7, verify

LIMIT_S = 60.0


@pytest.fixture(autouse=True)
def _only_as_benchmark(pytestconfig):
    """Among the tests there is no minute a case for this."""
    if not pytestconfig.getoption("benchmark_enable"):
        pytest.skip("takes minutes; run with --benchmark-enable")


def certify(benchmark, method, instance, rounds=1):
    method(table7(10))
    outcome = benchmark.pedantic(method, (instance,), {"time_limit_s": LIMIT_S}, rounds=rounds)
    cost = verify(instance, outcome.solution)
    benchmark.extra_info |= {"gap_percent": 100 * (cost - outcome.bound) / cost, "status": str(outcome.status)}
    assert outcome.bound <= cost


@pytest.mark.parametrize("cpu", ["physical", "vcpu"])
@pytest.mark.parametrize("seed", range(30))
def test_table4_trials(benchmark, cpu, seed):
    certify(benchmark, patterns, table7(200, seed=seed, cpu=cpu), rounds=3)


@pytest.mark.parametrize("tasks", [200, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_subsets_of_the_trace(benchmark, alibaba_csv, tasks, seed):
    certify(benchmark, column_generation, alibaba(alibaba_csv, tasks=tasks, seed=seed))


def test_the_whole_trace(benchmark, alibaba_csv):
    certify(benchmark, column_generation, alibaba(alibaba_csv))


@pytest.mark.parametrize("tasks", [200, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_distinct_demands(benchmark, tasks, seed):
    certify(benchmark, column_generation, distinct(tasks, seed=seed))
