"""The suites' own tables."""

import pytest

from schedgap.bench.statistics.headlines.gap import contradictions_to_published
from schedgap.bench.statistics.headlines.registry import find_headline, headline_rows
from schedgap.bench.suites.suite import Suite
from schedgap.instances.method import Status


def make_suite(headline, reference=()):
    return Suite.model_validate(
        {
            "schema": "schedgap/suite/1",
            "name": "s",
            "title": "",
            "question": "",
            "family": "provisioning",
            "headline": headline,
            "methods": ["a"],
            "instances": [{"generator": "table7"}],
            "reference": list(reference),
        }
    )


def make_closed(*collections):
    given = make_suite("closed").model_dump(by_alias=True, exclude_none=True)
    blocks = [{"importer": "vbp", "origin": "o", "listed": listed} for listed in collections]
    return Suite.model_validate({**given, "instances": [], "collection": blocks})


def test_normalised_cost(make_record):
    """Costs over bounds are 12/10 and 14/10: mean 1.3, sample deviation 0.1 * sqrt(2)."""
    records = [
        make_record("exact", "i", group="g", objective=10, bound=10, wall_s=1.0),
        make_record("exact", "j", group="g", objective=10, bound=10, wall_s=3.0),
        make_record("greedy", "i", group="g", objective=12, wall_s=0.5),
        make_record("greedy", "j", group="g", objective=14, wall_s=0.5),
    ]
    reference = {"method": "greedy", "group": "g", "name": "Greedy", "mean": 1.25, "std": 0.1, "time_s": 2.0}
    exact, greedy = headline_rows(make_suite("normalised-cost", [reference]), records)
    assert (exact["normalised_cost_mean"], exact["proven_optimal"], exact["time_mean_s"]) == (1.0, 2, 2.0)
    assert exact["paper_mean"] is None
    assert greedy["normalised_cost_mean"] == pytest.approx(1.3, rel=1e-12)
    assert greedy["normalised_cost_std"] == pytest.approx(0.1 * 2**0.5, rel=1e-12)
    assert (greedy["paper_mean"], greedy["paper_std"], greedy["paper_time_s"]) == (1.25, 0.1, 2.0)


@pytest.mark.parametrize("headline", ["normalised-cost", "gap"])
def test_runs_of_which_no_mean_is_made_are_told(make_record, headline):
    """A method that leaves the hard instances out looks better; one that only proves bounds leaves none out."""
    records = [make_record(label, "i", objective=12) for label in ("a", "b", "c")]
    records += [make_record("a", name, status=Status.NO_SOLUTION, bound=5) for name in "jk"]
    records += [make_record("b", "j", status=Status.UNSUPPORTED), make_record("b", "k", status=Status.ERROR)]
    records += [make_record("bound", name, status=Status.NO_SOLUTION, bound=10) for name in "ijk"]
    records += [make_record("none", "i", status=Status.NO_SOLUTION), make_record("c", "j", status=Status.INFEASIBLE)]
    suite = make_suite(headline)
    heads, cells = find_headline(suite).cells(headline_rows(suite, records))
    place = [head.title for head in heads].index("runs")
    assert [row[place] for row in cells] == [
        "3 (2 without a solution)",
        "3 (1 failed, 1 unsupported)",
        "2",
        "3",
        "1 (1 without a solution)",
    ]


def test_a_reference_of_the_group_goes_before_one_of_all(make_record):
    references = [{"method": "a", "name": "all", "mean": 1.1}, {"method": "a", "name": "g", "group": "g", "mean": 1.5}]
    records = [make_record("a", group=group, objective=15, bound=10) for group in ("g", "h")]
    for given in (references, references[::-1]):
        rows = headline_rows(make_suite("normalised-cost", given), records)
        assert [row["paper_mean"] for row in rows] == [1.5, 1.1]


def test_there_is_no_cost_over_a_bound_of_zero(make_record):
    """Which one below 0 counts as."""
    records = [make_record("exact", bound=-5), make_record("greedy", objective=100)]
    rows = headline_rows(make_suite("normalised-cost"), records)
    assert [(row["normalised_cost_mean"], row["gap_mean"]) for row in rows] == [(None, None), (None, 1.0)]


def test_gap(make_record):
    """Gaps of greedy are 1/5 and 3/5; it ties on j, where the exact method found nothing better, and loses on i."""
    records = [
        make_record("exact", "i", objective=8, bound=8, wall_s=1.0),
        make_record("exact", "j", objective=20, bound=8, wall_s=1.0),
        make_record("greedy", "i", objective=10, wall_s=3.0),
        make_record("greedy", "j", objective=20, wall_s=3.0),
    ]
    exact, greedy = headline_rows(make_suite("gap"), records)
    assert (exact["gap_mean"], exact["gap_median"], exact["gap_p95"], exact["gap_worst"]) == (0.3, 0.3, 0.6, 0.6)
    assert (exact["wins"], exact["ties"], exact["losses"], exact["par10_s"]) == (1, 1, 0, 1.0)
    assert (greedy["gap_mean"], greedy["gap_p95"], greedy["proven_optimal"]) == (pytest.approx(0.4), 0.6, 0)
    assert (greedy["wins"], greedy["ties"], greedy["losses"]) == (0, 1, 1)
    assert greedy["sgm_time_s"] == pytest.approx(3.0)


def test_runtime_is_by_size(make_record):
    sizes = {"i": 1000, "j": 1000, "k": 2000}
    records = [
        make_record("a", name, source={"tasks": size}, objective=1, wall_s=float(size), peak_memory_mib=5.0)
        for name, size in sizes.items()
    ]
    reference = {"method": "a", "name": "A", "tasks": 2000, "time_s": 1.5}
    small, large = headline_rows(make_suite("runtime", [reference]), records)
    assert (small["tasks"], small["runs"], small["time_median_s"], small["paper_time_s"]) == (1000, 2, 1000.0, None)
    assert (large["tasks"], large["runs"], large["time_median_s"], large["paper_time_s"]) == (2000, 1, 2000.0, 1.5)


def test_objective_counts_verified_runs_only(make_record):
    """Micro-dollars become dollars; the invalid run appears as failed and nowhere else."""
    records = [
        make_record("a", "i", objective=3_000_000, bound=2_000_000, wall_s=1.0),
        make_record("a", "j", objective=9_000_000, bound=9_500_000, status=Status.INVALID, wall_s=1.0),
    ]
    (row,) = headline_rows(make_suite("objective"), records)
    assert (row["runs"], row["failed"], row["objective_mean"], row["bound_mean"]) == (2, 1, 3.0, 2.0)
    assert row["gap_mean"] == 1 / 3


@pytest.mark.parametrize(("text", "tasks"), [("6", 6), ("50-150", 0)])
def test_runtime_of_tasks_written_as_text(make_record, text, tasks):
    (row,) = headline_rows(make_suite("runtime"), [make_record("a", source={"tasks": text}, wall_s=1.0, objective=1)])
    assert (row["tasks"], row["runs"], row["time_median_s"]) == (tasks, 1, 1.0)


def test_closed(make_record):
    """Of three open ones one is closed, one has a better bound, one a better packing; a known one contradicts its optimum."""
    million = 1_000_000
    listed = [{"name": name, "file": name, "group": "g", "lower": 3.0, "upper": 5.0} for name in ("i", "j", "k")]
    listed.append({"name": "w", "file": "w", "group": "h", "lower": 3.0, "upper": 4.0, "optimum": 4.0})
    suite = make_closed(listed)
    records = [
        make_record("a", "i", group="g", objective=5 * million, bound=5 * million, wall_s=1.0),
        make_record("a", "j", group="g", objective=6 * million, bound=4 * million, wall_s=3.0),
        make_record("a", "k", group="g", objective=4 * million, bound=3 * million, wall_s=2.0),
        make_record("a", "w", group="h", objective=5 * million, bound=5 * million, wall_s=2.0),
    ]
    keys = ("group", "runs", "closed", "closed_before", "better_bounds", "better_solutions", "wrong", "time_mean_s")
    rows = headline_rows(suite, records)
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("g", 3, 1, 0, 2, 1, 0, 2.0),
        ("h", 1, 1, 1, 1, 0, 1, 2.0),
        ("all", 4, 2, 1, 3, 1, 1, 2.0),
    ]
    said = ["WRONG, theirs or ours: w: bound 5 above the published 4."]
    assert contradictions_to_published(suite, records) == said
    assert find_headline(suite).note(rows) == said[0]
    low = make_record("a", "i", group="g", objective=2 * million, bound=2 * million)
    assert contradictions_to_published(suite, [low]) == [
        "WRONG, theirs or ours: i: solution 2 below the published bound 3."
    ]


@pytest.mark.parametrize(
    ("optimum", "found"), [(0.000123, 123), (0.000249, 249), (0.1 + 0.2, 300_000), (2.0**40, 2**40 * 10**6)]
)
def test_a_published_optimum_that_is_found_is_neither_bettered_nor_wrong(make_record, optimum, found):
    """In floats, 0.000123 dollars are more than 123 micro-dollars, 0.000249 less than 249."""
    suite = make_closed([{"name": "i", "file": "i", "optimum": optimum}])
    (row,) = headline_rows(suite, [make_record("a", objective=found, bound=found, wall_s=1.0)])
    assert [row[key] for key in ("closed", "better_bounds", "better_solutions", "wrong")] == [1, 0, 0, 0]
    (row,) = headline_rows(suite, [make_record("a", objective=found - 1, bound=found + 1, wall_s=1.0)])
    assert [row[key] for key in ("closed", "better_bounds", "better_solutions", "wrong")] == [0, 1, 1, 2]


def test_equal_names_in_two_groups_have_figures_of_their_own(make_record):
    suite = make_closed(
        *([{"name": "i", "file": f"{g}/i", "group": g, "optimum": o}] for g, o in (("g", 1.0), ("h", 2.0)))
    )
    records = [
        make_record("a", "i", group=g, objective=o, bound=o, wall_s=1.0) for g, o in (("g", 10**6), ("h", 2 * 10**6))
    ]
    assert contradictions_to_published(suite, records) == []
    assert [row["closed_before"] for row in headline_rows(suite, records)] == [1, 1, 2]


@pytest.mark.parametrize(
    ("headline", "last"),
    [
        # What is said last is what stays longest: a suite with a paper's figures is about them, no suite about counts of runs.
        ("normalised-cost", ["runs", "paper's time (s)", "mean time", "worst gap"]),
        ("gap", ["runs", "wins ties losses", "PAR-10 (s)", "median gap (%)", "p95 gap (%)", "time, sgm (s)"]),
        ("objective", ["runs", "worst time", "mean bound", "mean time"]),
    ],
)
def test_what_a_narrow_terminal_leaves_out_first(make_record, headline, last):
    reference = {"method": "greedy", "group": "g", "name": "Greedy", "mean": 1.25, "time_s": 2.0}
    suite = make_suite(headline, [reference])
    records = [make_record("greedy", "i", group="g", objective=12, bound=10, wall_s=0.5)]
    heads, _ = find_headline(suite).cells(headline_rows(suite, records))
    left_out = sorted((head for head in heads if head.rank), key=lambda head: -head.rank)
    assert [head.title.split(" (")[0] for head in left_out[: len(last)]] == [title.split(" (")[0] for title in last]
