"""A program as a method: which way the instance goes in, which way the answer comes out, and what is no answer."""

import json
import os
import time
from dataclasses import replace

import pytest

from schedgap.bench.checks.trials import small_instances
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.programs.exchange import prepare, solve
from schedgap.bench.programs.program import Kind, Program, ProgramFailure, parse_program
from schedgap.instances.family import find_family
from schedgap.instances.harvest import files as solution_files
from schedgap.instances.method import find_method
from schedgap.instances.provisioning import table3, verify, write_instance
from schedgap.instances.provisioning.files import INSTANCE, SOLUTION

ALONE = json.dumps(
    {
        "schema": "schedgap/provisioning-solution/1",
        "machines": [{"type": f"it{k}", "counts": {f"tau{k}": 1}} for k in (1, 2, 3, 4)],
    }
)
# Reads a path or stdin, checks that it is the instance, and writes to a path or stdout.
COPY = f"""
import json, sys
source, target = sys.argv[1:]
given = json.load(open(source) if source != "-" else sys.stdin)
assert given["name"] == "table3" and len(given["tasks"]) == 4
(open(target, "w") if target != "-" else sys.stdout).write({ALONE!r})
"""


@pytest.fixture
def solved(terms):
    def run(program, **more):
        return solve(program, find_family("provisioning"), table3(), replace(terms, **more))

    return run


@pytest.fixture
def refused(solved):
    """Run a program that does not answer as it was asked; status and reason."""

    def run(program, **more):
        with pytest.raises(ProgramFailure) as caught:
            solved(program, **more)
        return str(caught.value.status), str(caught.value)

    return run


@pytest.mark.parametrize("source", ["-", "{instance}"])
@pytest.mark.parametrize("target", ["-", "{solution}"])
def test_ways_in_and_out(python, solved, source, target):
    outcome = solved(python(COPY, source, target))
    assert verify(table3(), outcome.solution) == 16_200_000
    assert outcome.bound is None
    assert set(outcome.details) == {"program_s", "exchange_s"}


def test_a_path_may_be_a_part_of_a_word(script, solved):
    """What it prints is no answer then."""
    program = Program.make(
        "mine",
        [
            script("mysched", f"echo chatter; echo '{ALONE}' > ${{2#--to=}}; test -s $1"),
            "{instance}",
            "--to={solution}",
        ],
    )
    assert verify(table3(), solved(program).solution) == 16_200_000


def test_the_family_writes_the_instance(script, solved, tmp_path):
    write_instance(table3(), tmp_path / "wanted.json")
    program = Program.make("mine", [script("mysched", f"cat > seen.json; echo '{ALONE}'")], folder=tmp_path)
    solved(program)
    assert (tmp_path / "seen.json").read_bytes() == (tmp_path / "wanted.json").read_bytes()


def test_nothing_is_waited_for_on_stdin_where_a_path_is_given(script, solved):
    program = Program.make("mine", [script("mysched", f"cat - $1 > /dev/null; echo '{ALONE}'"), "{instance}"])
    assert solved(program).solution is not None


def test_a_solution_that_is_there_already(solved, refused, tmp_path):
    (tmp_path / "plan.json").write_text(ALONE)
    program = parse_program("plan.json", Kind.SOLUTION, tmp_path)
    assert verify(table3(), solved(program).solution) == 16_200_000
    (tmp_path / "plan.json").unlink()
    reason = "its answer is no solution: plan.json cannot be read (No such file or directory)"
    assert refused(program) == ("invalid", reason)


def test_an_instance_is_one_file_however_large(script, terms, tmp_path):
    """12,000 jobs: elsewhere their columns are in a file beside, which nobody finds who reads from a pipe."""
    load_methods(["waiting"])
    family = find_family("waiting")
    instance = family.generators["mms"](jobs=12_000)
    given = tmp_path / "given.json"
    says = """echo '{"schema":"schedgap/answer/1","status":"no_solution"}'"""
    for words in ([], ["{instance}"]):
        program = Program.make("mine", [script("mysched", f"cat $1 > {given}; {says}"), *words])
        solve(program, family, instance, terms)
        assert family.read_instance(given).digest == instance.digest


@pytest.mark.parametrize("jobs", [10, 12_000])
def test_arrays_of_an_instance_are_where_the_command_wants_them(script, terms, tmp_path, jobs):
    load_methods(["waiting"])
    family = find_family("waiting")
    instance = family.generators["mms"](jobs=jobs)
    says = """echo '{"schema":"schedgap/answer/1","status":"no_solution"}'"""
    copied = f"cp $1 {tmp_path}/instance.json; cp $2 {tmp_path}/instance.arrays.npz; {says}"
    solve(Program.make("mine", [script("mysched", copied), "{instance}", "{arrays}"]), family, instance, terms)
    assert family.read_instance(tmp_path / "instance.json").digest == instance.digest


def test_large_arrays_are_beside_the_file(terms, script, tmp_path):
    """Of a plan made elsewhere, and of one that is written to a path; a program's own name of the file is its own affair."""
    load_methods(["harvest"])
    family = find_family("harvest")
    instance = small_instances("harvest")[0]
    solution = find_method("harvest", "oracle").run(instance).solution
    own = tmp_path / "plan.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solution_files.SOLUTION.parts[-1], "inline", 0)
        family.write_solution(instance, solution, own)
    assert (tmp_path / "plan.arrays.npz").exists()
    elsewhere = parse_program("plan.json", Kind.SOLUTION, tmp_path)
    copies = f"cp {own} $1; cp {tmp_path}/plan.arrays.npz $(dirname $1)"
    for program in (elsewhere, Program.make("mine", [script("mysched", copies), "{solution}"])):
        outcome = solve(program, family, instance, terms)
        assert family.verify(instance, outcome.solution) == family.verify(instance, solution)
    before = elsewhere.hash
    (tmp_path / "plan.arrays.npz").write_bytes(b"")
    assert elsewhere.hash != before
    with pytest.raises(ProgramFailure, match=r"plan.arrays.npz: no \.npz file of arrays"):
        solve(elsewhere, family, instance, terms)


def test_who_it_leaves_behind_is_not_waited_for(script, solved):
    """A child that holds the output: the program itself has ended."""
    program = Program.make("mine", [script("mysched", f"echo '{ALONE}'; sleep 20 &")])
    begun = time.monotonic()
    assert solved(program).solution is not None
    assert time.monotonic() - begun < 15


def test_output_that_is_closed_early_is_no_end(script, refused):
    """Nor is an answer one where the program fails afterwards."""
    program = Program.make("mine", [script("mysched", f"echo '{ALONE}'; exec >&-; sleep 0.1; exit 3")])
    assert refused(program) == ("crashed", "the program exited with code 3")


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("kill -ABRT $$", "crashed", "the program was ended by SIGABRT"),
        ("exit 3", "crashed", "the program exited with code 3"),
        (":", "invalid", "its answer is no solution: it is empty; print a solution, as docs/programs.md has it"),
        (
            "echo Solved: 3 machines",
            "invalid",
            "its answer is no solution: what it printed begins with 'Solved: 3 machines'; print "
            "nothing else on stdout but on stderr, or write the solution to the file {solution}",
        ),
    ],
)
def test_how_it_may_fail(script, refused, text, status, reason):
    assert refused(Program.make("mine", [script("mysched", text)])) == (status, reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rm $1", "cannot be read (No such file or directory)"),
        ("rm $1; mkdir $1", "answer.json is no file; write the solution there"),
        ("rm $1; mkfifo $1", "answer.json is no file; write the solution there"),
        ("rm $1; ln -s /dev/zero $1", "answer.json is no file; write the solution there"),
        ("rm $1; ln -s $1 $1", "cannot be read (Too many levels of symbolic links)"),
        ("truncate -s 1G $1", "it has 1024 MiB or more; up to 32 MiB are read, a sixteenth of the memory limit"),
        ("rm -r $(dirname $1)", "cannot be read (No such file or directory)"),
        (":", "it is empty"),
    ],
)
def test_what_is_no_file_of_a_solution(script, refused, text, reason):
    """Nobody waits for a pipe, and nobody reads a device."""
    program = Program.make("mine", [script("mysched", f"[ -e $1 ] || touch $1; {text}"), "{solution}"])
    status, said = refused(program)
    assert status == "invalid"
    assert reason in said


def test_a_link_to_a_solution_is_followed(script, solved):
    program = Program.make("mine", [script("mysched", f"echo '{ALONE}' > $1.own; ln -s $1.own $1"), "{solution}"])
    assert verify(table3(), solved(program).solution) == 16_200_000


def test_output_without_end_is_not_kept(script, refused):
    """64 KiB are read of a run with a limit of 1 MiB; it is ended at once."""
    program = Program.make("mine", [script("mysched", "exec cat /dev/zero")])
    status, reason = refused(program, memory_mib=1)
    assert status == "invalid"
    assert "MiB or more; up to 0.0625 MiB are read, a sixteenth of the memory limit" in reason


def test_the_longest_answer_that_is_read(script, refused):
    """Of 65,536 bytes, one of which is no JSON; with one more it is not looked at."""
    program = Program.make("mine", [script("mysched", "head -c 65536 /dev/zero")])
    assert "it printed begins with" in refused(program, memory_mib=1)[1]
    program = Program.make("mine", [script("mysched", "head -c 65537 /dev/zero")])
    assert "0.0625 MiB or more" in refused(program, memory_mib=1)[1]


def test_nothing_is_left_in_the_folder_for_temporary_files(python, script, solved, refused, tmp_path, monkeypatch):
    """Nor are open files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    solved(python(COPY, "{instance}", "{solution}"))
    own = script("mysched", "mkdir $(dirname $1)/d; echo x > $(dirname $1)/d/x; chmod 0 $(dirname $1)/d; exit 1")
    refused(Program.make("mine", [own, "{instance}"]))
    assert [path.name for path in tmp_path.iterdir()] == ["mysched"]
    assert len(os.listdir("/proc/self/fd")) == before


def test_preparing_leaves_nothing_but_the_checks_of_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    for document in (INSTANCE, SOLUTION):
        vars(document).pop("adapter", None)
    family = find_family("provisioning")
    for each in (family, replace(family, shrink=None)):
        prepare(each, table3())
    assert all("adapter" in vars(document) for document in (INSTANCE, SOLUTION))
    assert list(tmp_path.iterdir()) == []
    # Where nothing can be written, the run itself will say so.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    prepare(family, table3())
