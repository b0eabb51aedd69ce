"""The recipes of `CONTRIBUTING.md`, followed to the letter in a copy of the product: their commands do what they say."""

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import schedgap

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("instances", "formulations", "heuristics", "bench")
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
RECIPES = dict(re.findall(r"^## (A .*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def blocks(recipe, language):
    return re.findall(rf"^```{language}\n(.*?)^```", RECIPES[recipe], re.MULTILINE | re.DOTALL)


def new_files(recipe):
    return {re.match(r"# (\S+)\n", text)[1]: text.split("\n", 1)[1] for text in blocks(recipe, "(?:python|toml)")}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A copy of the tested package with all recipes applied; kernels that were compiled before need not be again."""
    root = tmp_path_factory.mktemp("contributing") / "schedgap"
    for floor in FLOORS:
        installed = Path(importlib.import_module(f"schedgap.{floor}").__file__).parent
        shutil.copytree(installed, root / floor)
    for path in Path(schedgap.__file__).parent.glob("*.py"):
        shutil.copy(path, root)
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "results").symlink_to(ROOT / "results")
    for recipe in RECIPES:
        for name, text in new_files(recipe).items():
            assert not (root / name).exists()
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for diff in blocks(recipe, "diff"):
            command = ["git", "apply", "--verbose", "-"]
            environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(root.parent)}
            applied = subprocess.run(command, input=diff, text=True, cwd=root, env=environment, capture_output=True)
            assert (applied.returncode, "Skipped" in applied.stderr) == (0, False), applied.stderr
    return root


def run(scratch, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(scratch.parent), "COLUMNS": "150"}
    command = [sys.executable, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=scratch, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def follow(scratch, recipe):
    """Return what each command of a recipe prints."""
    lines = [
        line for text in blocks(recipe, "console") for line in re.findall(r"^\$ schedgap (.*)$", text, re.MULTILINE)
    ]
    return [run(scratch, "-c", "from schedgap.bench.cli.app import main; main()", *shlex.split(line)) for line in lines]


def cells(table, method):
    """Return the cells of a method's row."""
    row = next(line for line in table.splitlines() if line.startswith(method))
    return re.split(r" {2,}", row)


def test_the_recipes_are_all_there():
    assert list(RECIPES) == [
        "A heuristic",
        "A policy",
        "A family",
        "A family outside of the tree",
        "A back end",
        "A measure",
        "A figure",
    ]


def test_the_copy_is_what_runs(scratch):
    """Before the installed package, however that was installed."""
    names = [f"schedgap.{floor}" for floor in FLOORS]
    code = f"import importlib as i; print(*(i.import_module(name).__file__ for name in {names}), sep='\\n')"
    assert run(scratch, "-c", code).split() == [str(scratch / floor / "__init__.py") for floor in FLOORS]


def test_the_tests_in_the_recipes_pass(scratch):
    tests = [name for recipe in RECIPES for name in new_files(recipe) if name.startswith("tests/")]
    assert len(tests) == 3
    assert "5 passed" in run(scratch, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests)


def test_the_code_is_in_the_house_style(scratch):
    names = [name for recipe in RECIPES for name in new_files(recipe) if name.endswith(".py")]
    names += [
        re.search(r"^\+\+\+ b/(\S+\.py)$", diff, re.M)[1]
        for r in RECIPES
        for diff in blocks(r, "diff")
        if ".py" in diff
    ]
    assert "All checks passed" in run(scratch, "-m", "ruff", "check", "--no-cache", *names)
    run(scratch, "-m", "ruff", "format", "--no-cache", "--check", *names)


def test_a_heuristic(scratch):
    _, gap = follow(scratch, "A heuristic")
    assert cells(gap, "one-machine-each")[1:3] == ["feasible", "16.2"]


def test_a_policy(scratch):
    _, gap = follow(scratch, "A policy")
    assert cells(gap, "smallest-demand-first")[1] == "feasible"
    assert re.search(r"best proven bound [1-9]", gap)


def test_a_family(scratch):
    _, gap, check = follow(scratch, "A family")
    assert cells(gap, "longest-first")[1] == "feasible"
    assert cells(gap, "bound-work")[1] == "no_solution"
    assert "longest-first of family partition on 1 instances" in check


def test_a_family_outside_of_the_tree(scratch):
    _, _, gap, check, table = follow(scratch, "A family outside of the tree")
    assert cells(gap, "longest-first")[1] == "feasible"
    assert "longest-first of family makespan on 1 instances" in check
    assert cells(table, "longest-first")[1] == "3"
    # The suite has just been run.
    tests = ["-q", "-p", "no:cacheprovider", "-k", "not suite", "test_makespan.py"]
    assert "4 passed" in run(scratch, "-m", "pytest", *tests)


def test_a_back_end(scratch):
    (backends,) = follow(scratch, "A back end")
    assert re.search(r"^brute-force +brute force +numpy ", backends, re.MULTILINE)


def test_a_measure(scratch):
    """No-packing rents a machine of each of the four types of Table 3 that its tasks fit best."""
    (table,) = follow(scratch, "A measure")
    assert "machine types" in " ".join(table.split())
    (row,) = (scratch / "runs" / "types" / "journal.jsonl").read_text().splitlines()
    assert json.loads(row)["measures"]["machine_types"] == 4


def test_a_figure(scratch):
    follow(scratch, "A figure")
    assert "Times of all runs" in (scratch / "page.html").read_text()
    assert (scratch / "figures" / "times.svg").exists()
