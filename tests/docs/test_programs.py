"""`docs/programs.md` against the code: its commands and examples run, and every key and variable is named."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from schedgap.bench.programs.exchange import outcome_of
from schedgap.bench.programs.program import Terms
from schedgap.bench.suites.results import read_results
from schedgap.bench.suites.suite import ProgramBlock, read_suite
from schedgap.instances.family import find_family
from schedgap.instances.provisioning import table3, write_instance

pytest_plugins = ["pytester"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = DOCS / "examples" / "programs"
PAGE = (DOCS / "programs.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def table_of(header):
    """The names in the first cells of the table under a header."""
    rows = PAGE.split(header)[1].split("\n\n")[0].splitlines()
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")}


@pytest.fixture
def folder(examples, commands, tmp_path):
    """A user's folder: the examples with the programs in C compiled."""
    for role in ("method", "policy"):
        commands("c", role)
    return Path(shutil.copytree(examples, tmp_path / "programs"))


def shell(line, folder, **variables):
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", **variables}
    command = ["bash", "-ec", line]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def with_schedgap(folder):
    """The folder, with a command `schedgap` of this interpreter's on the PATH of `shell`."""
    path = folder / "bin" / "schedgap"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\nfrom schedgap.bench.cli.app import main\nmain()\n")
    path.chmod(0o755)
    return folder


def test_the_first_commands_run(with_schedgap):
    lines = re.findall(r"^\$ (.*)$", blocks("console")[0], re.MULTILINE)
    printed = {}
    for line in lines:
        code, printed[line] = shell(line, with_schedgap)
        assert code == 0, printed[line]
    measured = [text for line, text in printed.items() if line.startswith("schedgap gap")]
    assert len(measured) == 2
    assert all(re.search(r"first-fit +feasible", text) for text in measured)


def test_the_other_commands_run(with_schedgap):
    """With a program that copies, and plans that the first command keeps."""
    code, said = shell("schedgap generate provisioning table7 tasks=20 --out tasks.json", with_schedgap)
    keep = "schedgap gap tasks.json --program 'first-fit=./first-fit-method' --solutions made"
    code, said = shell(f"{keep} && cp made/first-fit.json plan.json && cp plan.json other.json", with_schedgap)
    assert code == 0, said
    (with_schedgap / "mysched").write_text('#!/bin/sh\n./first-fit-method < "$2" > "$4"\n')
    (with_schedgap / "mysched").chmod(0o755)
    lines = [line.removeprefix("$ ") for block in blocks("console")[1:] for line in block.splitlines()]
    assert len(lines) == 2
    for line in lines:
        code, said = shell(f"{line} --json", with_schedgap)
        assert code == 0, said
        results = {row["method"]: row["objective"] for row in json.loads(said)["results"]}
        assert results.keys() - {"patterns"} in ({"mine"}, {"plan", "by-hand"})


def test_the_python_example_runs(folder):
    code = next(text for text in blocks("python") if text.startswith("# measure.py"))
    (folder / "measure.py").write_text(code)
    done = subprocess.run([sys.executable, "measure.py"], cwd=folder, capture_output=True, text=True, check=True)
    assert "'method': 'first-fit', 'status': 'feasible'" in done.stdout


def test_the_pytest_example_passes(pytester, monkeypatch, folder):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    shutil.copytree(folder, pytester.path, dirs_exist_ok=True)
    suite = (pytester.path / "first-fit.toml").read_text().replace("[20, 40]", "[20]")
    # The test has the program itself.
    (pytester.path / "tiny.toml").write_text(re.sub(r"\[\[programs\]\]\n(.+\n)+|, \"first-fit.*?\"", "", suite))
    (pytester.path / "pytest.ini").write_text("[pytest]\nschedgap_suite = tiny.toml\n")
    write_instance(table3(), pytester.path / "tasks.json")
    with open(pytester.path / "tasks.json", "rb") as given, open(pytester.path / "plan.json", "wb") as plan:
        subprocess.run(["./first-fit-method"], stdin=given, stdout=plan, cwd=pytester.path, check=True)
    code = next(text for text in blocks("python") if text.startswith("# test_first_fit.py"))
    pytester.makepyfile(test_first_fit=code)
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


@pytest.mark.parametrize("name", ["first-fit", "first-fit-policy"])
def test_the_suites_run(with_schedgap, name):
    code, said = shell(f"schedgap run {name}.toml --out out --json", with_schedgap)
    assert code == 0, said
    # Progress, if it took long, stands on lines of its own.
    (line,) = [line for line in said.splitlines() if line.startswith("{")]
    rows = {row["method"]: row for row in json.loads(line)["methods"]}
    assert rows["first-fit"]["failed"] == 0
    assert rows["first-fit"]["gap_mean"] > 0


def test_the_keys_of_a_suite_are_named():
    assert table_of("| key | default | meaning |") == set(ProgramBlock.model_fields)
    (block,) = blocks("toml")
    document = tomllib.loads(block)
    programs = [ProgramBlock.model_validate(each) for each in document["programs"]]
    assert {program.name for program in programs} < set(document["methods"])


def test_the_object_that_says_more():
    """Its bound is in dollars, and in micro-dollars here."""
    (text,) = blocks("json")
    outcome = outcome_of(text.encode(), find_family("provisioning"), table3())
    assert (outcome.bound, outcome.solution.num_machines) == (9_500_000, 1)
    assert table_of("| key | meaning |") == set(json.loads(text))


def test_the_variables_are_named():
    told = Terms(seed=7, time_limit_s=0.5, threads=2).environment()
    assert table_of("| variable | meaning |") == {name for name in told if name not in os.environ}
    assert told["SCHEDGAP_TIME_LIMIT_S"] == "0.5"


def gate():
    """The shell of each step of the workflow that has a name."""
    text = (EXAMPLES / "gate.yml").read_text()
    steps = re.findall(r"- name: (.*)\n(?: +#.*\n)*        run: (.*\n(?: {10}.*\n)*)", text)
    return {name: textwrap.dedent(script.removeprefix("|\n")) for name, script in steps}


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [("", 0, "No regression"), ("s/types\\[k\\].price < /types[k].price > /", 1, "first-fit")],
)
def test_the_gate(with_schedgap, change, code, said):
    """As a runner executes it: the program as it is, and one that rents the dearest machines."""
    repository = with_schedgap.parent
    steps = gate()
    assert list(steps) == ["Install", "Compile", "Run the suite", "Compare with the baseline"]
    assert shell(f"sed -i '{change}' first_fit_method.c", with_schedgap)[0] == 0
    variables = {
        "FOLDER": "programs",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "PATH": f"{with_schedgap}/bin:{os.environ['PATH']}",
    }
    for name in ("Compile", "Run the suite"):
        done = shell(steps[name], repository, **variables)
        assert done[0] == 0, done[1]
    assert shell(steps["Compare with the baseline"], repository, **variables)[0] == code
    assert said in (repository / "summary.md").read_text()


def test_the_baseline_is_of_the_suite_as_it_is():
    """If not: measure it again, as the workflow's head says."""
    suite, folder = read_suite(EXAMPLES / "first-fit.toml")
    results = read_results(folder / "baseline")
    assert results.suite == suite
    assert len(results.records) == results.planned == 18
    assert {str(record.status) for record in results.records} == {"optimal", "feasible"}
