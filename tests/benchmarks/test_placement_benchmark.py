"""Time of placement policies, beside one pass of NumPy over the same pods and nodes.

Run with `make benchmarks`. Pods a second are in the extra info. The authors' simulator takes 25 minutes for a run of FGD on the
trace's 1,213 nodes.
"""

import numpy as np
import pytest

from schedgap.heuristics.placement import policies  # noqa: F401
from schedgap.instances.method import find_method
from schedgap.instances.placement import FAMILY, openb_like, verify

POLICIES = ("best-fit", "fgd", "kube-scheduler", "priced-fit")


@pytest.fixture(scope="module")
def is_enabled(pytestconfig):
    return pytestconfig.getoption("benchmark_enable")


@pytest.fixture(scope="module")
def trace_sized(is_enabled):
    return openb_like(nodes=1213 if is_enabled else 20)


@pytest.fixture(scope="module")
def large(is_enabled):
    return openb_like(nodes=100_000 if is_enabled else 100)


def play(benchmark, name, instance, rounds):
    method = find_method(FAMILY, name)
    outcome = benchmark.pedantic(lambda: method.run(instance), rounds=rounds, warmup_rounds=1)
    assert verify(instance, outcome.solution) > 0
    if benchmark.stats:
        benchmark.extra_info["pods_per_s"] = round(instance.num_pods / benchmark.stats["median"])


@pytest.mark.parametrize("name", POLICIES)
def test_nodes_of_the_trace(benchmark, trace_sized, name):
    play(benchmark, name, trace_sized, 3)


@pytest.mark.parametrize("name", ["best-fit", "priced-fit"])
def test_a_hundred_thousand_nodes(benchmark, large, name):
    play(benchmark, name, large, 1)


def test_one_pass_of_numpy_for_each_pod(benchmark, trace_sized):
    """What it takes to look at one number of each node once for each pod: no policy that keeps no scores is quicker."""
    scores = np.zeros(trace_sized.num_nodes)
    benchmark.pedantic(lambda: [int(scores.argmax()) for _ in range(trace_sized.num_pods)], rounds=3)
