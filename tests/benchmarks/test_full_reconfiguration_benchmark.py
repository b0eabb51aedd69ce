"""Time of Full Reconfiguration, grouping included, beside `numpy.lexsort` of the same demand rows.

Run with `make benchmarks`. The first call compiles the kernels.
"""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import full_reconfiguration
from schedgap.instances.provisioning import distinct, table7, verify

INSTANCES = {
    "table7-8000": lambda: table7(8_000),
    "table7-1000000": lambda: table7(1_000_000),
    "distinct-8000": lambda: distinct(8_000),
    "distinct-100000": lambda: distinct(100_000),
    "distinct-1000000": lambda: distinct(1_000_000),
}


@pytest.fixture(scope="module", params=INSTANCES)
def instance(request, pytestconfig):
    if request.param.endswith("000000") and not pytestconfig.getoption("benchmark_enable"):
        pytest.skip("a million tasks; run with --benchmark-enable")
    return INSTANCES[request.param]()


def test_full_reconfiguration(benchmark, instance):
    full_reconfiguration(table7(10))
    solution = benchmark.pedantic(full_reconfiguration, (instance,), rounds=5, warmup_rounds=1)
    assert verify(instance, solution) < instance.reservation_price @ instance.counts


def test_lexsort(benchmark, instance):
    """All families' demands of a task are one row, as what tells classes apart."""
    rows = np.ascontiguousarray(np.concatenate(instance.demand[:, instance.task_classes()], axis=1).T)
    order = benchmark.pedantic(np.lexsort, (rows,), rounds=5, warmup_rounds=1)
    assert order.size == instance.num_tasks
