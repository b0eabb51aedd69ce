"""Colours can be told apart, by readers who see fewer of them too."""

from itertools import combinations

import numpy as np
import pytest

from schedgap.bench.report.figures.drawing import DARK, DARK_PAGE, DASHES, LIGHT, LIGHT_PAGE, SHAPES, mark

# Machado, Oliveira and Fernandes (2009), severity 1: protanopia, deuteranopia, tritanopia; linear RGB.
SEEN = {
    "all": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# Ottosson's OKLab.
LMS = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
       [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
LAB = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
       [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip


def linear(colour):
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(("colours", "page"), [(LIGHT, LIGHT_PAGE), (DARK, DARK_PAGE)])
def test_contrast_to_the_page(colours, page):
    for colour in colours:
        low, high = sorted((luminance(colour), luminance(page)))
        assert (high + 0.05) / (low + 0.05) >= 3.0, colour


@pytest.mark.parametrize("colours", [LIGHT, DARK])
@pytest.mark.parametrize(
    ("sight", "least"), [("all", 12), ("protanopia", 12), ("deuteranopia", 12), ("tritanopia", 9.6)]
)
def test_any_two_differ(colours, sight, least):
    seen = [np.clip(np.array(SEEN[sight]) @ linear(colour), 0, 1) for colour in colours]
    lab = [np.array(LAB) @ np.cbrt(np.array(LMS) @ colour) for colour in seen]
    assert min(100 * np.linalg.norm(a - b) for a, b in combinations(lab, 2)) >= least


def test_marks_of_48_methods_differ():
    marks = [mark(i) for i in range(48)]
    assert len({(m.colour, m.shape) for m in marks}) == len({(m.colour, m.dash) for m in marks}) == 48
    assert max(m.shape for m in marks) < len(SHAPES)
    assert max(m.dash for m in marks) < len(DASHES)
