"""`docs/capacity.md` against the code: what its command prints, the keys that it names, and its tables."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from schedgap.instances.placement import csv_tables

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "capacity.md").read_text()
SHOWN, TABLES = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
PROGRAM = [sys.executable, "-c", "from schedgap.bench.cli.app import main; main()"]


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """What the page's first command prints, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("capacity")
    subprocess.run([sys.executable, str(DOCS / "examples" / "cluster" / "make_gpu_cluster.py")], check=True, cwd=folder)
    command = [*PROGRAM, "capacity", "gpu-cluster.json", "--out", "answer"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "COLUMNS": "80"})
    assert done.returncode == 5, done.stderr
    return done.stdout, folder / "answer"


def without_steps(text):
    """Lines without the steps and what they leave out: another plan for as many pods has others."""
    return [line.rstrip() for line in text.splitlines() if not re.match(r"[0-9]+\. |Without a place", line)]


def test_the_answer_is_what_the_page_prints(answer):
    assert without_steps(answer[0]) == without_steps(SHOWN)


def test_every_key_is_named(answer):
    table = re.search(r"^\| key of `capacity.json` \|.*?(?=\n\n)", PAGE, re.MULTILINE | re.DOTALL).group(0)
    named = [name for line in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    found = json.loads((answer[1] / "capacity.json").read_text())
    assert sorted(named) == sorted(found)
    inner = set(re.findall(r"`(\w+)`", table))
    for row in (
        found["groups"][0],
        found["shapes"][0],
        found["shapes"][0]["idle"][0],
        found["pending"],
        found["freed"],
    ):
        assert row.keys() - inner <= {"of"}
    assert found["plan"].keys() | {key for step in found["plan"]["steps"] for key in step} <= inner | {"for"}


def test_the_tables_are_read(tmp_path):
    halves = [(line[:44].strip(), line[44:].strip()) for line in TABLES.splitlines()]
    for place, name in enumerate(("nodes.csv", "pods.csv")):
        assert halves[0][place] == name
        (tmp_path / name).write_text("".join(row[place] + "\n" for row in halves[1:] if row[place]))
    found = csv_tables(tmp_path)
    assert (found.num_nodes, found.num_pods, found.is_running.sum()) == (6, 3, 1)
