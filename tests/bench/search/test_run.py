"""A search finds what its judge likes, and goes on where it was stopped as if it never had been."""

import json

import pytest

from schedgap.bench.search.figure import search_svg
from schedgap.bench.search.program import read_program
from schedgap.bench.search.run import BEST, JOURNAL, local_search
from schedgap.bench.testing.evaluator import Evaluation
from schedgap.instances.errors import JournalError

HOW = {"suite": "any", "evaluations": 80, "seed": 1}


def found_by(program, judges, out, **how):
    told = []
    found = local_search(program, judges, out, **{**HOW, **how}, told=lambda one, best: told.append((one.number, best)))
    return found, told


def test_what_is_found(program, tmp_path, judge):
    judges = {"train": judge(), "validation": judge(0.1), "test": judge()}
    found, told = found_by(program, judges, tmp_path / "out")
    assert [one.number for one in found.tried] == [number for number, _ in told] == list(range(80))
    best = max(found.tried, key=lambda one: one.score)
    assert [number for number, is_best in told if is_best][-1] == best.number
    assert (best.parameters["tries"], best.parameters["ties"]) == (9, "last")
    # Of the best five on train the one that is best on validation.
    assert (judges["train"].calls, judges["validation"].calls, judges["test"].calls) == (80, 6, 2)
    assert found.best in sorted(found.tried, key=lambda one: -one.score)[:5]
    assert found.scores["test"] == (found.tried[0].score, found.best.score)
    assert read_program(tmp_path / "out" / BEST).first == found.best.parameters
    assert len({json.dumps(one.parameters) for one in found.tried}) == 80
    assert b"best so far" in search_svg(found, "mine")


def test_what_was_there_may_be_the_best(program, tmp_path, judge):
    """Where validation likes what train does not."""
    first = read_program(program).first

    def opposed(path):
        return Evaluation(float(read_program(path).first == first), {}, None, "")

    found, _ = found_by(program, {"train": judge(), "validation": opposed}, tmp_path, evaluations=20)
    assert found.best.number == 0
    assert found.scores["train"] == (found.tried[0].score, found.tried[0].score)


def test_without_other_parts_the_best_on_train_is_chosen(program, tmp_path, judge):
    found, _ = found_by(program, {"train": judge()}, tmp_path)
    assert found.scores == {"train": (found.tried[0].score, max(one.score for one in found.tried))}


@pytest.mark.parametrize(("stopped_after", "cut"), [(1, 0), (17, 0), (17, 9), (60, 3)])
def test_a_search_that_was_stopped_goes_on(program, tmp_path, judge, stopped_after, cut):
    """By Ctrl-C or a kill, which may cut the last line off."""
    whole, _ = found_by(program, {"train": judge(), "validation": judge(0.1)}, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        found_by(program, {"train": judge(most=stopped_after)}, tmp_path / "cut")
    journal = tmp_path / "cut" / JOURNAL
    before = journal.read_bytes()
    journal.write_bytes(before[: len(before) - cut])
    again = judge()
    found, _ = found_by(program, {"train": again, "validation": judge(0.1)}, tmp_path / "cut")
    assert again.calls == 80 - stopped_after + (cut > 0)
    assert ([one.parameters for one in found.tried], found.best.parameters, found.scores) == (
        [one.parameters for one in whole.tried],
        whole.best.parameters,
        whole.scores,
    )
    assert (tmp_path / "cut" / BEST).read_text() == (tmp_path / "whole" / BEST).read_text()
    longer = judge()
    found_by(program, {"train": longer}, tmp_path / "cut", evaluations=90)
    assert longer.calls == 10


def test_another_search_is_not_continued(program, tmp_path, judge):
    found_by(program, {"train": judge()}, tmp_path / "out", evaluations=5)
    for change, message in (
        ({"seed": 2}, "with seed 1 and not 2; give another --out"),
        ({"suite": "x"}, "with suite any"),
    ):
        with pytest.raises(JournalError, match=message):
            found_by(program, {"train": judge()}, tmp_path / "out", **change)
    text = program.read_text()
    program.write_text(text + "\n")
    with pytest.raises(JournalError, match="is of another search, with program"):
        found_by(program, {"train": judge()}, tmp_path / "out")
    program.write_text(text)
    journal = tmp_path / "out" / JOURNAL
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([lines[0], "no line\n", *lines[2:]]))
    with pytest.raises(JournalError, match="line 2 is no evaluation; remove the file to search anew"):
        found_by(program, {"train": judge()}, tmp_path / "out")


def test_where_nothing_is_left_to_try_a_search_ends(tmp_path):
    program = tmp_path / "small.py"
    program.write_text(
        'SEARCH = {"ties": ["first", "last"]}\n\n\n@method("small", family="provisioning")\ndef small(instance, ties="first"):\n'
        '    """Return."""\n'
    )

    def judged(path):
        return Evaluation(float(read_program(path).first["ties"] == "last"), {}, None, "")

    found, _ = found_by(program, {"train": judged}, tmp_path / "out")
    assert [(one.parameters["ties"], one.score) for one in found.tried] == [("first", 0.0), ("last", 1.0)]
