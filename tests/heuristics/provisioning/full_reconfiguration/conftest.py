import numpy as np
import pytest

from schedgap.heuristics.provisioning.full_reconfiguration import full_reconfiguration, kernels_query, kernels_tree


@pytest.fixture
def python_kernels(monkeypatch):
    """Run the trees and their queries in Python: compiled code alone may call their kernels."""
    for module in (kernels_tree, kernels_query):
        for name, kernel in list(vars(module).items()):
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


@pytest.fixture
def grown(python_kernels):
    """Return a function that draws classes of two kinds and builds their trees, by list order or by sums."""

    def grow(seed, number, by_list):
        rng = np.random.default_rng(seed)
        demand = rng.integers(0, 12, (number, 2)).astype(np.int32)
        demand[rng.random(number) < 0.1] = -1
        kind = rng.integers(0, 2, number)
        start = np.array([0, (kind == 0).sum(), number])
        head, counts = rng.permutation(number), rng.integers(0, 3, number)
        forest = full_reconfiguration._forest((1, number, 2), 2, 100, np.dtype(np.int32))
        tree = kernels_tree.Tree(*(array[0] for array in forest[:-1]), forest.limits)
        rank, place = (kernels_tree.LAST - head).astype(np.int32), np.empty(number, np.int32)
        work = (
            np.empty((2, number), np.int32),
            np.empty(number, np.int32),
            np.empty((64, 2), np.int64),
            np.empty(1, np.float32),
        )
        capacity = np.array([20.0, 16.0])
        listed = np.argsort(kind, kind="stable").astype(np.int32)
        live = kernels_tree.build(tree, demand, start, listed, counts, rank, capacity, by_list, place, work)
        assert live == ((counts > 0) & (demand[:, 0] >= 0)).sum()
        return tree, demand, kind, head, place, capacity

    return grow
