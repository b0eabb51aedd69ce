"""`schedgap compare` as people and CI call it: what it prints, what it writes, and its exit codes."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from schedgap.instances.method import Status

# A scheduler of a user's, and what a careless change makes of it: one machine a task where there are many tasks.
PACKER = """
from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import full_reconfiguration
from schedgap.heuristics.provisioning.fit_decreasing import no_packing
from schedgap.instances import method


@method("packer", family="provisioning", version={version})
def packer(instance):
    return no_packing(instance) if instance.num_tasks > {packed} else full_reconfiguration(instance)
"""
SUITE = """
schema = "schedgap/suite/1"
name = "mine"
title = "Mine"
question = "Worse?"
family = "provisioning"
methods = ["packer", "patterns"]
[limits]
time_limit_s = 20
[[instances]]
generator = "table7"
parameters = { tasks = [6, 12] }
"""


def command(folder, *arguments):
    """Run `schedgap` in a process of its own, which knows no other plug-in."""
    code = "from schedgap.bench.cli.app import main; main()"
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)


def test_a_worsened_heuristic_fails_the_gate_by_name(tmp_path):
    (tmp_path / "mine.toml").write_text(SUITE)
    for out, version, packed in (("base", 1, 1000), ("new", 2, 10)):
        (tmp_path / "packer.py").write_text(PACKER.format(version=version, packed=packed))
        done = command(tmp_path, "run", "mine.toml", "--plugin", "packer.py", "--out", out, "-j", 1)
        assert done.returncode == 0, done.stderr
    done = command(tmp_path, "compare", "base", "new", "--format", "json")
    assert done.returncode == 1
    content = json.loads(done.stdout)
    ((kind, method, instance),) = [(f["kind"], f["method"], f["instance"]) for f in content["regressions"]]
    assert (kind, method, instance) == ("objective", "packer", "table7-12-physical-s0")
    assert content["regressions"][0]["new"] > content["regressions"][0]["base"]
    assert done.stderr == "1 regression, 0 improvements in 4 pairs of runs.\n"
    assert command(tmp_path, "compare", "base", "new", "--fail-on", "none").returncode == 0
    assert command(tmp_path, "compare", "new", "base").returncode == 0


@pytest.fixture
def directory(tmp_path, make_record):
    """Write a directory of results: `directory("base", record, ...)`."""

    def write(name, *records):
        (tmp_path / name).mkdir()
        lines = [json.dumps(record.to_row()) + "\n" for record in records]
        (tmp_path / name / "journal.jsonl").write_text("".join(lines))
        return tmp_path / name

    return write


@pytest.fixture
def sides(directory, make_record):
    """Of three instances, one is 1% worse, and all take three times as long."""

    def runs(worse, wall_s):
        names = ("i", "j", "k")
        return [
            make_record(
                "a", name, objective=(10_100 if worse and name == "j" else 10_000), wall_s=wall_s, reference_s=1e-3
            )
            for name in names
        ]

    return (
        directory("base", *runs(False, 1.0)),
        directory("new", *runs(True, 3.0)),
        directory("slow", *runs(False, 3.0)),
    )


def test_table_and_exit_code(schedgap, sides):
    base, new, slow = sides
    code, out, err = schedgap("compare", base, new)
    assert (code, err) == (1, "")
    assert "objective  a       j         0.01  0.0101  +1.00%\n" in out
    assert "\n1 regression, 0 improvements in 3 pairs of runs. Slower, not gated: a " in out
    assert schedgap("compare", base, slow)[0] == 0
    assert schedgap("compare", base, new, "--fail-on", "none")[0] == 0


@pytest.mark.parametrize(("gate", "expected"), [("time:1.5x", 1), ("time:2", 1), ("time:4x", 0), ("quality", 0)])
def test_time_gate(schedgap, sides, gate, expected):
    base, _, slow = sides
    code, out, _ = schedgap("compare", base, slow, "--fail-on", gate)
    assert code == expected
    assert ("\ntime  a" in out) == (expected == 1)


@pytest.mark.parametrize("gate", ["speed", "time:", "time:0.5x", "time:x", "time:1e9x", "time:-2x", "time:nan"])
def test_gates_that_are_none(schedgap, sides, gate):
    code, out, err = schedgap("compare", *sides[:2], "--fail-on", gate)
    assert (code, out) == (2, "")
    assert "--fail-on" in err
    assert "time:1.5x" in err


@pytest.mark.parametrize("form", ["markdown", "junit", "json", "table"])
def test_out_writes_the_file_and_prints_the_table(schedgap, sides, tmp_path, form):
    """The file is what is printed without `--out`; an older one is written over."""
    base, new, _ = sides
    path = tmp_path / "report"
    path.write_text("old")
    code, out, err = schedgap("compare", base, new, "--format", form, "--out", path)
    assert (code, err) == (1, "")
    assert "Regressions (1)" in out
    code, printed, err = schedgap("compare", base, new, "--format", form)
    assert (code, printed) == (1, path.read_text())
    if form == "junit":
        assert ElementTree.fromstring(printed).get("failures") == "1"


def test_min_effect(schedgap, directory, make_record):
    """The clock stopped both; the gap to the best known grows from 0 to 0.005."""
    base = directory("base", make_record("a", "i", objective=995, wall_s=60.0))
    new = directory("new", make_record("a", "i", objective=1000, wall_s=60.0))
    assert schedgap("compare", base, new)[0] == 1
    assert schedgap("compare", base, new, "--min-effect", "0.01")[0] == 0
    assert schedgap("compare", base, new, "--min-effect", "2")[0] == 2


@pytest.mark.parametrize("gate", ["quality", "none", "time:2x"])
def test_never_green_without_a_comparison(schedgap, sides, directory, make_record, tmp_path, gate):
    """A side that is missing, empty, failed or of other runs: 4, a sentence, whatever the gate."""
    base = sides[0]
    nothing = {
        "missing": tmp_path / "missing",
        "empty": directory("empty"),
        "failed": directory("failed", make_record("a", "i", status=Status.CRASHED)),
        "other": directory("other", make_record("b", "i", objective=5, wall_s=1.0, reference_s=1e-3)),
    }
    for side in nothing.values():
        for pair in ((base, side), (side, base)):
            code, out, err = schedgap("compare", *pair, "--fail-on", gate)
            assert (code, out) == (4, "")
            assert err.startswith("Nothing to compare: ")
            assert "Traceback" not in err
    code, out, _ = schedgap("compare", base, nothing["missing"], "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (4, "not-comparable")


def test_mistakes(schedgap, sides, directory, tmp_path):
    base, _, slow = sides
    corrupt = directory("corrupt")
    (corrupt / "journal.jsonl").write_text("nonsense\n")
    code, out, err = schedgap("compare", base, corrupt)
    assert (code, out) == (2, "")
    assert err.startswith("JournalError: ")
    code, out, err = schedgap("compare", base, slow, "--format", "junit", "--out", tmp_path / "none" / "x.xml")
    assert (code, out) == (2, "")
    assert err == f"FileNotFoundError: {tmp_path / 'none' / 'x.xml'}: No such file or directory\n"
    assert schedgap("compare", base)[0] == 2
    assert schedgap("compare", base, slow, "--format", "html")[0] == 2
