import numpy as np
import pytest

from schedgap.heuristics.fairness import price_adjustment
from schedgap.heuristics.fairness.price_adjustment import Division, Pairs, sweep
from schedgap.instances.fairness import random_users


def test_compiled_kernel_is_the_python_one(monkeypatch):
    instance = random_users(10, classes=4, machines=12, resources=3, seed=5)
    compiled = price_adjustment.price_adjustment(instance)
    for name in ("_reprice", "_at", "_stop", "_level"):
        monkeypatch.setattr(price_adjustment, name, getattr(price_adjustment, name).py_func)
    monkeypatch.setattr(price_adjustment, "sweep", sweep.py_func)
    assert price_adjustment.price_adjustment(instance).amount == pytest.approx(compiled.amount, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_one_class_of_one_resource_is_shared_evenly(seed):
    """Users take c of the class for g of a share: all have the same share s with sum_i c(i) s / g(i) = 1."""
    rng = np.random.default_rng(seed)
    cost, gain = rng.uniform(0.2, 1.0, (4, 1)), rng.uniform(0.5, 2.0, 4)
    pairs = Pairs(np.array([0, 4]), np.arange(4), cost, gain)
    division = Division(
        np.ones((1, 1)), np.zeros(1), np.zeros(4), np.zeros(4), np.empty(1), np.empty(1), np.empty((4, 3))
    )
    sweep(pairs, np.ones(4), True, division)
    assert division.share == pytest.approx(np.full(4, 1 / (cost[:, 0] / gain).sum()), rel=1e-5)
    assert (division.amount * cost[:, 0]).sum() == pytest.approx(1.0, rel=1e-5)
