"""Queries of the trees against a look at all classes."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.full_reconfiguration import full_reconfiguration, kernels_query


@pytest.mark.parametrize("number", [5, 40, 600])
@pytest.mark.parametrize("by_list", [False, True])
def test_the_class_found_is_the_first_of_those_that_fit(grown, number, by_list):
    tree, demand, kind, head, place, capacity = grown(number, number, by_list)
    query = full_reconfiguration._query(2, np.dtype(np.int32))
    query.keys[:] = 0
    query.scale[0] = capacity
    rng = np.random.default_rng(number)
    for left in rng.integers(0, 16, (25, 2)):
        query.left[:] = left
        query.scale[1] = left / capacity
        query.weight[0] = query.scale[1] / capacity
        for which in range(2):
            fitting = [c for c in np.flatnonzero(place >= 0) if kind[c] == which and (demand[c] <= left).all()]
            if not kernels_query.fits_kind(tree.least, which, query.left):
                assert not fitting
                continue
            if by_list:
                expected = min(fitting, key=lambda c: head[c]) if fitting else -1
                assert kernels_query.first_listed(tree, which, query) == expected
                continue
            score = {c: sum(float(d / w * s) for d, w, s in zip(demand[c], *query.scale, strict=True)) for c in fitting}
            best = [c for c in fitting if score[c] == max(score.values())]
            sums = tree.box_ranks.view(np.float32)
            found, tied = kernels_query.best_aligned(tree, sums, which, query, head)
            assert found == (min(best, key=lambda c: head[c]) if best else -1)
            assert tied == (len(best) > 1)
