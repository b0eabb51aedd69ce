"""Both rules on a concave function of two prices, the least of three planes: 4 at (2, 1)."""

import numpy as np
import pytest

from schedgap.formulations.column_generation.ascent import ByHistory, TowardsAim, ascend

PLANES = np.array([[1.0, 2.0], [-1.0, 1.0], [1.0, -3.0]])
OFFSETS = np.array([0.0, 5.0, 5.0])


def least(prices):
    values = PLANES @ prices + OFFSETS
    return float(values.min()), PLANES[int(np.argmin(values))]


def never(best):
    return False


@pytest.mark.parametrize("rule", [lambda: TowardsAim(0.3), lambda: ByHistory(0.3, 300)])
def test_prices_come_near_the_top(rule):
    assert least(ascend(least, np.zeros(2), 300, rule(), never))[0] == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize("rule", [lambda: TowardsAim(0.3), lambda: ByHistory(0.3, 20)])
def test_the_best_prices_are_kept_and_none_is_negative(rule):
    tried = []

    def evaluate(prices):
        tried.append((least(prices)[0], prices))
        return least(prices)

    found = ascend(evaluate, np.array([0.0, 4.0]), 20, rule(), never)
    assert len(tried) == 20
    assert least(found)[0] == max(value for value, _ in tried)
    assert all((prices >= 0).all() for _, prices in tried)


def test_one_evaluation_whatever_is_enough():
    asked = []
    found = ascend(least, np.ones(2), 100, ByHistory(1.0, 100), lambda best: asked.append(best) or True)
    assert (found.tolist(), asked) == ([1, 1], [3.0])


def test_it_ends_where_nothing_can_rise():
    """The price is nothing, and would fall."""
    rounds = []

    def evaluate(prices):
        rounds.append(prices)
        return 1.0, np.array([-1.0])

    assert ascend(evaluate, np.zeros(1), 100, TowardsAim(0.3), never).tolist() == [0]
    assert len(rounds) == 1


def test_steps_that_are_too_short_end_it_after_one_evaluation():
    rounds = []

    def evaluate(prices):
        rounds.append(prices)
        return least(prices)

    ascend(evaluate, np.zeros(2), 100, TowardsAim(1e-4), never)
    assert len(rounds) == 1


def test_steps_get_shorter_from_the_best_prices_after_some_without_gain():
    """Every other price proves less."""
    rule, best = TowardsAim(0.5), np.full(2, 3.0)

    def evaluate(prices):
        return (9.0 if (prices == best).all() else 1.0), np.array([1.0, -1.0])

    assert ascend(evaluate, best, 3 * TowardsAim.PATIENCE, rule, never).tolist() == [3, 3]
    assert rule.step == pytest.approx(0.5 * TowardsAim.SHRINK**2)
