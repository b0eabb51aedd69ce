"""Public sets of instances: listed in a table, read from what `--trace` gives."""

import zipfile

import pytest

from schedgap.bench.plan import plan_suite
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.suites.shipped import shipped_suites
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import SuiteError

SUITE = """
schema = "schedgap/suite/1"
name = "s"
title = ""
question = ""
family = "provisioning"
headline = "closed"
methods = ["no-packing"]

[[collection]]
importer = "vbp"
table = "set.csv"
where = { status = ["open", "known"] }
origin = "the set of nobody"
"""
TABLE = """name,group,file,status,lower,upper,optimum
A_1,"A, 2 items",a/1.vbp,open,1,2,
B_1,B,b/1.vbp,other,1,1,1
B_2,B,b/2.vbp,known,2,2,2
"""
FILES = {"a/1.vbp": "1\n10\n2\n6 1\n5 1\n", "b/2.vbp": "2\n10 5\n2\n6 1 1\n5 1 1\n"}


@pytest.fixture
def suite(tmp_path):
    load_families()

    def suite(text=SUITE, table=TABLE):
        (tmp_path / "s.toml").write_text(text)
        (tmp_path / "set.csv").write_text(table)
        return read_suite(tmp_path / "s.toml")

    return suite


@pytest.fixture
def archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as packed:
        for name, text in FILES.items():
            packed.writestr(name, text)
    return tmp_path / "set.zip"


def test_rows_become_runs(suite, archive):
    read, folder = suite()
    plan = plan_suite(read, folder, trace=archive)
    assert [(run.instance, run.group) for run in plan.runs.values()] == [("A_1", "A, 2 items"), ("B_2", "B")]
    assert [run.source["member"] for run in plan.runs.values()] == ["a/1.vbp", "b/2.vbp"]
    a, b = (read.published[key] for key in (("A, 2 items", "A_1"), ("B", "B_2")))
    assert (a.lower, a.upper, a.optimum) == (1, 2, None)
    assert (a.is_closed, b.is_closed) == (False, True)


def test_what_is_listed_goes_with_the_suite(suite):
    """The plan in a directory of results needs no table."""
    read, _ = suite()
    again = type(read).model_validate(read.model_dump(mode="json", by_alias=True, exclude_none=True))
    assert again.published == read.published


def test_without_the_files_it_is_said_where_to_get_them(suite):
    with pytest.raises(SuiteError, match=r"public files that are not shipped; give --trace: the set of nobody\."):
        plan_suite(*suite())


def test_a_file_that_is_not_there(suite, archive):
    read, folder = suite(table=TABLE.replace("b/2.vbp", "b/3.vbp"))
    with pytest.raises(SuiteError, match=r"no member 'b/3\.vbp' among 2"):
        plan_suite(read, folder, trace=archive)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": SUITE.replace("set.csv", "none.csv")}, "cannot be read as a CSV table"),
        (
            {"text": SUITE.replace("status =", "state =")},
            "no column 'state', which 'where' asks for; it has name, group",
        ),
        ({"text": SUITE.replace('["open", "known"]', '["none"]')}, "give 'listed', or a 'table' of which some rows"),
        ({"text": SUITE.replace("origin", "from")}, "collection.0.from: unknown field"),
        ({"text": SUITE.split("[[")[0]}, "there are no instances; give 'instances' or a 'collection'"),
        ({"table": TABLE.replace("open,1,", "open,one,")}, "A_1: a published figure is no number"),
        ({"table": TABLE.replace("group", "class")}, "unknown field"),
        (
            {"table": TABLE.replace('A_1,"A, 2 items"', "B_2,B")},
            r"two instances of group 'B' are named 'B_2', a/1\.vbp and b/2\.vbp; rename one, or give them groups",
        ),
    ],
)
def test_what_is_wrong_with_a_collection(suite, changes, said):
    with pytest.raises(SuiteError, match=said):
        suite(**changes)


@pytest.mark.parametrize("name", ["vectorpack-known", "vectorpack-open", "bpplib"])
def test_shipped_collections(name):
    """Names and files are unique, brackets are brackets, and only what is closed has an optimum."""
    suite, _ = read_suite(name)
    listed = [each for collection in suite.collection for each in collection.listed]
    assert len(suite.published) == len({each.file for each in listed}) == len(listed)
    assert all(each.lower <= each.upper for each in listed)
    assert all(each.is_closed == (each.status != "open") for each in listed)
    assert name in shipped_suites()
    number = {"vectorpack-known": 521, "vectorpack-open": 267, "bpplib": 129}[name]
    assert len(suite.blocks) == number
