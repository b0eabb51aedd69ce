import inspect
from dataclasses import dataclass

import pytest

from schedgap.instances.method import flattened


@dataclass(frozen=True)
class Size:
    width: int = 1
    height: float = 2.0


WIDE = Size(width=5)


@flattened(without=["height"])
def wide(name, *, steps: int = 3, size: Size = WIDE):
    """Say it."""
    return name, steps, size


@flattened()
def small(name: str = "a", size: Size = Size()):
    return name, size


def test_fields_are_the_parameters():
    assert str(inspect.signature(wide)) == "(name, *, steps: int = 3, width: int = 5)"
    assert str(inspect.signature(small)) == "(name: str = 'a', width: int = 1, height: float = 2.0)"
    assert (wide.__name__, inspect.getdoc(wide)) == ("wide", "Say it.")


def test_they_reach_the_function_as_a_group():
    assert wide("a") == ("a", 3, Size(5, 2.0))
    assert wide("a", width=7, steps=1) == ("a", 1, Size(7, 2.0))
    assert small("b", 3, height=4.0) == ("b", Size(3, 4.0))


def test_what_is_left_out_or_unknown_is_no_parameter():
    with pytest.raises(TypeError, match="height"):
        wide("a", height=1.0)
    with pytest.raises(TypeError, match="depth"):
        small(depth=1)
