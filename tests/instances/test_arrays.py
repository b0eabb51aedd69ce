"""Whole numbers at the border: what 64 bits do not hold is refused, never wrapped."""

import numpy as np
import pytest

from schedgap.instances.arrays import locked_ints
from schedgap.instances.fairness import FairnessAllocation
from schedgap.instances.sharing.schedule import SharingSchedule


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**63], np.uint64),
        np.array([1, 2**64 - 1], np.uint64),
        np.array([2.0**63]),
        np.array([-(2.0**64)]),
        np.array([np.inf]),
        np.array([np.nan]),
        [2**70],
        [1, -(2**80)],
    ],
)
def test_numbers_that_would_wrap(values):
    with pytest.raises(ValueError, match="expected whole numbers below 2\\^63"):
        locked_ints(values)
    with pytest.raises(ValueError, match="expected whole numbers"):
        SharingSchedule([0] * len(values), values)
    with pytest.raises(ValueError, match="expected whole numbers"):
        FairnessAllocation([0] * len(values), [0] * len(values), values, [0] * len(values))


def test_numbers_that_fit():
    largest = 2**63 - 1
    for values in ([largest], np.array([largest], np.uint64), np.array([largest], object), [-largest]):
        assert locked_ints(values).tolist() == [int(values[0])]
    assert locked_ints([1.0, 2.0]).tolist() == [1, 2]
    assert locked_ints([]).tolist() == []
    with pytest.raises(ValueError, match="with fractions"):
        locked_ints([0.5])
    with pytest.raises(TypeError):
        locked_ints(np.array([0.5, "a"], object)[:1])
