"""What a plug-in is made of, by its files alone; and that an edited one is measured anew."""

import json
import sys

import pytest
from msgspec.structs import replace

from schedgap.bench import run_suite
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.plugins.files import plugin_hash
from schedgap.bench.programs.program import Program
from schedgap.bench.records.journal import read_journal
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, Method
from schedgap.instances.provisioning import table7, write_instance

MINE = """
import numpy as np
from {beside} import {name}
from schedgap.instances.method import method
from schedgap.instances.provisioning import Provisioning

@method("x-edited", family="provisioning")
def edited(instance):
    tasks = np.arange(instance.num_tasks)
    return Provisioning.from_tasks(instance, instance.reservation_type[instance.task_classes()], tasks)
"""


@pytest.fixture
def folder(tmp_path):
    """A plug-in of several files, all of which it imports, one way or another, and others that it does not."""
    (tmp_path / "package" / "below").mkdir(parents=True)
    texts = {
        "mine.py": "import first\nimport numpy, package.below.deep\n",
        "first.py": "import importlib\n\ndef late():\n    import second\n    importlib.import_module('third')\n",
        "second.py": "import first\nraise SystemExit('nobody may execute this')\n",
        "third.py": "= no Python\n",
        "package/__init__.py": "from . import sibling\n",
        "package/sibling.py": "from .below import *\nfrom ....... import beyond\n",
        "package/below/__init__.py": "",
        "package/below/deep.py": "from ..cousin import x\n",
        "package/cousin.py": "x = 1\n",
        "package/stranger.py": "x = 1\n",
        "fourth.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def named(module):
    """A method whose function says that it is of this module."""

    def func(instance):
        return None

    return Method("x", "provisioning", 1, func, {}, lambda _: None, False, False, False, "", module=module)


@pytest.fixture
def loaded(folder, monkeypatch):
    """A method of `mine.py`, as if that had been loaded."""
    module = type(sys)("schedgap_plugin_mine")
    module.__file__ = str(folder / "mine.py")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return named(module.__name__)


@pytest.mark.parametrize(
    "name",
    [
        "mine.py",
        "first.py",
        "second.py",
        "third.py",
        "package/__init__.py",
        "package/sibling.py",
        "package/below/__init__.py",
        "package/below/deep.py",
        "package/cousin.py",
    ],
)
def test_what_is_imported_counts(folder, loaded, name):
    before = plugin_hash(loaded, [folder / "mine.py"])
    assert before == plugin_hash(loaded, [folder / "mine.py"])
    (folder / name).write_text((folder / name).read_text() + "# edited\n")
    assert plugin_hash(loaded, [folder / "mine.py"]) != before
    assert not {"first", "second", "third", "package"} & sys.modules.keys()


def test_what_is_not_imported_does_not(folder, loaded):
    before = plugin_hash(loaded, [folder / "mine.py"])
    for name in ("fourth.py", "package/stranger.py", "data.json"):
        (folder / name).write_text("edited")
    assert plugin_hash(loaded, [folder / "fourth.py", folder / "mine.py"]) == before


def test_a_plug_in_that_was_moved_is_the_same(folder, loaded, tmp_path_factory):
    before = plugin_hash(loaded, [folder / "mine.py"])
    moved = folder.rename(tmp_path_factory.mktemp("other") / "place")
    sys.modules["schedgap_plugin_mine"].__file__ = str(moved / "mine.py")
    assert plugin_hash(loaded, [moved / "mine.py"]) == before


def test_a_method_that_a_module_beside_registers(folder, monkeypatch):
    """It is of the plug-in that imports the module, and of no other."""
    module = type(sys)("second")
    module.__file__ = str(folder / "second.py")
    monkeypatch.setitem(sys.modules, "second", module)
    plugins = [folder / "mine.py", folder / "fourth.py"]
    before = plugin_hash(named("second"), plugins)
    (folder / "fourth.py").write_text("edited")
    assert plugin_hash(named("second"), plugins) == before
    (folder / "mine.py").write_text("import second, numpy")
    assert plugin_hash(named("second"), plugins) != before


def test_an_installed_package_goes_by_version_and_files(folder, monkeypatch):
    module = type(sys)("package.below.deep")
    module.__file__ = str(folder / "package/below/deep.py")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    method, versions = named(module.__name__), ["package 1"]
    monkeypatch.setattr("schedgap.bench.plugins.files._versions", lambda top: versions if top == "package" else [])
    seen = {plugin_hash(method, [])}
    (folder / "package/stranger.py").write_text("edited")
    (folder / "first.py").write_text("edited")
    assert plugin_hash(method, []) in seen
    for name in ("package/cousin.py", "package/__init__.py", "package/below/deep.py"):
        (folder / name).write_text((folder / name).read_text() + "# edited")
        seen.add(plugin_hash(method, []))
    versions[:] = ["package 2"]
    seen.add(plugin_hash(method, []))
    assert len(seen) == 5


def test_ours_have_none():
    load_methods(["provisioning"])
    assert plugin_hash(REGISTRY["provisioning", "no-packing"], ["anything.py"]) is None


@pytest.fixture
def edited(tmp_path, write_suite):
    """The plug-in `mine.py`, which imports `x_beside.py`, and a suite with its method and one of ours."""

    def write(text):
        (tmp_path / "x_beside.py").write_text(text)

    write("LUCK = 1\n")
    path = tmp_path / "mine.py"
    path.write_text(MINE.format(beside="x_beside", name="LUCK"))
    yield write, path, write_suite(["x-edited", "no-packing"])
    REGISTRY.pop(("provisioning", "x-edited"), None)
    sys.modules.pop("x_beside", None)
    if str(tmp_path) in sys.path:
        sys.path.remove(str(tmp_path))


def test_an_edited_plug_in_is_measured_anew(tmp_path, edited, schedgap):
    """What it imports was edited: its runs are done again, ours are not, and the old rows stay and are told of."""
    write, path, suite = edited
    command = ("run", suite, "--plugin", path, "--out", tmp_path / "out", "--jobs", 1, "--json")
    told = []
    for text in ("LUCK = 1\n", "LUCK = 1\n", "LUCK = 2\n", "LUCK = 2\n"):
        write(text)
        code, out, err = schedgap(*command)
        told.append((code, json.loads(out)["measured_now"], json.loads(out)["notes"], err))
    note = "1 rows are from before mine.py was changed; they are not used."
    assert told == [(0, 2, [], ""), (0, 0, [], ""), (0, 1, [note], f"{note}\n"), (0, 0, [], "")]
    rows = list(read_journal(tmp_path / "out").values())
    assert [record.run.method for record in rows].count("x-edited") == 2
    # Back again: the first row is of this very code.
    write("LUCK = 1\n")
    assert json.loads(schedgap(*command)[1])["measured_now"] == 0


@pytest.mark.parametrize("command", ["run", "gap"])
def test_a_plug_in_that_is_edited_while_it_runs(tmp_path, edited, schedgap, command):
    """Nobody knows which state ran: the row is not written, those before it stay."""
    _, path, suite = edited
    edit = f"if 's1' in instance.name: open({str(tmp_path / 'x_beside.py')!r}, 'w').write('LUCK = 2')\n    tasks ="
    path.write_text(path.read_text().replace("tasks =", edit))
    suite.write_text(suite.read_text().replace("seeds = 1", "seeds = 2").replace(', "no-packing"', ""))
    write_instance(table7(6, seed=1), tmp_path / "i-s1.json")
    asked = {
        "run": ("run", suite, "--out", tmp_path / "out"),
        "gap": ("gap", tmp_path / "i-s1.json", "--method", "x-edited", "--bound", "patterns"),
    }[command]
    code, _, err = schedgap(*asked, "--plugin", path, "--jobs", 1, "--json")
    assert (code, err) == (
        2,
        "MethodError: mine.py was changed meanwhile; run again. What was recorded before stays.\n",
    )
    if command == "run":
        assert [row.run.instance[-2:] for row in read_journal(tmp_path / "out").values()] == ["s0"]
    # A file that looks otherwise and holds the same is not edited.
    assert schedgap(*asked, "--plugin", path, "--jobs", 1, "--json")[0] == 0


def test_rows_that_do_not_say_which_plug_in(tmp_path, edited):
    """Those of versions that did not ask; which code they are of, nobody knows."""
    _, path, suite = edited
    result = run_suite(suite, out=tmp_path / "out", plugins=[path], jobs=1)
    old = [replace(record, run=replace(record.run, plugin=None)) for record in result.records]
    rows = [replace(record, key=record.run.key).to_row() for record in old]
    (tmp_path / "out" / "journal.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = run_suite(suite, out=tmp_path / "out", plugins=[path], jobs=1)
    assert again.measured_now == 1
    assert again.notes == ("1 rows do not say of which state of mine.py they are; they are not used.",)


def test_fresh(tmp_path, edited, schedgap):
    """All is done again; the old rows stay in the file, and the new ones count."""
    _, path, suite = edited
    command = ("run", suite, "--plugin", path, "--out", tmp_path / "out", "--jobs", 1, "--json")
    assert schedgap(*command)[0] == 0
    before = read_journal(tmp_path / "out")
    lines = (tmp_path / "out" / "journal.jsonl").read_bytes()
    assert json.loads(schedgap(*command, "--fresh")[1])["measured_now"] == 2
    after = read_journal(tmp_path / "out")
    assert (tmp_path / "out" / "journal.jsonl").read_bytes().startswith(lines)
    assert after.keys() == before.keys()
    assert all(after[key].ended_at > before[key].ended_at for key in after)


def test_a_program_goes_by_its_own_files(alone):
    """And not by those of plug-ins beside it; a plug-in's method of another module is none of a program."""
    program = Program.make("mine", alone)
    method = program.as_method("provisioning")
    assert plugin_hash(method, ["anything.py", program]) == program.hash
    assert plugin_hash(named("schedgap_plugin_mine"), [program]) != program.hash


@pytest.mark.parametrize("edited_file", ["alone.py", "weights.json"])
def test_an_edited_program_is_measured_anew(tmp_path, alone, write_suite, edited_file):
    """The executable, or a file that it depends on; the old rows stay, are told of, and count again when all is as it was."""
    (tmp_path / "weights.json").write_text("[]")
    suite = write_suite(["no-packing"], seeds=2)
    told, path = [], tmp_path / edited_file
    before = path.read_text()
    for text in (before, before, f"{before} ", f"{before} ", before):
        path.write_text(text)
        program = Program.make("mine", alone, depends=["weights.json"], folder=tmp_path)
        result = run_suite(suite, out=tmp_path / "out", plugins=[program], jobs=1)
        told.append((result.measured_now, result.failed, result.notes))
    note = "2 rows are from before mine was changed; they are not used."
    assert told == [(4, 0, ()), (0, 0, ()), (2, 0, (note,)), (0, 0, ()), (0, 0, ())]
    rows = read_journal(tmp_path / "out").values()
    assert len({row.run.plugin for row in rows if row.run.method == "mine"}) == 2


def test_a_program_that_is_edited_while_it_runs(tmp_path, alone, write_suite):
    alone.write_text(alone.read_text() + "open(__file__, 'a').write('#')\n")
    with pytest.raises(MethodError, match=r"^mine was changed meanwhile; run again\."):
        run_suite(write_suite(["mine"]), out=tmp_path / "out", plugins=[Program.make("mine", alone)], jobs=1)


def test_another_command_is_another_program(tmp_path, alone, write_suite):
    suite = write_suite(["no-packing"])
    for words in ([alone], [alone, "--fast"]):
        result = run_suite(suite, out=tmp_path / "out", plugins=[Program.make("mine", words)], jobs=1)
    assert result.measured_now == 1
    assert result.notes == ("1 rows are from before mine was changed; they are not used.",)


def test_a_program_that_is_compiled_into_another_folder(tmp_path, alone, write_suite):
    """Its name and its content are the same: nothing is done again."""
    suite = write_suite(["no-packing"])
    run_suite(suite, out=tmp_path / "out", plugins=[Program.make("mine", alone)], jobs=1)
    (tmp_path / "elsewhere").mkdir()
    moved = alone.rename(tmp_path / "elsewhere" / alone.name)
    assert run_suite(suite, out=tmp_path / "out", plugins=[Program.make("mine", moved)], jobs=1).measured_now == 0
