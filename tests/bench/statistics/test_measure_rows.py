"""What the family reads off solutions, and what models predict, as rows and as lines."""

from msgspec.structs import replace

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.statistics.headlines.measures import measured_row
from schedgap.bench.statistics.measure_rows import Line, figure, lines_of, predicting, predictions_of
from schedgap.instances.method import Status, method_label

load_families()


def test_a_row_has_mean_least_most_and_the_papers_figure(make_record):
    records = [
        make_record("a", "i", objective=5, measures={"wait": 1.0}),
        make_record("a", "j", objective=5, measures={"wait": 4.0}),
    ]
    row = measured_row(records, ["wait", "price"], {"price": 0.5})
    assert (row["wait"], row["wait_min"], row["wait_max"], row["paper_wait"]) == (2.5, 1.0, 4.0, None)
    assert (row["price"], row["price_min"], row["paper_price"], row["price_low"]) == (None, None, 0.5, None)


def test_the_interval_is_over_instances(make_record):
    def interval(*waits):
        records = [make_record("a", name, objective=5, measures={"wait": wait}) for name, wait in waits]
        row = measured_row(records, ["wait"], {})
        return row["wait_low"], row["wait_high"]

    # Two of four resamples have both.
    assert interval(("i", 1.0), ("j", 4.0)) == (1.0, 4.0)
    assert interval(("i", 1.0), ("i", 4.0)) == (2.5, 2.5)


def test_a_model_counts_with_its_own_word(make_record):
    """It has no solution; figures of others are never taken from details, and a failed run has none."""
    model = make_record("model-a", family="waiting", details={"wait": 2, "note": "text", "fits": True})
    assert figure(model, "wait") == figure(model, "steady_wait") == 2.0
    assert figure(model, "note") is figure(model, "fits") is None
    assert measured_row([], ["wait"], {}, [model])["model_wait"] == 2.0
    others = (
        make_record("a", family="waiting", objective=5, details={"wait": 2}),
        make_record("a", family="waiting", details={"wait": 2}),
        make_record("model-a", family="waiting", bound=1, details={"wait": 2}),
        make_record("model-a", family="waiting", status=Status.TIMEOUT, details={"wait": 2}),
        make_record("model-a", details={"wait": 2}),
    )
    assert [figure(record, "wait") for record in others] == [None] * 5
    assert predictions_of([model, *others]) == {"a": [model]}


def test_a_solution_tells_what_its_family_says_that_only_a_method_knows(make_record):
    record = make_record("eva", objective=5, details={"full_share": 0.25, "plans": 4})
    assert figure(record, "full_share") is None
    record = replace(record, run=replace(record.run, family="reconfiguration"))
    assert (figure(record, "full_share"), figure(record, "plans")) == (0.25, None)
    assert figure(make_record("eva", family="reconfiguration", details={"full_share": 0.25}), "full_share") is None


def test_a_model_predicts_the_method_of_its_name_with_the_same_parameters(make_record):
    def model(**given):
        record = make_record("m", family="waiting", details={"wait": given["s"]})
        return replace(record, run=replace(record.run, method="model-a", given=given))

    models = predictions_of([model(s=1, rate=5), model(s=2, rate=5), make_record("a", objective=5)])
    played = replace(make_record("a").run, method="a", given={"s": 2})
    assert [record.run.given["s"] for record in predicting(models["a"], played)] == [2]
    assert predicting(models["a"], replace(played, given={"s": 3})) == []


def test_lines_over_a_parameter(make_record):
    """A method with s = 1 and 3, twice at 3, and another; a method without s is a line of its own over the source."""

    def run(method, instance="i", wait=None, source=None, **given):
        label = method_label(method, given)
        record = make_record(label, instance, source=source, objective=5, measures={"wait": wait})
        return replace(record, run=replace(record.run, method=method, given=given, parameters=given))

    records = [
        run("a", "i", 1.0, s=3),
        run("a", "j", 2.0, s=3),
        run("a", "i", 9.0, s=1),
        run("b", "i", 4.0, s=1, b=2),
        run("c", "i", 3.0, {"s": 7}),
        run("c", "j", 3.0, {"s": "seven"}),
        run("c", "k", 5.0, {"s": "8"}),
    ]
    assert lines_of(records, "s", "wait") == [
        Line("a", False, "", {}, (1.0, 3.0), (9.0, 1.5), (9.0, 1.0), (9.0, 2.0)),
        Line("b", False, "", {"b": 2}, (1.0,), (4.0,), (4.0,), (4.0,)),
        Line("c", False, "", {}, (7.0, 8.0), (3.0, 5.0), (3.0, 5.0), (3.0, 5.0)),
    ]


def test_groups_of_instances_are_lines_of_their_own_but_not_for_models(make_record):
    def run(method, group, **figures):
        record = make_record(method, group=group, source={"s": 1}, family="waiting", **figures)
        return replace(record, run=replace(record.run, method=method))

    records = [
        run("a", "old", objective=5, measures={"wait": 1.0}),
        run("a", "new", objective=5, measures={"wait": 2.0}),
        run("model-a", "old", details={"wait": 3.0}),
        run("model-a", "new", details={"wait": 5.0}),
        run("a", "new", objective=5, measures={"wait": float("inf")}),
    ]
    assert [(line.method, line.group, line.mean) for line in lines_of(records, "s", "wait")] == [
        ("a", "old", (1.0,)),
        ("a", "new", (2.0,)),
        ("model-a", "", (4.0,)),
    ]
