"""A generated cluster of 1,000 nodes and 30,000 pods: reading it, and the first cheap answer; run with `make benchmarks`.

Goal: a plan and a floor below 3 s after reading.
"""

import pytest

from schedgap.bench.plugins.discover import load_families, load_methods
from schedgap.instances.method import find_method
from schedgap.instances.provisioning import kubernetes, shrink, verify, write_cluster

CHEAP = ("karpenter-consolidation", "bound-resource-prices")


@pytest.fixture(scope="module")
def files(request, tmp_path_factory):
    """All nodes where times are taken, twelve where the benchmarks are only run once."""
    nodes = 1000 if request.config.getoption("benchmark_enable") else 12
    folder = tmp_path_factory.mktemp("clusters")
    write_cluster("large", folder, nodes)
    paths = [folder / f"{part}.json" for part in ("cluster", "nodepools", "volumes", "budgets")]
    return nodes, paths, {"catalogue": str(folder / "prices.csv")}


def test_reading(benchmark, files):
    nodes, paths, given = files
    benchmark.extra_info["bytes"] = paths[0].stat().st_size
    cluster = benchmark.pedantic(kubernetes, paths, given, rounds=1)
    assert cluster.running.size == nodes
    benchmark.extra_info |= {"pods": cluster.num_tasks, "classes": cluster.num_classes, "types": cluster.num_types}


@pytest.mark.parametrize("name", CHEAP)
def test_the_first_cheap_answer(benchmark, files, name):
    """Each half of it: the field's rule for a plan, a bound for the floor."""
    load_families()
    load_methods(["provisioning"])
    _, paths, given = files
    cluster, method = kubernetes(*paths, **given), find_method("provisioning", name)
    # Compiles kernels.
    method.run(shrink(cluster), time_limit_s=1.0)
    found = benchmark.pedantic(method.run, (cluster,), {"time_limit_s": 60.0}, rounds=1)
    benchmark.extra_info |= {"resources": len(cluster.resources), "bound": found.bound}
    assert found.bound is not None if name.startswith("bound") else verify(cluster, found.solution) > 0
