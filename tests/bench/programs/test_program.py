"""What a program is: how it is named and found, and what makes it another program."""

import os
import sys
from pathlib import Path

import pytest

from schedgap.bench.programs.program import Kind, Program, files_among, parse_program, programs_among, resolved
from schedgap.instances.errors import MethodError


@pytest.fixture
def folder(script, tmp_path):
    """An executable with a file beside it, and one that is not executable."""
    script("mysched", "cat")
    (tmp_path / "weights.json").write_text("{}")
    (tmp_path / "plain.txt").write_text("x")
    return tmp_path


def test_a_command_is_split_as_by_a_shell(folder):
    program = Program.make("mine", "./mysched --name 'a b' {instance}", folder=folder)
    assert program.command == (str(folder / "mysched"), "--name", "a b", "{instance}")
    assert program.folder == str(folder)
    assert (program.kind, program.stochastic, program.depends) == (Kind.METHOD, False, ())


def test_words_are_taken_as_they_are(folder):
    program = Program.make("mine", [folder / "mysched", "a b", 3], depends=["weights.json"], folder=folder)
    assert program.command == (str(folder / "mysched"), "a b", "3")
    assert program.depends == (str(folder / "weights.json"),)


def test_a_bare_word_is_looked_for_on_the_path(folder, monkeypatch):
    """As a shell does it: a file of that name in the folder is not meant."""
    monkeypatch.setenv("PATH", os.defpath)
    assert Program.make("mine", "cat x", folder=folder).command == ("/bin/cat", "x") or Path("/usr/bin/cat").exists()
    with pytest.raises(MethodError, match=r"there is no command 'mysched' on the PATH; .* such as ./mysched\.$"):
        Program.make("mine", "mysched", folder=folder)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("Mine", {}, "program 'Mine': a name is kebab-case, such as first-fit; give NAME=COMMAND."),
        ("", {}, "program '': a name is kebab-case"),
        (
            "mine",
            {"command": "a 'b"},
            r"program mine: 'a 'b' is no command \(No closing quotation\); mend its quotes\.",
        ),
        ("mine", {"command": " "}, "program mine: its command is empty; give NAME=COMMAND."),
        ("mine", {"command": "''"}, "program mine: its command is empty; give NAME=COMMAND."),
        ("mine", {"command": []}, "program mine: its command is empty"),
        ("mine", {"command": "./none"}, "program mine: there is no file .*/none; give its path from /"),
        (
            "mine",
            {"command": "./plain.txt"},
            r"plain.txt is not executable; chmod \+x it, or put its interpreter before",
        ),
        (
            "mine",
            {"command": "./mysched", "depends": ["none.json"]},
            "there is no file .*/none.json; give its path from",
        ),
        ("mine", {"command": "none.json", "kind": "solution"}, "there is no file .*/none.json"),
        ("mine", {"command": "./mysched", "kind": "script"}, "no kind 'script'; give method, policy, solution"),
        ("mine", {"command": "cat", "folder": "/nowhere"}, "program mine: there is no folder /nowhere; give the one"),
    ],
)
def test_mistakes_are_refused_before_anything_runs(folder, name, given, message):
    with pytest.raises(MethodError, match=message):
        Program.make(name, **{"command": "./mysched", "folder": folder, **given})


def test_text_of_the_command_line(folder):
    program = parse_program("mine=./mysched --fast 'a b'", Kind.POLICY, folder)
    assert (program.name, program.kind) == ("mine", Kind.POLICY)
    assert program.option == "policy"
    assert program.text == f"mine={folder}/mysched --fast 'a b'"
    assert parse_program(program.text, Kind.POLICY) == Program.make(
        "mine", [folder / "mysched", "--fast", "a b"], kind="policy"
    )


def test_a_name_is_asked_for():
    with pytest.raises(MethodError, match=r"'./mysched' names no program; give NAME=COMMAND, such as 'mine=./mysched"):
        parse_program("./mysched", Kind.METHOD)


@pytest.mark.parametrize(
    ("text", "name", "file"),
    [
        ("plan.json", "plan", "plan.json"),
        ("best=plan.json", "best", "plan.json"),
        ("./a=b/My Plan_2.json", "my-plan-2", "a=b/My Plan_2.json"),
        ("sub/___.json", "solution", "sub/___.json"),
    ],
)
def test_a_solution_may_go_without_a_name(tmp_path, text, name, file):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("{}")
    program = parse_program(text, Kind.SOLUTION, tmp_path)
    assert (program.name, program.kind, program.option) == (name, Kind.SOLUTION, "solution")
    assert program.command == (str(tmp_path / file),)


def test_the_hash_is_of_the_command_and_all_files_that_it_names(folder):
    def hashed(command="./mysched weights.json --fast", **more):
        return Program.make("mine", command, folder=folder, **more).hash

    first = hashed()
    assert hashed() == first
    seen = {first, hashed("./mysched weights.json"), hashed(kind="policy"), hashed(depends=["plain.txt"])}
    (folder / "plain.txt").write_text("edited")
    assert hashed() == first
    seen.add(hashed(depends=["plain.txt"]))
    (folder / "weights.json").write_text("edited")
    seen.add(hashed())
    (folder / "mysched").write_text("#!/bin/sh\necho\n")
    seen.add(hashed())
    assert len(seen) == 7


def test_an_interpreter_is_part_of_a_program_and_so_is_its_script(folder):
    program = Program.make("mine", [sys.executable, "plain.txt"], folder=folder)
    before = program.hash
    (folder / "plain.txt").write_text("edited")
    assert program.hash != before


def test_a_program_that_was_moved_is_the_same(folder, tmp_path_factory):
    before = Program.make("mine", "./mysched weights.json", folder=folder).hash
    moved = folder.rename(tmp_path_factory.mktemp("other") / "place")
    assert Program.make("mine", "./mysched weights.json", folder=moved).hash == before


def test_a_solution_is_what_the_file_holds(tmp_path):
    for name, content in (("a.json", "{}"), ("b.json", "{}"), ("c.json", "[]")):
        (tmp_path / name).write_text(content)
    a, b, c = (parse_program(f"{name}.json", Kind.SOLUTION, tmp_path).hash for name in "abc")
    assert a == b != c


def test_a_file_that_is_gone_has_no_hash(folder):
    program = Program.make("mine", "./mysched", depends=["plain.txt"], folder=folder)
    (folder / "plain.txt").unlink()
    with pytest.raises(
        MethodError, match=r"program mine: .*/plain.txt cannot be read \(No such file or directory\)\.$"
    ):
        _ = program.hash


def test_as_a_method(folder):
    """Nothing in the harness calls it; a policy and a solution have no time limit to keep to as a whole."""
    kinds = {kind: Program.make("mine", "./mysched", kind=kind, folder=folder).as_method("sharing") for kind in Kind}
    assert [kinds[kind].takes_limit for kind in Kind] == [True, False, False]
    method = Program.make("mine", "./mysched -x", stochastic=True, folder=folder).as_method("sharing")
    assert (method.name, method.family, method.stochastic, method.is_shipped) == ("mine", "sharing", True, False)
    assert (method.bounds, method.exact, method.supports(None)) == (False, False, None)
    assert method.summary == f"method: {folder}/mysched -x"
    with pytest.raises(MethodError, match="has no parameter 'x'"):
        method.checked({"x": 1})


def test_among_plug_ins(folder):
    program = Program.make("mine", "./mysched", folder=folder)
    found = resolved(["a.py", program, folder / "b.py"])
    assert found == (str(Path("a.py").resolve()), program, str(folder / "b.py"))
    assert programs_among(found) == [program]
    assert files_among(found) == (str(Path("a.py").resolve()), str(folder / "b.py"))
    with pytest.raises(MethodError, match="two programs are called mine; give them different names"):
        resolved([program, "a.py", Program.make("mine", "./mysched --fast", folder=folder)])
