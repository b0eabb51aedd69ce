"""Each method over its pairs."""

from schedgap.bench.comparison.findings import compare_methods
from schedgap.bench.comparison.pairs import Pair
from schedgap.bench.statistics.summary import best_of


def test_the_clock_counts_runs_that_both_sides_have(make_record):
    """All three may have been stopped by it; two have nothing to be compared with."""
    runs = [make_record("a", name, objective=5, wall_s=59.9) for name in "ijk"]
    pairs = [Pair(runs[0], runs[0]), Pair(runs[1], None), Pair(None, runs[2])]
    (method,) = compare_methods(pairs, best_of(runs))
    assert (method.pairs, method.missing, method.added, method.clock) == (1, 1, 1, 1)
