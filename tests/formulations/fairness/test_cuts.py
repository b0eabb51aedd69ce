import numpy as np
import pytest

from schedgap.formulations.fairness.level_program import (
    bound_of,
    cut_from,
    excesses_of,
    fluid_of,
    highest_level,
    slack_of,
)
from schedgap.instances.fairness import alice_bob, random_users

INF = float("inf")


@pytest.mark.parametrize(
    ("weights", "cap", "bound", "level"),
    [
        ([1, 3], [INF, INF], 8, 2),
        # 1 x 1 + 3 s = 8.
        ([1, 3], [1, INF], 8, 7 / 3),
        ([1, 3], [1, 2], 7, INF),
        ([1, 3], [1, 2], 6.4, 1.8),
        ([2, 0], [INF, INF], 1, 0.5),
        ([0, 1], [1, 2], 3, INF),
    ],
)
def test_highest_level(weights, cap, bound, level):
    found = highest_level(np.array(weights, float), np.array(cap, float), bound)
    assert found == pytest.approx(level)


@pytest.mark.parametrize("limited", [False, True])
def test_any_prices_and_weights_make_a_cut(limited):
    rng = np.random.default_rng(1)
    fluid = fluid_of(random_users(20, classes=5, machines=10, limited=limited))
    cut = cut_from(fluid, fluid.open, rng.random((5, 2)), rng.random(20))
    excess = excesses_of(fluid, cut)
    assert excess[fluid.open].min() >= -1e-12
    assert (cut.surpluses > 0).any() == limited
    amounts = rng.random(fluid.gain.shape) * fluid.open / 100
    amounts /= max(1.0, np.einsum("ucr,uc->cr", fluid.use, amounts).max(), (fluid.part * amounts).sum(axis=1).max())
    shares = (fluid.gain * amounts).sum(axis=1)
    room = np.ones((5, 2))
    slack = slack_of(fluid, cut, amounts, room)
    assert slack > 0
    assert bound_of(cut, room) - cut.weights @ shares == pytest.approx(slack)


def test_a_price_that_is_a_rounding_error_is_none():
    fluid = fluid_of(alice_bob())
    prices = np.zeros((fluid.num_classes, fluid.num_resources))
    prices[0, 0], prices[1, 0] = 1.0, 1e-16
    cut = cut_from(fluid, fluid.open, prices, np.zeros(2))
    assert cut.prices[1, 0] == 0
