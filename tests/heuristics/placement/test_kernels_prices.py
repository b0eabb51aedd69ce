"""Prices of holes in GPUs: near the exact duals of cutting stock, and never more than a whole GPU for what fits one."""

import itertools

import numpy as np
import pytest

from schedgap.heuristics.placement.kernels_prices import hole_prices


def priced(sizes, pods, length=10):
    worth = np.zeros(length + 1)
    hole_prices(np.array(sizes), np.array(pods, np.float64), worth)
    return worth


def test_a_hole_is_worth_what_the_expected_shares_make_of_it():
    """Of ten units: eights need a GPU each and leave nothing of use; halves are worth a half, and a hole of four nothing."""
    worth = priced([5, 8], [10, 10])
    assert worth.tolist() == pytest.approx([0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 1, 1, 1], abs=0.03)


def test_prices_of_pairs():
    """Sixes pair with threes, of which there are as many: the two are worth one GPU together, so that neither is alone."""
    worth = priced([3, 6], [10, 10])
    assert worth[10] == 1
    assert worth[6] + worth[3] == pytest.approx(1, abs=0.01)


def test_prices_prove_a_number_of_gpus_near_the_least():
    """No GPU is cut into more than it is worth, so that demand at these prices is a bound."""
    sizes, pods = [2, 3, 5, 7], [20.0, 30.0, 10.0, 5.0]
    worth = priced(sizes, pods)
    for pattern in itertools.product(*(range(10 // s + 1) for s in sizes)):
        if sum(n * s for n, s in zip(pattern, sizes, strict=True)) <= 10:
            assert sum(n * worth[s] for n, s in zip(pattern, sizes, strict=True)) <= 1 + 1e-9
    bound = sum(n * worth[s] for n, s in zip(pods, sizes, strict=True))
    # GPUs that do: 5 of 7 + 3, 5 of 5 + 5, 10 of 2 + 2 + 3 + 3, and the last five threes by three.
    assert 0.98 * (20 + 5 / 3) <= bound <= 20 + 5 / 3
