"""Runs under `runexec`: one that behaves as documented and, where it works, the real one."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from schedgap.bench import run_suite
from schedgap.bench.isolation.runexec import parse_results
from schedgap.bench.programs.program import Program

RUNEXEC = "runexec"


@pytest.fixture
def fake(tmp_path, monkeypatch, hostile):
    """Put the stand-in where `runexec` is looked for first: `fake("memory")`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / RUNEXEC
    script.write_text(f"#!{sys.executable}\n" + hostile.with_name("fake_runexec.py").read_text())
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return lambda mode: monkeypatch.setenv("FAKE_RUNEXEC", mode)


def ends(suite, out, *plugins):
    result = run_suite(suite, out=out, plugins=plugins, jobs=2, isolation=RUNEXEC)
    assert {record.isolation for record in result.records} == {RUNEXEC}
    return {record.run.label: record.measurement for record in result.records}


def test_same_rows_as_otherwise(fake, write_suite, hostile, tmp_path):
    """Verified, warmed up, timed and judged as any run; memory is what runexec says: 118 MiB."""
    methods = ["x-honest", "x-segfault", "x-hard-exit", "x-hang"]
    found = ends(write_suite(methods, wall_s=2), tmp_path / "out", hostile)
    honest = found["x-honest"]
    assert (honest.status, honest.warm, honest.peak_memory_mib) == ("feasible", "child", 118.0)
    assert honest.wall_s < honest.cpu_s + 2
    assert (found["x-segfault"].status, found["x-segfault"].reason) == (
        "crashed",
        "its process was ended by SIGSEGV",
    )
    assert "Segmentation fault" in found["x-segfault"].output
    assert found["x-hard-exit"].reason == "its process exited with code 0 and without an answer"
    assert (found["x-hang"].status, found["x-hang"].reason) == ("timeout", "killed after 2 s of wall-clock time")
    rows = [json.loads(line) for line in (tmp_path / "out" / "journal.jsonl").read_text().splitlines()]
    assert [row["isolation"] for row in rows] == [RUNEXEC] * 4


def test_what_was_told_outlives_the_run(fake, write_suite, hostile, tmp_path):
    telling = hostile.with_name("telling.py")
    found = ends(write_suite(["t-killed"]), tmp_path / "out", telling)["t-killed"]
    assert (found.status, found.peak_memory_mib) == ("crashed", 118.0)
    assert found.output.split() == [str(found.objective), str(found.bound)]


def test_programs(fake, write_suite, tmp_path):
    """As otherwise: an answer of theirs is verified, and they may map more than they use."""
    script = tmp_path / "mapping"
    unlimited = "[ $(ulimit -v) = unlimited ] || exit 5"
    script.write_text(f'#!/bin/sh\n{unlimited}\necho \'{{"schema":"schedgap/answer/1","bound":0.5}}\'\n')
    script.chmod(0o755)
    fake("honest")
    suite = write_suite(["no-packing"])
    result = run_suite(suite, out=tmp_path / "out", plugins=[Program.make("mapping", script)], isolation=RUNEXEC)
    _, record = result.records
    assert (record.status, record.measurement.bound, record.measurement.reason) == ("no_solution", 500_000, None)


@pytest.mark.parametrize(
    ("mode", "status", "reason"),
    [("memory", "memory", "killed over 512 MiB of memory"), ("cputime", "timeout", "killed after 5.0 s of processor")],
)
def test_limits_that_runexec_holds(fake, write_suite, hostile, tmp_path, mode, status, reason):
    fake(mode)
    suite = write_suite(["x-honest"])
    suite.write_text(suite.read_text().replace("wall_s", "cpu_s = 5\nwall_s"))
    end = ends(suite, tmp_path / "out", hostile)["x-honest"]
    assert end.status == status
    assert end.reason.startswith(reason)
    assert end.peak_memory_mib == 256


@pytest.mark.parametrize("mode", ["no-cgroups", "no-cgroups-later"])
def test_its_own_failure_is_no_row(fake, schedgap, write_suite, hostile, tmp_path, mode):
    """Found out before the first run or in it: one sentence, and the journal stays as it was."""
    fake(mode)
    suite, out = write_suite(["x-honest"]), tmp_path / "out"
    code, _, err = schedgap("run", suite, "--plugin", hostile, "--out", out, "--isolation", RUNEXEC)
    assert code == 2
    assert err.startswith("ExecutorError: runexec cannot do runs here: Cgroup subsystem memory is not available.")
    assert "leave --isolation out" in err
    assert not (out / "journal.jsonl").exists() or (out / "journal.jsonl").read_text() == ""


def test_not_installed(schedgap, monkeypatch, write_suite, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    code, _, err = schedgap("run", write_suite(["no-packing"]), "--out", tmp_path / "out", "--isolation", RUNEXEC)
    assert code == 2
    assert err.startswith("ExecutorError: runexec is not installed; `pip install schedgap[benchexec]`")


def test_results_are_lines_of_key_and_value():
    assert parse_results("starttime=2026\nreturnvalue=0\nnoise\nmemory=5B\n") == {
        "starttime": "2026",
        "returnvalue": "0",
        "memory": "5B",
    }


def test_what_is_said_of_its_end_is_out_of_its_reach(fake, write_suite, hostile, tmp_path):
    """It cannot have a device read in place of it, which has no end."""
    suite = write_suite(["s-forges-the-result"])
    end = ends(suite, tmp_path / "out", hostile.with_name("strangers.py"))["s-forges-the-result"]
    assert (end.status, end.reason) == ("crashed", "its process was ended by SIGABRT")


def test_the_real_one(real_runexec, write_suite, hostile, tmp_path):
    """What a pull request may hold: the kernel ends the memory bomb, and nothing but a run's own folder can be written."""
    plugins = [Path(shutil.copy(hostile.with_name(name), tmp_path)) for name in ("reaching.py", "strangers.py")]
    (tmp_path / "precious").write_text("mine")
    reaching = ("r-files", "r-journal", "r-links", "s-imports")
    stopped = ("x-bomb", "x-writes", "s-forges-the-result")
    suite = write_suite(["x-honest", *reaching, *stopped], memory_mib=256)
    found = ends(suite, tmp_path / "out", hostile, *plugins)
    assert (found["x-honest"].status, found["x-honest"].warm) == ("feasible", "child")
    got = {label: (found[label].status, found[label].details.get("got")) for label in reaching}
    assert got == dict.fromkeys(reaching, ("feasible", ""))
    assert [found[label].status for label in stopped] == ["memory", "error", "crashed"]
    assert "Read-only file system" in found["x-writes"].reason
    assert (tmp_path / "precious").read_text() == "mine"
    rows = [json.loads(line) for line in (tmp_path / "out" / "journal.jsonl").read_text().splitlines()]
    assert sorted(row["label"] for row in rows) == sorted(found)
