"""The ascent keeps the best it has seen and stays on its side."""

import time

import numpy as np

from schedgap.formulations.waiting.fluid_bound import moments
from schedgap.formulations.waiting.machine_prices import MachineTime, Side
from schedgap.formulations.waiting.price_ascent import ascend
from schedgap.formulations.waiting.scaled import scale
from schedgap.instances.waiting import mms


def problem_of(max_wait_h):
    scaled = scale(mms(300, seed=2, max_wait_h=max_wait_h))
    return MachineTime(scaled, moments(scaled, 200), by_memory=False)


def test_more_rounds_never_lose():
    problem = problem_of(0.0)
    even = problem.lengths / problem.lengths.sum()
    found = [ascend(problem, [even], 0, Side.AT_LEAST, rounds).amount for rounds in (1, 5, 25, 100)]
    assert found == sorted(found)
    assert found[-1] > found[0]


def test_the_best_start_counts():
    problem = problem_of(0.2)
    even = problem.lengths / problem.lengths.sum()
    spike = np.zeros_like(even)
    spike[0] = 1.0
    assert (
        ascend(problem, [even, spike], 0, Side.AT_LEAST, 1).amount
        == ascend(problem, [even], 0, Side.AT_LEAST, 1).amount
    )


def test_both_sides_spend_what_they_must():
    problem = problem_of(0.2)
    even = problem.lengths / problem.lengths.sum()
    for machines, side in ((30, Side.AT_MOST), (200, Side.AT_LEAST)):
        found = ascend(problem, [even], machines, side, 20)
        assert found.amount is not None
        slack = problem.budget - problem.spent(problem.whole_prices(found.shares, side))
        assert slack * side.value >= 0


def test_stops_at_the_deadline():
    problem = problem_of(0.2)
    even = problem.lengths / problem.lengths.sum()
    assert ascend(problem, [even], 0, Side.AT_LEAST, 50, time.perf_counter()).rounds == 1
