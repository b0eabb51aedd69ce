"""Runs on equal terms."""

import pytest
from msgspec.structs import replace

from schedgap.bench.statistics.summary import Contest, contests, problems
from schedgap.instances.method import Status


@pytest.fixture
def drawn(make_record):
    """Make the record of a stochastic method under a seed."""

    def make(label, instance, seed, **figures):
        record = make_record(label, instance, **figures)
        run = replace(record.run, seed=seed, stochastic=True)
        return replace(record, run=run, key=run.key)

    return make


def test_a_method_that_draws_nothing_stands_for_every_seed(make_record, drawn):
    fixed, first = make_record("fixed", "i", objective=1), drawn("random", "i", 7, objective=2)
    second, other = drawn("random", "i", 8, objective=3), make_record("fixed", "j", objective=4)
    assert list(problems([fixed, first, other, second])) == [
        {"fixed": fixed, "random": first},
        {"fixed": fixed, "random": second},
        {"fixed": other},
    ]


def test_a_later_run_replaces_an_earlier_one(make_record):
    later = make_record("a", objective=1)
    assert list(problems([make_record("a", objective=2), later])) == [{"a": later}]


def test_wins_ties_and_losses_are_by_instance_and_seed(make_record, drawn):
    """i with seed 7: 5 against 4 and 6; i with seed 8: 5 against 5 and 6; on j only `fixed` finds anything."""
    records = [
        make_record("fixed", "i", objective=5),
        make_record("dear", "i", objective=6),
        drawn("random", "i", 7, objective=4),
        drawn("random", "i", 8, objective=5),
        make_record("fixed", "j", objective=9),
        make_record("dear", "j", status=Status.ERROR),
        drawn("random", "j", 7, objective=None),
    ]
    assert contests(records, frozenset()) == {
        "fixed": Contest(wins=1, ties=1, losses=1),
        "random": Contest(wins=1, ties=1, losses=1),
        "dear": Contest(wins=0, ties=0, losses=3),
    }


def test_who_takes_no_part(make_record):
    """Unsupported runs, bounding methods, instances that nobody else took and instances that nobody solved."""
    records = [
        make_record("a", "i", objective=5),
        make_record("b", "i", status=Status.UNSUPPORTED),
        make_record("bound", "i", bound=3),
        make_record("a", "j", status=Status.TIMEOUT),
        make_record("b", "j"),
        make_record("a", "k", objective=5, status=Status.INVALID),
        make_record("b", "k", objective=6),
    ]
    assert contests(records, frozenset({"bound"})) == {"a": Contest(losses=1), "b": Contest(wins=1)}
