"""What messages say of names that are not known."""

from schedgap.instances.errors import did_you_mean


def test_near_names_are_asked_for():
    known = ["patterns", "pattern-rounding", "arc-flow"]
    assert did_you_mean("paterns", known) == "did you mean patterns? "
    assert did_you_mean("pattern", known) == "did you mean patterns? "
    assert did_you_mean("arcflow", [*known, "arc-flows"]) == "did you mean arc-flow or arc-flows? "


def test_a_part_of_a_name_is_near():
    assert did_you_mean("flow", ["filtered-arc-flow", "pooled"]) == "did you mean filtered-arc-flow? "


def test_of_what_is_far_nothing_is_said():
    assert did_you_mean("knots", ["fairness", "waiting"]) == ""
    assert did_you_mean("", ["fairness"]) == ""
