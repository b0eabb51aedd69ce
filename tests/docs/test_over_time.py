"""`docs/over-time.md` against the code: its lines run on a made-up week, with a kubectl and a curl that answer from it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from weeks import write_audit_log, write_prometheus, write_snapshots

from schedgap.instances.reconfiguration import cluster_week, read_instance
from schedgap.instances.reconfiguration.past.prometheus import NEEDED
from schedgap.instances.reconfiguration.weeks import simulate, write_prices

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "over-time.md").read_text()
CRON = re.search(r"^\*/5 \* \* \* \* (.*)$", PAGE, re.MULTILINE).group(1).replace(r"\%", "%")
QUERIES = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL).group(1)
IMPORTS = re.findall(r"^\$ schedgap (import .*)$", PAGE, re.MULTILINE)
FLOORS = re.findall(r"^\$ schedgap (floor .*)$", PAGE, re.MULTILINE)
PROGRAM = [sys.executable, "-c", "from schedgap.bench.cli.app import main; main()"]
WEEK = ("steady", 6, 40, 0.07, 600)
CURL = """#!/bin/sh
# Answers a query by the name of the metric in it.
for given; do query=$given; case $given in query=*) break;; esac; done
name=$(echo "$query" | grep -o 'kube_[a-z_]*' | head -1)
cat "$ANSWERS/$name.json"
"""
KUBECTL = """#!/bin/sh
[ "$*" = "get pods,nodes -A -o json" ] && cat "$LOOK"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with all that the page names, made by its lines."""
    folder = tmp_path_factory.mktemp("over-time")
    week = simulate(*WEEK, 0)
    write_prices(folder)
    write_snapshots(week, folder / "looks")
    write_prometheus(week, folder / "all")
    write_audit_log(week, folder / "audit.log")
    looks = sorted((folder / "looks").iterdir())
    (folder / "first.json").write_bytes(looks[0].read_bytes())
    (folder / "past").mkdir()
    for name, text in (("curl", CURL), ("kubectl", KUBECTL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    path = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "ANSWERS": str(folder / "all"),
        "PROMETHEUS": "http://p",
    }
    for look, now in zip(looks, week.looks, strict=True):
        # Cron runs the line now; the week is another one.
        line = CRON.replace("date -u", f"date -u -d @{now}")
        subprocess.run(["sh", "-ec", line], check=True, cwd=folder, env=path | {"LOOK": str(look)})
    subprocess.run(["bash", "-ec", QUERIES], check=True, cwd=folder, env=path)
    return folder


@pytest.mark.parametrize("line", IMPORTS)
def test_the_lines_run(folder, line):
    """Looks and Prometheus are the very past; the audit log knows what happened between two looks, too."""
    done = subprocess.run([*PROGRAM, *shlex.split(line)], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, (line, done.stderr)
    read = read_instance(folder / shlex.split(line)[-1])
    made = cluster_week(*WEEK, seed=0)
    if "audit.log" in line:
        assert made.work_s.sum() <= read.work_s.sum() <= 1.2 * made.work_s.sum()
    else:
        assert (read.digest, read.past.start) == (made.digest, made.past.start)


@pytest.mark.parametrize("line", FLOORS)
def test_the_month_s_answer(folder, line):
    """Paid, floor and plan, in this order of size, and the hours add up."""
    done = subprocess.run(
        [*PROGRAM, *shlex.split(line), "--time", "20", "--json"], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, (line, done.stderr)
    said = json.loads(done.stdout)
    assert 0 < said["floor"]["price"] <= said["plan"]["price"] <= said["paid"]["price"]
    assert sum(said["lost"].values()) == pytest.approx(said["paid"]["price"] - sum(said["hourly"]["floor"]))


def test_all_queries_are_asked(folder):
    """The page asks for all that the reader uses, under names that tell what is in a file; and the two steps differ."""
    answers = [json.loads(path.read_text())["data"]["result"] for path in (folder / "answers").iterdir()]
    assert len(answers) == len(list((folder / "all").iterdir()))
    asked = {series[0]["metric"]["__name__"] for series in answers if series}
    assert asked == {path.stem for path in (folder / "all").iterdir() if '"result":[]' not in path.read_text()}
    assert QUERIES.count(" 5m ") == 2 and QUERIES.count(" 1h ") == 1


def test_needed_queries_are_those_of_the_page():
    assert all(query in QUERIES or query == f"last_over_time({name}[1h])" for name, query in NEEDED.items())
    assert all(name in QUERIES for name in NEEDED)
