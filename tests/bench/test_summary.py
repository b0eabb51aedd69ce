"""Statistics, against arithmetic done by hand."""

import math

import pytest

from schedgap.bench.summary import Best, best_of, shifted_geometric_mean, summarise
from schedgap.instances.method import Status


def test_best_is_over_all_methods(make_record):
    records = [
        make_record("a", objective=12, bound=8),
        make_record("b", objective=10, bound=9),
        make_record("c", objective=1, bound=99, status=Status.INVALID),
        make_record("c", "j"),
    ]
    assert best_of(records) == {"i": Best(9, 10), "j": Best(None, None)}


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


def test_a_bound_below_zero_counts_as_zero():
    assert Best(-(10**30), 10).gap(10) == 1.0
