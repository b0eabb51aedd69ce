"""The command line: outputs as documented, exit codes, one sentence for each mistake."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import highspy
import pytest

from schedgap.bench.cli.app import COMMANDS, load_command
from schedgap.instances.provisioning import read_instance, table3, table7, write_instance


@pytest.fixture
def instance_file(tmp_path, schedgap):
    path = tmp_path / "i.json"
    assert schedgap("generate", "provisioning", "table7", "tasks=6", "--out", path)[0] == 0
    return path


def test_generate_writes_what_was_asked(instance_file):
    assert read_instance(instance_file).digest == table7(6).digest


def test_nothing_is_written_over(instance_file, schedgap):
    before = instance_file.read_bytes()
    code, out, err = schedgap("generate", "provisioning", "table7", "tasks=7", "--out", instance_file)
    assert (code, out) == (2, "")
    assert (
        err == f"InstanceError: {instance_file} exists and is not written over; choose another name or give --force.\n"
    )
    assert instance_file.read_bytes() == before
    assert schedgap("generate", "provisioning", "table7", "tasks=7", "--out", instance_file, "--force")[0] == 0
    assert read_instance(instance_file).num_tasks == 7


def test_gap_json(instance_file, schedgap, hostile):
    """The documented fields; prices per hour as decimals; plug-ins that print cannot spoil it."""
    code, out, _ = schedgap(
        "gap", instance_file, "--method", "x-honest", "-m", "x-wrong", "--plugin", hostile, "--json"
    )
    content = json.loads(out)
    assert code == 3
    assert {"instance", "digest", "bound", "best_objective", "results"} <= set(content)
    assert content["digest"] == table7(6).digest
    honest, wrong, exact = content["results"]
    for result in content["results"]:
        assert {"method", "status", "objective", "bound", "gap", "wall_s"} <= set(result)
    assert (honest["method"], honest["status"], wrong["status"]) == ("x-honest", "feasible", "invalid")
    assert (wrong["objective"], wrong["gap"]) == (None, None)
    assert exact["objective"] == content["bound"] == content["best_objective"]
    assert honest["gap"] == pytest.approx((honest["objective"] - content["bound"]) / honest["objective"], rel=1e-12)


def test_gap_table_and_solutions(instance_file, schedgap, hostile, tmp_path):
    """The solution that gap keeps is one that verify accepts."""
    folder = tmp_path / "solutions"
    arguments = ["gap", instance_file, "-m", "x-honest", "--bound", "patterns", "--plugin", hostile]
    code, out, _ = schedgap(*arguments, "--solutions", folder)
    assert code == 0
    assert "x-honest" in out
    assert "best proven bound" in out
    code, out, _ = schedgap("verify", instance_file, folder / "x-honest.json", "--json")
    assert code == 0
    content = json.loads(out)
    assert content["feasible"] is True
    code, out, err = schedgap(*arguments, "--solutions", folder)
    assert (code, out) == (2, "")
    assert "give a new directory" in err


def test_verify_tells_all_digits(schedgap, tmp_path):
    """Every task alone costs $16.2, here 100,001 times as much."""
    instance = table3()
    dear = replace(instance, price=instance.price * 100_001)
    write_instance(dear, tmp_path / "i.json")
    schedgap("gap", tmp_path / "i.json", "-m", "no-packing", "--bound", "patterns", "--solutions", tmp_path / "s")
    told = schedgap("verify", tmp_path / "i.json", tmp_path / "s" / "no-packing.json")
    assert told == (0, "feasible, objective 1,620,016.2 $/h\n", "")


def test_gap_says_why_there_is_no_solution(instance_file, schedgap, hostile):
    code, out, err = schedgap("gap", instance_file, "-m", "x-honest", "-m", "x-unsupported", "--plugin", hostile)
    assert code == 0
    assert "x-unsupported: unsupported: it never does" in out + err


def test_verify_refuses_what_is_infeasible(instance_file, schedgap, hostile, tmp_path):
    folder = tmp_path / "solutions"
    schedgap("gap", instance_file, "-m", "x-honest", "--bound", "x-honest", "--plugin", hostile, "--solutions", folder)
    path = folder / "x-honest.json"
    document = json.loads(path.read_text())
    document["machines"].pop()
    path.write_text(json.dumps(document))
    code, out, err = schedgap("verify", instance_file, path)
    assert (code, out) == (2, "")
    assert "Error: " in err
    assert "Traceback" not in err


def test_run_json(tmp_path, schedgap, hostile, write_suite):
    suite = write_suite(["x-honest", "x-error", "patterns"], seeds=2)
    code, out, err = schedgap("run", suite, "--out", tmp_path / "out", "--plugin", hostile, "--json")
    content = json.loads(out)
    assert code == 3
    assert {"suite", "instances", "runs", "failed", "methods", "table"} <= set(content)
    assert (content["suite"], content["instances"], content["runs"], content["failed"]) == ("little", 2, 6, 2)
    honest, _, exact = content["methods"]
    for row in content["methods"]:
        assert {"method", "runs", "failed", "proven_optimal", "gap_mean", "gap_worst", "sgm_time_s"} <= set(row)
    assert (honest["runs"], honest["failed"]) == (2, 0)
    assert (exact["proven_optimal"], exact["gap_worst"]) == (2, 0.0)
    assert [row["method"] for row in content["table"]] == ["x-honest", "x-error", "patterns"]
    assert err == "x-error: error (2 of its runs), on table7-6-physical-s0: ValueError: no such luck\n"


def test_run_table(tmp_path, schedgap, hostile, write_suite):
    suite = write_suite(["x-honest"])
    code, out, _ = schedgap("run", suite, "--out", tmp_path / "out", "--plugin", hostile)
    assert code == 0
    assert "A little suite" in out
    assert "1 runs, 1 of them now, 0 failed" in out


@pytest.mark.parametrize("method", ["x-error", "x-unsupported"])
def test_nothing_measured(tmp_path, schedgap, hostile, write_suite, method):
    """All runs failed, or none was supported: neither is a success, neither is 3."""
    suite = write_suite([method])
    code, out, err = schedgap("run", suite, "--out", tmp_path / "out", "--plugin", hostile, "--json")
    assert code == 4
    assert json.loads(out)["methods"][0]["gap_mean"] is None
    assert err.endswith("nothing was measured: no run ended with a result.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "no-such-suite"], "SuiteError: there is no suite 'no-such-suite'"),
        (["run", "smok"], "there is no suite 'smok'; did you mean smoke? `schedgap list suites` names them all"),
        (["generate", "fairnes", "micro", "--out", "x"], "there is no family 'fairnes'; did you mean fairness? "),
        (["generate", "provisioning", "tabel7", "--out", "x"], "no generator 'tabel7'; did you mean table7"),
        (["generate", "provisioning", "table7", "task=6", "--out", "x"], "'task'; did you mean tasks? it has: "),
        (["import", "kubernets", "none.csv", "--out", "x"], "'kubernets'; did you mean kubernetes? known are "),
        (["list", "suites", "--family", "x"], "there are no suites of family 'x'; families with suites: fairness, "),
        (["list", "backends", "--family", "x"], "families with backends: none."),
        (["gap", "none.json", "--method", "no-packing"], "none.json: cannot be read"),
        (["generate", "knitting", "table7", "--out", "x"], "InstanceError: there is no family 'knitting'"),
        (
            ["generate", "provisioning", "table9", "--out", "x"],
            "InstanceError: family provisioning has no generator 'table9'",
        ),
        (["import", "punchcards", "none.csv", "--out", "x"], "InstanceError: there is no import format 'punchcards'"),
        (["import", "alibaba-gpu-v2023", "none.csv", "--out", "x"], "InstanceError: none.csv"),
        (["fetch", "nothing"], "InstanceError: there is no trace 'nothing'"),
        (["verify", "none.json", "none.json"], "none.json: cannot be read"),
        (["list", "methods", "--plugin", "none.py"], "is no file"),
        (["list", "everything"], "everything"),
        (["run"], "Missing argument"),
        (["nonsense"], "No such command"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_mistakes(schedgap, monkeypatch, tmp_path, arguments, message):
    """Exit code 2, nothing on stdout, no traceback, nothing left behind."""
    monkeypatch.chdir(tmp_path)
    code, out, err = schedgap(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_working_directory_that_was_removed(tmp_path):
    command = ["sh", "-c", f'rmdir "$PWD" && exec {sys.executable} -P -m schedgap run smoke']
    (tmp_path / "gone").mkdir()
    done = subprocess.run(command, cwd=tmp_path / "gone", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "FileNotFoundError: the working directory is not there any more; change to another one.\n"


@pytest.mark.parametrize("kind", ["suites", "methods", "backends", "instances", "traces"])
def test_list(schedgap, kind):
    code, out, _ = schedgap("list", kind, "--json")
    rows = json.loads(out)[kind]
    assert code == 0
    assert rows
    assert all(row["name"] for row in rows)
    code, out, _ = schedgap("list", kind)
    assert code == 0
    assert rows[0]["name"] in out


@pytest.mark.parametrize("file_format", ["mps", "lp"])
def test_export(instance_file, schedgap, tmp_path, file_format):
    path = tmp_path / f"model.{file_format}"
    arguments = ["export", instance_file, "--formulation", "assignment", "--format", file_format, "--out", path]
    code, out, _ = schedgap(*arguments)
    assert code == 0
    assert out.startswith(f"{path}: ")
    # What any solver finds in the file, times the factor that is told and written, is the price.
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(path))
    solver.run()
    note = path.read_text().splitlines()[0].lstrip("*\\ ")
    assert out.strip().endswith(note)
    best = json.loads(schedgap("gap", instance_file, "--method", "patterns", "--json")[1])["best_objective"]
    assert solver.getInfo().objective_function_value * float(note.split()[-1]) == pytest.approx(best)
    code, _, err = schedgap(*arguments)
    assert code == 2
    assert "not written over" in err


def test_help_is_light_and_version_is_told():
    """`--help` imports none of the heavy packages, in a process of its own."""
    code = (
        "import sys; sys.argv = ['schedgap', '--help']\n"
        "from schedgap.bench.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'joblib', 'pydantic', 'psutil', 'highspy', 'ortools', 'pulp', 'pandas'}\n"
        "print('HEAVY', *sorted({name.split('.')[0] for name in sys.modules} & heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("HEAVY\n")
    assert "generate" in done.stdout
    version = [sys.executable, "-m", "schedgap", "--version"]
    done = subprocess.run(version, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("schedgap 0.")


@pytest.mark.parametrize("arguments", [["--version"], ["list", "suites"]])
def test_output_that_nobody_reads(arguments):
    """As of any program that SIGPIPE ends, not 1: that would be a regression."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "schedgap", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("arguments", [["-h"], ["run", "-h"], ["import", "-h"]])
def test_short_help(schedgap, arguments):
    code, out, _ = schedgap(*arguments)
    assert code == 0
    assert "Usage: schedgap" in out
    assert "-h, --help" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_summaries_are_the_commands_own(name):
    """The list of commands says of each what its own help begins with, without loading it."""
    first, *_ = load_command(name).help.split("\n\n")
    assert first == COMMANDS[name][2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generate", "provisioning", "table7", "tasks=3", "tasks=4", "--out", "x"], "'tasks' is given twice, as '3'"),
        (
            ["generate", "provisioning", "table7", "tasks=3", "--out", "i.json/x"],
            "i.json/x: cannot be written (Not a d",
        ),
        (["generate", "provisioning", "table7", "tasks=3", "--out", "no/x"], "no/x: cannot be written (No such file"),
        (
            ["export", "i.json", "--formulation", "assignment", "--format", "lp", "--out", "no/x"],
            "Error: no/x: No such",
        ),
        (
            ["gap", "i.json", "-m", "zzzz", "--solutions", "s"],
            "MethodError: family provisioning has no method 'zzzz'; `s",
        ),
        (["gap", "i.json", "-m", "no-packing", "--time-limit", "inf"], "Invalid value for '--time-limit'"),
        (["gap", "i.json", "-m", "no-packing", "--memory", "9" * 20], "Invalid value for '--memory'"),
        (["fetch", "alibaba-gpu-v2023", "--out", "i.json"], "InstanceError: i.json: cannot be written ("),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_mistakes_beside_an_instance(instance_file, schedgap, monkeypatch, arguments, message):
    """As `test_mistakes`; the instance stays, nothing comes to it, and no network is asked."""
    monkeypatch.chdir(instance_file.parent)
    before = instance_file.read_bytes()
    code, out, err = schedgap(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert [path.name for path in instance_file.parent.iterdir()] == [instance_file.name]
    assert instance_file.read_bytes() == before
