"""Rows of a CSV file, and what is said of malformed ones."""

import gzip

import pytest

from schedgap.instances.csv_table import LARGEST, exact_units, read_rows, whole_number
from schedgap.instances.errors import InstanceError


@pytest.fixture
def table(tmp_path):
    def table(text, columns=("a", "b")):
        path = tmp_path / "t.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return list(read_rows(path, columns, "list of things"))

    return table


def test_rows_with_their_lines(table):
    """A byte-order mark, other columns and empty lines do not matter; quoted line ends count as lines."""
    assert table("a,b,,\n1,2,,\n") == [(2, {"a": "1", "b": "2", "": ""})]
    assert table('\ufeffa,c,b\n1,x,2\n\n3,"y\nz",4\n5,,6\n') == [
        (2, {"a": "1", "c": "x", "b": "2"}),
        (5, {"a": "3", "c": "y\nz", "b": "4"}),
        (6, {"a": "5", "c": "", "b": "6"}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,c\n1,2\n", "t.csv line 1: no column 'b'; a list of things has a, b"),
        ("", "t.csv line 1: no column 'a'"),
        ("a,b,a\n", "t.csv line 1: column 'a' is there twice; remove one"),
        ("\na,b,c,c\n", "t.csv line 2: column 'c' is there twice; remove one"),
        ("a,b\n1,2\n3\n", "t.csv line 3: 1 fields, the header has 2; the file is truncated or malformed there"),
        (b"a,b\n\xff,1\n", "t.csv: cannot be read as a UTF-8 CSV file .*; give the list of things of the trace"),
    ],
)
def test_malformed_tables(table, text, message):
    with pytest.raises(InstanceError, match=message):
        table(text)


def test_a_table_that_is_not_there(tmp_path):
    with pytest.raises(InstanceError, match=r"no.csv: cannot be read \(No such file or directory\); give the list"):
        list(read_rows(tmp_path / "no.csv", ("a",), "list of things"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "t.csv line 7: a is 'x', not a whole number; mend or remove the line"),
        ("1.5", "a is '1.5', not a whole number"),
        ("1_0", "a is '1_0', not a whole number"),
        ("\u0663", "a is '\u0663', not a whole number"),
        ("9" * 5000, "a is '9+', not a whole number"),
        ("-1", "a is -1; it must not be negative"),
        (str(LARGEST + 1), "it must be at most 1125899906842624"),
    ],
)
def test_numbers_that_are_none(tmp_path, text, message):
    assert whole_number(tmp_path / "t.csv", 7, "a", f" +{LARGEST} ") == LARGEST
    with pytest.raises(InstanceError, match=message):
        whole_number(tmp_path / "t.csv", 7, "a", text)


def test_packed_tables_and_other_separators(tmp_path):
    """With any separator but a comma, quotation marks are characters."""
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b'a|b\n"1|2"\n'))
    assert list(read_rows(path, ("a",), "list of things", separator="|")) == [(2, {"a": '"1', "b": '2"'})]
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InstanceError, match=r"t.csv.gz: cannot be read \(.*\); give the list of things"):
        list(read_rows(path, ("a",), "list of things", separator="|"))


@pytest.mark.parametrize("text", ["", "-1", "1e3", ".5", "1,5", "0.0001", "inf", "1" * 17, str(LARGEST)])
def test_amounts_that_are_none(tmp_path, text):
    assert exact_units(tmp_path / "t.csv", 7, "a", "2.125", 1000) == 2125
    with pytest.raises(InstanceError, match=r"t.csv line 7: a is "):
        exact_units(tmp_path / "t.csv", 7, "a", text, 1000)
