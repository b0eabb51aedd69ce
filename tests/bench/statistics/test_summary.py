"""Statistics, against arithmetic done by hand."""

import math

import pytest

from schedgap.bench.statistics.summary import (
    Best,
    best_of,
    bounds_only,
    is_measured,
    is_solved,
    shifted_geometric_mean,
    summarise,
)
from schedgap.instances.method import Status


def test_best_is_over_all_methods(make_record):
    records = [
        make_record("a", objective=12, bound=8),
        make_record("b", objective=10, bound=9),
        make_record("c", objective=1, bound=99, status=Status.INVALID),
        make_record("c", "j"),
    ]
    assert best_of(records) == {"i": Best(9, 10), "j": Best(None, None)}


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.MEMORY, Status.CRASHED, Status.ERROR])
def test_what_a_failed_run_had_found_counts_for_its_instance_alone(make_record, status):
    """The others' gaps are to its bound of 9 and not to their own of 8, and it has none itself."""
    records = [make_record("a", objective=12, bound=8), make_record("b", objective=10, bound=9, status=status)]
    assert best_of(records) == {"i": Best(9, 10)}
    assert bounds_only(records) == frozenset()
    assert not is_solved(records[1], frozenset())
    a, b = summarise(records)
    assert (a.gap_mean, a.wins, a.losses) == (0.25, 1, 0)
    assert (b.failed, b.solved, b.proven_optimal, b.gap_mean, b.wins, b.par10_s) == (1, 0, 0, None, 0, 1000.0)


def test_something_was_measured_where_a_failed_run_had_found_something(make_record):
    assert is_measured([make_record("a", bound=9, status=Status.TIMEOUT)])
    assert not is_measured([make_record("a", status=Status.TIMEOUT), make_record("b", bound=9, status=Status.INVALID)])


@pytest.mark.parametrize(
    ("best", "objective", "gap"),
    [
        (Best(9, 10), 10, 0.1),
        (Best(10, 10), 10, 0.0),
        (Best(0, 0), 0, 0.0),
        (Best(0, 10), 10, 1.0),
        (Best(None, 10), 10, None),
        (Best(9, 10), None, None),
    ],
)
def test_gap(best, objective, gap):
    assert best.gap(objective) == gap


def test_shifted_geometric_mean():
    """(1 + 1)(7 + 1) = 16, its square root 4, minus the shift."""
    assert shifted_geometric_mean([1.0, 7.0]) == pytest.approx(3.0, rel=1e-12)
    assert shifted_geometric_mean([]) is None


def test_summary_of_methods(make_record):
    """Optimum of i proven by a; on j the bound is 8. The failed run of b counts 100 s, its wall limit."""
    records = [
        make_record("a", "i", objective=10, bound=10, wall_s=3.0),
        make_record("a", "j", objective=10, bound=8, wall_s=3.0),
        make_record("b", "i", objective=10, wall_s=0.0),
        make_record("b", "j", status=Status.TIMEOUT),
        make_record("c", "i", status=Status.UNSUPPORTED),
    ]
    a, b, c = summarise(records)
    assert (a.method, a.runs, a.failed, a.solved, a.proven_optimal) == ("a", 2, 0, 2, 1)
    assert (a.gap_mean, a.gap_worst) == (0.1, 0.2)
    assert a.sgm_time_s == pytest.approx(3.0)
    assert (b.method, b.runs, b.failed, b.solved, b.proven_optimal) == ("b", 2, 1, 1, 1)
    assert (b.gap_mean, b.gap_worst) == (0.0, 0.0)
    assert b.sgm_time_s == pytest.approx(math.sqrt(101) - 1)
    assert (c.unsupported, c.failed, c.gap_mean, c.sgm_time_s) == (1, 0, None, None)
    # a ties with b on i and beats its failure on j.
    assert (a.wins, a.ties, a.losses) == (1, 1, 0)
    assert (b.wins, b.ties, b.losses) == (0, 1, 1)
    assert (c.wins, c.ties, c.losses) == (0, 0, 0)
    assert (a.proven_optimal_share, b.proven_optimal_share, c.proven_optimal_share) == (0.5, 0.5, None)
    # b: 0 s and ten times 100 s.
    assert (a.par10_s, b.par10_s, c.par10_s) == (3.0, 500.0, None)
    assert a.sgm10_time_s == pytest.approx(3.0)
    assert b.sgm10_time_s == pytest.approx(math.sqrt(10 * 110) - 10)


def test_a_bound_below_zero_counts_as_zero(make_record):
    """Which is proven of every cost, so that a cost of 0 is optimal."""
    records = [
        make_record("a", "i", objective=10, bound=-(10**30)),
        make_record("a", "j", objective=0, bound=-1, wall_s=1.0),
    ]
    best = best_of(records)
    assert (best, best["i"].gap(10), best["j"].is_proven) == ({"i": Best(0, 10), "j": Best(0, 0)}, 1.0, True)
    (summary,) = summarise(records[1:])
    assert (summary.gap_mean, summary.proven_optimal) == (0.0, 1)


def test_median_and_95_percent(make_record):
    """Gaps 0, 1/100, ..., 19/100 of 20 runs: the middle two are 9 and 10, and 19 of 20 runs have at most 18."""
    records = [make_record("exact", f"i{n}", objective=100, bound=100 - n, wall_s=1.0) for n in range(20)]
    (summary,) = summarise(records)
    assert summary.gap_median == pytest.approx(0.095)
    assert (summary.gap_p95, summary.gap_worst) == (0.18, 0.19)
    (alone,) = summarise(records[3:4])
    assert (alone.gap_median, alone.gap_p95) == (0.03, 0.03)
    # There is nobody to compare with.
    assert (alone.wins, alone.ties, alone.losses) == (0, 0, 0)


def test_what_counts_as_solved(make_record):
    """A bound alone is the work of a method that never gives anything else, and too little of one that does."""
    only_bound = make_record("bound", "i", bound=5, wall_s=1.0)
    records = [
        only_bound,
        make_record("bound", "j", wall_s=1.0),
        make_record("exact", "i", bound=5, wall_s=1.0),
        make_record("exact", "j", objective=9, wall_s=1.0),
        make_record("exact", "k", status=Status.INFEASIBLE, wall_s=1.0),
        make_record("greedy", "i", objective=9, status=Status.INVALID, wall_s=1.0),
    ]
    bounding = bounds_only(records)
    assert bounding == {"bound"}
    assert [is_solved(record, bounding) for record in records] == [True, False, False, True, True, False]
    bound, exact, greedy = summarise(records)
    assert (bound.par10_s, exact.par10_s, greedy.par10_s) == (500.5, 334.0, 1000.0)
    # On j the bounding method is no rival, and on i nobody found anything.
    assert [(s.wins, s.ties, s.losses) for s in (bound, exact, greedy)] == [(0, 0, 0)] * 3
