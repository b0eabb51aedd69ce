"""Filling one machine: the first set that is packed on the only type, against trying every next task."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.eva.kernels_pack import pack
from schedgap.heuristics.reconfiguration.kernels_player import Packing
from schedgap.heuristics.reconfiguration.monitor import ThroughputMonitor
from schedgap.heuristics.reconfiguration.observation import catalogue_of, present_of

TAU, ROOM = 0.875, 10


def filled(demand, classes):
    """Tasks by list order: always one that fits, while the worth, $10 a task times its throughput, does not fall.

    All are worth the same, so only the number of tasks counts, and the first that fits comes first.
    """
    chosen, room = [], ROOM
    while True:
        fits = [t for t in range(len(classes)) if t not in chosen and demand[classes[t]] <= room]
        number = len(chosen)
        if not fits or (number + 1) * TAU**number < number * TAU ** max(number - 1, 0):
            return chosen
        chosen.append(fits[0])
        room -= demand[classes[fits[0]]]


@pytest.mark.parametrize("seed", range(10))
def test_the_first_machine_is_filled_greedily(make_observation, seed):
    rng = np.random.default_rng(seed)
    demand, classes = rng.integers(1, 5, 3).tolist(), rng.integers(0, 3, 9).tolist()
    observation = make_observation([(d,) for d in demand], [(c, -1) for c in classes], capacity=[(ROOM,)], price=(10,))
    monitor = ThroughputMonitor(TAU)
    monitor.know_classes(3)
    packing = Packing(np.full(9, -1), np.zeros(0, np.bool_), np.empty(9, np.int64), np.zeros(1, np.int64))
    pack(catalogue_of(observation), monitor.table, present_of(observation), packing, np.arange(9), True, False)
    assert np.flatnonzero(packing.place == 0).tolist() == sorted(filled(demand, classes))
