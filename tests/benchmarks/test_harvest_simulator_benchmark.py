"""Time of simulations of harvest VMs, with 64 of them as the paper has and with 5,000. Run with `make benchmarks`."""

import pytest

import schedgap.heuristics.harvest.rules
import schedgap.heuristics.harvest.slacksched.slacksched  # noqa: F401
from schedgap.instances.harvest import FAMILY, datacentre, quick
from schedgap.instances.method import find_method

METHODS = ["capacity-scheduler", "slacksched", "longest-first-matching"]


def play(benchmark, name, instance, rounds):
    method = find_method(FAMILY, name)
    outcome = benchmark.pedantic(lambda: method.run(instance, seed=0), rounds=rounds, warmup_rounds=rounds > 1)
    assert outcome.solution.num_runs >= instance.num_tasks


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("workload", ["light", "heavy"])
def test_the_papers_scale(benchmark, workload, name):
    play(benchmark, name, datacentre("C2", workload=workload, seed=100), rounds=7)


@pytest.mark.parametrize("name", METHODS)
def test_five_thousand_vms(benchmark, pytestconfig, name):
    """A tenth of the million tasks of the suite `harvest-scale`."""
    jobs = 1000 if pytestconfig.getoption("benchmark_enable") else 10
    play(benchmark, name, quick(5000, jobs, "50-150", load=0.5), rounds=1)
