"""Expressions as text: values by hand, and nothing but arithmetic."""

import numpy as np
import pytest

from schedgap.instances.errors import MethodError
from schedgap.instances.expressions import MOST_LETTERS, expression

SIZE, PRICE = np.array([1, 4, 0]), np.array([2, 0, 0])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("size - 2 * price", [-3.0, 4.0, 0.0]),
        ("max(size, price) + min(size, 0.5)", [2.5, 4.5, 0.0]),
        ("-size", [-1.0, -4.0, 0.0]),
        ("7", [7.0, 7.0, 7.0]),
        # 4 / 0 is the largest float, 0 / 0 is 0.
        ("size / price", [0.5, np.finfo(float).max, 0.0]),
    ],
)
def test_values(text, values):
    assert expression(text, ("size", "price"))(size=SIZE, price=PRICE).tolist() == values


def test_a_number_for_all():
    """A feature that is the same for all is given as a number."""
    assert expression("size * price", ("size", "price"))(size=SIZE, price=3).tolist() == [3.0, 12.0, 0.0]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "size.__class__",
        "size[0]",
        "abs(size)",
        "max(size)",
        "max(size, price, 1)",
        "min(size, key=price)",
        "size ** price",
        "size if price else 1",
        "lambda: 1",
        "other",
        "True",
        "'size'",
        "1e999",
        "1" + "0" * 400,
        "1j",
        "size +",
        "",
        "a = 1",
        "(" * 500 + "size" + ")" * 500,
        "size" + " + size" * MOST_LETTERS,
    ],
)
def test_nothing_else(text):
    with pytest.raises(MethodError, match=r"is not allowed; use price, size, numbers|is no expression of up to"):
        expression(text, ("size", "price"))
