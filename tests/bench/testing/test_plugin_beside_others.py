"""The pytest plug-in beside pytest-benchmark, beside xdist, and in sessions that do not use it."""

import json
import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]


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
    answer.stdout.fnmatch_lines(["test_mine.py::test_each?0? *20.99*", "test_mine.py::test_each?1? *20.99*"])
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
