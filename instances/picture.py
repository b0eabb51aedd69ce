"""What a solution looks like, as plain data: families make pictures of their solutions, the report draws them."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A container and its contents. repeat : how many look the same. capacity : on each axis."""

    label: str
    repeat: int
    capacity: tuple[float, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A quantity against another, drawn over those of other methods. is_step : it keeps each value until the next."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    is_step: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Containers as stacked bars, one stack an axis (a resource), and curves.

    left_out : containers that no bar stands for.
    """

    axes: tuple[str, ...]
    bars: tuple[Bar, ...]
    left_out: int = 0
    curves: tuple[Curve, ...] = ()
