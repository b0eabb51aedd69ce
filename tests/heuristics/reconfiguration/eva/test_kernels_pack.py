"""Algorithm 1 against the plain rules, on random observations."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.eva.kernels_pack import pack
from schedgap.heuristics.reconfiguration.kernels_player import Packing
from schedgap.heuristics.reconfiguration.monitor import ThroughputMonitor
from schedgap.heuristics.reconfiguration.observation import catalogue_of, present_of


@pytest.mark.parametrize("seed", range(12))
def test_tasks_are_packed_as_by_the_plain_rules(make_observation, plain_table, plain_plan, seed):
    rng = np.random.default_rng(seed)
    demand = rng.integers(1, 6, (2, 3, 2)).tolist()
    # Each task that is somewhere has a machine of its own, which it may leave.
    tasks = [(int(c), m if m < 3 else -1) for m, c in enumerate(rng.integers(0, 3, 8))]
    observation = make_observation(
        demand, tasks, [0, 1, 2], capacity=[(10, 12), (6, 6), (9, 7)], price=(10, 6, 8), family=[0, 0, 1]
    )
    monitor, downsizing = ThroughputMonitor(0.75), seed % 2 == 0
    table = plain_table(0.75)
    monitor.know_classes(3)
    packing = Packing(np.full(8, -1), np.zeros(3, np.bool_), np.empty(8, np.int64), np.zeros(1, np.int64))
    pack(catalogue_of(observation), monitor.table, present_of(observation), packing, np.arange(8), False, downsizing)
    slow = plain_plan(observation, table)
    slow.pack(range(8), downsizing)
    assert packing.place.tolist() == slow.machine()
    assert packing.new_type[: packing.size[0]].tolist() == slow.new_types
