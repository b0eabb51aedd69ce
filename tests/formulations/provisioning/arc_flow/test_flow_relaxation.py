import math
import time

import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.arc_flow.arc_flow import FlowRelaxation
from schedgap.formulations.provisioning.arc_flow.flow_graph import build_flow_graphs
from schedgap.formulations.provisioning.arc_flow.flow_model import GroupLimits, build_flow_model
from schedgap.instances.provisioning.verify import price_step


def best_within(instance, graphs, weights, low, high):
    """Return the least price within limits, by the integer program over all arcs, or None where none was found."""
    result = solve(build_flow_model(instance, graphs, None, GroupLimits(weights, low, high)).model)
    return None if result.objective is None else round(result.objective) * price_step(instance)


@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold_within_any_limits(varied_instance, seed):
    """Limits on several overlapping groups at once, in turn, on one relaxation that is continued warm."""
    instance = varied_instance(seed)
    graphs = build_flow_graphs(instance)
    relaxation = FlowRelaxation(instance, graphs)
    num_groups = relaxation.weights.shape[0]
    rng = np.random.default_rng(seed)
    for trial in range(4):
        low, high = np.full(num_groups, -np.inf), np.full(num_groups, np.inf)
        for g in rng.choice(num_groups, min(trial, num_groups), replace=False):
            low[g] = rng.integers(0, 6)
            high[g] = low[g] + rng.integers(0, 3) if rng.random() < 0.7 else np.inf
        found = relaxation.solve(low, high, math.inf)
        best = best_within(instance, graphs, relaxation.weights, low, high)
        assert found.is_converged
        assert found.bound % price_step(instance) == 0
        assert best is None or found.worth <= best * 1000
        assert best is None or found.bound <= best


def test_machines_that_a_limit_asks_for_are_counted_though_nothing_fits_them(snapshot):
    instance = snapshot([[4000], [1000]], [1_000_000, 10_000], [[[2000]], [[-1]]], [4], [0, 1])
    relaxation = FlowRelaxation(instance, build_flow_graphs(instance))
    # Groups: families x and y, then the types.
    low = np.array([-np.inf, -np.inf, -np.inf, 3.0])
    found = relaxation.solve(low, np.full_like(low, np.inf), math.inf)
    assert found.units.tolist() == pytest.approx([2, 3, 2, 3])
    assert found.bound == 2_030_000


@pytest.mark.parametrize("seed", range(15))
def test_arcs_that_a_cost_cannot_use_are_not_missed(varied_instance, seed):
    instance = varied_instance(seed)
    graphs = build_flow_graphs(instance)
    relaxation = FlowRelaxation(instance, graphs)
    free = np.full(relaxation.weights.shape[0], np.inf)
    found = relaxation.solve(-free, free, math.inf)
    best = best_within(instance, graphs, relaxation.weights, -free, free)
    kept = relaxation.useful(found, best)
    result = solve(build_flow_model(instance, graphs, kept).model)
    assert round(result.objective) * price_step(instance) == best
    more = relaxation.useful(found, 2 * best)
    assert all((few <= many).all() for few, many in zip(kept, more, strict=True))


def test_no_time_proves_nothing_and_enough_stops(paper_example):
    graphs = build_flow_graphs(paper_example)
    free = np.full(FlowRelaxation(paper_example, graphs).weights.shape[0], np.inf)
    found = FlowRelaxation(paper_example, graphs).solve(-free, free, time.perf_counter())
    assert (found.bound, found.worth, found.units, found.is_converged) == (0, 0, None, False)
    full = FlowRelaxation(paper_example, graphs).solve(-free, free, math.inf)
    early = FlowRelaxation(paper_example, graphs).solve(-free, free, math.inf, enough=1)
    assert 1 < early.bound <= full.bound <= 12_800_000
