"""Pictures are plain data that can be drawn."""

import pytest

from schedgap.instances.picture import Curve


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((1.0,), (1.0, 2.0), "curve 'cost' has 1 x and 2 y; give one each"),
        ((1.0, float("nan")), (1.0, 2.0), "not finite"),
        ((1.0, 2.0), (1.0, float("inf")), "not finite"),
        ((2.0, 1.0), (1.0, 2.0), "an x that falls"),
    ],
)
def test_a_curve_that_cannot_be_drawn_is_refused(x, y, message):
    with pytest.raises(ValueError, match=message):
        Curve("cost", "hours", "dollars", x, y)
