"""`README.md` as a new user follows it: all of its commands, in order, in one shell; its code; what it says they print."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text()
# Who runs this test has asked for all tests already.
CONSOLE = [line for line in re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE) if not line.startswith("make test")]
MINE, IN_A_TEST = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
# This environment, as the one that `make demo` builds: installing takes minutes, and is what `.ci/run` does.
PACKAGES = "import site; site.addsitedir({!r})\n"
PROGRAM = "#!/bin/sh\nexec {} -c 'from schedgap.bench.cli.app import main; main()' \"$@\"\n"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder like a checkout in which `make demo` finds all installed, with the page's file and test."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "mine.py").write_text(MINE)
    (folder / "test_mine.py").write_text(IN_A_TEST)
    venv.create(folder / ".venv", with_pip=False)
    (packages,) = (folder / ".venv" / "lib").glob("python*/site-packages")
    (packages / "same.pth").write_text(
        "".join(PACKAGES.format(each) for each in sys.path if each.endswith("-packages"))
    )
    program = folder / ".venv" / "bin" / "schedgap"
    program.write_text(PROGRAM.format(folder / ".venv" / "bin" / "python"))
    program.chmod(0o755)
    for step in ("usable", "installed"):
        (folder / ".venv" / step).touch()
    return folder


@pytest.fixture(scope="module")
def printed(checkout):
    """What each command prints, in the order of the page."""
    script = "\n".join(f"echo '===='; {line}" for line in CONSOLE)
    left_out = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=checkout, env={**environment, "COLUMNS": "200"})
    assert done.returncode == 0, done.stderr
    return dict(zip(CONSOLE, done.stdout.split("====\n")[1:], strict=True))


def test_the_page_is_short():
    assert len(PAGE.split()) < 700
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert max(line.count("|") - 1 for line in rows) <= 5
    assert len([line for line in MINE.splitlines() if line.strip()]) <= 10


def test_the_pictures_are_there_and_small():
    names = re.findall(r'(?:src|srcset)="([^"]+)"', PAGE)
    assert len(names) == 2
    assert all((ROOT / name).stat().st_size < 100_000 for name in names)


def test_every_link_is_there():
    links = re.findall(r"\]\(([^)#]+)", PAGE)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_demo_prints_the_table_of_its_suite(printed, checkout):
    table = printed[CONSOLE[0]]
    assert "Eva, Table 4" in table
    assert re.search(r"patterns +30 +1\.000 ± 0\.000 .* 30 of 30", table)
    assert "480 runs, 480 of them now, 0 failed" in table
    assert "Open runs/eva-table4.html" in table
    assert "<html" in (checkout / "runs" / "eva-table4.html").read_text()


def test_the_heuristic_is_measured_as_the_page_says(printed):
    (answer,) = (text for line, text in printed.items() if line.startswith("schedgap gap"))
    section = PAGE.split("## Your own heuristic, in ten lines")[1].split("\n## ")[0]
    shown = [re.findall(r"[^|`]+", row.replace(" ", "")) for row in section.splitlines() if row.startswith("| `")]
    lines = [re.split(r" {2,}", line) for line in answer.splitlines()]
    assert [[line[0], line[1], line[2], line[-2]] for line in lines if len(line) > 5 and line[0][0].isalpha()][
        1:
    ] == shown


def test_the_same_code_is_no_regression(printed, checkout):
    (verdict,) = (text for line, text in printed.items() if line.startswith("schedgap compare"))
    assert "No regression, 0 improvements in 66 pairs of runs." in verdict
    assert (checkout / "new.html").stat().st_size > 10_000


def test_the_test_of_ones_own_passes(checkout, printed):
    command = [str(checkout / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:xdist", "test_mine.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=checkout)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
