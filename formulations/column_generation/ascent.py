"""Lagrangian ascent: prices improved along subgradients of what they prove, the best ones kept.

What prices prove is concave in them. Its subgradients change all at once, so both rules average them: Polyak's steps, as long as
the way to an aim just above the best bound asks for, and steps that follow each price's own history (Kingma and Ba's Adam, 2015).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from schedgap.instances.arrays import FloatArray

Rule = Callable[[FloatArray, float, FloatArray], FloatArray | None]


def ascend(
    evaluate: Callable[[FloatArray], tuple[float, FloatArray]],
    prices: FloatArray,
    rounds: int,
    rule: Rule,
    is_enough: Callable[[float], bool],
) -> FloatArray:
    """Return the best prices found from given ones.

    Parameters
    ----------
    evaluate : returns what prices prove, and a subgradient of their shape.
    prices : float64, not negative, to begin with; they are evaluated whatever `is_enough` says.
    rounds : evaluations at most, one at least.
    rule : how prices change.
    is_enough : asked between evaluations about the best that was proven.
    """
    best, best_prices, trial = None, prices, prices
    for _ in range(rounds):
        if best is not None and is_enough(best):
            break
        value, slope = evaluate(trial)
        if best is None or value > best:
            best, best_prices = value, trial
        after = rule(trial, value, slope)
        if after is None:
            break
        trial = after
    return best_prices


class TowardsAim:
    """Polyak's steps along averaged subgradients, from the best prices again and shorter after some without gain.

    step : the first, as a share of the way to the aim.
    """

    # Of the averages; others of the same size came to the same within a few tenths of a percent. The aim is over the best bound.
    AVERAGING, AIM, SHRINK, PATIENCE, LEAST_STEP, GAIN = 0.7, 1.1, 0.7, 8, 1e-3, 1e-5

    def __init__(self, step: float) -> None:
        self.step, self.stale = step, 0
        self.best: float = 0
        self.best_prices: FloatArray | None = None

    def __call__(self, prices: FloatArray, value: float, slope: FloatArray) -> FloatArray | None:
        """Return the next prices, None where the steps are too short or lead nowhere."""
        self.stale += 1
        if self.best_prices is None:
            self.average = np.zeros_like(prices)
        if self.best_prices is None or value > self.best:
            self.stale = self.stale if value < self.best * (1 + self.GAIN) else 0
            self.best, self.best_prices = value, prices
        if self.stale >= self.PATIENCE:
            self.stale, self.step, prices = 0, self.step * self.SHRINK, self.best_prices
            self.average = np.zeros_like(prices)
        self.average = self.AVERAGING * self.average + (1 - self.AVERAGING) * slope
        # Prices that are nothing already cannot fall.
        move = np.where((prices <= 0) & (self.average < 0), 0.0, self.average)
        norm = float(move @ move)
        if norm == 0.0 or self.step < self.LEAST_STEP:
            return None
        length = self.step * (self.AIM * max(self.best, 1) - value) / norm
        return np.maximum(prices + length * move, 0.0)


class ByHistory:
    """Adam's steps, each price's divided by the root of its averaged squares, which shrink to nothing within the rounds.

    step : the first, in the unit of prices. rounds : until it is nothing.
    """

    # Of subgradients and of their squares, Adam's usual order of size; what keeps quiet times from being all noise.
    AVERAGING, SQUARES, LEAST_ROOT = 0.9, 0.98, 1e-3

    def __init__(self, step: float, rounds: int) -> None:
        self.step, self.rounds, self.done = step, rounds, 0
        self.average: FloatArray = np.zeros(1)
        self.squares: FloatArray = np.zeros(1)

    def __call__(self, prices: FloatArray, value: float, slope: FloatArray) -> FloatArray | None:
        """Return the next prices."""
        self.done += 1
        self.average = self.AVERAGING * self.average + (1 - self.AVERAGING) * slope
        self.squares = self.SQUARES * self.squares + (1 - self.SQUARES) * slope**2
        root = np.sqrt(self.squares / (1 - self.SQUARES**self.done)) + self.LEAST_ROOT
        step = self.step * (1 - self.done / self.rounds)
        return np.maximum(prices + step * self.average / ((1 - self.AVERAGING**self.done) * root), 0.0)
