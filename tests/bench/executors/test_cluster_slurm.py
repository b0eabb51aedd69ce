"""Runs as jobs, on submitit's own cluster of this machine: the rows are the same, and a queue's doing is no run's fault."""

import importlib.util
import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from schedgap.bench import run_suite
from schedgap.bench.records.journal import FILE_NAME

if importlib.util.find_spec("submitit") is None:
    pytest.skip("submitit is not installed: pip install 'schedgap[slurm]'", allow_module_level=True)

PLUGIN = Path(__file__).parents[1] / "plugins" / "cluster.py"
# A file that is not there on this machine's disk at once is not coming; submitit waits for it 15 s.
IMPATIENT = "from submitit.core.core import Job; Job._results_timeout_s = 0.5;"
SAME = ("key", "status", "objective", "bound", "reason", "measures", "seed", "solution_hash")


def rows(out):
    path = out / FILE_NAME
    lines = path.read_text().splitlines() if path.exists() else []
    return {row["key"]: {name: row[name] for name in SAME} for row in map(json.loads, lines)}


@pytest.fixture
def start(start_harness, tmp_path):
    """Start a harness whose jobs are processes of this machine."""

    def started(suite, plugin=PLUGIN, address="", *options):
        place = f"cluster=local,folder={tmp_path}{address}"
        where = ["--executor", "slurm", "--address", place, *options]
        return start_harness(suite, "--out", tmp_path / "out", "--plugin", plugin, *where, before=IMPATIENT)

    yield started
    assert list(tmp_path.glob(".schedgap-slurm-*")) == []


def job_of(harness, seconds=60):
    """The process in which a job's run is watched, once the run has begun."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for child in psutil.Process(harness.pid).children(recursive=True):
            try:
                if "submitit.core._submit" in child.cmdline() and len(child.children(recursive=True)) >= 3:
                    return child
            except psutil.Error:
                continue
        time.sleep(0.1)
    raise AssertionError("no job has begun")


def test_rows_are_those_of_this_machine(tmp_path, write_suite, hostile, start):
    suite = write_suite(["x-honest", "x-segfault", "patterns"])
    run_suite(suite, out=tmp_path / "here", plugins=[hostile])
    harness = start(suite, hostile)
    _, complaint = harness.communicate(timeout=180)
    assert harness.returncode == 3, complaint
    assert rows(tmp_path / "out") == rows(tmp_path / "here")
    assert len(rows(tmp_path / "out")) == 3


def test_a_family_of_ones_own(tmp_path, own_family, start):
    suite, plugin = own_family
    harness = start(suite, plugin)
    _, complaint = harness.communicate(timeout=180)
    assert harness.returncode == 0, complaint
    assert sorted(row["status"] for row in rows(tmp_path / "out").values()) == ["feasible"] * 4 + ["no_solution"] * 2


def test_a_job_at_its_wall_time_is_no_row(tmp_path, write_suite, start):
    """Slurm tells a job before it ends it; one of a minute is at its end whenever it is told. The same command goes on."""
    suite = write_suite(["x-slow[pause_s=10.0]"])
    harness = start(suite, PLUGIN, ",time=1")
    job_of(harness).send_signal(signal.SIGUSR2)
    printed, complaint = harness.communicate(timeout=120)
    assert harness.returncode == 4
    assert (
        "x-slow[pause_s=10.0] on table7-6-physical-s0: not done: the workers that it was given to were ended"
        in complaint
    )
    assert "TIMEOUT" in complaint
    assert "1 runs were not done; the same command does them." in complaint
    assert (json.loads(printed)["measured_now"], len(json.loads(printed)["undone"])) == (0, 1)
    assert rows(tmp_path / "out") == {}


def test_a_job_that_is_lost_is_given_to_another(tmp_path, write_suite, start):
    harness = start(write_suite(["x-slow[pause_s=3.0]"]))
    os.kill(job_of(harness).pid, signal.SIGKILL)
    _, complaint = harness.communicate(timeout=180)
    assert (harness.returncode, complaint) == (0, "")
    assert [row["status"] for row in rows(tmp_path / "out").values()] == ["feasible"]


def test_what_goes_wrong_in_a_job_is_said(tmp_path, write_suite, start_harness):
    """The last line of its traceback; what is recorded stays."""
    before = (
        "from schedgap.bench.executors import cluster_slurm\n"
        "def broken(session, task, instance): raise KeyError('no such thing')\n"
        "broken.__module__ = '__main__'; cluster_slurm._perform = broken\n"
    )
    place = ["--executor", "slurm", "--address", f"cluster=local,folder={tmp_path}"]
    harness = start_harness(write_suite(["no-packing"]), "--out", tmp_path / "out", *place, before=before)
    _, complaint = harness.communicate(timeout=120)
    assert harness.returncode == 2
    assert "ExecutorError: a job could not do its run (KeyError: 'no such thing'); is the same schedgap" in complaint


def test_interrupt_leaves_no_job(tmp_path, write_suite, start):
    harness = start(write_suite(["x-slow[pause_s=60.0]"], wall_s=100))
    job = job_of(harness)
    harness.send_signal(signal.SIGINT)
    _, complaint = harness.communicate(timeout=60)
    # submitit's own process on this machine says that it was interrupted, too.
    assert harness.returncode == 130
    assert "interrupted; what was recorded stays, the same command finishes the rest.\n" in complaint
    psutil.wait_procs([job], timeout=30)
    assert not job.is_running()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("partition=short", "ExecutorError: no job can be submitted here ("),
        (
            "short",
            "ExecutorError: 'short' is no list of options for Slurm; give --address as in partition=short,time=60.",
        ),
        ("time=1:00:00", "ExecutorError: 'time=1:00:00' is no list of options for Slurm; give --address as in"),
        ("folder=/none/at/all", "ExecutorError: /none/at/all: cannot be written (No such file or directory); give"),
    ],
)
def test_what_cannot_be_submitted(tmp_path, write_suite, schedgap, monkeypatch, address, said):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    suite = write_suite(["no-packing"])
    code, out, err = schedgap("run", suite, "--out", tmp_path / "out", "--executor", "slurm", "--address", address)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["little.toml"]
