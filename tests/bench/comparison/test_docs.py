"""`docs/compare.md` and `docs/ci.md` against the code: every field is named, and the workflow's commands do what it says."""

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import fields
from pathlib import Path

import pytest

from schedgap.bench.cli.app import COMMANDS, load_command
from schedgap.bench.comparison.comparison import Side, Verdict, compare_results
from schedgap.bench.comparison.findings import ChangeKind, Estimate, Finding
from schedgap.bench.comparison.output import to_json
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.statistics.history import Entry, MethodFigures
from schedgap.bench.suites.results import Results

DOCS = Path(__file__).parents[3] / "docs"


def test_every_field_is_named(make_record):
    load_families()
    records = (make_record("a", objective=5),)
    results = Results(Path("x"), None, (), records, 1, {})
    content = to_json(compare_results(results, results))
    named = set(re.findall(r"`([\w.-]+)`", (DOCS / "compare.md").read_text()))
    wanted = set(content) | set(content["methods"][0]) | set(ChangeKind) | set(Verdict)
    wanted |= {field.name for kind in (Finding, Estimate, Side) for field in fields(kind)}
    assert wanted - named == set()


def test_every_option_is_named():
    command = load_command("compare")
    named = set(re.findall(r"(--[\w-]+)", (DOCS / "compare.md").read_text()))
    assert {option for parameter in command.params for option in parameter.opts if option.startswith("--")} <= named


@pytest.fixture(scope="module")
def workflow():
    """The lines of the YAML block."""
    return re.search(r"```yaml\n(.*?)```", (DOCS / "ci.md").read_text(), re.DOTALL).group(1).splitlines()


def scripts(workflow):
    """The shell of each `run:`, by the name of its step."""
    found, name, lines = {}, None, iter(workflow)
    for line in lines:
        if line.startswith("      - "):
            name = line.partition("name: ")[2]
        match = re.fullmatch(r"        run: (.*)", line)
        if match and match[1] != "|":
            found[name] = match[1]
        elif match:
            block = []
            for inner in lines:
                if not inner.startswith(" " * 10):
                    lines = iter([inner, *lines])
                    break
                block.append(inner)
            found[name] = textwrap.dedent("\n".join(block))
            return found | scripts(list(lines))
    return found


def test_the_workflow_is_well_formed(workflow):
    """Two blanks a level, no tabs, each key once on the top level, and a step does one thing."""
    assert all("\t" not in line and (len(line) - len(line.lstrip())) % 2 == 0 for line in workflow)
    top = [line.partition(":")[0] for line in workflow if line and not line.startswith(" ")]
    assert top == ["name", "on", "permissions", "concurrency", "jobs"]
    text = "\n".join(workflow)
    steps = re.split(r"\n      - ", text.split("    steps:")[1])[1:]
    assert all(len(re.findall(r"(?:^|\n        )(?:uses|run): ", step)) == 1 for step in steps)
    assert text.count("${{") == text.count("}}")
    assert list(scripts(workflow)) == [
        "Install",
        "Run the suite",
        "Compare with the baseline",
        "Make the report",
        "Comment on the pull request",
    ]


def test_its_commands_exist(workflow):
    """Every `schedgap` command parses, options and all; every script is shell."""
    commands = {name: load_command(name) for name in COMMANDS}
    seen = []
    for script in scripts(workflow).values():
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        for line in re.findall(r"^schedgap (.*?)(?: &&| \|\||$)", script, re.MULTILINE):
            name, *arguments = shlex.split(line)
            commands[name].make_context(name, arguments)
            seen.append(name)
    assert seen == ["run", "compare", "compare", "report"]


@pytest.mark.parametrize(("objective", "code", "said"), [(100, 0, "No regression"), (101, 1, "1 regression")])
def test_the_comparison_step(workflow, make_record, tmp_path, objective, code, said):
    """As a runner executes it, with `bash -e`: the exit code is the comparison's, and all files are there."""
    for name, figure in (("base", 100), ("new", objective)):
        (tmp_path / name).mkdir()
        row = json.dumps(make_record("a", objective=figure).to_row())
        (tmp_path / name / "journal.jsonl").write_text(row + "\n")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "schedgap"
    program.write_text(f"#!{sys.executable}\nfrom schedgap.bench.cli.app import main\nmain()\n")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "BASELINE": "base",
        "GITHUB_STEP_SUMMARY": "summary.md",
    }
    script = scripts(workflow)["Compare with the baseline"]
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == code
    assert said in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "comment.md").read_text() == (tmp_path / "summary.md").read_text()
    assert "<testsuites" in (tmp_path / "junit.xml").read_text()


def test_figures_over_time():
    """The commands of the last part parse, and every field of an entry is named."""
    text = (DOCS / "ci.md").read_text().split("## Figures over time")[1]
    lines = re.findall(r"(?:^\$ |run: )schedgap (.*)$", text, re.MULTILINE)
    for line in lines:
        name, *arguments = shlex.split(line)
        command = load_command(name)
        if name == "history":
            command, arguments = command.commands[arguments[0]], arguments[1:]
        command.make_context(name, arguments)
    assert [line.split()[0] for line in lines] == ["history", "history", "history", "compare"]
    named = set(re.findall(r"`(\w+)`", text))
    assert {field for kind in (Entry, MethodFigures) for field in kind.__struct_fields__} <= named
