"""Kubernetes' quantities, held against decimal arithmetic."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.quantities import BILLION, fine_amounts, nano

SUFFIXES = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
SUFFIXES |= {letter: 1000**power for power, letter in enumerate("kMGTPE", 1)}
SUFFIXES |= {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}


@pytest.mark.parametrize(
    ("text", "units"),
    [
        *(
            ("0", 0),
            ("1", 1),
            (2, 2),
            (".5", Fraction(1, 2)),
            ("5.", 5),
            ("+1", 1),
            ("1E", 10**18),
            ("1E3", 1000),
            ("1e3", 1000),
        ),
        *(
            ("15225512Ki", 15225512 * 1024),
            ("1.8G", 1_800_000_000),
            ("100m", Fraction(1, 10)),
            ("1e-3", Fraction(1, 1000)),
        ),
        # Finer than 10^-9 is rounded up, and 2^63 - 1 is the most.
        *(
            ("0.0000000001", Fraction(1, BILLION)),
            ("1.5n", Fraction(2, BILLION)),
            ("1e99", 2**63 - 1),
            ("9Ei", 2**63 - 1),
        ),
    ],
)
def test_examples(text, units):
    assert nano(text) == units * BILLION


@given(st.decimals(0, 10**6, places=6).map(lambda value: f"{value:f}"), st.sampled_from(sorted(SUFFIXES)))
def test_against_fractions(number, suffix):
    exact = Fraction(number) * SUFFIXES[suffix] * BILLION
    assert nano(number + suffix) == min(-(-exact.numerator // exact.denominator), (2**63 - 1) * BILLION)


@pytest.mark.parametrize(
    "text", ["", ".", "1K", "1kk", "m", "1 Gi", "1Gi\n", "١", "1e", "0x1", "1e1000", "9" * 200, 10**200]
)
def test_what_is_none(text):
    with pytest.raises(InstanceError, match="is no quantity; Kubernetes writes 100m"):
        nano(text)


def test_below_zero():
    assert nano("-0") == 0
    with pytest.raises(InstanceError, match="'-1' is below 0"):
        nano("-1")


def test_fine_units():
    """CPU in thousandths, memory in bytes, both rounded up; other resources are whole and count in thousandths."""
    amounts = {
        "cpu": "0.0001",
        "memory": "100m",
        "ephemeral-storage": "1k",
        "hugepages-2Mi": "2Mi",
        "x/y": "3",
        "pods": 58,
    }
    assert fine_amounts(amounts) == {
        "cpu": 1,
        "ram_bytes": 1,
        "ephemeral_bytes": 1000,
        "hugepages-2Mi_bytes": 2**21,
        "x/y": 3000,
        "pods": 58_000,
    }
