"""Bounds under a trade-off, by hand: y + 2 x >= 10 and y + 0.5 x >= 6 at two prices."""

import pytest

from schedgap.bench.statistics.profiles import POINTS, bound_line


@pytest.fixture
def records(make_record):
    def run(instance, bound, worth, **source):
        return make_record(
            "a", instance, objective=bound + 10**6, bound=bound, measures={"worth": worth}, source=source
        )

    return [run("i", 10_000_000, 2.0, price=2, seed=1), run("j", 6_000_000, 0.5, price=0.5, seed=1)]


def test_the_envelope_is_the_highest_line(records):
    """They cross at x = 8 / 3, y = 14 / 3."""
    line = bound_line(records, (0.0, 4.0), "price", "worth", is_log_x=False)
    assert line.is_predicted
    assert (len(line.x), line.x[0], line.x[-1]) == (POINTS, 0.0, 4.0)
    for x, y in zip(line.x, line.mean, strict=True):
        assert y == pytest.approx(10 - 2 * x if x < 8 / 3 else 6 - 0.5 * x)


def test_instances_that_differ_in_more_have_none(records, make_record):
    other = make_record("a", "k", objective=9, bound=8, measures={"worth": 1.0}, source={"price": 1, "seed": 2})
    assert bound_line([*records, other], (0.0, 4.0), "price", "worth", is_log_x=False) is None


def test_without_bounds_there_is_none(make_record):
    record = make_record("a", objective=9, measures={"worth": 1.0})
    assert bound_line([record], (0.0, 4.0), "price", "worth", is_log_x=False) is None
