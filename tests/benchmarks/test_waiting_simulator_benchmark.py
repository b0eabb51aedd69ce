"""Time of the waiting policies, beside one pass of NumPy over the same arrays.

Run with `make benchmarks`. Jobs a second are in the extra info. The paper's year has 14 million jobs; the simulator of
its authors serves 3,000 to 12,000 a second.
"""

import pytest

from schedgap.instances.method import find_method
from schedgap.instances.waiting import FAMILY, bursty, mms, verify

BASELINE_MACHINES, CLUSTER_MACHINES = 108, 150
BASELINE = {
    "njw": {},
    "ajw": {},
    "ajw-t": {"wait_limit_s": 900},
    "sww": {"wait_limit_s": 900},
    "ljw": {},
    "compound": {"wait_limit_s": 900},
}
CLUSTER = {
    **{name: (name, {}) for name in BASELINE},
    "sww-best-fit": ("sww", {"fit": "best"}),
    "sww-artifact": ("sww", {"semantics": "artifact"}),
    "ajw-t-easy": ("ajw-t", {"scheduling": "easy", "wait_limit_s": 3600}),
    "ajw-t-sjf": ("ajw-t", {"scheduling": "sjf", "wait_limit_s": 3600}),
    "sww-conservative": ("sww", {"scheduling": "conservative"}),
    "worth-waiting": ("worth-waiting", {"hours_per_dollar": 10}),
}


@pytest.fixture(scope="module")
def jobs(pytestconfig):
    return 2_000_000 if pytestconfig.getoption("benchmark_enable") else 2000


@pytest.fixture(scope="module")
def baseline(jobs):
    return mms(jobs)


@pytest.fixture(scope="module")
def cluster(jobs):
    return bursty(jobs // 4)


def play(benchmark, name, instance, parameters):
    method = find_method(FAMILY, name)
    outcome = benchmark.pedantic(lambda: method.run(instance, parameters=parameters), rounds=3, warmup_rounds=1)
    assert verify(instance, outcome.solution) > 0
    if benchmark.stats:
        benchmark.extra_info["jobs_per_s"] = round(instance.num_jobs / benchmark.stats["median"])


@pytest.mark.parametrize("name", BASELINE)
def test_baseline(benchmark, baseline, name):
    """M/M/108 at a load of 100."""
    play(benchmark, name, baseline, {"machines": BASELINE_MACHINES, **BASELINE[name]})


@pytest.mark.parametrize("label", CLUSTER)
def test_cluster(benchmark, cluster, label):
    """150 machines of 64 cores, for jobs of 1 to 64 cores."""
    name, parameters = CLUSTER[label]
    play(benchmark, name, cluster, {"machines": CLUSTER_MACHINES, **parameters})


def test_the_best_number_of_machines(benchmark, baseline):
    play(benchmark, "njw", baseline, {})


def test_one_pass_of_numpy(benchmark, baseline):
    ends = benchmark(lambda: (baseline.submit_us + baseline.runtime_us).max())
    assert ends > 0
