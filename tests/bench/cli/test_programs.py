"""The options `--program`, `--policy` and `--solution`: what is printed, exit codes, one sentence for each mistake."""

import json
import shlex
import sys

import pytest

from schedgap.instances.provisioning import table3, write_instance


@pytest.fixture
def table(tmp_path):
    """Table 3 as a file: every task alone costs $16.2, and the optimum $12.8."""
    path = tmp_path / "table3.json"
    write_instance(table3(), path)
    return path


@pytest.fixture
def jobs(tmp_path, schedgap):
    path = tmp_path / "jobs.json"
    assert schedgap("generate", "sharing", "micro", "tasks=5", "--out", path)[0] == 0
    return path


def results(out):
    return {each["method"]: (each["status"], each["objective"]) for each in json.loads(out)["results"]}


def test_gap_of_a_program(schedgap, table, alone):
    """With a bound that nobody had to ask for; options and quotes are the command's own."""
    command = shlex.join([sys.executable, "-IS", str(alone), "--name", "a b"])
    code, out, err = schedgap("gap", table, "--program", f"mine={command}", "--program", f"twin={alone}", "--json")
    assert (code, err) == (0, "")
    assert results(out) == {"mine": ("feasible", 16.2), "twin": ("feasible", 16.2), "patterns": ("optimal", 12.8)}
    mine = json.loads(out)["results"][0]
    assert mine["gap"] == pytest.approx(3.4 / 16.2)
    assert mine["reason"] is None


def test_gap_of_a_solution_that_was_made_elsewhere(schedgap, table, alone, tmp_path):
    """What one run kept is measured without a program: by its stem, or by a name."""
    kept = tmp_path / "kept"
    assert schedgap("gap", table, "--program", f"mine={alone}", "--solutions", kept)[0] == 0
    given = ("--solution", kept / "mine.json", "--solution", f"best-of-all={kept / 'patterns.json'}")
    code, out, _ = schedgap("gap", table, *given, "--json")
    assert code == 0
    assert results(out) == {
        "mine": ("feasible", 16.2),
        "best-of-all": ("feasible", 12.8),
        "patterns": ("optimal", 12.8),
    }


def test_gap_of_a_solution_of_another_instance(schedgap, table, tmp_path):
    (tmp_path / "plan.json").write_text('{"schema": "schedgap/provisioning-solution/1", "machines": []}')
    code, out, err = schedgap("gap", table, "--solution", tmp_path / "plan.json")
    assert code == 3
    assert "patterns" in out
    assert err.startswith("plan: invalid (1 of its runs), on table3: ")


def test_gap_of_a_policy(schedgap, jobs, serve):
    code, out, err = schedgap("gap", jobs, "--policy", f"mine={serve}", "--method", "fifo", "--json")
    assert (code, err) == (0, "")
    found = results(out)
    assert list(found)[:2] == ["fifo", "mine"]
    assert found["mine"][0] == "feasible"


def test_a_program_that_fails_is_told_on_stderr(schedgap, table, script):
    """One line with what it did; 3 if others have results, 4 if nobody has."""
    program = f"mine={script('mine', 'echo so be it >&2; exit 7')}"
    code, out, err = schedgap("gap", table, "--program", program, "--json")
    told = "mine: crashed (1 of its runs), on table3: the program exited with code 7\n  | so be it\n"
    assert (code, err, json.loads(out)["results"][0]["output"]) == (3, told, "so be it\n")
    code, _, err = schedgap("gap", table, "--program", program, "--bound", "mine")
    assert code == 4


def test_what_a_program_depends_on(schedgap, write_suite, alone, tmp_path):
    """Files that its command does not name, and the seed, as a suite says both; the plan has the options."""
    (tmp_path / "weights").write_text("1")
    suite, out = write_suite(["no-packing"]), tmp_path / "out"
    suite.write_text(suite.read_text().replace("[limits]", "repetitions = 2\n[limits]"))
    asked = ("run", suite, "--out", out, "--program", f"mine={alone}", "--stochastic")
    asked = (*asked, "--depends", f"mine={tmp_path / 'weights'}", "--json")
    runs = [json.loads(schedgap(*asked)[1])]
    (tmp_path / "weights").write_text("2")
    runs.append(json.loads(schedgap(*asked)[1]))
    assert [run["measured_now"] for run in runs] == [3, 2]
    command = json.loads((out / "plan.json").read_text())["command"]
    assert command[-3:] == ["--depends", f"mine={tmp_path / 'weights'}", "--stochastic"]


def test_run(schedgap, write_suite, alone, tmp_path):
    suite = write_suite(["no-packing"], seeds=2)
    out = tmp_path / "out"
    code, printed, err = schedgap("run", suite, "--out", out, "--program", f"mine={alone}", "--json")
    assert (code, err) == (0, "")
    content = json.loads(printed)
    assert [(each["method"], each["runs"], each["solved"]) for each in content["methods"]] == [
        ("no-packing", 2, 2),
        ("mine", 2, 2),
    ]
    assert len({each["gap_mean"] for each in content["methods"]}) == 1
    again = schedgap("run", suite, "--out", out, "--program", f"mine={alone}", "--json")
    assert json.loads(again[1])["measured_now"] == 0
    # The next one has been edited: its rows are done again, and those from before are told of.
    alone.write_text(alone.read_text() + "\n")
    code, printed, err = schedgap("run", suite, "--out", out, "--program", f"mine={alone}", "--json")
    assert (code, json.loads(printed)["measured_now"]) == (0, 2)
    assert err == "2 rows are from before mine was changed; they are not used.\n"


def test_run_of_policies(schedgap, tmp_path, serve):
    suite = tmp_path / "s.toml"
    suite.write_text(
        """
        schema = "schedgap/suite/1"
        name = "jobs"
        title = ""
        question = ""
        family = "sharing"
        methods = ["fifo"]
        limits = { time_limit_s = 5 }
        instances = [{ generator = "micro", parameters = { tasks = 5 } }]
        """
    )
    code, out, _ = schedgap("run", suite, "--out", tmp_path / "out", "--policy", f"mine={serve}", "--json")
    assert code == 0
    assert [each["method"] for each in json.loads(out)["methods"]] == ["fifo", "mine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gap", "table3.json"], "nothing is to be measured; give --method, --program, --policy or --solution."),
        (
            ["gap", "table3.json", "--program", "./alone.py"],
            "'./alone.py' names no program; give NAME=COMMAND, such as",
        ),
        (["gap", "table3.json", "--program", "mine="], "program mine: its command is empty; give NAME=COMMAND."),
        (["gap", "table3.json", "--program", "Mine=./alone.py"], "program 'Mine': a name is kebab-case"),
        (
            ["gap", "table3.json", "--program", "mine=./alone.py", "--depends", "mime=table3.json"],
            "--depends: no program is called 'mime'; give NAME=FILE",
        ),
        (["gap", "table3.json", "--program", "mine=./none"], "program mine: there is no file "),
        (
            ["gap", "table3.json", "--program", "mine=alone.py"],
            "there is no command 'alone.py' on the PATH; install it",
        ),
        (
            ["gap", "table3.json", "--program", "mine=./table3.json"],
            "is not executable; chmod +x it, or put its interp",
        ),
        (["gap", "table3.json", "--program", "mine=./alone.py 'x"], "is no command (No closing quotation); mend its"),
        (
            ["gap", "table3.json", "--program", "patterns=./alone.py"],
            "has a method 'patterns' already; give the method",
        ),
        (["gap", "table3.json", "--policy", "mine=./alone.py"], "in family provisioning nothing is decided over time"),
        (["gap", "table3.json", "--solution", "none.json"], "program none: there is no file "),
        (["gap", "table3.json", "--solution", "patterns=./table3.json"], "give the solution another name, by NAME="),
        (
            ["gap", "table3.json", "--program", "a=./alone.py", "--solution", "a=table3.json"],
            "two programs are called a; give them different names.",
        ),
        (
            ["run", "smoke", "--program", "no-packing=./alone.py"],
            "family provisioning has a method 'no-packing' already",
        ),
        (["run", "smoke", "--solution", "table3.json"], "No such option"),
        (["run", "smoke", "--policy", "mine=./alone.py"], "in family provisioning nothing is decided over time"),
        (["check"], "nothing is to be checked; give the name of a method, --program or --policy."),
        (["check", "--policy", "mine=./alone.py"], "in family provisioning nothing is decided over time"),
        (
            ["check", "mime", "--program", "mine=./alone.py"],
            "family provisioning has no method 'mime'; did you mean mine",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_mistakes(schedgap, monkeypatch, tmp_path, table, alone, arguments, message):
    """Exit code 2, nothing on stdout, no traceback, and nothing is begun."""
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    code, out, err = schedgap(*arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before
