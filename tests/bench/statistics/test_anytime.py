"""Trajectories and integrals, against areas computed by hand."""

import pytest
from msgspec.structs import replace

from schedgap.bench.records.runs import Limits
from schedgap.bench.statistics.profiles import MAX_POINTS, Integrals, Known, gap_curves, integrals, trajectory
from schedgap.bench.statistics.summary import Best, best_of
from schedgap.instances.method import Status


@pytest.fixture
def make(make_record):
    """Make a record with a time limit of 10 s."""

    def made(label, instance="i", **figures):
        record = make_record(label, instance, **figures)
        return replace(record, run=replace(record.run, limits=Limits.from_time_limit(10.0)))

    return made


def test_claims_are_read_against_the_verified_end(make):
    """Cheaper than the end, above the own bound, worse than before, out of order, late, early: none gets through."""
    claims = ((3.0, 7, 5), (1.0, 12, 2), (2.0, 20, 1), (-1.0, None, 1), (9.0, 10, 4))
    record = make("a", objective=10, bound=4, wall_s=6.0, trajectory=claims)
    assert trajectory(record) == [Known(0.0, None, 1), Known(1.0, 12, 2), Known(3.0, 10, 4)]


def test_what_ends_without_a_solution_had_none(make):
    record = make("a", bound=4, wall_s=6.0, trajectory=((1.0, 5, 3), (2.0, 4, None)))
    assert trajectory(record) == [Known(0.0, None, None), Known(1.0, None, 3), Known(6.0, None, 4)]
    failed = make("a", objective=5, bound=4, status=Status.INVALID, wall_s=6.0, trajectory=((1.0, 5, 3),))
    assert trajectory(failed) == [Known(0.0, None, None)]
    killed = make("a", status=Status.TIMEOUT)
    assert trajectory(killed) == [Known(0.0, None, None)]


def test_a_heuristic_has_its_solution_at_the_end(make):
    assert trajectory(make("a", objective=5, wall_s=6.0)) == [Known(0.0, None, None), Known(6.0, 5, None)]
    assert trajectory(make("a", objective=5, wall_s=0.0)) == [Known(0.0, 5, None)]


def test_integrals(make):
    """Primal: 1 s at 1, 2 s at (16 - 8) / 16, then 0. Dual: 3 s at 1, 1 s at (8 - 6) / 8, then 0.

    Both: 1 s and 2 s without bound at 1, 1 s at (8 - 6) / 8, then 0.
    """
    record = make("a", objective=8, bound=8, wall_s=4.0, trajectory=((1.0, 16, None), (3.0, 8, 6), (4.0, 8, 8)))
    assert integrals(record, Best(8, 8)) == Integrals(2.0, 3.25, 3.25, 10.0)
    # The best of others is 4: 1 s at 1, 2 s at 12/16, 7 s at 4/8; the bound 6 of this run counts as reached.
    assert integrals(record, Best(4, 4)) == Integrals(1 + 1.5 + 3.5, 3.0, 3.25, 10.0)


def test_integrals_of_what_found_nothing_or_came_late(make):
    assert integrals(make("a", status=Status.TIMEOUT), Best(4, 5)) == Integrals(10.0, 10.0, 10.0, 10.0)
    assert integrals(make("a", objective=5, wall_s=11.0), Best(None, 5)) == Integrals(10.0, 10.0, 10.0, 10.0)
    assert integrals(make("a", bound=5, wall_s=4.0), Best(5, None)) == Integrals(None, None, 10.0, 10.0)
    assert integrals(make("a", status=Status.UNSUPPORTED), Best(4, 5)) is None


def test_costs_of_nothing(make):
    """The optimum of 0 is reached by a bound of 0; a bound below 0 is one of 0."""
    record = make("a", objective=0, bound=-3, wall_s=2.0)
    assert integrals(record, Best(0, 0)) == Integrals(2.0, 2.0, 2.0, 10.0)
    # 1 until its end at 2 s, then 0.
    assert gap_curves([record]) == {"a": ([0.0, 2.0], [1.0, 0.0])}


def test_mean_gap_over_time(make):
    """Bounds 8. On i: 1, from 1 s 0.5, from 3 s 0. On j: 1, from 2 s 0.2. On k it fails: 1 throughout."""
    records = [
        make("a", "i", objective=8, bound=8, wall_s=4.0, trajectory=((1.0, 16, None), (3.0, 8, 6))),
        make("a", "j", objective=10, wall_s=2.0),
        make("a", "k", status=Status.TIMEOUT),
        make("a", "l", status=Status.UNSUPPORTED),
        make("bound", "j", bound=8, wall_s=1.0),
        make("bound", "k", bound=8, wall_s=1.0),
        make("a", "m", objective=3, wall_s=1.0),
        make("b", "i", objective=16, wall_s=0.5),
    ]
    curves = gap_curves(records)
    assert list(curves) == ["a", "b"]
    assert curves["b"] == ([0.0, 0.5, 3.0], [1.0, 0.5, 0.5])
    seconds, gaps = curves["a"]
    assert seconds == [0.0, 1.0, 2.0, 3.0]
    assert gaps == pytest.approx([1.0, 2.5 / 3, 1.7 / 3, 1.2 / 3], rel=1e-12)


def test_long_curves_keep_their_ends(make):
    points = tuple((n / 1000, 10_000 - n, None) for n in range(1, 2 * MAX_POINTS + 1))
    records = [make("a", objective=8000, bound=4000, wall_s=3.0, trajectory=points)]
    assert best_of(records) == {"i": Best(4000, 8000)}
    seconds, gaps = gap_curves(records)["a"]
    assert len(seconds) <= MAX_POINTS + 1
    assert (seconds[0], seconds[-1]) == (0.0, 2.0)
    assert gaps[-1] == pytest.approx(0.5, rel=1e-9)
    assert gaps == sorted(gaps, reverse=True)


def test_nothing_to_show(make):
    assert gap_curves([]) == {}
    assert gap_curves([make("a", objective=3, wall_s=1.0)]) == {}
    assert gap_curves([make("a", objective=4, bound=2, wall_s=0.0)]) == {"a": ([0.0], [0.5])}
