"""Performance profiles, against shares counted by hand."""

from schedgap.bench.statistics.profiles import gap_profile, time_profile
from schedgap.instances.method import Status


def test_time(make_record):
    """Ratios of a: 1, 1, 4 and never; of b: 2, 1 (a tie), 1 and 1. On m nobody found anything."""
    records = [
        make_record("a", "i", objective=1, wall_s=1.0),
        make_record("b", "i", objective=1, wall_s=2.0),
        make_record("a", "j", objective=1, wall_s=3.0),
        make_record("b", "j", objective=1, wall_s=3.0),
        make_record("a", "k", objective=1, wall_s=2.0),
        make_record("b", "k", objective=1, wall_s=0.5),
        make_record("a", "l", status=Status.TIMEOUT, wall_s=0.1),
        make_record("b", "l", objective=1, wall_s=9.0),
        make_record("a", "m", wall_s=1.0),
        make_record("b", "m", status=Status.UNSUPPORTED),
    ]
    assert time_profile(records) == {
        "a": ([1.0, 4.0], [2 / 5, 3 / 5]),
        "b": ([1.0, 2.0, 4.0], [3 / 5, 4 / 5, 4 / 5]),
    }


def test_no_time_at_all(make_record):
    """A clock that says 0 says less than a microsecond."""
    records = [make_record("a", objective=1, wall_s=0.0), make_record("b", objective=1, wall_s=2e-6)]
    assert time_profile(records) == {"a": ([1.0, 2.0], [1.0, 1.0]), "b": ([1.0, 2.0], [0.0, 1.0])}


def test_gap(make_record):
    """Gaps of a: 0, 0.2 and never; of b: 0.5, 0.2 and 0. Nobody bounds l, and `bound` gives no solutions."""
    records = [
        make_record("bound", "i", bound=8),
        make_record("bound", "j", bound=8),
        make_record("bound", "k", bound=8),
        make_record("a", "i", objective=8),
        make_record("b", "i", objective=16),
        make_record("a", "j", objective=10),
        make_record("b", "j", objective=10),
        make_record("a", "k", objective=9, status=Status.INVALID),
        make_record("b", "k", objective=8),
        make_record("a", "l", objective=8),
        make_record("b", "l", objective=8),
    ]
    assert gap_profile(records) == {
        "a": ([0.0, 0.2, 0.5], [1 / 3, 2 / 3, 2 / 3]),
        "b": ([0.0, 0.2, 0.5], [1 / 3, 2 / 3, 1.0]),
    }


def test_no_data(make_record):
    assert time_profile([]) == gap_profile([]) == {}
    unsupported = [make_record("a", status=Status.UNSUPPORTED)]
    assert time_profile(unsupported) == {"a": ([1.0], [0.0])}
    assert gap_profile(unsupported) == {}
