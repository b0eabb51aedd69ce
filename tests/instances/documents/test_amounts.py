import pytest

from schedgap.instances.documents.json_files import from_units, to_units
from schedgap.instances.errors import InstanceError


def test_whole_amounts_are_written_whole():
    assert [repr(from_units(value, 1000)) for value in (0, 2000, 2500, -1)] == ["0", "2", "2.5", "-0.001"]


def test_decimals_are_exact_in_units():
    assert to_units([0.1, 2.675, 123456789012.345], 1000, "x", InstanceError).tolist() == [100, 2675, 123456789012345]


def test_what_is_no_number_is_refused():
    with pytest.raises(InstanceError, match=r"^wait_price is no number; give one\.$"):
        to_units(float("nan"), 1000, "wait_price", InstanceError)
    with pytest.raises(InstanceError, match=r"^at_s of 1 is no number"):
        to_units([1.0, float("nan")], 1000, "at_s", InstanceError)
    with pytest.raises(InstanceError, match=r"^at_s: -inf is too large"):
        to_units(float("-inf"), 1000, "at_s", InstanceError)


def test_numbers_beyond_floats_are_refused_in_one_sentence():
    """Warnings are errors here: none comes before the sentence."""
    with pytest.raises(InstanceError, match=r"at_s of 0: 1e\+308 is too large to be exact"):
        to_units([1e308], 1000, "at_s", InstanceError)
