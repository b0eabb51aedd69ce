"""When a run is worse than before: every kind, and what is none."""

import pytest

from schedgap.bench.comparison.findings import ChangeKind, judge_pair, worse
from schedgap.bench.comparison.pairs import Pair
from schedgap.bench.statistics.summary import best_of
from schedgap.instances.method import Status

# Runs of one method on one instance; the best bound known is 900, the clock's limit 60 s.
GOOD = {"objective": 1000, "bound": 900}
OPTIMAL = {"objective": 1000, "bound": 1000, "status": Status.OPTIMAL}
NOTHING = {"bound": 900}
LOOSE = {"objective": 1000, "bound": 899}


@pytest.fixture
def kind(make_record):
    """Return in what the second run is worse than the first."""

    def compare(before, after, **options):
        sides = [make_record("a", "i", **dict(figures)) for figures in (before, after)]
        known = [*sides, make_record("b", "i", bound=900)]
        return worse(*sides, best_of(known), **options)

    return compare


def failed(status):
    return {"status": status}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (GOOD, GOOD, None),
        (GOOD, {**GOOD, "objective": 1001}, ChangeKind.OBJECTIVE),
        (GOOD, {**GOOD, "objective": 999}, None),
        (GOOD, LOOSE, ChangeKind.BOUND),
        (LOOSE, GOOD, None),
        (GOOD, {"objective": 1000}, ChangeKind.BOUND),
        ({"objective": 1000}, GOOD, None),
        ({"bound": 900}, {"bound": 899}, ChangeKind.BOUND),
        # A better objective does not make up for a weaker bound.
        (GOOD, {"objective": 950, "bound": 899}, ChangeKind.BOUND),
        (OPTIMAL, GOOD, ChangeKind.PROOF),
        (OPTIMAL, {**GOOD, "objective": 1001}, ChangeKind.OBJECTIVE),
        (failed(Status.INFEASIBLE), failed(Status.NO_SOLUTION), ChangeKind.PROOF),
        (GOOD, NOTHING, ChangeKind.SOLUTION),
        (GOOD, failed(Status.UNSUPPORTED), ChangeKind.SOLUTION),
        (GOOD, failed(Status.INFEASIBLE), ChangeKind.SOLUTION),
        (NOTHING, GOOD, None),
        (NOTHING, failed(Status.UNSUPPORTED), ChangeKind.BOUND),
        (failed(Status.UNSUPPORTED), failed(Status.UNSUPPORTED), None),
        (failed(Status.UNSUPPORTED), failed(Status.CRASHED), ChangeKind.FAILED),
        (GOOD, failed(Status.INVALID), ChangeKind.INVALID),
        (failed(Status.TIMEOUT), failed(Status.INVALID), ChangeKind.INVALID),
        (failed(Status.INVALID), failed(Status.INVALID), None),
        (failed(Status.INVALID), failed(Status.TIMEOUT), None),
        (failed(Status.CRASHED), failed(Status.TIMEOUT), None),
        (failed(Status.CRASHED), NOTHING, None),
        *((GOOD, failed(status), ChangeKind.FAILED) for status in ("timeout", "memory", "crashed", "error")),
        # What a failed run gave does not count.
        (GOOD, {**GOOD, "objective": 1, "status": Status.INVALID}, ChangeKind.INVALID),
        ({**GOOD, "objective": 1, "status": Status.INVALID}, GOOD, None),
    ],
)
def test_worse(kind, before, after, expected):
    assert kind(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (Status.CRASHED, Status.INFEASIBLE, ChangeKind.FAILED),
        # Nor does who finds nothing.
        (Status.CRASHED, Status.NO_SOLUTION, None),
        (Status.CRASHED, Status.TIMEOUT, None),
        # Who refuses an instance solves no more of it than who fails on it.
        (Status.CRASHED, Status.UNSUPPORTED, None),
        (Status.INVALID, Status.UNSUPPORTED, None),
    ],
)
def test_what_betters_a_failure(make_record, before, after, expected):
    base, new = (make_record("a", "i", status=status) for status in (before, after))
    worse, better = judge_pair(Pair(base, new), best_of([base, new]), 0.0)
    assert (worse, None if better is None else better.kind) == (None, expected)


def test_gravest_first():
    assert list(ChangeKind) == [
        "contradiction",
        "missing",
        "invalid",
        "failed",
        "solution",
        "objective",
        "gap",
        "proof",
        "bound",
        "time",
    ]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        # Gaps to 900: of 1000 0.1, of 1001 0.1009, of 1002 0.10180.
        ({"objective": 1001}, None),
        ({"objective": 1002}, ChangeKind.OBJECTIVE),
        ({"objective": 1001, "bound": 800}, None),
        ({"objective": 1000, "bound": None}, None),
        (NOTHING, ChangeKind.SOLUTION),
        (failed(Status.TIMEOUT), ChangeKind.FAILED),
    ],
)
def test_the_clock_excuses_little(kind, after, expected):
    assert kind(GOOD, after, clock=True, min_effect=0.001) == expected


@pytest.mark.parametrize("excuse", ["clock", "drawn"])
@pytest.mark.parametrize("after", [{}, failed(Status.UNSUPPORTED)])
def test_a_bound_that_was_all_there_was_is_not_excused(kind, after, excuse):
    """Neither the clock nor chance: what gave a bound gives nothing any more. A weaker bound they do excuse."""
    assert kind(NOTHING, after, **{excuse: True}, min_effect=0.001) is ChangeKind.BOUND
    assert kind(NOTHING, {"bound": 1}, **{excuse: True}, min_effect=0.001) is None


def test_a_lost_proof_counts_whatever_the_clock_did(kind):
    assert kind(OPTIMAL, GOOD, clock=True, min_effect=0.5) is ChangeKind.PROOF


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"objective": 2000, "bound": 1}, None),
        (NOTHING, ChangeKind.SOLUTION),
        (failed(Status.ERROR), ChangeKind.FAILED),
        (failed(Status.INVALID), ChangeKind.INVALID),
    ],
)
def test_one_draw_says_nothing_of_quality(kind, after, expected):
    assert kind(OPTIMAL, after, drawn=True) == expected
