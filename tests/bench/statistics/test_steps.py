"""Steps: the dynamic program against brute force, and what counts as a step in noise."""

from itertools import product

import numpy as np
import pytest

from schedgap.bench.statistics import history as steps
from schedgap.bench.statistics.history import Step, find_steps, potts


def cost(y, fit, gamma):
    return np.abs(y - fit).sum() + gamma * np.count_nonzero(np.diff(fit))


@pytest.mark.parametrize("gamma", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_fit_is_the_best(seed, gamma):
    """Over all ways to cut seven values into parts, each on the median of its values."""
    y = np.random.default_rng(seed).integers(0, 6, 7).astype(float)
    least = np.inf
    for cuts in product((False, True), repeat=6):
        parts = np.split(np.arange(7), np.flatnonzero(cuts) + 1)
        fit = np.concatenate([np.full(len(part), np.sort(y[part])[len(part) // 2]) for part in parts])
        least = min(least, cost(y, fit, gamma))
    assert cost(y, potts(y, gamma), gamma) == pytest.approx(least)


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0, 2.0]])
def test_nothing_to_find(values):
    assert find_steps(values, 0.01) == []


def test_an_exact_series_has_exact_steps():
    assert find_steps([3.0] * 5 + [4.0] * 5 + [2.0] * 3, 0.01) == [Step(5, 3.0, 4.0), Step(10, 4.0, 2.0)]


def test_noise_has_no_steps_and_hides_none():
    """500 normal values; then with a step of three deviations in the middle, and with an outlier of twenty."""
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0, 1, 500)
        assert find_steps(list(noise), 0.01) == []
        with_step = noise + np.where(np.arange(500) < 250, 0, 3)
        (step,) = find_steps(list(with_step), 0.01)
        assert abs(step.at - 250) <= 5
        assert step.after - step.before == pytest.approx(3, abs=0.5)
        noise[200] += 20
        assert find_steps(list(noise), 0.01) == []


def test_how_soon_a_step_at_the_end_is_seen():
    """Of 500 normal values the last six or twelve are three deviations higher: seen in 6% and 95% of 400 other trials."""

    def seen(last):
        found = 0
        for seed in range(40):
            values = np.random.default_rng(seed).normal(0, 1, 500)
            values[-last:] += 3
            found += any(abs(step.at - (500 - last)) <= 2 for step in find_steps(list(values), 0.01))
        return found

    assert seen(6) < 10
    assert seen(12) > 30


def test_changes_below_the_least_are_none():
    assert find_steps([1.0] * 20 + [1.004] * 20, 0.005) == []


def test_many_different_values_have_fewer_levels(monkeypatch):
    monkeypatch.setattr(steps, "MOST_LEVELS", 10)
    noise = np.random.default_rng(1).normal(0, 0.1, 100) + np.repeat([0, 5], 50)
    (step,) = find_steps(list(noise), 0.01)
    assert (step.at, round(step.after - step.before)) == (50, 5)
