import itertools

import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.kernels_pattern import violated_triples


@pytest.mark.parametrize("most", [2, 100])
@pytest.mark.parametrize("seed", range(5))
def test_finds_the_most_violated_triples(seed, most):
    rng = np.random.default_rng(seed)
    holds = (rng.random((12, 7)) < 0.4).astype(float)
    x = rng.random(12)
    pair = (holds.T * x) @ holds
    np.fill_diagonal(pair, 0)
    item, column = np.nonzero(holds.T)
    start = np.searchsorted(item, np.arange(8))
    by = {t: x[holds[:, t].sum(axis=1) >= 2].sum() - 1 for t in itertools.combinations(range(7), 3)}
    expected = sorted((v for v in by.values() if v >= 0.1), reverse=True)[:most]
    triples, violated = violated_triples(pair, start, column, holds, x, 0.1, most)
    assert sorted(violated, reverse=True) == pytest.approx(expected)
    assert violated == pytest.approx([by[tuple(t)] for t in triples.tolist()])
