"""A real Slurm: whatever it, or a person, does to jobs, nodes and harnesses, each run is a row once, or is not done.

One machine plays both nodes, so that a node that is lost goes on with its jobs, as one behind a broken network does.
"""

import importlib.util
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from schedgap.bench.records.journal import FILE_NAME

if importlib.util.find_spec("submitit") is None:
    pytest.skip("submitit is not installed: pip install 'schedgap[slurm]'", allow_module_level=True)

PLUGIN = Path(__file__).parents[2] / "plugins" / "cluster.py"
ARRAY = Path(__file__).resolve().parents[4] / "docs" / "examples" / "shards" / "array.sbatch"
KILLS = int(os.environ.get("SCHEDGAP_KILLS", "0"))
# These tests are its only users.
ASK_OFTEN = "from schedgap.bench.executors import cluster_slurm; cluster_slurm.ASK_SELDOM_S = 1;"


def rows(out):
    path = out / FILE_NAME
    return [json.loads(row) for row in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []


def statuses(out):
    """How many rows have which status, once it is seen that each run has one row at most."""
    assert set(Counter(row["key"] for row in rows(out)).values()) <= {1}
    return Counter(row["status"] for row in rows(out))


@pytest.fixture
def start(start_harness, tmp_path, slurm, monkeypatch):
    """Start a harness; when it is done, there are no files of its own. A file `go` ends the pauses of its runs."""
    monkeypatch.setenv("SCHEDGAP_TEST", str(tmp_path))

    def started(suite, address="", *, out="out"):
        place = f"partition=short,folder={tmp_path}{address}"
        where = ["--executor", "slurm", "--address", place, "--plugin", PLUGIN]
        return start_harness(suite, "--out", tmp_path / out, *where, before=ASK_OFTEN)

    yield started
    assert list(tmp_path.glob(".schedgap-slurm-*")) == []


def test_what_is_cancelled_is_not_done(tmp_path, write_suite, start, slurm, wait_until):
    """One as it starts, one later; a third is put back into the queue, a fourth finishes on a node that is drained."""
    suite, out = write_suite(["x-slow[pause_s=100.0]"], seeds=4, wall_s=120), tmp_path / "out"
    harness = start(suite)
    wait_until(lambda: len(slurm.jobs("RUNNING")) == 4)
    first, second, third, fourth = slurm.jobs("RUNNING")
    slurm.ask("scancel", first)
    wait_until(lambda: all((tmp_path / f"begun-{job}").exists() for job in (second, third, fourth)))
    slurm.ask("scancel", second)
    slurm.ask("scontrol", "requeue", third)
    slurm.ask("scontrol", "update", "nodename=one", "state=drain", "reason=test")
    slurm.start_again(third)
    (tmp_path / "go").touch()
    printed, complaint = harness.communicate(timeout=180)
    slurm.ask("scontrol", "update", "nodename=one", "state=resume")
    assert harness.returncode == 3, complaint
    assert complaint.count("ended by their queue (job ") == complaint.count(": CANCELLED)") == 2
    assert len(json.loads(printed)["undone"]) == 2
    assert statuses(out) == {"feasible": 2}


def test_a_node_that_is_lost(tmp_path, write_suite, start, slurm, wait_until):
    """Nobody can stop what runs there; Slurm gives its job to the other node meanwhile."""
    harness = start(write_suite(["x-slow[pause_s=100.0]"], wall_s=120))
    wait_until(lambda: list(tmp_path.glob("begun-*")))
    (job,), node = slurm.jobs("RUNNING"), slurm.ask("squeue", "--noheader", "--format=%N").strip()
    slurm.kill(node)
    slurm.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    slurm.start_again(job)
    (tmp_path / "go").touch()
    _, complaint = harness.communicate(timeout=180)
    slurm.restore(node)
    wait_until(slurm.is_ready)
    assert (harness.returncode, complaint) == (0, "")
    assert statuses(tmp_path / "out") == {"feasible": 1}


def test_a_harness_that_ends(tmp_path, write_suite, start, slurm, wait_until):
    """Interrupted, then killed. The same command does the rest; before that, it cancels the jobs that a kill has left."""
    suite, out = write_suite(["x-slow[pause_s=0.1]", "x-slow[pause_s=100.0]"], wall_s=120), tmp_path / "out"
    for number, code, folders in ((signal.SIGINT, 130, 0), (signal.SIGKILL, -signal.SIGKILL, 1)):
        harness = start(suite)
        wait_until(lambda: len(rows(out)) == 1 and len(slurm.jobs("RUNNING")) == 1)
        left = slurm.jobs("RUNNING")
        harness.send_signal(number)
        harness.communicate(timeout=60)
        assert harness.returncode == code
        assert len(list(tmp_path.glob(".schedgap-slurm-*"))) == folders
        assert slurm.jobs("RUNNING") == (left if folders else [])
    suite.write_text(suite.read_text().replace("100.0", "0.5"))
    _, complaint = (harness := start(suite)).communicate(timeout=180)
    assert (harness.returncode, complaint) == (0, "")
    assert statuses(out) == {"feasible": 2}
    wait_until(lambda: slurm.jobs() == [])


def test_array_of_shards_beside_a_time_limit(tmp_path, write_suite, start, slurm, wait_until):
    """As docs/examples/shards/array.sbatch has it. A shard that is put back into the queue goes on where it was.

    A time limit is no row. Slurm tells a job before it ends it; it looks every 30 s, and the shards have no need to wait.
    """
    harness = start(write_suite(["x-slow[pause_s=100.0]"], wall_s=120, name="long.toml"), ",time=1")
    program = tmp_path / "bin" / "schedgap"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom schedgap.bench.cli.app import main\nmain()\n")
    program.chmod(0o755)
    suite = write_suite(["no-packing"], seeds=4)
    place = {"SUITE": suite, "OUT": tmp_path / "shards", "PATH": f"{program.parent}:{os.environ['PATH']}"}
    export = ",".join(f"{name}={value}" for name, value in {**place, "HOME": tmp_path}.items())
    array = slurm.ask("sbatch", "--parsable", "--array=1-2", f"--export={export}", f"--chdir={tmp_path}", ARRAY).strip()
    wait_until((tmp_path / "shards" / "2").exists)
    slurm.ask("scontrol", "requeue", f"{array}_2")
    slurm.start_again(f"{array}_2")
    wait_until(lambda: slurm.jobs() == [], 180)
    assert len(list((tmp_path / "shards").iterdir())) == 2
    keys = [row["key"] for shard in (tmp_path / "shards").iterdir() for row in rows(shard)]
    assert len(keys) == len(set(keys)) == 4
    _, complaint = harness.communicate(timeout=180)
    assert harness.returncode == 4
    assert ": TIMEOUT)" in complaint
    assert statuses(tmp_path / "out") == {}


@pytest.mark.skipif(KILLS == 0, reason="SCHEDGAP_KILLS=20 kills a harness that often, which takes minutes")
def test_kill_at_random_moments(tmp_path, write_suite, slurm, kill_at_random, wait_until):
    """Each next harness cancels the jobs that the last one has left."""
    where = [
        "--executor",
        "slurm",
        "--address",
        f"partition=short,folder={tmp_path}",
        "--plugin",
        PLUGIN,
        "--jobs",
        "4",
    ]
    kill_at_random(write_suite(["x-slow"], seeds=2 * KILLS), *where, kills=KILLS, a_kill=2)
    wait_until(lambda: slurm.jobs() == [])
    assert list(tmp_path.glob(".schedgap-slurm-*")) == []
