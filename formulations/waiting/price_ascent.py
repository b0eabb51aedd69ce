"""Finding good prices on machine time: ascent along averaged subgradients, with multiplied shares.

The bound of `machine_prices` is concave in the prices, and a subgradient with respect to the share that a grid
interval has of a machine's price is the number of machines that the jobs would use there, less the number that the
bound is for: where more is asked for, time gets dearer. Jobs change their minds all at once, so the levels of past
rounds are averaged; a run of rounds without progress goes back to the best prices with a smaller step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.machine_prices import MachineTime, Side

if TYPE_CHECKING:
    from schedgap.formulations.waiting.machine_prices import Priced
    from schedgap.instances.arrays import FloatArray

# Chosen on the paper's queueing baseline and on HPC2N's trace: others of the same size do within 0.3 % as well.
FIRST_STEP, GROWTH, SHRINK, PATIENCE, AVERAGING = 0.5, 1.05, 0.6, 6, 0.9
LARGEST_EXPONENT = 3.0
# No share vanishes: it could never come back.
LEAST_SHARE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """Where an ascent ended: the best bound, its shares, and how many rounds it took. amount is None if it has none."""

    amount: int | None
    shares: FloatArray
    levels: FloatArray
    rounds: int


def ascend(
    problem: MachineTime,
    starts: list[FloatArray],
    machines: int,
    side: Side,
    rounds: int,
    deadline: float | None = None,
) -> Ascent:
    """Improve prices for schedules with at least, or at most, so many machines.

    starts : (G,) float64 each, positive, adding up to 1. The last one is where the ascent begins; the others may have
    no room around them, since a share of nothing hardly grows, but may be the best there is. deadline : of
    `time.perf_counter`. O(rounds x one evaluation).
    """
    spread = problem.lengths / problem.lengths.sum()
    top: Priced | None = None
    top_shares = starts[-1]

    def is_late() -> bool:
        return deadline is not None and time.perf_counter() > deadline

    for start in starts[:-1]:
        if top is not None and is_late():
            break
        found = problem.evaluate(problem.whole_prices(start, side), machines, side)
        if found is not None and (top is None or found.amount > top.amount):
            top, top_shares = found, start
    best: Priced | None = None
    best_shares = curr = _allowed(starts[-1], 0.0, side, spread)
    average, step, stale, done = np.zeros_like(curr), FIRST_STEP, 0, 0
    for done in range(1, rounds + 1):
        if top is not None and is_late():
            done -= 1
            break
        found = problem.evaluate(problem.whole_prices(curr, side), machines, side)
        if found is None:
            break
        if best is None or found.amount > best.amount:
            best, best_shares, stale, step = found, curr, 0, step * GROWTH
        else:
            stale += 1
        average = found.levels if done == 1 else AVERAGING * average + (1 - AVERAGING) * found.levels
        if stale == PATIENCE:
            curr, average, stale, step = best_shares, best.levels, 0, step * SHRINK
        curr = _moved(curr, average, step, machines, side, spread)
        if is_late():
            break
    if best is not None and (top is None or best.amount > top.amount):
        top, top_shares = best, best_shares
    levels = average if top is None else top.levels
    return Ascent(None if top is None else top.amount, top_shares, levels, done)


def _moved(
    shares: FloatArray, levels: FloatArray, step: float, machines: int, side: Side, spread: FloatArray
) -> FloatArray:
    """Return the shares after one step."""
    unspent = max(0.0, 1.0 - float(shares.sum())) if side is Side.AT_LEAST and machines else 0.0
    middle = float(machines) if side is Side.AT_MOST else float(shares @ levels) + unspent * machines
    scale = step / max(middle, 1e-9)
    grown = shares * np.exp(np.clip(scale * (levels - middle), -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return _allowed(grown, unspent * np.exp(min(scale * (machines - middle), LARGEST_EXPONENT)), side, spread)


def _allowed(shares: FloatArray, unspent: float, side: Side, spread: FloatArray) -> FloatArray:
    """Return shares, none of them 0, that add up to 1, to less with an unspent part, or to more for AT_MOST."""
    kept = np.maximum(shares, LEAST_SHARE * spread)
    total = float(kept.sum()) + unspent
    return kept if side is Side.AT_MOST and total >= 1 else kept / total
