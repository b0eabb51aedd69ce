"""The examples of shards: an array, an indexed Job and a matrix, each run as its system would, on a small suite."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "shards"
SUITE = """
schema = "schedgap/suite/1"
name = "mine"
title = "Mine"
question = "?"
family = "provisioning"
methods = ["no-packing", "full-reconfiguration"]
limits = { time_limit_s = 1, memory_mib = 512 }
[[instances]]
generator = "table7"
parameters = { tasks = 6 }
"""


@pytest.fixture
def shell(tmp_path):
    """Run a script in a user's folder with a suite, where `schedgap` is on the PATH."""
    (tmp_path / "mine.toml").write_text(SUITE)
    program = tmp_path / "bin" / "schedgap"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nfrom schedgap.bench.cli.app import main\nmain()\n")
    program.chmod(0o755)

    def run(script, **variables):
        place = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        done = subprocess.run(
            ["bash", "-ec", script],
            cwd=tmp_path,
            env={**os.environ, **place, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def yaml_of(name):
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which comes with schedgap[dask]")
    return yaml.safe_load((EXAMPLES / name).read_text())


def is_whole(folder):
    keys = [json.loads(line)["key"] for line in (folder / "journal.jsonl").read_text().splitlines()]
    return sorted(keys) == sorted(json.loads((folder / "plan.json").read_text())["keys"])


def test_slurm_array(shell, tmp_path):
    script = (EXAMPLES / "array.sbatch").read_text()
    for task in ("1", "2"):
        shell(script, SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT="2")
    assert not is_whole(tmp_path / "shards" / "1")
    shell(re.search(r"--wrap '(.*)'", script)[1])
    assert is_whole(tmp_path / "merged")


def test_kubernetes_job(shell, tmp_path):
    job = yaml_of("job.yaml")["spec"]
    (container,) = job["template"]["spec"]["containers"]
    assert str(job["completions"]) == container["env"][0]["value"]
    for index in ("0", "1"):
        shell(container["command"][-1], JOB_COMPLETION_INDEX=index, SHARDS="2")
    shell(re.search(r"^# +(schedgap merge .*?) +#", (EXAMPLES / "job.yaml").read_text(), re.MULTILINE)[1])
    assert is_whole(tmp_path / "merged")


def test_matrix(shell, tmp_path):
    jobs = yaml_of("matrix.yml")["jobs"]
    assert jobs["shard"]["strategy"]["matrix"]["shard"] == [1, 2, 3, 4]
    run, merge = (
        next(
            step["run"]
            for step in jobs[job]["steps"]
            if "schedgap " in step.get("run", "") and "pip" not in step["run"]
        )
        for job in ("shard", "merge")
    )
    (tmp_path / "shards").mkdir()
    for number in (1, 2):
        shell(run, SHARD=f"{number}/2")
        (tmp_path / f"shard-{number}").rename(tmp_path / "shards" / f"shard-{number}")
    shell(merge)
    assert is_whole(tmp_path / "merged")
    assert "<title>" in (tmp_path / "report.html").read_text()
