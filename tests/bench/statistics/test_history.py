"""A history: what an entry says of a directory, and a file to which lines are only ever added."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.statistics.history import append_entry, entry_of, moment, read_history
from schedgap.bench.suites.results import Results
from schedgap.bench.suites.suite import Suite
from schedgap.instances.errors import JournalError
from schedgap.instances.method import Status

SUITE = {
    "schema": "schedgap/suite/1",
    "name": "little",
    "title": "Little",
    "question": "?",
    "family": "provisioning",
    "methods": ["a"],
    "instances": [{"generator": "table7"}],
}


@pytest.fixture(scope="module", autouse=True)
def families():
    load_families()


@pytest.fixture
def results(make_record):
    """`a` pays 10 and proves it, `b` pays 20 on one of two instances and fails on the other, in a second each."""

    def made(planned=4, **changes):
        records = []
        for name in ("i", "j"):
            figures = {"wall_s": 1.0, "measures": {"machines": 4.0 if name == "i" else 6.0}}
            records.append(make_record("a", name, objective=10, bound=10, **figures))
        records.append(make_record("b", "i", objective=20, wall_s=1.0, measures={"machines": 8.0}))
        records.append(make_record("b", "j", status=Status.CRASHED))
        suite = Suite.model_validate({**SUITE, **changes})
        return Results(Path("runs/little"), suite, (), tuple(records), planned, {})

    return made


def figures(entry):
    return {label: (row.quality, row.time_s, row.runs, row.failed) for label, row in entry.methods.items()}


def test_an_entry(results):
    """The failed run counts with its wall limit, 100 s: exp((log 2 + log 101) / 2) - 1."""
    entry = entry_of(results(), commit="0123456789abcdef", link="https://ci.example.org/7")
    assert (entry.suite, entry.quality, entry.date, entry.name) == (
        "little", "mean gap", "2030-01-01T00:00:00+00:00", "0123456789ab",
    )  # fmt: skip
    assert figures(entry) == {"a": (0.0, pytest.approx(1.0), 2, 0), "b": (0.5, pytest.approx(202**0.5 - 1), 2, 1)}


def test_an_entry_says_which_runs_were_solved_and_at_what_cost(results):
    """Of `b` the crashed run is not; shifted geometric means of 10 and 10, and of 20."""
    own = entry_of(results()).methods
    assert [(row.solved, row.objective) for row in own.values()] == [(2, pytest.approx(10)), (1, pytest.approx(20))]
    assert own["a"].over != own["b"].over
    assert own["a"].over == entry_of(results(headline="objective")).methods["a"].over


def test_what_bounds_and_models_do_is_solved_too(results, make_record):
    """A bound of a method that gives bounds alone, a model's figure; neither where it failed."""
    family = {"measures": ["machines"], "headline": "measures"}
    for name, own in (("c", {"bound": 5}), ("model-c", {"family": "waiting", "details": {"machines": 3.0}})):
        late = make_record(name, "j", status=Status.TIMEOUT)
        made = replace(results(**family), records=(make_record(name, "i", **own), late), planned=2)
        assert entry_of(made).methods[name].solved == 1


def test_the_headline_says_what_quality_is(results):
    measured = entry_of(results(headline="measures", measures=["machines"]))
    assert measured.quality == "machines"
    assert [row.quality for row in measured.methods.values()] == [5.0, 8.0]
    ratio = entry_of(results(headline="measures", measures=["machines/a"]))
    assert [row.quality for row in ratio.methods.values()] == [1.0, 2.0]
    cost = entry_of(results(headline="objective"))
    assert cost.quality == "mean objective ($/h)"
    assert [row.quality for row in cost.methods.values()] == [10e-6, 20e-6]


def test_what_is_not_complete_is_no_entry(results):
    with pytest.raises(JournalError, match="runs/little: 3 of 7 runs are not done; finish them, then add it"):
        entry_of(results(planned=7))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2030-01-31", "2030-01-31T00:00:00+00:00"),
        ("2030-01-31T01:00:00.5+02:00", "2030-01-30T23:00:00+00:00"),
    ],
)
def test_dates(text, shown):
    assert moment(text) == shown
    with pytest.raises(JournalError, match="'soon' is no date; give one like"):
        moment("soon")


def test_lines_are_added_and_sorted_by_date(results, tmp_path):
    path = tmp_path / "new" / "H.jsonl"
    for date in ("2030-02-01", "2030-03-01", "2030-01-01"):
        assert append_entry(path, entry_of(results(), commit=date, date=date)) == []
    entries, damaged = read_history(path)
    assert [entry.commit for entry in entries] == ["2030-01-01", "2030-02-01", "2030-03-01"]
    assert damaged == []
    assert len(path.read_text().splitlines()) == 3


def test_an_entry_is_replaced_by_a_later_line(results, tmp_path):
    """The file only grows; another label of the same commit stays, and the commit is by default the runs' own."""
    path = tmp_path / "H.jsonl"
    append_entry(path, entry_of(replace(results(), commit="one"), date="2030-01-01"))
    append_entry(path, entry_of(results(), commit="one", label="other"))
    append_entry(path, entry_of(replace(results(), commit="one"), date="2030-01-01", link="again", replaces=True))
    assert [(e.commit, e.label, e.link) for e in read_history(path)[0]] == [("one", "other", ""), ("one", "", "again")]
    assert len(path.read_text().splitlines()) == 3


def test_damaged_lines_are_told_and_kept(results, tmp_path):
    """A torn line is ended before the next one, and stays where it is."""
    path = tmp_path / "H.jsonl"
    append_entry(path, entry_of(results(), commit="one"))
    whole = path.read_bytes()
    path.write_bytes(b'{"schema":"schedgap/run/2"}\n' + whole + whole[:40])
    damaged = append_entry(path, entry_of(results(), commit="two"))
    assert [line.split(":")[0] for line in damaged] == [f"{path} line 1", f"{path} line 3"]
    assert path.read_bytes().startswith(b'{"schema":"schedgap/run/2"}\n' + whole + whole[:40] + b"\n")
    assert [entry.commit for entry in read_history(path)[0]] == ["one", "two"]


def test_what_is_not_added(results, tmp_path):
    path = tmp_path / "H.jsonl"
    append_entry(path, entry_of(results(), commit="one"))
    before = path.read_bytes()
    for other, said in (
        (results(), "has one of 2030-01-01T00:00:00\\+00:00 already; give another --label to have it twice"),
        (results(name="large"), "is of suite 'little', the new entry of 'large'; give another --file"),
        (results(headline="objective"), "is of quality 'mean gap', the new entry of 'mean objective \\(\\$/h\\)'"),
    ):
        with pytest.raises(JournalError, match=said):
            append_entry(path, entry_of(other, commit="one"))
    assert path.read_bytes() == before
    assert json.loads(before)["schema"] == "schedgap/history/1"
