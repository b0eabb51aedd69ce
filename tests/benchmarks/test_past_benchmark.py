"""A week of a cluster, read from looks and from Prometheus' answers; run with `make benchmarks`.

Goal: 1,000 nodes and 30,000 pods, a look every five minutes for seven days, read in 60 s and 2 GiB on two cores. That is
`PAST_NODES=1000 PAST_DAYS=7`, and writing it takes a quarter of an hour; by default it is smaller.
"""

import os
import resource

import pytest
from weeks import write_prometheus, write_snapshots

from schedgap.instances.reconfiguration import kubernetes
from schedgap.instances.reconfiguration.weeks import simulate, write_prices

NODES, DAYS = int(os.environ.get("PAST_NODES", "50")), float(os.environ.get("PAST_DAYS", "1"))


@pytest.fixture(scope="module")
def past(request, tmp_path_factory):
    """A folder with a week in both forms, and how large it is; a tiny one where the benchmarks are only run once."""
    nodes, days = (NODES, DAYS) if request.config.getoption("benchmark_enable") else (6, 0.05)
    folder = tmp_path_factory.mktemp("past")
    week = simulate("steady", nodes, 30 * nodes, days, 300, 0)
    write_prices(folder)
    write_prometheus(week, folder / "answers")
    write_snapshots(week, folder / "looks", zipped=True)
    return folder


def size_of(folder):
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.mark.parametrize("form", ["looks", "answers"])
def test_reading(benchmark, past, form):
    benchmark.extra_info["bytes"] = size_of(past / form)
    given = {"catalogue": str(past / "prices.csv")}
    read = benchmark.pedantic(kubernetes, (past / form,), given, rounds=1)
    benchmark.extra_info |= {"jobs": read.num_jobs, "nodes": len(read.past.names), "peak_mib": peak_mib()}
    assert read.num_jobs > 0


def peak_mib():
    """Peak memory of this process, what wrote the week included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
