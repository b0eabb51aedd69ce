"""The pytest plug-in as a user of another repository meets it: a scheduler, a plug-in file of ten lines, a test."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from schedgap.bench.records.journal import read_journal

pytest_plugins = ["pytester"]
PAGE = Path(__file__).parents[3] / "docs" / "pytest.md"

TINY = """
schema = "schedgap/suite/1"
name = "tiny"
title = "Tiny"
question = "Does it work?"
family = "provisioning"
methods = ["column-generation", "no-packing", "patterns"]

[limits]
time_limit_s = 5
memory_mib = 1024

[[instances]]
generator = "table3"

[[instances]]
generator = "table7"
parameters = { tasks = 6 }
"""

INI = """
[pytest]
filterwarnings = error
pythonpath = . src
schedgap_suite = tiny.toml
"""


@pytest.fixture
def repository(pytester, monkeypatch):
    """Another repository: the page's `mine.py`, the suite `tiny.toml`, and a configuration that lets no warning pass.

    On Table 3 every task alone costs $16.2 and the optimum $12.8: a gap of 3.4 / 16.2 = 20.99 %.
    """
    # Else the sessions below take themselves for workers of this one, and measure no time.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makepyfile(mine=example("mine.py"))
    (pytester.path / "tiny.toml").write_text(TINY)
    (pytester.path / "pytest.ini").write_text(INI)
    return pytester


@pytest.fixture(scope="session")
def with_bounds(tmp_path_factory):
    """The argument that names a cache which several tests share, so that bounds are proven once."""
    return f"--override-ini=cache_dir={tmp_path_factory.mktemp('cache')}"


def example(name):
    """Return the page's code of that name."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return next(block for block in blocks if block.startswith(f"# {name}\n"))


def kept(repository):
    return read_journal(repository.path / ".pytest_cache" / "d" / "schedgap")


def test_a_scheduler_is_judged_and_bounds_are_proven_once(repository):
    """The second session adds no row to the journal of bounds; the failing one names instance and gap."""
    repository.makepyfile(test_mine=example("test_mine.py"))
    first = repository.runpytest_subprocess("--junitxml=junit.xml")
    first.assert_outcomes(passed=2)
    first.stdout.fnmatch_lines(
        [
            "*schedgap: gaps to the best proven bounds*",
            "test *method *suite *runs *mean gap *worst gap *proven optimal",
            "test_mine.py::test_mine_on_each_instance *mine *tiny *2 *%* 0 of 2",
            "test_mine.py::test_mine_stays_near_the_optimum *mine *tiny *2 *%* 0 of 2",
        ]
    )
    rows = kept(repository)
    assert {row.run.instance for row in rows.values()} == {"table3", "table7-6-physical-s0"}
    assert {row.run.label for row in rows.values()} <= {"column-generation", "patterns"}
    case = ElementTree.parse(repository.path / "junit.xml").find(".//property[@name='schedgap']")
    assert json.loads(case.get("value"))["proven_optimal"] == 0
    repository.makepyfile(test_mine=example("test_mine.py").replace("0.25", "0.02"))
    second = repository.runpytest_subprocess("-k", "near")
    second.assert_outcomes(failed=1, deselected=1)
    second.stdout.fnmatch_lines(
        [
            "E *assert mean gap *% <= 2.00%, worst on table*",
            "E *mine on tiny: 2 runs, 0 proven optimal",
            "E *20.99% on table3: 16.2 $/h, bound 12.8",
        ]
    )
    second.stdout.no_fnmatch_line("*Traceback*")
    assert kept(repository) == rows


def test_failures_are_told_and_fail(repository, with_bounds):
    repository.makepyfile(
        test_mine="""
        import threading
        import numpy as np
        from schedgap.instances.provisioning import Provisioning, table3
        from mine import mine

        def crashing(instance):
            if instance.name == "table3":
                raise RuntimeError("boom")
            return mine(instance)

        def cheating(instance):
            # One machine of the first type for all.
            return Provisioning.from_tasks(instance, np.zeros(instance.num_tasks, int), np.zeros(instance.num_tasks, int))

        def test_crashing(gap):
            assert gap(crashing, suite="tiny.toml").mean <= 1

        def test_allowed(gap):
            gaps = gap(crashing, suite="tiny.toml", allow_failures=True)
            assert (gaps.runs, gaps.failed) == (2, 1)
            assert list(gaps.per_instance) == ["table7-6-physical-s0"]
            assert gaps.problems == ("table3: error, RuntimeError: boom",)

        def test_nothing_left(gap):
            gap(cheating, instances=[table3()], allow_failures=True)

        def test_locked(gap):
            lock = threading.Lock()
            gap(lambda instance: lock and mine(instance), instances=[table3()])

        def test_unknown(gap):
            gap("full-reconfigurations")
        """
    )
    answer = repository.runpytest_subprocess(with_bounds)
    answer.assert_outcomes(passed=1, failed=4)
    answer.stdout.fnmatch_lines(
        [
            "E *Failed: crashing has no gap in 1 of 2 runs on tiny:",
            "E *table3: error, RuntimeError: boom",
            "E *On table3 it printed:",
            'E *raise RuntimeError("boom")',
            "E *Failed: cheating has no gap in 1 of 1 runs on given instances:",
            "E *table3: invalid, *",
            "E *Failed: MethodError: lambda cannot be sent to a process of its own (TypeError: *lock*",
            "E *Failed: MethodError: family provisioning has no method 'full-reconfigurations'; did you mean *",
            "test_mine.py::test_crashing *crashing *tiny *2 (1 failed) *",
        ]
    )


def test_callables_of_every_kind_reach_their_processes(repository):
    """Test modules that a run's process cannot import, packages in a folder on sys.path, and what they hold.

    Without pytest's cache the session keeps the bounds for itself.
    """
    (repository.path / "src" / "own").mkdir(parents=True)
    (repository.path / "src" / "own" / "__init__.py").write_text("from mine import mine\n\nWANTED = 3\n")
    repository.makeconftest("LIMIT = 2\n\ndef below(number):\n    return number < LIMIT\n")
    repository.makepyfile(
        test_mine="""
        from functools import partial
        import pytest
        import own
        from schedgap.instances import Outcome, method
        from schedgap.instances.provisioning import table3

        EIGHT = 8

        class Careful:
            def __init__(self, wanted):
                self.wanted = wanted

            def __call__(self, instance):
                assert self.wanted == own.WANTED
                return own.mine(instance)

        def drawing(instance, rng, tries=1):
            assert rng.integers(EIGHT) < tries
            return Outcome(own.mine(instance))

        @method("declared", family="provisioning", version=7, supports=lambda instance: "no")
        def declared(instance):
            return None

        @pytest.fixture
        def three():
            return 3

        @pytest.fixture
        def below(pytestconfig):
            return next(p for p in pytestconfig.pluginmanager.get_plugins() if hasattr(p, "LIMIT")).below

        def test_closure_under_a_name_that_is_taken(gap, three, below):
            def synergy(instance):
                assert below(1) and three == 3
                return Careful(three)(instance)
            gaps = gap(synergy, instances=[table3()])
            assert gaps.method == "synergy-2"
            assert gaps.per_instance == {"table3": pytest.approx(3.4 / 16.2)}

        def test_partial_with_rng(gap):
            assert gap(partial(drawing, tries=EIGHT), instances=[table3()]).method == "drawing"

        def test_declared(gap):
            with pytest.raises(pytest.fail.Exception, match="table3: unsupported, no"):
                gap("declared", instances=[table3()])

        def test_shipped_method_on_the_default_suite(gap):
            assert gap("full-reconfiguration[tie_break=paper]").proven_optimal == 2
        """
    )
    answer = repository.runpytest_subprocess("--import-mode=importlib", "-p", "no:cacheprovider")
    answer.assert_outcomes(passed=4)
    assert not (repository.path / ".pytest_cache").exists()


def test_quality_stands_beside_time(repository, with_bounds):
    """Whatever comes first in the test."""
    repository.makepyfile(
        test_mine="""
        from mine import mine
        from schedgap.instances.provisioning import table3

        def test_before(gap, benchmark):
            assert gap(mine, instances=[table3()]).worst < 0.5
            benchmark.pedantic(mine, (table3(),), rounds=2)

        def test_after(benchmark, gap):
            benchmark.pedantic(mine, (table3(),), rounds=2)
            gap(mine, instances=[table3()])
            gap("patterns", instances=[table3()])
        """
    )
    repository.runpytest_subprocess(with_bounds, "--benchmark-json=out.json").assert_outcomes(passed=2)
    benchmarks = json.loads((repository.path / "out.json").read_text())["benchmarks"]
    before, after = (each["extra_info"] for each in benchmarks)
    expected = {
        "suite": "given instances",
        "method": "mine",
        "unit": "$/h",
        "objective_total": 16.2,
        "bound_total": 12.8,
    }
    assert before["schedgap"].items() >= expected.items()
    assert before["schedgap"]["gap_mean"] == before["schedgap"]["gap_worst"] == pytest.approx(3.4 / 16.2)
    assert [each["instance"] for each in before["schedgap"]["instances"]] == ["table3"]
    assert after["schedgap"]["method"] == "mine"
    assert after["schedgap_2"]["gap_mean"] == 0


def test_workers_share_the_bounds(repository):
    """Two processes start on nothing at once: one proves, the other waits; the table has the tests of both."""
    repository.makepyfile(
        test_mine="""
        import pytest
        from mine import mine
        from schedgap.instances.provisioning import table3

        @pytest.mark.parametrize("number", range(2))
        def test_each(gap, number, benchmark):
            assert gap(mine, instances=[table3()]).mean <= 0.5
            benchmark(mine, table3())
        """
    )
    # Benchmarks are off: pytest-benchmark warns that it does not measure beside xdist.
    answer = repository.runpytest_subprocess("-n", "2", "--benchmark-disable")
    answer.assert_outcomes(passed=2)
    answer.stdout.fnmatch_lines(["test_mine.py::test_each?0? *20.99%*", "test_mine.py::test_each?1? *20.99%*"])
    lines = (repository.path / ".pytest_cache" / "d" / "schedgap" / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["label"] for line in lines] == ["patterns"]


def test_sessions_without_it_are_left_alone(repository):
    """Nothing heavy is imported, nothing is printed, no warning is raised."""
    repository.makepyfile(
        test_other="""
        import sys

        def test_other(pytestconfig):
            assert pytestconfig.pluginmanager.has_plugin("schedgap")
            heavy = {"numpy", "numba", "scipy", "pandas", "pydantic", "rich", "joblib", "schedgap.bench.api"}
            assert not heavy & set(sys.modules)
        """
    )
    answer = repository.runpytest_subprocess("-W", "error", "-p", "no:cacheprovider")
    answer.assert_outcomes(passed=1)
    answer.stdout.no_fnmatch_line("*schedgap:*")


def test_importing_the_plug_in_costs_nothing():
    code = (
        "import sys, json, pytest; before = set(sys.modules); import schedgap.bench.testing.plugin;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == [
        "schedgap",
        "schedgap.bench",
        "schedgap.bench.testing",
        "schedgap.bench.testing.plugin",
    ]
