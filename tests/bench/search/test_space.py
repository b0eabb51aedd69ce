"""Random values stay within what is declared, however often they are changed."""

import numpy as np
import pytest

from schedgap.bench.search.program import MOST_DEPTH, _height, changed, drawn, read_program
from schedgap.instances.expressions import expression, parsed


@pytest.mark.parametrize("seed", range(5))
def test_values_stay_within(program, seed):
    declared, rng = read_program(program), np.random.default_rng(seed)
    values, seen = declared.first, set()
    for turn in range(300):
        values = drawn(declared.space, rng) if turn % 100 == 0 else changed(declared.space, values, rng)
        assert 0 <= values["weight"] <= 1
        assert values["tries"] in range(1, 10)
        assert type(values["tries"]) is int
        assert 0.1 <= values["wait_s"] <= 1000
        assert values["ties"] in ("first", "last")
        expression(values["score"], {"size", "price"})
        assert _height(parsed(values["score"])) <= MOST_DEPTH
        seen |= {key for key in values if values[key] != declared.first[key]}
    assert seen == set(declared.space)


def test_wide_ranges_are_drawn_by_the_logarithm():
    """Half of what is drawn from 0.01 to 100 is below 1; of an even draw it would be a hundredth."""
    rng = np.random.default_rng(0)
    values = [drawn({"x": (0.01, 100.0)}, rng)["x"] for _ in range(200)]
    assert 70 < sum(value < 1 for value in values) < 130


def test_every_operator_is_found():
    rng = np.random.default_rng(1)
    text, found = "size", ""
    for _ in range(500):
        text = changed({"x": {"size", "price"}}, {"x": text}, rng)["x"]
        found += text
    assert all(sign in found for sign in ("+", "-", "*", "/", "min(", "max(", "size", "price", "."))
