"""Clusters that exercise one rule each: the value worked out by hand, against the oracle and against the product."""

from fractions import Fraction

import pytest


@pytest.fixture
def right(case):
    return Fraction(str(case.right))


def test_the_oracle_is_right(case, right, least_price):
    assert least_price(case.objects, case.prices) == right


def test_what_is_proven_is_true(case, right, proven):
    """Where nothing is relaxed it is the very price."""
    found = proven(case.objects, case.prices)
    assert found <= right if case.relaxed else found == right
