import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.pooled.kernels_place import add_machine
from schedgap.instances.units import NEVER


@pytest.mark.parametrize("seed", range(10))
def test_the_least_price_of_each_total(seed):
    """Every multiset of three machines by hand; the last row and column stand for all that is larger."""
    rng = np.random.default_rng(seed)
    size, price = rng.integers(0, 4, (3, 2)), rng.integers(1, 50, 3)
    last = np.array([5, 7])
    expected = np.full(last + 1, NEVER)
    for chosen in itertools.combinations_with_replacement(range(3), 3):
        a, b = np.minimum(size[list(chosen)].sum(axis=0), last)
        expected[a, b] = min(expected[a, b], price[list(chosen)].sum())
    layer = np.full(last + 1, NEVER)
    layer[0, 0] = 0
    for _ in range(3):
        after = np.empty_like(layer)
        add_machine(size, price, layer, after)
        layer = after
    assert np.array_equal(layer, expected)
