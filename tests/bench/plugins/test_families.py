"""Families outside of the package: a file by `--family`, in a suite, imported before, or of an installed package."""

import importlib
import json
import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from outside import forgotten

from schedgap.bench import gap, run_suite
from schedgap.bench.plugins import discover
from schedgap.bench.plugins.discover import Home, home_of, load_families, load_family, load_homes
from schedgap.bench.plugins.files import family_hash
from schedgap.bench.records.journal import read_journal
from schedgap.instances.errors import InstanceError, MethodError
from schedgap.instances.family import FAMILIES

OWN = Path(__file__).with_name("partition.py")
MINE = """
import numpy as np
from partition import Partition
from schedgap.instances import method

@method("mine", family="partition")
def mine(instance):
    return Partition(np.zeros(instance.num_tasks, np.int64))
"""
SUITE = """
schema = "schedgap/suite/1"
name = "ends"
title = "Ends"
question = "How late?"
family = "partition"
families = ["partition.py"]
headline = "scores"
methods = ["longest-first", "bound-work"]

[[instances]]
generator = "uniform"
seeds = 2

[[reference]]
name = "somebody else"
measures = { ten_thousands = 12.5 }
"""


@pytest.fixture(autouse=True)
def _nothing_stays():
    with forgotten():
        yield
    discover.installed_families.cache_clear()


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The family's file in a folder of its own, beside a plug-in and a suite."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "ends.toml").write_text(SUITE)
    return Path(shutil.copy(OWN, tmp_path))


def test_from_an_instance_to_a_gap(file, schedgap):
    """Each command takes it; the plug-in's method, which is not trusted, says `from partition import Partition`."""
    given = ("--family", file)
    assert schedgap("generate", "partition", "uniform", "tasks=9", "--out", "a.json", *given)[0] == 0
    methods = ("--method", "longest-first", "--method", "mine", "--plugin", "mine.py")
    code, out, _ = schedgap("gap", "a.json", *methods, "--json", *given)
    runs = {each["method"]: each for each in json.loads(out)["results"]}
    assert (code, set(runs)) == (0, {"longest-first", "mine", "bound-work"})
    assert 0 <= runs["longest-first"]["gap"] < runs["mine"]["gap"]
    checks = json.loads(schedgap("check", "longest-first", *given, "--json")[1])["checks"]
    assert {each["result"] for each in checks} == {"passed", "skipped"}
    assert "Tasks to divide" in schedgap("list", "families", *given)[1]
    assert "longest-first" in schedgap("list", "methods", *given)[1]
    assert json.loads(schedgap("schema", "schedgap/partition/1", *given)[1])["title"] == "schedgap/partition/1"


def test_without_it_the_way_out_is_told(file, schedgap):
    with forgotten():
        assert schedgap("generate", "partition", "uniform", "--out", "a.json", "--family", file)[0] == 0
    code, _, err = schedgap("gap", "a.json", "--method", "longest-first")
    assert (code, "its schema is 'schedgap/partition/1'" in err, "--family FILE.py brings others" in err) == (
        2,
        True,
        True,
    )
    code, _, err = schedgap("generate", "partition", "uniform", "--out", "b.json")
    assert (code, "there is no family 'partition'" in err) == (2, True)


def test_a_suite_brings_its_family(file, schedgap):
    """Its table: our scores, those of others, and the ceiling, which no score passes."""
    code, out, _ = schedgap("run", "ends.toml", "--json")
    rows = {row["method"]: row["scores"] for row in json.loads(out)["table"]}
    assert code == 0
    assert list(rows) == ["longest-first", "bound-work", "somebody else", "proven ceiling"]
    assert rows["bound-work"] == {}
    assert rows["somebody else"] == {"ten_thousands": 12.5}
    assert rows["longest-first"]["ten_thousands"] < rows["proven ceiling"]["ten_thousands"]
    assert schedgap("report", "runs/ends", "--html", "page.html")[0] == 0
    assert "proven ceiling" in Path("page.html").read_text()


def test_results_alone_import_nothing(file, schedgap):
    """Whoever reads a folder of results trusts no code that it names."""
    with forgotten():
        assert schedgap("run", "ends.toml")[0] == 0
    code, _, err = schedgap("report", "runs/ends")
    assert (code, "there is no family 'partition'" in err, "partition" in FAMILIES) == (2, True, False)
    assert schedgap("report", "runs/ends", "--family", file)[0] == 0


def test_its_code_is_in_every_key(file):
    keys = {}
    for text in (file.read_text(), file.read_text() + "\n# Another comment.\n"):
        file.write_text(text)
        with forgotten():
            run_suite("ends.toml", plugins=["mine.py"], out="runs/both")
            keys[text] = set(read_journal(Path("runs/both")))
    first, both = keys.values()
    assert (len(first), len(both)) == (4, 8)


def test_an_edit_meanwhile_is_told(file):
    load_family(file)
    home = home_of("partition")
    assert home == Home("partition", "partition", str(file), family_hash("partition"))
    with forgotten():
        load_homes([home])
        assert "partition" in FAMILIES
    file.write_text(file.read_text() + "\n# Changed.\n")
    with forgotten(), pytest.raises(InstanceError, match=r"partition.py was changed meanwhile; run again"):
        load_homes([home])


def test_imported_by_the_user(file, monkeypatch):
    """No option is needed where the module is there: a class is known by what is registered, not by its module's name."""
    monkeypatch.syspath_prepend(file.parent)
    own = importlib.import_module("partition")
    found = gap(own.uniform(seed=3), ["longest-first", lambda instance: own.Partition([0] * instance.num_tasks)])
    assert [record.status for record in found.records] == ["feasible", "feasible", "no_solution"]
    assert found.records[0].measurement.objective < found.records[1].measurement.objective


def test_of_an_installed_package(file, monkeypatch):
    monkeypatch.syspath_prepend(file.parent)
    point = EntryPoint("partition", "partition", discover.FAMILIES_GROUP)
    monkeypatch.setattr(discover, "installed_families", lambda: (point,))
    load_families()
    assert home_of("partition") == "partition"
    other = EntryPoint("knitting", "partition", discover.FAMILIES_GROUP)
    monkeypatch.setattr(discover, "installed_families", lambda: (other,))
    with pytest.raises(InstanceError, match="partition registers no family 'knitting'; name the entry point as"):
        load_families()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gone.py", None, "gone.py is no Python file"),
        ("notes.txt", "", "notes.txt is no Python file"),
        ("empty.py", "a = 1\n", r"empty.py registers 0 families \(none\)"),
        ("broken.py", "a = 1\nb = a / 0\n", "broken.py line 2 cannot be imported: ZeroDivisionError"),
        ("random.py", "a = 1\n", "there is another module 'random'"),
    ],
)
def test_what_is_none(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(InstanceError, match=message):
        load_family(tmp_path / name)


def test_one_that_no_other_process_finds(monkeypatch, file):
    load_family(file)
    monkeypatch.setattr(FAMILIES["partition"].instance, "__module__", "__main__")
    with pytest.raises(
        InstanceError, match="family partition is defined in __main__, which other processes cannot import"
    ):
        home_of("partition")


def test_a_plug_in_brings_no_family(file):
    """What registers one belongs to `--family`: a plug-in's code never reaches the judge."""
    load_family(file)
    (file.parent / "other.py").write_text(MINE.replace('family="partition"', 'family="knitting"'))
    with pytest.raises(MethodError, match="registers method mine of another family: there is no family 'knitting'"):
        gap(sys.modules["partition"].uniform(), "mine", plugins=["other.py"])
