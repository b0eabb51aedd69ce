"""What 64 bits do not hold is refused: NumPy would make other numbers of it."""

import numpy as np
import pytest

from schedgap.instances.arrays import locked_ints
from schedgap.instances.fairness import FairnessAllocation
from schedgap.instances.sharing.solution import SharingSchedule

TOO_LARGE = [
    np.array([2**63], np.uint64),
    np.array([1, 2**64 - 1], np.uint64),
    np.array([2.0**63]),
    [-1e300],
    [2**64],
    [1, -(2**80)],
    [np.inf],
    [np.nan],
    ["1"],
    [None],
]


@pytest.mark.parametrize("values", TOO_LARGE, ids=repr)
def test_beyond_64_bits(values):
    with pytest.raises(ValueError, match="expected whole numbers"):
        locked_ints(values)
    with pytest.raises(ValueError, match="expected whole numbers"):
        SharingSchedule([0] * len(values), values)
    with pytest.raises(ValueError, match="expected whole numbers"):
        FairnessAllocation([0] * len(values), [0] * len(values), values, [0] * len(values))


@pytest.mark.parametrize("values", [[-(2**63), 2**63 - 1], np.array([5], np.uint64), [-(2.0**63)], [True], []])
def test_within_64_bits(values):
    locked = locked_ints(values)
    assert locked.dtype == np.int64
    assert locked.tolist() == [int(value) for value in values]


def test_fractions():
    with pytest.raises(ValueError, match="with fractions"):
        locked_ints([0.5])
