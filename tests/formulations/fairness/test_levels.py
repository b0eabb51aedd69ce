import numpy as np
import pytest

from schedgap.formulations.fairness.levels import Users, buy, seek_prices


def cheapest_mix(gain, part, cost, share):
    """The least cost of a share by at most two classes, each of them no more than all tasks; a fine grid of mixes."""
    best = np.inf
    for k in range(gain.size):
        for j in range(gain.size):
            for mix in np.linspace(0.0, 1.0, 201):
                weight = np.array([1 - mix, mix]) / part[[k, j]]
                if weight @ gain[[k, j]] >= share * (1 - 1e-9):
                    # Nobody has to run all its tasks.
                    scale = share / (weight @ gain[[k, j]])
                    best = min(best, scale * (weight @ cost[[k, j]]))
    return best


@pytest.mark.parametrize("seed", range(10))
def test_a_share_is_bought_where_it_is_cheapest(seed):
    rng = np.random.default_rng(seed)
    gain, part, cost = rng.uniform(0.5, 2.0, (3, 4))
    share = 0.9 * (gain / part).max()
    amounts = np.zeros(2)
    first, second, price = buy(gain, part, cost, np.ones(4, np.bool_), share, amounts)
    places = [k for k in (first, second) if k >= 0]
    bought = amounts[-len(places) :]
    assert bought @ gain[places] == pytest.approx(share)
    assert bought @ part[places] <= 1 + 1e-9
    assert bought @ cost[places] <= cheapest_mix(gain, part, cost, share) + 1e-9
    # What a little more would cost: an upper bound on it, since the cost of a share is convex.
    assert price > 0


@pytest.mark.parametrize("seed", range(10))
def test_a_level_of_prices_bounds_every_allocation(seed):
    """Whatever part of each class users take at random, as far as there is room, somebody has no more than the level."""
    rng = np.random.default_rng(seed)
    gain, use = rng.uniform(0.5, 2.0, (5, 3)), rng.uniform(0.1, 1.0, (5, 3, 2))
    columns, room = np.ones((5, 3), np.bool_), np.ones((3, 2))
    users = Users(gain, np.zeros((5, 3)), use, columns, np.full(5, np.inf), np.arange(5))
    best, weights = np.ones((3, 2)), np.zeros(5)
    level = seek_prices(users, room, 1.0, 50, np.ones((3, 2)), best, weights)
    for _ in range(100):
        amounts = rng.random((5, 3)) ** 4
        load = np.einsum("ucr,uc->cr", use, amounts)
        amounts /= load.max(axis=1)
        assert (gain * amounts).sum(axis=1).min() <= level * (1 + 1e-9)
    # The level is what the best prices prove.
    price = (use * best).sum(axis=2) / gain
    assert weights == pytest.approx(price.min(axis=1))
    assert level == pytest.approx((best * room).sum() / weights.sum())
