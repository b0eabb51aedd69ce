"""`docs/kubernetes.md` against the code: every command of `schedgap` on it runs, and prints what the page says."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "kubernetes.md").read_text()
COMMANDS = re.findall(r"^\$ schedgap (.*)$", PAGE, re.MULTILINE)
# Tables of one machine type and one task; the example writes all other files.
FILES = {
    "machines.csv": "name,price,cpu,memory_gib\nm,1,4,16\n",
    "tasks.csv": "name,cpu,memory_gib,machine\nt,1,2,n1\n",
    "running.csv": "name,type\nn1,m\n",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the commands print, in the order of the page, in a folder with the example's files; and the folder."""
    folder = tmp_path_factory.mktemp("kubernetes")
    subprocess.run([sys.executable, str(DOCS / "examples" / "cluster" / "make_cluster.py")], check=True, cwd=folder)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    program = [sys.executable, "-c", "from schedgap.bench.cli.app import main; main()"]
    printed = {}
    for line in COMMANDS:
        command = [*program, *shlex.split(line)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "COLUMNS": "120"})
        assert done.returncode == 0, (line, done.stderr)
        printed[line] = done.stdout
    return printed, folder


def test_there_are_commands_of_each_kind():
    assert [line.split()[0] for line in COMMANDS] == ["floor", "verify", "floor", "import", "gap", "import"]


def test_the_floor_is_what_the_page_prints(answers):
    printed, _ = answers
    shown = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL).group(1)
    assert without_steps(printed[COMMANDS[0]]) == without_steps(shown)


def without_steps(text):
    """Lines without the steps, of which there are others to another plan of the same price."""
    return [line.rstrip() for line in text.splitlines() if not re.match(r"[0-9]+\. |[0-9]+ more steps", line)]


def test_the_steps_of_the_plan_are_those_of_the_table(answers):
    """Seven nodes go, and none of a step is unknown to the instance."""
    _, folder = answers
    plan, instance = (json.loads((folder / "answer" / name).read_text()) for name in ("plan.json", "instance.json"))
    names = {machine["name"] for machine in instance["running"]}
    kept = {machine["keeps"] for machine in plan["machines"] if "keeps" in machine}
    assert {step["machine"] for step in plan["drain"] if "stays" not in step} == names - kept
    assert sum(move["count"] for step in plan["drain"] for move in step["moves"]) == 20


def test_figures_in_the_text(answers):
    """What moving half of the pods leaves over; what Karpenter's rule leaves over."""
    printed, folder = answers
    floor = json.loads((folder / "answer" / "floor.json").read_text())
    half, free = floor["front"][-2:]
    assert (half["max_disruption"], floor["price_now"] - free["price"]) == (21, pytest.approx(2.21))
    assert half["price"] - free["price"] == pytest.approx(0.126)
    assert "saves all but 0.126 of the 2.21 $/h" in PAGE
    karpenter = next(line for line in printed[COMMANDS[4]].splitlines() if "karpenter-consolidation" in line)
    _, _, price, *_, gap, _ = karpenter.split()
    assert f"ends at {price} $/h, a gap of {gap}%." in PAGE


def test_every_key_is_named(answers):
    _, folder = answers
    table = re.search(r"^\| key of `floor.json` \|.*?(?=\n\n)", PAGE, re.MULTILINE | re.DOTALL).group(0)
    first = [line.split("|")[1] for line in table.splitlines()[2:]]
    named = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(json.loads((folder / "answer" / "floor.json").read_text()))
