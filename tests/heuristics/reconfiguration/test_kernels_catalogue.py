"""What a task is worth and how well it suits a machine, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.kernels_player import aligned, normalised


@pytest.mark.parametrize(
    ("throughput", "size", "worth"), [(0.75, 1, 6.0), (0.75, 2, 4.0), (0.75, 4, 0.0), (0.5, 4, 0.0), (1.0, 3, 8.0)]
)
def test_a_task_is_worth_less_the_more_tasks_wait_for_it(throughput, size, worth):
    assert normalised.py_func(8.0, throughput, size) == worth


@pytest.mark.parametrize("seed", range(5))
def test_alignment_is_the_inner_product_relative_to_the_capacity(seed):
    rng = np.random.default_rng(seed)
    capacity = rng.integers(0, 9, 3)
    left, demand = (rng.integers(0, capacity + 1) for _ in range(2))
    rows = zip(demand.tolist(), left.tolist(), capacity.tolist(), strict=True)
    exact = sum(Fraction(d * x, c * c) for d, x, c in rows if c)
    assert aligned.py_func(demand, left, capacity) == pytest.approx(float(exact))
