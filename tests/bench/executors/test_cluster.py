"""Real clusters on loopback: the rows of this machine, each once, whatever happens to a worker."""

import importlib.util
import json
import re
import signal
from collections import Counter
from pathlib import Path

import pytest

from schedgap.bench import run_suite
from schedgap.bench.records.journal import FILE_NAME

# What another moment may change; `output` may hold addresses.
TIMES = {"wall_s", "cpu_s", "warm_s", "compile_s", "reference_s", "build_s", "solve_s", "extract_s", "ended_at"}
ELSEWHERE = TIMES | {"host", "peak_memory_mib", "output", "trajectory"}
PLUGIN = Path(__file__).parents[1] / "plugins" / "cluster.py"


def rows(out):
    path = out / FILE_NAME
    return [json.loads(row) for row in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []


def test_rows_are_those_of_this_machine(tmp_path, write_suite, hostile, cluster, run_there, wait_until):
    methods = ["x-honest", "x-random", "patterns", "x-segfault", "x-unsupported", "x-wrong", "x-bomb"]
    suite = write_suite(methods, seeds=2)
    run_suite(suite, out=tmp_path / "here", plugins=[hostile])
    code, _ = run_there(suite, tmp_path / "there", hostile)
    assert code == 3
    assert len(rows(tmp_path / "there")) == 14
    here, there = (
        {row["key"]: {name: value for name, value in row.items() if name not in ELSEWHERE} for row in rows(out)}
        for out in (tmp_path / "here", tmp_path / "there")
    )
    assert there == here
    hosts = {path.stem for path in (tmp_path / "there" / "hosts").iterdir()}
    assert hosts == {row["host"] for row in rows(tmp_path / "there")}
    wait_until(lambda: cluster.spawners() == [])


def test_limits_hold_there(tmp_path, write_suite, hostile, run_there):
    """A run that ignores SIGTERM is ended by the worker's own server."""
    run_there(write_suite(["x-hang"], wall_s=1), tmp_path / "out", hostile)
    assert [row["reason"] for row in rows(tmp_path / "out")] == ["killed after 1 s of wall-clock time"]


def test_plugins_need_no_shared_disk(tmp_path, write_suite, run_there):
    """The worker runs a copy that it was sent."""
    code, complaint = run_there(write_suite(["x-slow"]), tmp_path / "out", PLUGIN, "--jobs", "1")
    assert (code, complaint) == (0, "")
    file = rows(tmp_path / "out")[0]["details"]["file"]
    assert file.endswith("/cluster.py")
    assert file != str(PLUGIN)


def test_a_family_of_ones_own(tmp_path, own_family, run_there):
    """Workers import its file from where it lies, and the plug-in is sent as any other."""
    suite, plugin = own_family
    code, complaint = run_there(suite, tmp_path / "out", plugin)
    assert (code, complaint) == (0, "")
    assert sorted(row["status"] for row in rows(tmp_path / "out")) == ["feasible"] * 4 + ["no_solution"] * 2


def test_a_killed_worker_loses_and_doubles_nothing(tmp_path, write_suite, cluster, start_there, wait_until):
    suite, out = write_suite(["x-slow"], seeds=40), tmp_path / "out"
    harness = start_there(suite, out)
    wait_until(lambda: len(rows(out)) >= 5)
    cluster.workers()[0].send_signal(signal.SIGKILL)
    _, complaint = harness.communicate(timeout=180)
    assert (harness.returncode, complaint) == (0, "")
    assert len(rows(out)) == 40
    assert set(Counter(row["key"] for row in rows(out)).values()) == {1}
    assert {row["status"] for row in rows(out)} == {"feasible"}


def test_a_run_that_kills_its_workers_is_one_row(tmp_path, write_suite, run_there):
    """It is given up after some workers; the other runs are done by those that are left or started anew."""
    suite = write_suite(["x-worker-killer", "x-slow"])
    code, complaint = run_there(suite, tmp_path / "out", PLUGIN, "--jobs", "1")
    assert code == 3
    # Where the kernel confines runs, it cannot.
    assert re.search(r"x-worker-killer: (crashed|error) \(1 of its runs\)", complaint)
    statuses = sorted(row["status"] for row in rows(tmp_path / "out"))
    assert statuses in (["crashed", "feasible"], ["error", "feasible"])
    assert statuses[0] == "error" or "the workers that it was given to were lost (" in complaint


def test_a_queue_that_ends_workers_is_no_crash(tmp_path, write_suite, start_harness, wait_until, dask_cluster):
    """Both workers of a run go with their nannies, one after another, as at the end of a queue's wall time."""
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("needs schedgap[dask]")
    own = dask_cluster(tmp_path, workers=0)
    for number in (1, 2):
        own.start("dask_worker", own.address, "--nthreads", "1", "--name", number, "--local-directory", tmp_path)
    try:
        wait_until(lambda: len(own.workers()) == 2)
        suite, out = write_suite(["x-slow[pause_s=60.0]"], wall_s=100), tmp_path / "out"
        place = ["--executor", "dask", "--address", own.address, "--plugin", PLUGIN]
        before = "from schedgap.bench.executors import cluster_dask; cluster_dask.RESTART_S = 3;"
        harness = start_harness(suite, "--out", out, *place, before=before)
        for left in (2, 1):
            wait_until(lambda: own.spawners() != [])
            assert own.kill_busy() == left - 1
        printed, complaint = harness.communicate(timeout=60)
    finally:
        own.close()
    assert harness.returncode == 4, complaint
    assert "not done: the workers that it was given to were ended by their queue (" in complaint
    assert len(json.loads(printed)["undone"]) == 1
    assert rows(out) == []


def test_interrupt_ends_the_runs_of_the_cluster(tmp_path, write_suite, cluster, start_there, wait_until):
    suite, out = write_suite(["x-slow[pause_s=1.0]"], seeds=60), tmp_path / "out"
    harness = start_there(suite, out)
    wait_until(lambda: len(rows(out)) >= 2)
    assert cluster.spawners() != []
    harness.send_signal(signal.SIGINT)
    printed, complaint = harness.communicate(timeout=60)
    assert (harness.returncode, printed) == (130, "")
    assert complaint == "interrupted; what was recorded stays, the same command finishes the rest.\n"
    wait_until(lambda: cluster.spawners() == [])
    assert 2 <= len(rows(out)) < 60


# What a loop that has just stopped does to whoever asks it, for as long as one likes.
NEVER_ANSWERS = """
import asyncio, distributed, pathlib
from schedgap.bench.executors import execute
async def result(end, raiseit=True):
    pathlib.Path({asked!r}).touch()
    await asyncio.Event().wait()
distributed.Future._result, execute.CONNECT_S = result, 1
"""


def test_interrupt_while_an_answer_is_asked_for(tmp_path, write_suite, cluster, start_there, wait_until):
    """Nothing that waits for it keeps the harness."""
    if cluster.name != "dask":
        pytest.skip("Ray brings the answer with the end")
    asked = tmp_path / "asked"
    harness = start_there(write_suite(["x-slow"]), tmp_path / "out", before=NEVER_ANSWERS.format(asked=str(asked)))
    wait_until(asked.exists)
    harness.send_signal(signal.SIGINT)
    printed, complaint = harness.communicate(timeout=60)
    assert (harness.returncode, printed) == (130, "")
    assert complaint == "interrupted; what was recorded stays, the same command finishes the rest.\n"
    wait_until(lambda: cluster.spawners() == [])


def test_plugin_that_cannot_be_loaded_there(tmp_path, write_suite, run_there):
    """It imports a file beside it, which is not sent: its runs fail, those of this package's methods do not."""
    (tmp_path / "beside.py").write_text("")
    path = tmp_path / "needs.py"
    path.write_text(
        "import beside\nfrom schedgap.instances.method import method\n\n"
        "@method('x-needs', family='provisioning')\ndef needs(instance):\n    return None\n"
    )
    code, _ = run_there(write_suite(["no-packing", "x-needs"]), tmp_path / "out", path)
    assert code == 3
    ends = {row["method"]: row for row in map(json.loads, (tmp_path / "out" / FILE_NAME).read_text().splitlines())}
    assert ends["no-packing"]["status"] == "feasible"
    assert ends["x-needs"]["status"] == "error"
    assert ends["x-needs"]["reason"].endswith("needs.py line 1: ModuleNotFoundError: No module named 'beside'.")


def test_workers_with_other_versions_are_refused(tmp_path, write_suite, run_there):
    """The harness of this test believes to have another HiGHS."""
    lie = (
        "from schedgap.bench.executors import execute; known = execute.versions();"
        "execute.versions = lambda: {**known, 'highspy': '0.1'};"
    )
    code, complaint = run_there(write_suite(["no-packing"]), tmp_path / "out", before=lie)
    assert code == 2
    assert complaint.startswith("ExecutorError: worker ")
    assert complaint.endswith("(here 0.1); install the same versions there.\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs schedgap[dask]")
class TestNoCluster:
    """One sentence within the time that a cluster has to answer."""

    @pytest.fixture
    def complaint(self, tmp_path, write_suite, schedgap, monkeypatch):
        monkeypatch.setattr("schedgap.bench.executors.execute.CONNECT_S", 1)

        def call(*arguments):
            suite = write_suite(["no-packing"])
            code, printed, said = schedgap("run", suite, "--out", tmp_path / "out", "--executor", "dask", *arguments)
            assert (code, printed, said.count("\n")) == (2, "", 1)
            assert not (tmp_path / "out").exists()
            return said

        return call

    def test_no_address(self, complaint):
        assert complaint() == (
            "ExecutorError: executor dask needs the address of a scheduler; give --address tcp://HOST:8786.\n"
        )

    @pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "x"])
    def test_no_scheduler(self, complaint, address):
        said = complaint("--address", address)
        assert said.startswith(f"ExecutorError: no Dask scheduler answers at {address} (")
        assert said.endswith("); start it, or mend --address.\n")

    def test_no_workers(self, complaint, tmp_path, dask_cluster):
        empty = dask_cluster(tmp_path, workers=0)
        assert complaint("--address", empty.address) == (
            f"ExecutorError: the Dask scheduler at {empty.address} has no workers; start some.\n"
        )
        empty.close()
