"""SIGKILL the harness at random moments: nothing recorded is lost or doubled, the same command finishes the rest.

`SCHEDGAP_KILLS=500` kills more often than a test run has time for, `SCHEDGAP_KILL_SEED=2` at other moments. On a real Slurm
that is `slurm/test_slurm.py`.
"""

import importlib.util
import os
import signal
import time

import psutil
import pytest

from schedgap.bench.records.journal import FILE_NAME
from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.suites.results import FILE_NAME as PLAN
from schedgap.bench.suites.results import read_results

KILLS = int(os.environ.get("SCHEDGAP_KILLS", "0"))


def number_of_rows(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_kill_at_random_points(write_suite, hostile, kill_at_random):
    """The moments: while it starts, plans and writes plans (one in eight), and after a random number of rows."""
    kills, a_kill = KILLS or 8, 16
    suite = write_suite(["x-random", "x-random[pause_s=0.02]"], seeds=a_kill * kills // 2)
    options = ["--plugin", hostile, "-j", "2"]
    left = kill_at_random(suite, *options, kills=kills, a_kill=a_kill, check=check_what_lies_beside)
    _, alive = psutil.wait_procs(left, timeout=20)
    assert alive == []


def test_kill_while_workers_work(write_suite, tmp_path_factory, dask_cluster, kill_at_random):
    """What the harness had sent ahead is done for nobody."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("distributed is not installed: pip install 'schedgap[dask]'")
    kills, a_kill = KILLS or 2, 8
    own = dask_cluster(tmp_path_factory.mktemp("dask"))
    try:
        where = ["--executor", "dask", "--address", own.address, "--plugin", own.plugin]
        kill_at_random(write_suite(["x-slow"], seeds=a_kill * kills), *where, kills=kills, a_kill=a_kill)
    finally:
        own.close()


def check_what_lies_beside(out, rows):
    """The plan and the hosts are whole or not there, and each recorded solution has its picture."""
    if (out / PLAN).exists():
        assert len(read_results(out).records) == len(rows)
    solved = {row["key"] for row in rows if row["objective"] is not None}
    assert set(read_pictures(out, solved)) == solved


def test_interrupt_is_clean(tmp_path, write_suite, hostile, start_harness):
    """Ctrl-C: exit code 130, one sentence, no process left, and what was recorded stays."""
    suite = write_suite(["x-random[pause_s=0.2]"], seeds=100)
    out = tmp_path / "out"
    harness = start_harness(suite, "--out", out, "--plugin", hostile)
    deadline = time.monotonic() + 60
    while number_of_rows(out / FILE_NAME) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    left = psutil.Process(harness.pid).children(recursive=True)
    harness.send_signal(signal.SIGINT)
    printed, complaint = harness.communicate(timeout=60)
    assert harness.returncode == 130, complaint
    assert printed == ""
    assert complaint == "interrupted; what was recorded stays, the same command finishes the rest.\n"
    assert 3 <= number_of_rows(out / FILE_NAME) < 100
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []
