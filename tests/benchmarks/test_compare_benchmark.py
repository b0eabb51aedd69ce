"""Comparing 100,000 runs with 100,000: time, and memory of a process of its own; run with `make benchmarks`.

Goals for the whole command: under 3 s and under 500 MB.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedgap.bench.comparison.comparison import compare_results
from schedgap.bench.comparison.output import render
from schedgap.bench.records.journal import FILE_NAME, Lines
from schedgap.bench.records.runs import Limits, Measurement, Record, Run
from schedgap.bench.suites.results import Results, read_results
from schedgap.instances.method import Status

ROWS = 100_000
METHODS = 20
COMMAND = """
import resource, sys, time
from schedgap.bench.cli.app import main
sys.argv = ["schedgap", "compare", *sys.argv[1:], "--format", "json", "--fail-on", "none"]
try:
    main()
finally:
    print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def records(rows, seed):
    """Yield the runs of 20 methods, one of them stochastic; a hundredth of the objectives depends on `seed`."""
    rng = np.random.default_rng(seed)
    limits = Limits.from_time_limit(60.0)
    nothing = {"source": {}, "parameters": {}, "given": {}, "backend": None, "backend_version": None, "repetition": 0}
    for number in range(rows):
        instance, method = divmod(number, METHODS)
        name = f"method-{method}"
        run = Run(
            "provisioning",
            f"instance-{instance}",
            f"{instance:064x}",
            "all",
            method=name,
            label=name,
            version=1,
            seed=instance,
            limits=limits,
            stochastic=method == 0,
            **nothing,
        )
        objective = 10**6 * (instance % 1000 + 1) + 10**4 * method
        if method == 0 or rng.random() < 0.01:
            objective += int(rng.integers(10**4))
        wall_s, reference_s = rng.lognormal(-3, 0.2, 2).tolist()
        bound = 10**6 * (instance % 1000 + 1) if method == 1 else None
        measurement = Measurement(
            Status.FEASIBLE, objective=objective, bound=bound, wall_s=wall_s, reference_s=reference_s / 100
        )
        yield Record(run.key, run, measurement, "host", "2030-01-01T00:00:00.000+00:00")


@pytest.fixture(scope="module")
def folders(request, tmp_path_factory):
    """All rows where times are taken; a few where the benchmarks are only run once."""
    rows = ROWS if request.config.getoption("benchmark_enable") else 500
    made = []
    for seed in (1, 2):
        folder = tmp_path_factory.mktemp("side")
        with open(folder / FILE_NAME, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record.to_row()) + "\n" for record in records(rows, seed))
        made.append(folder)
    return rows, made


@pytest.fixture(scope="module")
def sides(folders) -> tuple[int, list[Results]]:
    rows, made = folders
    lines = Lines()
    return rows, [replace(read_results(folder, lines), directory=Path(folder.name)) for folder in made]


def test_reading_both_sides(benchmark, folders):
    def read():
        lines = Lines()
        return [len(read_results(folder, lines).records) for folder in folders[1]]

    assert benchmark.pedantic(read, rounds=5) == [folders[0]] * 2


def test_comparing(benchmark, sides):
    rows, both = sides
    found = benchmark.pedantic(compare_results, both, rounds=5)
    assert found.compared == rows
    assert found.verdict == "regression"


@pytest.mark.parametrize("form", ["table", "markdown", "junit", "json"])
def test_writing(benchmark, sides, form):
    text = benchmark.pedantic(render, (compare_results(*sides[1]), form), rounds=1)
    assert text.endswith("\n")


def test_the_whole_command(benchmark, folders):
    """Its peak memory, MiB, and processor seconds of one of the five are in the extra info."""
    rows, made = folders
    command = [sys.executable, "-c", COMMAND, *map(str, made)]
    done = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "check": True}, rounds=5)
    assert json.loads(done.stdout)["pairs"] == rows
    cpu_s, peak = done.stderr.split()[-2:]
    benchmark.extra_info |= {"cpu_s": float(cpu_s), "peak_memory_mib": int(peak) / 1024}
