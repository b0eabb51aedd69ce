"""What a solution looks like, as plain data: families make pictures of their solutions, the report draws them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

# A picture shows at most this many bars: more could not be told apart on a page.
MAX_BARS = 60
# A curve has at most this many points, for the same reason.
MAX_POINTS = 120


@dataclass(frozen=True, slots=True)
class Part:
    """Equal things stacked in a bar. amounts : of one of them on each axis, in the axis' unit."""

    label: str
    count: int
    amounts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A container and its contents. repeat : how many look the same. capacity : on each axis.

    kept : names of the containers, if they were there before; empty for new ones.
    """

    label: str
    repeat: int
    capacity: tuple[float, ...]
    parts: tuple[Part, ...]
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity against another, drawn over those of other methods.

    x, y : (N,) each, finite; x does not fall. is_step : the quantity keeps each value until the next.

    Raises `ValueError` otherwise.
    """

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    is_step: bool = False

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"curve '{self.title}' has {len(self.x)} x and {len(self.y)} y; give one each")
        if not all(map(isfinite, (*self.x, *self.y))) or any(b < a for a, b in pairwise(self.x)):
            raise ValueError(f"curve '{self.title}' has a number that is not finite, or an x that falls")


@dataclass(frozen=True, slots=True)
class Picture:
    """Containers as stacked bars, one stack an axis (a resource), and curves.

    left_out : containers that no bar stands for. notes : facts about all of it, for people.
    """

    axes: tuple[str, ...]
    bars: tuple[Bar, ...]
    left_out: int = 0
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = ()
