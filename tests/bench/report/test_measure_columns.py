"""The headline `measures`: ours, a model's, the paper's, and the differences."""

from dataclasses import replace

import pytest
from msgspec import structs

from schedgap.bench.report.page import build_content
from schedgap.bench.statistics.headlines.measures import difference, signed_percent


@pytest.fixture(scope="module")
def content(measured):
    return build_content(measured)


def cells(table, method):
    row = next(row for row in table.rows if row.method == method)
    return {(place, head.title): cell for place, (head, cell) in enumerate(zip(table.heads, row.cells, strict=True))}


def test_columns_only_where_there_is_something(content):
    """No price is predicted or published, nobody proved a bound, and no group has a name."""
    assert [head.title for head in content.headline.heads] == [
        "method",
        "runs",
        "mean wait (s)",
        "model",
        "ours − model",
        "paper",
        "ours − paper",
        "price",
        "mean time",
    ]
    assert [head.title for head in content.headline.heads if head.opens] == ["mean wait (s)", "price"]


def test_ours_the_models_and_the_papers(content):
    """4 s against 4.4 s is 9.1 % less, against 5 s 20 % less."""
    row = cells(content.headline, "a[limit=60.0,s=2]")
    assert (row[2, "mean wait (s)"].text, row[2, "mean wait (s)"].span) == ("4", "3 – 5")
    assert (row[3, "model"].text, row[4, "ours − model"].text) == ("4.4", "−9.1%")
    assert row[4, "ours − model"].value == pytest.approx(-0.4 / 4.4)
    assert (row[5, "paper"].text, row[6, "ours − paper"].text) == ("5", "−20.0%")
    assert (row[7, "price"].text, row[7, "price"].span) == ("1", "")
    other = cells(content.headline, "b[s=2]")
    assert (other[3, "model"].text, other[4, "ours − model"].value) == ("–", None)


def test_gaps_where_somebody_proved_a_bound(measured):
    """`a` and `b` cost 1 and 2, the bound of one run is 1."""
    first = measured.records[0]
    bounded = structs.replace(first, measurement=structs.replace(first.measurement, bound=1))
    content = build_content(replace(measured, records=(bounded, *measured.records[1:])))
    assert "mean gap" in [head.title for head in content.headline.heads]
    assert "instances proven optimal" in [fact.name for fact in content.facts]


def test_models_are_no_methods_to_compare(content):
    assert [row.method for row in content.methods.rows] == [
        "a[limit=60.0,s=1]",
        "b[s=1]",
        "a[limit=60.0,s=2]",
        "b[s=2]",
    ]
    assert not any("model" in method for method in content.selection.methods)
    assert content.without_gap == (0, 8)


def test_without_gaps_no_table_has_columns_of_them(content):
    assert [head.title for head in content.methods.heads] == [
        "method",
        "runs",
        "wins–ties–losses",
        "time (sgm)",
        "PAR-10",
    ]
    assert [fact.name for fact in content.facts] == ["runs", "instances", "methods", "failed runs"]


def test_difference():
    assert (difference(3.0, 4.0), difference(-3.0, -4.0), difference(0.0, 0.0)) == (-0.25, 0.25, 0.0)
    assert difference(1.0, 0.0) is difference(None, 1.0) is difference(1.0, None) is None


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.0123, "+1.2%"),
        (-0.5, "−50.0%"),
        (12.0, "+1,200%"),
        (0.0, "0.0%"),
        (-0.0001, "0.0%"),
        (None, "-"),
    ],
)
def test_signed_percent(share, shown):
    assert signed_percent(share) == shown
