"""Placements by node patterns: verified, between bound and optimum of tiny instances, and close to the bound of larger ones."""

import numpy as np
import pytest

from schedgap.formulations.placement import node_patterns as packer
from schedgap.formulations.placement.node_patterns import node_patterns
from schedgap.instances.placement import openb_like, verify
from schedgap.instances.placement.model import features, use


def test_placements_are_between_bound_and_nothing_placed(tiny, monkeypatch):
    monkeypatch.setattr(packer, "PATIENCE", 0)
    optimal = 0
    supported = [case for case in tiny[:150] if features(case[0]) <= {"running"}]
    for instance, optimum in supported:
        outcome = node_patterns(instance)
        refused = verify(instance, outcome.solution)
        assert outcome.bound <= optimum <= refused <= instance.total_value, instance.name
        runs = instance.is_running
        assert np.array_equal(outcome.solution.node[runs], instance.running_node[runs])
        optimal += refused == optimum
    assert optimal >= 0.9 * len(supported)


def test_a_cluster_like_the_trace_is_packed_to_a_hundredth(monkeypatch):
    monkeypatch.setattr(packer, "A_NODE", 2)
    instance = openb_like(nodes=60, arrived=110, seed=1)
    told = []
    outcome = node_patterns(instance, found=lambda solution, bound: told.append((verify(instance, solution), bound)))
    refused, bound = verify(instance, outcome.solution), outcome.bound
    placed = instance.total_value - refused
    assert refused - bound <= 0.01 * placed
    assert told[0][0] >= refused and told[0][1] == bound
    # Nothing that is refused fits anywhere, be it worth nothing.
    used, milli = use(instance, outcome.solution.node, outcome.solution.gpus)
    free = instance.capacity[instance.node2type] - used
    left = np.where(np.arange(milli.shape[1]) < instance.num_gpus[instance.node2type, None], 1000 - milli, 0)
    for c in np.unique(instance.pod2class[outcome.solution.node < 0]).tolist():
        gpus = (left >= max(instance.gpu_milli[c], 1)).sum(axis=1) >= instance.gpus[c]
        assert not (gpus & (free >= instance.demand[c]).all(axis=1) & instance.admits[c, instance.node2type]).any()


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_little_time_gives_a_placement(seconds):
    instance = openb_like(nodes=30, arrived=100, seed=2)
    outcome = node_patterns(instance, time_limit_s=seconds)
    assert 0 <= outcome.bound <= verify(instance, outcome.solution)
