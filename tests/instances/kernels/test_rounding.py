"""What is equal but for a rounding becomes equal, and stays where it is but for 40 bits."""

import numpy as np
import pytest

from schedgap.instances.jit import kernel
from schedgap.instances.kernels.rounding import rounded


@kernel
def compiled(number):
    """Return what compiled callers see."""
    return rounded(number)


@pytest.mark.parametrize(
    ("one", "other"), [(3 / 16, 1000 / 5333.333333333334), (6 * (1 / 14), 3 * (2 / 14)), (0.1 + 0.2, 0.3)]
)
def test_equal_but_for_a_rounding(one, other):
    assert compiled(one) == compiled(np.nextafter(one, 1.0)) == compiled(other)


def test_it_is_within_40_bits():
    numbers = np.random.default_rng(0).random(1000) * 10.0 ** np.arange(-100, 100).repeat(5)
    for number in [0.0, 1.0, 0.1875, *numbers.tolist()]:
        assert abs(compiled(number) - number) <= number * 2.0**-40
        assert compiled(compiled(number)) == compiled(number) == rounded.py_func(number)
    assert compiled(1.0 + 2.0**-30) > 1.0
