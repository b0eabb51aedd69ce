"""Which run is compared with which, and what the two sides prove of each other."""

import pytest
from msgspec.structs import replace

from schedgap.bench.comparison.pairs import Pair, distance, judge_together, pair_up, used_clock
from schedgap.bench.statistics.summary import Best
from schedgap.instances.method import Status


def with_run(record, **changes):
    return replace(record, run=replace(record.run, **changes))


def test_pairs_are_of_one_instance_method_seed_and_family(make_record):
    base = make_record("a", "i", objective=5)
    assert pair_up([base], [base]) == [Pair(base, base)]
    for other in (
        make_record("a", "j", objective=5),
        make_record("b", "i", objective=5),
        with_run(base, seed=1),
        with_run(base, family="fairness"),
    ):
        assert pair_up([base], [other]) == [Pair(base, None), Pair(None, other)]


def test_names_versions_and_limits_do_not_part_a_pair(make_record):
    base = make_record("a", "i", objective=5)
    new = with_run(base, instance="renamed", version=2, group="g", backend_version="2.0")
    assert pair_up([base], [new]) == [Pair(base, new)]


def test_the_latest_of_several_counts(make_record):
    """In whatever order they stand; of two of one time, the later row."""
    early = make_record("a", "i", objective=5)
    late = replace(with_run(early, version=2), ended_at="2031-01-01T00:00:00+00:00")
    assert pair_up([late, early], []) == pair_up([early, late], []) == [Pair(late, None)]
    again = with_run(early, version=3)
    assert pair_up([early, again], []) == [Pair(again, None)]


@pytest.mark.parametrize(
    ("status", "wall_s", "expected"),
    [
        (Status.FEASIBLE, 60.1, True),
        (Status.NO_SOLUTION, 60.1, True),
        # Half of the limit: a search in phases may have been cut short in one of them.
        (Status.FEASIBLE, 30.0, True),
        (Status.FEASIBLE, 29.9, False),
        (Status.OPTIMAL, 59.9, False),
        (Status.INFEASIBLE, 59.9, False),
        (Status.CRASHED, None, False),
    ],
)
def test_used_clock(make_record, status, wall_s, expected):
    assert used_clock(make_record("a", "i", status=status, objective=5, wall_s=wall_s)) is expected


def test_the_clock_stops_no_method_without_a_limit(make_record):
    """Policies have theirs for each decision. Of rows that do not say, the other side does; none does of two old ones."""
    old = make_record("a", "i", status=Status.FEASIBLE, objective=5, wall_s=60.1)
    limited, free = (with_run(old, takes_limit=takes) for takes in (True, False))
    assert [used_clock(record) for record in (old, limited, free)] == [True, True, False]
    pairs = [(old, free), (free, old), (free, free), (old, old), (old, limited), (limited, free), (free, limited)]
    assert [Pair(*pair).used_clock for pair in pairs] == [False, False, False, True, True, True, True]


def test_distance_is_to_the_bound_or_else_to_the_best_solution(make_record):
    record = make_record("a", "i", objective=100)
    assert distance(record, {"i": Best(bound=80, objective=90)}) == 0.2
    assert distance(record, {"i": Best(bound=None, objective=90)}) == 0.1
    assert distance(record, {"i": Best(bound=None, objective=100)}) == 0.0
    assert distance(make_record("a", "i", bound=80), {"i": Best(bound=80, objective=90)}) is None
    # A bound below a quarter of the best solution, such as 0: a gap to it is near 1, whatever was found.
    for bound in (-5, 0, 1, 22):
        assert distance(record, {"i": Best(bound, objective=90)}) == 0.1
    assert distance(record, {"i": Best(23, objective=90)}) == 0.77
    assert distance(make_record("a", "i", objective=0), {"i": Best(0, objective=0)}) == 0.0
    failed = make_record("a", "i", status=Status.INVALID, objective=100)
    assert distance(failed, {"i": Best(bound=80, objective=90)}) is None


def test_both_sides_prove(make_record):
    """The best bound is NEW's, the best objective BASE's."""
    base, new = make_record("a", "i", objective=95, bound=80), make_record("a", "i", objective=100, bound=90)
    pairs, best, accused = judge_together([Pair(base, new)])
    assert (pairs, best, accused) == ([Pair(base, new)], {"i": Best(bound=90, objective=95)}, [])


def test_a_bound_above_the_other_side_s_solution_is_a_contradiction(make_record):
    """`exact` says 120 in NEW, `greedy` found 100 in BASE: `exact` is out, and nobody else."""
    exact = make_record("exact", "i", objective=120, bound=90), make_record("exact", "i", objective=120, bound=120)
    greedy = make_record("greedy", "i", objective=100), make_record("greedy", "i", objective=130)
    other = make_record("other", "j", objective=7, bound=3)
    pairs, best, accused = judge_together([Pair(*exact), Pair(*greedy), Pair(other, other)])
    assert [(pair.base.status, pair.new.status) for pair in pairs] == [
        ("feasible", "invalid"),
        ("feasible", "feasible"),
        ("feasible", "feasible"),
    ]
    ((run, reason),) = accused
    assert (run.label, run.instance) == ("exact", "i")
    assert reason == "on i the bound 120 of exact (NEW) is above a verified solution: greedy (BASE) found 100"
    assert best == {"i": Best(bound=90, objective=100), "j": Best(bound=3, objective=7)}
    assert pairs[0].new.key == exact[1].key


def test_one_solution_with_two_objectives_is_no_improvement(make_record):
    base, new = (make_record("h", "i", objective=cost, solution_hash="s") for cost in (100, 90))
    pairs, _, ((run, reason),) = judge_together([Pair(base, new)])
    assert (pairs[0].base.status, pairs[0].new.status, run.label) == ("invalid", "invalid", "h")
    assert reason.startswith(
        "one solution of i was verified with the objectives 90 and 100: schedgap itself is at fault"
    )


def test_infeasible_on_one_side_and_solved_on_the_other(make_record):
    base = make_record("a", "i", objective=5), make_record("b", "i", objective=5)
    new = make_record("a", "i", status=Status.INFEASIBLE), make_record("b", "i", objective=5)
    pairs, _, accused = judge_together([Pair(base[0], new[0]), Pair(base[1], new[1])])
    assert [pair.new.status for pair in pairs] == ["invalid", "feasible"]
    assert [reason for _, reason in accused] == ["a (NEW) says that i is infeasible, a (BASE) found 5"]
