"""The README's own heuristic: its commands, as a new user types them."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def section():
    return README.read_text().split("## Your own heuristic, in ten lines")[1].split("\n## ")[0]


def schedgap(folder, line):
    """Run a command in a process of its own, which has no other plug-in's methods."""
    code = "from schedgap.bench.cli.app import main; main()"
    command = [sys.executable, "-c", code, *shlex.split(line)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


def test_the_heuristic_is_measured_beside_the_optimum(section, tmp_path):
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
    (tmp_path / "mine.py").write_text(code)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    generate, gap = re.findall(r"^\$ schedgap (.*)$", section, re.MULTILINE)
    schedgap(tmp_path, generate)
    rows = {row["method"]: row for row in json.loads(schedgap(tmp_path, f"{gap} --json"))["results"]}
    assert rows["patterns"]["status"] == "optimal"
    assert rows["mine"]["objective"] > rows["pattern-rounding"]["objective"] >= rows["patterns"]["objective"]
