"""What a program declares, and programs with other values."""

import pytest

from schedgap.bench.search.program import read_program
from schedgap.instances.errors import MethodError

FIRST = {"weight": 0.5, "tries": 3, "wait_s": 2.0, "ties": "first", "score": "size / price"}


def test_what_is_declared(program):
    declared = read_program(program)
    assert (declared.name, declared.first) == ("candidate", FIRST)
    assert declared.space["score"] == {"size", "price"}
    assert declared.label({"weight": 0.25}) == "candidate[weight=0.25]"


def test_values_are_written_where_they_stand(program):
    """Bytes are counted, not letters: a comment in any script shifts nothing."""
    declared = read_program(program)
    assert declared.written(FIRST) == declared.text.replace(
        '"first", score="size / price"', "'first', score='size / price'"
    )
    text = declared.written({"weight": 0.125, "tries": 10, "wait_s": 1e-05, "ties": "last", "score": "size"})
    assert (
        "weight: float = 0.125, tries: int = 10, *, wait_s: float = 1e-05, ties='last', score='size', rest=7):" in text
    )
    assert text.startswith('"""Grüße."""')


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SEARCH = {", "OTHER = {", "declares nothing to search for; add SEARCH ="),
        (
            '"weight": (0.0, 1.0)',
            '"wait": (0.0, 1.0)',
            "SEARCH names 'wait', which is no parameter of candidate; it has: weight",
        ),
        ("(0.0, 1.0)", "(0.6, 1.0)", "parameter 'weight' is 0.5, and SEARCH gives (0.6, 1.0); start within"),
        ("(0.0, 1.0)", "(1.0, 0.0)", "give (least, most), a list of choices, or a set of features"),
        ("(0.0, 1.0)", "(0, 1)", "is 0.5, and SEARCH gives (0, 1); write all whole, or all with a point"),
        ("(0.0, 1.0)", "1.0", "SEARCH gives 1.0; give (least, most)"),
        ("(0.0, 1.0)", "(0.0, max(1, 2))", "SEARCH is no plain dictionary; write values, not computations"),
        ('["first", "last"]', '["best", "last"]', "is 'first', which is none of ['best', 'last']"),
        ('{"size", "price"}', '{"size", "cost"}', "'price' in 'size / price' is not allowed; use cost, size"),
        ("float = 0.5", "float = 1 / 2", "the default of 'weight' is no plain value"),
        ("@method", "@other", "has 0 functions under @method or @policy"),
        ("return weight", "return (", "not Python"),
    ],
)
def test_mistakes(program, old, new, message):
    program.write_text(program.read_text().replace(old, new, 1))
    with pytest.raises(MethodError) as raised:
        read_program(program)
    assert message in str(raised.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(MethodError, match=r"none\.py cannot be read \(No such file or directory\); give a Python file"):
        read_program(tmp_path / "none.py")
