"""`schedgap search run` on real instances, and the programs that ours start from."""

import importlib.util
import json
from pathlib import Path

import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.search.program import read_program
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import REGISTRY, find_method

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples" / "search"
SUITE = """
schema = "schedgap/suite/1"
name = "tiny"
title = "Tiny"
question = "Is it tiny?"
family = "provisioning"
methods = ["patterns"]
limits = { time_limit_s = 5 }

[search]
validation = [5]
test = [7]

[[instances]]
generator = "table7"
parameters = { tasks = 8 }
seeds = 1
"""


def test_a_search(schedgap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(SUITE)
    arguments = [
        "search",
        "run",
        "tiny.toml",
        "--program",
        EXAMPLES / "provisioning.py",
        "--evaluations",
        3,
        "--jobs",
        1,
    ]
    code, out, err = schedgap(*arguments)
    assert (code, err) == (0, "")
    assert out.startswith("0: 1.0000 by first = largest, fits = -left, size = 0.5\n")
    assert "\ntiny: proven bound / objective, number " in out
    folder = Path("runs/found-tiny")
    assert out.endswith(f"wrote {folder}/best.py, {folder}/evaluations.jsonl and {folder}/scores.svg\n")
    head, *rows = map(json.loads, (folder / "evaluations.jsonl").read_text().splitlines())
    assert (head["schema"], head["suite"], head["seed"]) == ("schedgap/search/1", "tiny", 0)
    parts = [row["part"] for row in rows]
    # The test part sees the first and the best, which may be one.
    assert parts[:6] == ["train"] * 3 + ["validation"] * 3
    assert parts[6:] in (["test"], ["test"] * 2)
    assert all(0 < row["score"] <= 1 and row["failed"] == 0 and row["measures"]["machines"] > 0 for row in rows)
    assert read_program(folder / "best.py").name == "candidate"
    assert schedgap(*arguments)[1] == out
    code, _, err = schedgap(*arguments[:3], "--program", "none.py")
    assert (code, "none.py cannot be read" in err) == (2, True)


def test_the_bounds_of_all_parts_are_prepared(schedgap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(SUITE)
    assert schedgap("search", "prepare", "tiny.toml", "--jobs", 1)[1].endswith("the bounds of 3 instances of tiny\n")


@pytest.mark.parametrize("path", sorted(path for path in EXAMPLES.glob("*.py") if "SEARCH = {" in path.read_text()))
def test_programs_that_searches_start_from(path):
    """Each is of the family that it is named after, has a suite, and solves an instance as it is written."""
    load_families()
    family = FAMILIES[path.stem]
    suite, folder = read_suite(f"search-{path.stem}")
    assert suite.family == path.stem
    assert suite.search.validation
    assert suite.search.test
    spec = importlib.util.spec_from_file_location(f"searched_{path.stem}", path)
    before = set(REGISTRY)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    try:
        instance = family.shrink(next(iter(suite.sources(suite.instances[0], None, folder))).build())
        solution = find_method(path.stem, read_program(path).name).run(instance).solution
        assert family.verify(instance, solution) >= 0
    finally:
        for key in set(REGISTRY) - before:
            if key[1] == "candidate":
                del REGISTRY[key]
