from itertools import product

import numpy as np
import pytest

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import (
    fill,
    new_scratch,
    sort_by_density,
)


@pytest.mark.parametrize("seed", range(20))
def test_a_machine_is_filled_as_well_as_can_be(seed):
    """With steps enough, against all contents; with a few, no better and still feasible."""
    rng = np.random.default_rng(seed)
    size, value, available = rng.integers(0, 5, (5, 2)), rng.uniform(1.0, 5.0, 5), rng.integers(0, 3, 5)
    size[rng.random(5) < 0.2] = -1
    capacity, weight = rng.integers(0, 12, 2), rng.uniform(0.1, 1.0, 2)
    scratch, order = new_scratch(5, 2), np.empty(5, np.int64)
    n = sort_by_density(size, value, weight, np.arange(5), 5, order, scratch)
    assert sorted(order[:n].tolist()) == np.flatnonzero(size[:, 0] >= 0).tolist()
    assert (np.diff(scratch.density[order[:n]]) <= 0).all()
    most = np.where(np.arange(5) % 2 == seed % 2, 1, available)
    allowed = np.where(size[:, 0] >= 0, np.minimum(available, most), 0)
    best = max(
        float(np.array(content) @ value)
        for content in product(*(range(number + 1) for number in allowed))
        if (np.array(content) @ np.maximum(size, 0) <= capacity).all()
    )
    for steps in (10_000, 3):
        worth = fill(order, n, size, value, available, most, weight, capacity, steps, scratch)
        content = np.zeros(5, np.int64)
        content[order[:n]] = scratch.work[0, :n]
        assert worth == pytest.approx(content @ value)
        assert (content <= allowed).all()
        assert (content @ np.maximum(size, 0) <= capacity).all()
        assert worth == pytest.approx(best) if steps > 3 else worth <= best + 1e-9


def test_classes_of_equal_density_stay_in_order():
    value = np.random.default_rng(1).integers(1, 4, 60).astype(np.float64)
    scratch, order = new_scratch(60, 1), np.empty(60, np.int64)
    n = sort_by_density(np.ones((60, 1), np.int64), value, np.ones(1), np.arange(60), 60, order, scratch)
    assert order[:n].tolist() == np.argsort(-value, kind="stable").tolist()
