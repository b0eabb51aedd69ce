"""`portfolio` against its parts, each alone with 95% of its time, on the first instance of each group of our suites.

A quarter of an hour: `pytest tests/benchmarks/test_portfolio_benchmark.py --benchmark-enable`. Goal: no part is better.
"""

import pytest

from schedgap.bench.plugins.discover import load_families, load_methods
from schedgap.bench.suites.shipped import suite_rows
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.method import find_method
from schedgap.instances.provisioning import features, shrink, verify

TIME_LIMIT_S, SHARE = 4.0, 0.95
PARTS = (
    *("pattern-rounding", "column-generation", "pooled", "patterns", "first-fit-decreasing"),
    *("consolidation", "consolidation-ilp", "karpenter"),
)
load_families()
load_methods(["provisioning"])


def groups():
    for row in suite_rows():
        if row["family"] == "provisioning":
            suite, folder = read_suite(row["name"])
            for number, block in enumerate(suite.instances):
                yield pytest.param(suite, block, folder, id=f"{suite.name}-{number}")


def cost(name, instance, time_limit_s):
    """What a method's solution costs; None where it has none, does not take the instance, or has no memory for it."""
    method = find_method("provisioning", name)
    if method.supports(instance) is not None or not features(instance) <= set(method.handles):
        return None
    # Compiles kernels.
    method.run(shrink(instance), time_limit_s=0.5)
    try:
        solution = method.run(instance, time_limit_s=time_limit_s).solution
    except MemoryError:
        return None
    return None if solution is None else verify(instance, solution)


@pytest.mark.parametrize(("suite", "block", "folder"), list(groups()))
def test_no_part_is_better(benchmark, request, suite, block, folder):
    if not request.config.getoption("benchmark_enable"):
        pytest.skip("takes minutes; run with --benchmark-enable")
    instance = next(iter(suite.sources(block, None, folder))).build()
    if instance.throughput is not None:
        pytest.skip("interference is nothing that the portfolio takes")
    given = {"args": ("portfolio", instance, TIME_LIMIT_S), "rounds": 1}
    found = benchmark.pedantic(cost, **given)
    parts = {name: cost(name, instance, SHARE * TIME_LIMIT_S) for name in PARTS}
    best = min((price, name) for name, price in parts.items() if price is not None)
    assert found is not None
    benchmark.extra_info.update(best_part=best[1], behind=max(0.0, found / best[0] - 1), group=block.group)
