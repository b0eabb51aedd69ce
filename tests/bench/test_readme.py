"""The README's own heuristic: its commands, as a new user types them."""

import json
import re
import shlex
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def section():
    return README.read_text().split("## Your own heuristic, in ten lines")[1].split("\n## ")[0]


def test_the_heuristic_is_measured_beside_the_optimum(section, schedgap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL).group(1)
    Path("mine.py").write_text(code)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    generate, gap = (shlex.split(line) for line in re.findall(r"^\$ schedgap (.*)$", section, re.MULTILINE))
    assert schedgap(*generate)[0] == 0
    code, out, err = schedgap(*gap, "--json")
    assert code == 0, err
    rows = {row["method"]: row for row in json.loads(out)["results"]}
    assert rows["patterns"]["status"] == "optimal"
    assert rows["mine"]["objective"] > rows["pattern-rounding"]["objective"] >= rows["patterns"]["objective"]
