"""Time and memory of a journal with 100,000 rows: opening it, reading it, its gap table; run with `make benchmarks`.

Goals: each under 3 s, and under 500 MB of memory for all of them in one process.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from schedgap.bench.records.journal import FILE_NAME, Journal
from schedgap.bench.records.runs import Limits, Measurement, Record, Run
from schedgap.bench.statistics.headlines.registry import headline_rows
from schedgap.bench.suites.results import read_results, write_plan
from schedgap.bench.suites.suite import Suite
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 100_000
METHODS = 20
# Methods that prove bounds and tell their trajectory; the others are heuristics.
EXACT = 4
LIMITS = Limits(60.0, 130.0, None, 2048, 1)
SUITE = {
    "schema": "schedgap/suite/1",
    "name": "large",
    "title": "A large suite",
    "question": "How long does it take to read?",
    "family": "provisioning",
    "headline": "gap",
    "methods": ["patterns"],
    "instances": [{"generator": "table7"}],
}
PEAK = """
import re, sys
from pathlib import Path
from schedgap.bench.statistics.headlines.registry import headline_rows
from schedgap.bench.records.journal import Journal
from schedgap.bench.suites.results import read_results
folder = Path(sys.argv[1])
with Journal(folder) as journal:
    assert len(journal.records) == int(sys.argv[2])
del journal
results = read_results(folder)
headline_rows(results.suite, results.records)
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def records(rows):
    """Yield rows as a suite of many instances makes them: about 1.1 kB each, one method in 20 stochastic."""
    rng = np.random.default_rng(1)
    for number in range(-(-rows // METHODS)):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        bound = int(rng.integers(10**8, 10**10))
        source = {"kind": "generator", "name": "table7", "tasks": 200, "cpu": "physical", "seed": number}
        for method in range(min(METHODS, rows - number * METHODS)):
            yield record(rng, digest, number, method, bound, source)


def record(rng, digest, number, method, bound, source):
    is_exact = method < EXACT
    name = f"method-{method}"
    given = {"downsizing": False, "tie_break": "paper"} if method % 3 == 2 else {}
    run = Run(
        family="provisioning",
        instance=f"table7-200-physical-s{number}",
        digest=digest,
        group="physical cores" if number % 2 else "vCPU",
        source=source,
        method=name,
        label=f"{name}[downsizing=False,tie_break=paper]" if given else name,
        version=1,
        parameters={"downsizing": True, "order": "price", "tie_break": "first", **given}
        | ({"backend": "highs", "max_patterns": 100000} if is_exact else {}),
        given=given,
        backend="highs" if is_exact else None,
        backend_version="1.14.0" if is_exact else None,
        seed=int(rng.integers(2**62)),
        repetition=0,
        limits=LIMITS,
        stochastic=method == METHODS - 1,
    )
    objective = bound + (0 if is_exact else int(rng.integers(bound // 10)))
    times = sorted(rng.random(7 if is_exact else 4).tolist())
    failed = rng.random() < 0.01
    measurement = Measurement(
        status=Status.TIMEOUT if failed else Status.OPTIMAL if is_exact else Status.FEASIBLE,
        claimed_status=None if failed else "optimal" if is_exact else "feasible",
        objective=None if failed else objective,
        bound=bound if is_exact and not failed else None,
        reason="killed after 130 s of wall-clock time" if failed else None,
        wall_s=None if failed else times[-1],
        build_s=times[0] if is_exact else None,
        solve_s=times[1] if is_exact else None,
        extract_s=times[2] if is_exact else None,
        warm="parent",
        warm_s=times[0] / 3,
        compile_s=0.0,
        cpu_s=times[1] / 7,
        reference_s=times[2] / 1000,
        peak_memory_mib=round(90 + 10 * times[0], 1),
        output="Traceback\n" if failed else "",
        solver="highs" if is_exact else None,
        trajectory=tuple((t, objective + 6 - i, bound - 6 + i) for i, t in enumerate(times)) if is_exact else (),
        measures={} if failed else {"machines": 40 + 3 * method, "allocation_cpu": times[-1]},
        details={"columns": 125.0, "patterns": 2024, "nodes": 1.0, "lp_bound": bound / 1e6, "iterations": number}
        if is_exact
        else {},
    )
    return Record(run.key, run, measurement, "9057d1b80adc", f"2030-01-01T00:00:{number % 60:02d}.123+00:00")


def write_journal(folder: Path, rows: int) -> list[str]:
    """Write a journal without its sync after each row; returns the keys."""
    keys = []
    with open(folder / FILE_NAME, "w", encoding="utf-8") as file:
        for made in records(rows):
            keys.append(made.key)
            file.write(json.dumps(made.to_row(), separators=(",", ":")) + "\n")
    return keys


@pytest.fixture(scope="module")
def rows(request):
    """All of them where times are taken; a few where the benchmarks are only run once."""
    option = request.config.getoption
    return ROWS if option("benchmark_enable") or not option("benchmark_disable") else 500


@pytest.fixture(scope="module")
def folder(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("journal")
    write_plan(path, Suite.model_validate(SUITE), ["schedgap"], write_journal(path, rows))
    return path


def test_opening_to_resume(benchmark, folder, rows):
    def opened():
        with Journal(folder) as journal:
            return len(journal.records)

    assert benchmark.pedantic(opened, rounds=5) == rows


def test_reading_results(benchmark, folder, rows):
    assert len(benchmark.pedantic(read_results, (folder,), rounds=5).records) == rows


def test_gap_table(benchmark, folder, rows):
    results = read_results(folder)
    table = benchmark.pedantic(headline_rows, (results.suite, results.records), rounds=5)
    assert sum(row["runs"] for row in table) == rows


def test_all_in_a_process_of_its_own(benchmark, folder, rows):
    """With the start of Python; its peak of memory, MiB, is in the extra info."""
    command = [sys.executable, "-c", PEAK, str(folder), str(rows)]
    ended = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "check": True}, rounds=1)
    benchmark.extra_info["peak_memory_mib"] = int(ended.stdout) / 1024
    assert int(ended.stdout) > 0
