"""Contradictions: a bound above a verified solution is false; its run alone is invalid, the solution stands."""

import msgspec

from schedgap.bench.records.contradictions import contradictions, judged
from schedgap.instances.method import Status


def names(found, records):
    labels = {record.key: record.run.label for record in records}
    return [[labels[key] for key in contradiction.keys] for contradiction in found]


def test_nothing_wrong(make_record):
    """A bound equal to the best objective is no contradiction; nor is one on another instance."""
    records = [
        make_record("exact", objective=10, bound=10),
        make_record("greedy", objective=12),
        make_record("exact", "j", bound=50),
    ]
    assert contradictions(records) == []


def test_bound_above_a_solution(make_record):
    """The bound 11 is refuted by the solution of 10, which was verified and is not to blame."""
    records = [make_record("liar", bound=11), make_record("good", objective=10), make_record("poor", objective=12)]
    found = contradictions(records)
    assert names(found, records) == [["liar"]]
    assert found[0].reason == "on i the bound 11 of liar is above a verified solution: good found 10"
    marked = judged({record.key: record for record in records}, found)
    assert [record.status for record in marked.values()] == [Status.INVALID, Status.FEASIBLE, Status.FEASIBLE]


def test_liar_with_a_worse_solution_of_its_own(make_record):
    """A solution of 8 with a bound of 8, and a cheaper one of 5: who claimed the optimum is the liar."""
    records = [make_record("liar", objective=8, bound=8), make_record("good", objective=5)]
    found = contradictions(records)
    assert names(found, records) == [["liar"]]
    assert found[0].reason == "on i the bound 8 of liar is above a verified solution: good found 5"


def test_every_liar_is_told_of_the_best_solution(make_record):
    """Also of a solution whose own run lies: 7 was verified, whatever its bound says, and 6 refutes both bounds."""
    records = [
        make_record("worse", objective=9, bound=9),
        make_record("liar", objective=7, bound=7),
        make_record("good", objective=6, bound=4),
    ]
    found = contradictions(records)
    assert names(found, records) == [["worse"], ["liar"]]
    assert all(each.reason.endswith("good found 6") for each in found)


def test_what_a_failed_run_had_told_is_a_claim_and_its_solution_is_one(make_record):
    records = [make_record("dead", bound=11, status=Status.TIMEOUT), make_record("good", objective=10)]
    assert names(contradictions(records), records) == [["dead"]]
    records = [make_record("dead", objective=9, status=Status.MEMORY), make_record("liar", objective=12, bound=10)]
    assert names(contradictions(records), records) == [["liar"]]


def test_invalid_runs_claim_nothing(make_record):
    records = [make_record("dead", bound=11, status=Status.INVALID), make_record("good", objective=10)]
    assert contradictions(records) == []


def test_infeasible_though_solved(make_record):
    records = [make_record("hasty", status=Status.INFEASIBLE), make_record("good", objective=10)]
    assert names(contradictions(records), records) == [["hasty"]]


def test_one_solution_with_two_objectives_is_the_harness_fault(make_record):
    """Its runs are out; what other solutions refute is false all the same, or gaps would be below 0."""
    records = [
        make_record("a", objective=5, solution_hash="s"),
        make_record("b", objective=6, solution_hash="s"),
        make_record("c", objective=7, solution_hash="t"),
        make_record("d", instance="j", objective=7, solution_hash="s"),
        make_record("exact", bound=6),
        make_record("liar", bound=100),
        make_record("liar", instance="j", bound=100),
    ]
    found = contradictions(records)
    assert [each.keys for each in found] == [(records[0].key, records[1].key), (records[5].key,), (records[6].key,)]
    assert [each.reason for each in found] == [
        "one solution of i was verified with the objectives 5 and 6: schedgap itself is at fault, please report it",
        "on i the bound 100 of liar is above a verified solution: c found 7",
        "on j the bound 100 of liar is above a verified solution: d found 7",
    ]


def test_a_measure_below_what_is_told_as_its_least(make_record):
    """Of placement, `idle_at_100` may be told with a bound; a verified solution with less refutes it, one with more does not."""
    import schedgap.instances.placement  # noqa: F401 - registers the family

    def row(label, **changes):
        record = make_record(label, **changes.pop("run", {}))
        measurement = msgspec.structs.replace(record.measurement, **changes)
        run = msgspec.structs.replace(record.run, family="placement")
        return msgspec.structs.replace(record, run=run, measurement=measurement)

    solved = row("good", run={"objective": 9}, measures={"idle_at_100": 4.0})
    right = row("right", run={"bound": 1}, details={"idle_at_100": 4.0})
    wrong = row("wrong", run={"bound": 1}, details={"idle_at_100": 4.1})
    assert contradictions([solved, right]) == []
    found = contradictions([solved, right, wrong])
    assert names(found, [solved, right, wrong]) == [["wrong"]]
    assert found[0].reason == "wrong proves idle_at_100 of at least 4.1 on i, good has 4.0"
    # Text is in no table.
    assert contradictions([solved, row("odd", run={"bound": 1}, details={"idle_at_100": "much"})]) == []
