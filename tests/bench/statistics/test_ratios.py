"""Measures relative to those of another method on the same instance."""

from schedgap.bench.statistics.measure_rows import figure
from schedgap.bench.statistics.profiles import with_ratios
from schedgap.instances.method import Status


def test_a_ratio_is_over_the_other_methods_mean_on_the_instance(make_record):
    records = [
        make_record("plain", "i", objective=5, measures={"cost": 4.0}),
        make_record("plain", "i", objective=5, measures={"cost": 8.0}),
        make_record("plain", "j", objective=5, measures={"cost": 10.0}),
        make_record("mine", "i", objective=5, measures={"cost": 3.0, "wait": 1.0}),
        make_record("mine", "j", objective=5, measures={"cost": 5.0}),
    ]
    shares = [figure(record, "cost/plain") for record in with_ratios(records, ["wait", "cost/plain"])]
    assert shares == [4 / 6, 8 / 6, 1.0, 0.5, 0.5]


def test_without_the_other_method_or_above_zero_there_is_none(make_record):
    alone = make_record("mine", "i", objective=5, measures={"cost": 3.0})
    failed = make_record("plain", "i", status=Status.TIMEOUT, measures={"cost": 3.0})
    zero = make_record("plain", "i", objective=0, measures={"cost": 0.0})
    for others in ([], [failed], [zero], [make_record("plain", "j", objective=5, measures={"cost": 3.0})]):
        assert figure(with_ratios([alone, *others], ["cost/plain"])[0], "cost/plain") is None


def test_records_are_as_they_were_without_ratios(make_record):
    record = make_record("mine", "i", objective=5, measures={"cost": 3.0})
    assert with_ratios([record], ["cost"]) == [record]
