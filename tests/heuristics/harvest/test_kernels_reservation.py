"""What the reservation rule learns, against its definition."""

import numpy as np

from schedgap.heuristics.harvest.acquisition import acquisition
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.simulator.plain import play_plain
from schedgap.instances.harvest.simulator.simulator import Simulator


def test_weights_are_those_of_ridge_logistic_regression():
    instance = quick(60, 12, "10-60", seed=4, interarrival_min=12.0, history_h=4.0, stability=0.5)
    up = np.flatnonzero(instance.event_cores[instance.first_event[:-1]] > 0)
    leased = np.isin(np.arange(60), up[:20])
    instance = instance.replace(allocation="random", max_leases=40, leased=leased)
    rule = acquisition(instance, "reservation")
    Simulator(instance).play(lambda state: play_plain(state, 0, 0), rule.look_after)
    search = rule.search
    number = min(int(search.counter[0].sample), search.sample.shape[0])
    x, y = search.sample[:number], search.sample_bad[:number]
    assert number > 100
    assert 0 < y.mean() < 1
    prior = np.array([0.3, -0.5, -1.0, -0.4, 0.0, 1.0])
    gradient = x.T @ (y - 1 / (1 + np.exp(-x @ search.weight))) + 2.0 * (prior - search.weight)
    assert np.abs(gradient).max() < 1e-6
