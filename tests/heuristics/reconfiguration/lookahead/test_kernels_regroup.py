"""Regrouping against all ways to spread the tasks."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import new_tables
from schedgap.heuristics.reconfiguration.lookahead.kernels_search import begin, search


def state_that_draws(number, below):
    """A state of the random stream, xorshift64, whose next number is the one given."""
    for state in range(1, 10_000):
        x = state ^ (state << 13) % 2**64
        x ^= x >> 7
        x ^= (x << 17) % 2**64
        if (x >> 11) % below == number:
            return state
    raise AssertionError


@pytest.mark.parametrize("seed", range(20))
def test_regrouping_two_machines_finds_the_least_cost(random_problem, least_cost, cost_of, seed):
    p, d = random_problem(seed, tasks=4)
    p.capacity[2:] = 16
    p.demand[:] = np.maximum(p.demand, 1)
    p.origin[:] = np.arange(4) % 2
    begin(p, d)
    before = cost_of(p, d)
    # One try: machine 0 has changed, and machine 1 is the first partner drawn.
    d.dirty[1] = 0
    d.random[0] = state_that_draws(1, d.kind.shape[0])
    search(p, d, new_tables(9, 3, 7, 2, 2), 9, 4, 1, 1, 0)
    assert before >= cost_of(p, d) == pytest.approx(least_cost(p, d.kind[:2]), rel=1e-9)
