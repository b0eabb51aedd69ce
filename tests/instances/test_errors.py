"""What messages say of names that are not known."""

import pytest

from schedgap.instances.errors import InstanceError, about_file, did_you_mean


def test_near_names_are_asked_for():
    known = ["patterns", "pattern-rounding", "arc-flow"]
    assert did_you_mean("paterns", known) == "did you mean patterns? "
    assert did_you_mean("pattern", known) == "did you mean patterns? "
    assert did_you_mean("arcflow", [*known, "arc-flows"]) == "did you mean arc-flow or arc-flows? "


def test_a_part_of_a_name_is_near():
    assert did_you_mean("flow", ["arc-flow", "pooled"]) == "did you mean arc-flow? "


def test_of_what_is_far_nothing_is_said():
    assert did_you_mean("knots", ["fairness", "waiting"]) == ""
    assert did_you_mean("", ["fairness"]) == ""


def test_what_the_system_refuses_is_said_in_a_sentence_and_nothing_else_is_caught(tmp_path):
    missing = tmp_path / "none.json"
    message = f"{missing}: cannot be read \\(No such file or directory\\); give another."
    with pytest.raises(InstanceError, match=message), about_file(missing, "read", InstanceError, "give another"):
        missing.read_text()
    with pytest.raises(ValueError, match="invalid literal"), about_file(missing, "read", InstanceError, "give another"):
        int("x")


def test_a_message_is_one_line_whatever_it_tells():
    """Cells of files and options may move the cursor, or colour what follows."""
    error = InstanceError("size '\x1b[31m5\n' at \u2028, \udcff and \u00e9")
    assert str(error) == r"size '\x1b[31m5\n' at \u2028, \udcff and \u00e9".replace(r"\u00e9", "\u00e9")
