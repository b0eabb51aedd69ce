"""The program over ends against all ends there are."""

import itertools

import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.harvest.price_bound import Row, ends_program


@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_least_of_all_ends_that_rows_allow(seed):
    rng = np.random.default_rng(seed)
    earliest, last = rng.integers(0, 3, 3), 6
    rows = []
    for _ in range(3):
        price = -np.sort(-rng.integers(0, 20, (3, last + 2)), axis=1)
        rows.append(Row(price, int(rng.integers(price[:, last].sum(), price[:, 0].sum() + 1))))
    at = np.concatenate(([0], np.cumsum(last - earliest)))
    found = solve(ends_program(rows, earliest, at))
    all_ends = [np.array(ends) for ends in itertools.product(*(range(e, last + 1) for e in earliest.tolist()))]
    best = min(int((ends - earliest).sum()) for ends in all_ends if all(row.allows(ends) for row in rows))
    assert found.objective == pytest.approx(best)
