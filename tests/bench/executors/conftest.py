"""What tests of the executors share: harnesses in processes of their own, and real clusters on loopback."""

import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from schedgap.bench.records.journal import FILE_NAME

PLUGIN = Path(__file__).parents[1] / "plugins" / "cluster.py"
CALL = "from schedgap.bench.cli.app import main; main()"


OWN_SUITE = """
schema = "schedgap/suite/1"
name = "ends"
title = "Ends"
question = "How late?"
family = "partition"
families = ["partition.py"]
methods = ["longest-first", "bound-work", "mine"]

[[instances]]
generator = "uniform"
seeds = 2
"""
OWN_PLUGIN = """
import numpy as np
from partition import Partition
from schedgap.instances import method

@method("mine", family="partition")
def mine(instance):
    return Partition(np.zeros(instance.num_tasks, np.int64))
"""


@pytest.fixture
def own_family(tmp_path):
    """A suite of a family outside of the package, and a plug-in that uses its classes: both beside the family's file."""
    shutil.copy(PLUGIN.with_name("partition.py"), tmp_path)
    suite, plugin = tmp_path / "ends.toml", tmp_path / "mine.py"
    suite.write_text(OWN_SUITE)
    plugin.write_text(OWN_PLUGIN)
    return suite, plugin


@pytest.fixture
def start_harness():
    """Start `schedgap run`, whose stderr has no progress: `start_harness(suite, "--out", out, before="import this;")`.

    None outlives its test: others look for processes that are left.
    """
    with ExitStack() as harnesses:

        def start(*arguments, before=""):
            command = [sys.executable, "-c", before + CALL, "run", *map(str, arguments), "--json", "--quiet"]
            harness = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            harnesses.enter_context(harness)
            harnesses.callback(harness.kill)
            return harness

        yield start


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def below(pid):
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def line(process):
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


class Cluster:
    """Processes with workers below them."""

    def spawners(self):
        """What the pools on the workers leave behind if nobody ends them."""
        return [
            child for process in self.processes for child in below(process.pid) if "isolation.spawner" in line(child)
        ]


class DaskCluster(Cluster):
    """A scheduler that gives up a run after its second worker, and two workers whose nannies start them again."""

    name, plugin = "dask", PLUGIN

    def __init__(self, folder, workers=2):
        self.folder = folder
        self.processes = []
        file = folder / "scheduler.json"
        self.start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file)
        # It is there before anything is in it.
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        self.address = json.loads(file.read_text())["address"]
        if workers:
            self.start(
                "dask_worker", self.address, "--nthreads", "1", "--nworkers", workers, "--local-directory", folder
            )
            wait_for(lambda: len(self.workers()) == workers)

    def start(self, module, *arguments):
        code = f"from distributed.cli.{module} import main; main()"
        environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
        command = [sys.executable, "-c", code, *map(str, arguments), "--no-dashboard"]
        with open(self.folder / f"{module}.log", "a") as log:
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=self.folder))

    def kill_busy(self):
        """Kill the nanny that has a run, and all below it, as a queue does; returns how many nannies are left."""
        nannies = [each for each in self.processes[1:] if each.poll() is None]
        (busy,) = [nanny for nanny in nannies if any("isolation.spawner" in line(c) for c in below(nanny.pid))]
        for process in (psutil.Process(busy.pid), *below(busy.pid)):
            process.kill()
        busy.wait()
        return len(nannies) - 1

    def workers(self):
        return [child for nanny in self.processes[1:] for child in below(nanny.pid) if "spawn_main" in line(child)]

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)


class RayCluster(Cluster):
    """One node for two runs at a time."""

    name = "ray"

    def __init__(self, folder):
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--port", "6397"]
        options = ["--num-cpus", "2", "--include-dashboard", "false", "--disable-usage-stats"]
        with open(folder / "ray.log", "w") as log:
            self.processes = [subprocess.Popen([*command, *options], stdout=log, stderr=log)]
        self.address = "127.0.0.1:6397"
        wait_for(lambda: "Ray runtime started" in (folder / "ray.log").read_text())

    def workers(self):
        return [child for child in below(self.processes[0].pid) if line(child).startswith("ray::perform")]

    def close(self):
        self.processes[0].terminate()
        self.processes[0].wait(60)


@pytest.fixture(scope="module", params=[DaskCluster, RayCluster], ids=lambda kind: kind.name)
def cluster(request, tmp_path_factory):
    package = {"dask": "distributed", "ray": "ray"}[request.param.name]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'schedgap[{request.param.name}]'")
    started = request.param(tmp_path_factory.mktemp(request.param.name))
    yield started
    started.close()


@pytest.fixture(scope="session")
def dask_cluster():
    """A class: `dask_cluster(folder, workers=0)`."""
    return DaskCluster


@pytest.fixture(scope="session")
def wait_until():
    """Wait until something is true: `wait_until(path.exists)`."""
    return wait_for


@pytest.fixture
def start_there(start_harness, cluster):
    """Start a harness that has no other place for its runs."""

    def start(suite, out, plugin=PLUGIN, *options, before=""):
        options = ["--executor", cluster.name, "--address", cluster.address, *options]
        return start_harness(suite, "--out", out, "--plugin", plugin, *options, before=before)

    return start


@pytest.fixture
def run_there(start_there):
    """Exit code and stderr of such a harness."""

    def run(*arguments, **others):
        harness = start_there(*arguments, **others)
        _, complaint = harness.communicate(timeout=180)
        return harness.returncode, complaint

    return run


@pytest.fixture
def kill_at_random(start_harness, tmp_path):
    """Kill a harness that often, at most so many rows after the last time, then let the same command finish.

    Returns what was running below each that was killed: `kill_at_random(suite, *options, kills=8, a_kill=16)`. check : is called
    with the folder and its rows after each kill.
    """
    out, rng = tmp_path / "out", random.Random(int(os.environ.get("SCHEDGAP_KILL_SEED", "1")))

    def whole_rows():
        """Those that a newline ends; a torn one does not count as recorded."""
        path = out / FILE_NAME
        return path.read_bytes().split(b"\n")[:-1] if path.exists() else []

    def kill(suite, *options, kills, a_kill, check=lambda out, rows: None):
        kept, left, working, starting = [], [], 0, 0
        for _ in range(kills):
            harness = start_harness(suite, "--out", out, *options)
            offset = rng.randrange(-a_kill // 8, a_kill - a_kill // 8)
            if offset <= 0:
                time.sleep(rng.random() * 2)
            deadline = time.monotonic() + 120
            while harness.poll() is None and time.monotonic() < deadline and len(whole_rows()) < len(kept) + offset:
                time.sleep(0.01)
            time.sleep(rng.random() * 0.05)
            left += below(harness.pid)
            harness.kill()
            harness.communicate(timeout=60)
            working += harness.returncode == -signal.SIGKILL
            rows = whole_rows()
            starting += len(rows) == len(kept)
            assert rows[: len(kept)] == kept
            kept = rows
            check(out, [json.loads(row) for row in rows])
        assert working > kills // 2
        harness = start_harness(suite, "--out", out, *options)
        printed, complaint = harness.communicate(timeout=600)
        assert harness.returncode == 0, complaint
        rows = whole_rows()
        assert rows[: len(kept)] == kept
        found = [json.loads(row) for row in rows]
        assert set(Counter(row["key"] for row in found).values()) == {1}
        assert len(found) == json.loads(printed)["planned"]
        check(out, found)
        print(f"{working} kills, {starting} without a row since the last; {len(rows)} rows, 0 lost, 0 doubled")
        return left

    return kill
